#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tempera::gpu {

/// How a dtype stores the elements of a row: so many in a block of so many bytes. A row is whole
/// blocks, one after another.
struct StoredBlock {
  std::size_t elements;
  std::size_t bytes;
};

/// The block of F32, F16, BF16 (of one element each), Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, IQ4_NL, MXFP4
/// (of 32), Q2_K, Q3_K, Q4_K, Q5_K, Q6_K and IQ4_XS (of 256); nothing for another dtype.
std::optional<StoredBlock> stored_block(std::string_view dtype);

/// The two quants of four bits that a byte holds.
inline int low_four(std::byte byte) { return std::to_integer<int>(byte & std::byte{0x0F}); }
inline int high_four(std::byte byte) { return std::to_integer<int>(byte >> 4); }

/// The six-bit scale and minimum of run j < 8 of a Q4_K block, whose 12 bytes of both are s: for j
/// < 4 the low six bits of s_j and s_{4+j}; after that the low and the high half of s_{4+j}, below
/// the two high bits of s_{j−4} and of s_j.
struct ScaleAndMinimum {
  int scale;
  int minimum;
};
ScaleAndMinimum q4_k_scale(const std::byte* s, std::size_t j);

/// The quant of value i < 256 of a block of Q6_K, Q5_K, Q2_K or Q3_K (that one in −4 … 3): see
/// dequantise.cpp.
std::uint32_t q6_k_quant(const std::byte* block, std::size_t i);
std::uint32_t q5_k_quant(const std::byte* block, std::size_t i);
std::uint32_t q2_k_quant(const std::byte* block, std::size_t i);
int q3_k_quant(const std::byte* block, std::size_t i);

/// The scale, −32 … 31, of run j < 16 of a Q3_K block, and of run j < 8 of an IQ4_XS block.
int q3_k_scale(const std::byte* block, std::size_t j);
int iq4_xs_scale(const std::byte* block, std::size_t j);

/// The whole number that a quant of four bits stands for in IQ4_NL and IQ4_XS.
int iq4_value(int quant);

/// The value of a float16; exact.
float float16_value(std::uint16_t bits);

/// The values that stored weights *are*, as float32: those that the formula of the dtype's block
/// gives in the reals, rounded once to nearest (Q4_1, Q5_1, Q2_K, Q4_K, Q5_K) or exactly (all
/// others). They are those of PyPI's `gguf` (gguf.quants.dequantize), bit for bit. A NaN or
/// infinite scale gives values that are NaN or infinite; who packs them refuses them.
///
/// `blocks` is whole blocks of `dtype`, which stored_block knows, and `values` has room for exactly
/// their elements.
void dequantise(std::string_view dtype, std::span<const std::byte> blocks, std::span<float> values);

}  // namespace tempera::gpu
