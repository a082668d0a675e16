#include "tests/platforms/platform_text.hpp"

#include <fmt/core.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

namespace sdsm::test {

std::filesystem::path p3_score() {
  return std::filesystem::path(SDSM_SOURCE_DIR) / "platforms" / "p3-score.xml";
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

PlatformText::PlatformText() {
  const std::string p3 = read_text(p3_score());
  const std::regex prop(R"re(<prop id="([^"]*)" value="([^"]*)"/>)re");
  for (std::sregex_iterator found(p3.begin(), p3.end(), prop), none; found != none; ++found) {
    properties[(*found)[1]] = (*found)[2];
  }
}

std::string PlatformText::text() const {
  std::string text =
      "<?xml version=\"1.0\"?>\n"
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n"
      "  <zone id=\"cluster\" routing=\"Full\">\n";
  for (const auto& [id, value] : properties) text += fmt::format("    <prop id=\"{}\" value=\"{}\"/>\n", id, value);
  for (unsigned i = 0; i < hosts; ++i)
    text += fmt::format("    <host id=\"node-{}\" speed=\"1Gf\" core=\"{}\"/>\n", i, cores);
  for (unsigned i = 0; i < hosts; ++i) {
    const auto other = other_bandwidth.find(i);
    text += fmt::format("    <link id=\"cable-{}\" bandwidth=\"{}\" latency=\"{}\" sharing_policy=\"SPLITDUPLEX\"/>\n",
                        i, other == other_bandwidth.end() ? bandwidth : other->second, latency);
  }
  for (unsigned i = 0; i < hosts; ++i) {
    for (unsigned j = i + 1; j < hosts; ++j) {
      text += fmt::format("    <route src=\"node-{}\" dst=\"node-{}\"><link_ctn id=\"cable-{}\" direction=\"UP\"/>", i,
                          j, i);
      text += fmt::format("<link_ctn id=\"cable-{}\" direction=\"DOWN\"/></route>\n", j);
    }
  }
  return text + "  </zone>\n</platform>\n";
}

TemporaryFile::TemporaryFile(const std::string& content, const std::string& ending) {
  // Thousands of small files: in memory where there is such a place.
  const bool has_memory = ::access("/dev/shm", W_OK) == 0;
  const std::filesystem::path folder = has_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
  std::string name = (folder / "sdsm-test-XXXXXX").string() + ending;
  const int file = ::mkstemps(name.data(), static_cast<int>(ending.size()));
  if (file < 0) throw std::runtime_error("no temporary file " + name);
  ::close(file);
  path_ = name;
  std::ofstream(path_, std::ios::binary) << content;
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string with_cables(const std::string& bandwidth) {
  const std::regex link(R"re((<link id="[^"]*" bandwidth=")[^"]*)re");
  return std::regex_replace(read_text(p3_score()), link, "$01" + bandwidth);
}

}  // namespace sdsm::test
