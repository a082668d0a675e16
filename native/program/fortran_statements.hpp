/// Statements of Fortran that read and write. libgfortran keeps what they use for itself.
#pragma once

namespace sdsm::program {

/// Whether the calling thread is at the beginning of one. What libgfortran allocates then is its own. It calls none of
/// the program's functions there.
bool begins_fortran_statement();

/// Writes out what the process has printed in Fortran, if it has. Not amid a statement that prints: libgfortran holds
/// the unit then.
void flush_fortran_output();

/// Closes all units, as libgfortran does at a program's end: its destructors do nothing else. Not amid a statement.
void close_fortran_units();

}  // namespace sdsm::program
