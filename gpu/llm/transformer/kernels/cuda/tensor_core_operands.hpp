#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "gpu/core/lottery/philox.hpp"
#include "gpu/device/tensor_core.hpp"

namespace tempera::gpu {

/// What the operands of a tile are made to show. Sums of small whole numbers are exact by any rule:
/// if they differ an operand was not where the instruction looked for it.
enum class Operands : std::uint32_t {
  spread,
  subnormal,
  cancelling,
  extreme,
  with_zeros,
  whole,
  of_subnormals,  // each product has a subnormal factor and a large one
  beside_zeros,   // small products, and zeros of a large factor and 0
};
inline constexpr std::uint32_t kinds_of_operands = 8;

inline namespace TEMPERA_INSTRUCTION_SET {

/// Bits of element `k` of row `row` of matrix `matrix` (0: A, 1: B) in tile `tile`: a finite
/// bfloat16, the same function on host and device. Tiles take turns among the kinds.
TEMPERA_HOST_DEVICE inline std::uint16_t operand_bits(std::uint32_t tile, std::uint32_t matrix,
                                                      std::uint32_t row, std::uint32_t k) {
  const auto kind = static_cast<Operands>(tile % kinds_of_operands);
  // Pairs of products that are all but opposite: neighbours share their word.
  const std::uint32_t drawn = kind == Operands::cancelling ? k / 2 : k;
  const Word word = philox({{tile, matrix, row, drawn}}, 0x7E57);
  const std::uint32_t fraction = word.limb[0] & 0x7FU;
  std::uint32_t sign = word.limb[1] & 1U;
  std::uint32_t exponent = 0;
  switch (kind) {
    case Operands::spread:
      exponent = 107 + word.limb[2] % 40;
      break;
    case Operands::subnormal:  // of either factor, or of the product
      exponent = word.limb[2] % 3 == 0 ? 0 : word.limb[2] % (matrix == 0 ? 100 : 60);
      break;
    case Operands::cancelling:
      exponent = 120 + word.limb[2] % 12;
      if (matrix == 1) sign ^= k & 1U;
      break;
    case Operands::extreme:  // products up to 2^128 and beyond, and tiny ones beside them
      exponent = word.limb[2] % 4 == 0 ? 1 + word.limb[2] % 50 : 180 + word.limb[2] % 13;
      break;
    case Operands::with_zeros:
      if (word.limb[2] % 2 == 0) return static_cast<std::uint16_t>(sign << 15);
      exponent = 60 + word.limb[3] % 140;
      break;
    case Operands::of_subnormals:
      exponent = matrix == 0 ? 0 : 190 + word.limb[2] % 12;
      break;
    case Operands::beside_zeros: {
      // The two factors of a product are 0 and large, or both are small.
      const bool is_zero = philox({{tile, 3, k, 0}}, 0x7E57).limb[0] % 2 == 0;
      if (is_zero && matrix == 0) return static_cast<std::uint16_t>(sign << 15);
      exponent = is_zero ? 200 + word.limb[2] % 30 : 100 + word.limb[2] % 12;
      break;
    }
    case Operands::whole:
      return to_bfloat16(static_cast<float>(static_cast<int>(word.limb[0] % 17) - 8));
  }
  std::uint32_t bits = sign << 15 | exponent << 7 | fraction;
  // One in four opposite pairs differs in its last place.
  if (kind == Operands::cancelling && matrix == 0 && k % 2 == 1 && word.limb[3] % 4 == 0)
    bits ^= 1U;
  return static_cast<std::uint16_t>(bits);
}

/// Bits of the accumulator at (row, column) of a tile: a finite float32.
TEMPERA_HOST_DEVICE inline std::uint32_t accumulator_bits(std::uint32_t tile, std::uint32_t row,
                                                          std::uint32_t column) {
  const auto kind = static_cast<Operands>(tile % kinds_of_operands);
  const Word word = philox({{tile, 2, row, column}}, 0x7E57);
  const std::uint32_t fraction = word.limb[0] & 0x7FFFFFU;
  const std::uint32_t sign = word.limb[1] & 0x80000000U;
  switch (kind) {
    case Operands::spread:
      return sign | (90 + word.limb[2] % 70) << 23 | fraction;
    case Operands::subnormal:
      return sign | (word.limb[2] % 2 == 0 ? 0 : word.limb[2] % 40) << 23 | fraction;
    case Operands::cancelling:
      return sign | (100 + word.limb[2] % 30) << 23 | fraction;
    case Operands::extreme:
      return sign | (200 + word.limb[2] % 55) << 23 | fraction;
    case Operands::with_zeros:
      return word.limb[2] % 2 == 0 ? sign : sign | (60 + word.limb[3] % 140) << 23 | fraction;
    case Operands::of_subnormals:
      return sign | (40 + word.limb[2] % 40) << 23 | fraction;
    case Operands::beside_zeros:
      return sign | (60 + word.limb[2] % 30) << 23 | fraction;
    case Operands::whole: {
      const auto value = static_cast<float>(static_cast<int>(word.limb[0] % 2001) - 1000);
      std::uint32_t bits = 0;
      memcpy(&bits, &value, sizeof bits);
      return bits;
    }
  }
  return 0;
}

}  // namespace TEMPERA_INSTRUCTION_SET

}  // namespace tempera::gpu
