/// Folders and files of a test's own, gone with their object.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace sdsm::test {

class Scratch {
 public:
  /// In memory where there is such a place, as a disk would take a minute for thousands of small files. Programs may
  /// not be executed there: for these name another parent.
  explicit Scratch(const std::filesystem::path& parent = access("/dev/shm", W_OK) == 0
                                                             ? "/dev/shm"
                                                             : std::filesystem::temp_directory_path()) {
    std::string name = (parent / "sdsm-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for temporary files: " + name);
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  bool is_empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content, const std::string& ending = ".xml")
      : path_(folder_ / ("file" + ending)) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  Scratch folder_;
  std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return (std::ostringstream() << file.rdbuf()).str();
}

}  // namespace sdsm::test
