#pragma once

#include <cstddef>
#include <cstdint>

namespace tempera::gpu {

/// How many output features lie side by side in a packed matrix.
constexpr std::size_t lanes = 16;

/// The weights of a linear map R^in -> R^out as kernels read them, packed [out / lanes, in, lanes]:
/// the weight of (output o, input i) lies at ((o / lanes) * in + i) * lanes + o % lanes. One of the
/// two pointers is null.
struct MatrixView {
  std::size_t in;
  std::size_t out;  // with the padding: a multiple of lanes
  const float* float32;
  const std::uint16_t* bfloat16;
};

}  // namespace tempera::gpu
