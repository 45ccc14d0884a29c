// A model folder that a test may break: a copy of a golden fixture, removed with the object; and
// the check that breaking it is refused well.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/bad_input.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

inline const std::filesystem::path qwen3_fixtures =
    std::filesystem::path(TEMPERA_SOURCE_DIR) / "tests/fixtures/qwen3";

inline std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The bytes of a safetensors file with this header.
inline std::string safetensors_bytes(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> (8 * i));
  }
  return bytes + header + data;
}

class ModelFolder {
 public:
  explicit ModelFolder(const std::string& fixture) {
    std::string pattern = (std::filesystem::temp_directory_path() / "tempera-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
    std::filesystem::copy(qwen3_fixtures / fixture, path_);
  }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;
  ~ModelFolder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

  void write(const std::string& file, const std::string& bytes) const {
    std::ofstream(path_ / file, std::ios::binary | std::ios::trunc) << bytes;
  }
  void edit_json(const std::string& file, const std::function<void(nlohmann::json&)>& edit) const {
    auto document = nlohmann::json::parse(read_bytes(path_ / file));
    edit(document);
    write(file, document.dump());
  }
  /// Edits the header and the data of model.safetensors.
  void edit_tensors(
      const std::function<void(nlohmann::json& header, std::string& data)>& edit) const {
    const auto bytes = read_bytes(path_ / "model.safetensors");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    auto header = nlohmann::json::parse(bytes.substr(8, length));
    auto data = bytes.substr(8 + length);
    edit(header, data);
    write("model.safetensors", safetensors_bytes(header.dump(), data));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tempera::gpu
