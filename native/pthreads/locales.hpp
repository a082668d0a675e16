#pragma once

namespace sdsm::pthreads {

/// Before the program's constructors: so libstdc++'s own facets have the same numbers in all processes. They last for
/// as long as the process does.
void make_standard_facets();

}  // namespace sdsm::pthreads
