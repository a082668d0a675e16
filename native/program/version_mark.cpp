// The command looks for these words in the library's file before it starts a program with it.

namespace sdsm::program {

[[gnu::used]] extern constexpr char version_mark[] = "sdsm run-time of version " SDSM_VERSION ".";

}  // namespace sdsm::program
