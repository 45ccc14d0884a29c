// A GGUF file written byte by byte, so that a test can falsify it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tempera::gpu {

template <class Number>
std::string little_endian(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string gguf_text(const std::string& text) {
  return little_endian<std::uint64_t>(text.size()) + text;
}

/// The types of values that the tests write.
namespace gguf_type {
inline constexpr std::uint32_t uint32 = 4, int32 = 5, float32 = 6, boolean = 7, text = 8, array = 9,
                               float64 = 12;
}

struct GgufBytes {
  std::uint32_t version = 3;
  std::string metadata;  // entries
  std::uint64_t values = 0;
  std::string table;  // entries of tensors
  std::uint64_t tensors = 0;
  std::string data;
  std::uint64_t alignment = 32;  // said by set_alignment

  void set_alignment(std::uint32_t bytes) {
    alignment = bytes;
    add("general.alignment", gguf_type::uint32, little_endian(bytes));
  }
  std::size_t aligned(std::size_t size) const {
    return (size + alignment - 1) / alignment * alignment;
  }

  void add(const std::string& key, std::uint32_t type, const std::string& value) {
    metadata += gguf_text(key) + little_endian(type) + value;
    ++values;
  }
  void add_text(const std::string& key, const std::string& value) {
    add(key, gguf_type::text, gguf_text(value));
  }
  void add_texts(const std::string& key, const std::vector<std::string>& texts) {
    std::string value = little_endian(gguf_type::text) + little_endian<std::uint64_t>(texts.size());
    for (const auto& text : texts) value += gguf_text(text);
    add(key, gguf_type::array, value);
  }
  template <class Number>
  void add_numbers(const std::string& key, std::uint32_t type, const std::vector<Number>& numbers) {
    std::string value = little_endian(type) + little_endian<std::uint64_t>(numbers.size());
    for (const auto number : numbers) value += little_endian(number);
    add(key, gguf_type::array, value);
  }
  /// `shape` as the file has it: innermost extent first.
  void add_tensor(const std::string& name, const std::vector<std::uint64_t>& shape,
                  std::uint32_t type, std::uint64_t offset) {
    table += gguf_text(name) + little_endian(static_cast<std::uint32_t>(shape.size()));
    for (const auto extent : shape) table += little_endian(extent);
    table += little_endian(type) + little_endian(offset);
    ++tensors;
  }
  std::string bytes() const {
    std::string file = "GGUF" + little_endian(version) + little_endian(tensors) +
                       little_endian(values) + metadata + table;
    if (!data.empty()) file.resize(aligned(file.size()), '\0');
    return file + data;
  }
};

}  // namespace tempera::gpu
