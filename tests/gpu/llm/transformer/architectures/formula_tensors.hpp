// Weights that are a formula of a tensor's name and an element's index, the same as in
// tests/fixtures/architectures/make_fixture.py; and files that hold them.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gpu/llm/transformer/weights/gguf_tensors.hpp"
#include "gpu/llm/transformer/weights/tensor_source.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/weights/gguf_bytes.hpp"

namespace tempera::gpu {

inline std::vector<float> formula_values(const std::string& name,
                                         const std::vector<std::uint64_t>& shape) {
  std::uint64_t key = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const char c : name) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  std::size_t size = 1;
  for (const auto extent : shape) size *= extent;
  float scale = 1.0f;
  if (shape.size() == 2) {
    for (std::uint64_t inputs = shape[1]; inputs > 4; inputs /= 4) scale *= 0.5f;
  }
  std::vector<float> values;
  for (std::size_t i = 0; i < size; ++i) {
    std::uint64_t word = key + i + 0x9E3779B97F4A7C15ULL;  // SplitMix64's finaliser
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
    word = word ^ (word >> 31);
    const auto whole = static_cast<std::int64_t>(word >> 40) - (std::int64_t{1} << 23);
    const float unit = static_cast<float>(whole) * 0x1p-23f;
    values.push_back(name.ends_with(".bias")   ? 0.5f * unit
                     : name.ends_with("A_log") ? 2.0f * unit - 3.0f
                     : shape.size() == 1       ? 1.0f + 0.5f * unit
                                               : scale * unit);
  }
  return values;
}

/// Keeps every tensor that was asked for. `edit` may change the values of any.
class FormulaTensors final : public TensorSource {
 public:
  using Values = std::vector<float>;
  using Edit = std::function<void(const std::string& name, Values& values)>;
  struct Made {
    std::vector<std::uint64_t> shape;
    Values values;
    StoredTensor stored;
  };

  explicit FormulaTensors(Edit edit = {}) : edit_(std::move(edit)) {}
  const std::map<std::string, Made>& made() const { return made_; }

 private:
  const StoredTensor& tensor(const std::string& name, const Shape& shape) override {
    auto& made = made_[name];
    if (made.shape.empty()) {
      made.shape = shape;
      made.values = formula_values(name, shape);
      if (edit_) edit_(name, made.values);
      made.stored = {name, "F32", shape, std::as_bytes(std::span<const float>(made.values)),
                     "formula"};
    }
    return made.stored;
  }

  Edit edit_;
  std::map<std::string, Made> made_;
};

inline std::string bytes_of_values(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// Writes model.safetensors.
inline void write_safetensors(const std::filesystem::path& folder,
                              const std::map<std::string, FormulaTensors::Made>& tensors) {
  nlohmann::json header;
  std::string data;
  for (const auto& [name, made] : tensors) {
    const auto begin = data.size();
    data += bytes_of_values(made.values);
    header[name] = {
        {"dtype", "F32"}, {"shape", made.shape}, {"data_offsets", {begin, data.size()}}};
  }
  std::ofstream(folder / "model.safetensors", std::ios::binary)
      << safetensors_bytes(header.dump(), data);
}

/// Adds a tensor after those that are there; `shape` is outermost extent first.
inline void add_gguf_tensor(GgufBytes& file, const std::string& name,
                            const std::vector<std::uint64_t>& shape, std::uint32_t type,
                            const std::string& bytes) {
  file.data.resize(file.aligned(file.data.size()), '\0');
  file.add_tensor(name, {shape.rbegin(), shape.rend()}, type, file.data.size());
  file.data += bytes;
}

/// The rows of queries or keys as llama.cpp writes those of Llama: elements d and d + size / 2 of a
/// head, which rotate together, as neighbours.
inline std::vector<float> neighbours_from_halves(const std::vector<float>& values, std::size_t in,
                                                 std::size_t head_dim) {
  std::vector<float> result;
  const std::size_t half = head_dim / 2;
  for (std::size_t head = 0; head < values.size() / in; head += head_dim) {
    for (std::size_t row = 0; row < head_dim; ++row) {
      const std::size_t source = head + row / 2 + row % 2 * half;
      result.insert(result.end(), values.begin() + static_cast<std::ptrdiff_t>(source * in),
                    values.begin() + static_cast<std::ptrdiff_t>((source + 1) * in));
    }
  }
  return result;
}

}  // namespace tempera::gpu
