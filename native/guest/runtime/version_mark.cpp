// The command searches the library's file for these words before it starts a program with it.

namespace sdsm::program {

[[gnu::used]] extern constexpr char version_mark[] = "sdsm run-time of version " SDSM_VERSION ".";

}  // namespace sdsm::program
