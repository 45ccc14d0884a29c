#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/llm/transformer/cache/page_elements.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// Takes the elements of a head that a lane has, and then gives the exponent that all lanes of the
/// warp together ask for.
class HeadExponent {
 public:
  TEMPERA_ON_DEVICE void take(float x) {
    const std::uint32_t magnitude = EightBitElements::magnitude_of(x);
    largest_ = magnitude > largest_ ? magnitude : largest_;
  }
  /// By a whole warp; every lane gets it.
  TEMPERA_ON_DEVICE std::uint8_t of_warp() const {
    std::uint32_t largest = largest_;
    TEMPERA_UNROLL
    for (unsigned half = simt::warp_lanes / 2; half > 0; half /= 2) {
      const std::uint32_t other = simt::shuffle_xor(largest, half);
      largest = other > largest ? other : largest;
    }
    return EightBitElements::exponent_of(largest);
  }

 private:
  std::uint32_t largest_ = 0;
};

/// The exponent of a head that is somewhere in memory; by a whole warp, and every lane gets it.
template <class Inputs>
TEMPERA_ON_DEVICE inline std::uint8_t exponent_of_head(const float* head, unsigned size) {
  HeadExponent largest;
  for (unsigned d = simt::lane(); d < size; d += simt::warp_lanes)
    largest.take(Inputs::load(head + d));
  return largest.of_warp();
}

/// A float as an element of a page: of the exponent's, if elements have exponents.
template <class Elements>
TEMPERA_ON_DEVICE inline typename Elements::Stored stored_element(float value,
                                                                  std::uint8_t exponent) {
  if constexpr (Elements::have_exponents) {
    return Elements::element_of(value, exponent);
  } else {
    return to_bfloat16(value);
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
