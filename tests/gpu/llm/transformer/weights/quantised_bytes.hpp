// Stored blocks of quantised weights whose scales are small numbers and whose every other bit is
// random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/llm/transformer/weights/dequantise.hpp"

namespace tempera::gpu {

struct QuantisedType {
  const char* dtype;
  std::uint32_t number;             // in GGUF
  std::vector<std::size_t> scales;  // where the float16s of a block are
};

inline const std::vector<QuantisedType>& quantised_types() {
  static const std::vector<QuantisedType> types{
      {"F16", 1, {0}},      {"Q8_0", 8, {0}},       {"Q4_0", 2, {0}},    {"Q4_1", 3, {0, 2}},
      {"Q4_K", 12, {0, 2}}, {"Q6_K", 14, {208}},    {"Q5_0", 6, {0}},    {"Q5_1", 7, {0, 2}},
      {"Q5_K", 13, {0, 2}}, {"Q2_K", 10, {80, 82}}, {"Q3_K", 11, {108}}, {"IQ4_NL", 20, {0}},
      {"IQ4_XS", 23, {0}}};
  return types;
}

inline const QuantisedType& quantised_type(std::string_view dtype) {
  for (const auto& type : quantised_types()) {
    if (type.dtype == dtype) return type;
  }
  throw std::invalid_argument(std::string(dtype));
}

/// `elements` of them, a multiple of those in a block.
inline std::vector<std::byte> quantised_bytes(const QuantisedType& type, std::size_t elements,
                                              std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto block = *stored_block(type.dtype);
  std::vector<std::byte> bytes(elements / block.elements * block.bytes);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random() & 0xFF);
  for (std::size_t begin = 0; begin < bytes.size(); begin += block.bytes) {
    for (const auto scale : type.scales) {
      // The scale has either sign and a size from 2^-9 to 2^-5 or, one in eight, subnormal.
      const auto exponent = random() % 8 == 0 ? 0U : 6U + random() % 4;
      const auto bits = (random() & 0x83FFU) | exponent << 10;
      bytes[begin + scale] = static_cast<std::byte>(bits & 0xFF);
      bytes[begin + scale + 1] = static_cast<std::byte>(bits >> 8);
    }
  }
  return bytes;
}

inline std::vector<float> dequantised(const QuantisedType& type,
                                      const std::vector<std::byte>& bytes) {
  const auto block = *stored_block(type.dtype);
  std::vector<float> values(bytes.size() / block.bytes * block.elements);
  dequantise(type.dtype, bytes, values);
  return values;
}

}  // namespace tempera::gpu
