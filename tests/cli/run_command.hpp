#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tempera::test {

/// What the built command answered.
struct CommandResult {
  int exit_code;
  std::string out, err;
};

/// A file that lives as long as the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    std::string pattern = (std::filesystem::temp_directory_path() / "tempera-test-XXXXXX").string();
    const int descriptor = mkstemp(pattern.data());
    if (descriptor >= 0) fclose(fdopen(descriptor, "w"));
    path_ = pattern;
    std::ofstream(path_) << text;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Runs the built command with these arguments, as a shell reads them.
inline CommandResult run_command(const std::string& arguments) {
  const TemporaryFile out(""), err("");
  const std::string line = std::string(TEMPERA_BINARY) + " " + arguments + " >" + out.path() +
                           " 2>" + err.path() + " </dev/null";
  const int status = std::system(line.c_str());
  const auto text = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text(out.path()), text(err.path())};
}

}  // namespace tempera::test
