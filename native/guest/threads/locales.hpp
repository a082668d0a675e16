#pragma once

namespace sdsm::pthreads {

/// To be called before the program's constructors, so that libstdc++'s own facets have the same numbers in all
/// processes. They last for as long as the process does.
void make_standard_facets();

}  // namespace sdsm::pthreads
