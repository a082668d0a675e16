#include "tests/platforms/platform_text.hpp"

#include <fmt/core.h>

#include <regex>

namespace sdsm::test {

std::filesystem::path p3_score() {
  return std::filesystem::path(SDSM_SOURCE_DIR) / "platforms" / "p3-score.xml";
}

PlatformText::PlatformText(std::initializer_list<std::pair<std::string, std::string>> changed) {
  const std::string p3 = read_text(p3_score());
  const std::regex prop(R"re(<prop id="([^"]*)" value="([^"]*)"/>)re");
  for (std::sregex_iterator found(p3.begin(), p3.end(), prop), none; found != none; ++found) {
    properties[(*found)[1]] = (*found)[2];
  }
  for (const auto& [id, value] : changed) set(id, value);
}

std::string PlatformText::text() const {
  std::string text =
      "<?xml version=\"1.0\"?>\n"
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n"
      "  <zone id=\"cluster\" routing=\"Full\">\n";
  for (const auto& [id, value] : properties) text += fmt::format("    <prop id=\"{}\" value=\"{}\"/>\n", id, value);
  for (unsigned i = 0; i < hosts; ++i)
    text += fmt::format("    <host id=\"node-{}\" speed=\"{}\" core=\"{}\"/>\n", i, speed, cores);
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

std::string with_cables(const std::string& bandwidth) {
  const std::regex link(R"re((<link id="[^"]*" bandwidth=")[^"]*)re");
  return std::regex_replace(read_text(p3_score()), link, "$01" + bandwidth);
}

}  // namespace sdsm::test
