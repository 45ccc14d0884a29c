#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"

// y += W x in whatever order is fastest: what batch invariance is held against. The inputs are cut
// into as many parts as one likes, each part is one long chain of the tensor core, and whoever ends
// adds its sum to the result with an atomic addition. Nothing waits: every warp streams its own
// weights, 16 bytes a lane, straight into registers. Its sums depend on the cut and on the order of
// arrival, so no result of Tempera is ever computed by it.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

TEMPERA_ON_DEVICE inline void add_in_any_order(float* target, float value) {
#if defined(__CUDACC__)
  atomicAdd(target, value);
#else
  *target += value;
#endif
}

TEMPERA_ON_DEVICE inline simt::Vector16 load_stream(const simt::Vector16* source) {
#if defined(__CUDACC__)
  const uint4 words = __ldcs(reinterpret_cast<const uint4*>(source));
  return {words.x, words.y, words.z, words.w};
#else
  return *source;
#endif
}

constexpr unsigned order_dependent_threads = 256;

/// fragments: [tiles, steps, 32]; inputs: [rows, 16 steps] of bfloat16 in pairs; outputs: [rows, 16
/// tiles]. Launch: {any number of blocks} of 256, each warp a tile and a part at a time; steps must
/// be a multiple of 2 parts. Range: rows <= 8 TokenTiles.
template <unsigned TokenTiles>
TEMPERA_KERNEL(order_dependent_threads)
multiply_in_any_order(const simt::Vector16* fragments, const std::uint32_t* inputs, unsigned rows,
                      unsigned tiles, unsigned steps, unsigned parts, float* outputs) {
  constexpr unsigned warps = order_dependent_threads / simt::warp_lanes;
  const unsigned lane = simt::lane();
  const unsigned part_steps = steps / parts;
  for (unsigned job = simt::block().x * warps + simt::warp(); job < tiles * parts;
       job += simt::blocks().x * warps) {
    const unsigned tile = job / parts;
    const unsigned begin = job % parts * part_steps;
    const simt::Vector16* weights = fragments + (std::size_t{tile} * steps + begin) * 32 + lane;
    float sums[TokenTiles][4] = {};
    TEMPERA_UNROLL_BY(8)
    for (unsigned step = 0; step < part_steps; ++step) {
      const simt::Vector16 a = load_stream(weights + std::size_t{step} * 32);
      TEMPERA_UNROLL
      for (unsigned tokens = 0; tokens < TokenTiles; ++tokens) {
        const unsigned token = tokens * 8 + lane / 4;
        const std::uint32_t* row =
            inputs + (std::size_t{token < rows ? token : 0} * steps + begin + step) * 8 + lane % 4;
        simt::tensor_core_step(sums[tokens], a, row[0], row[4]);
      }
    }
    TEMPERA_UNROLL
    for (unsigned tokens = 0; tokens < TokenTiles; ++tokens) {
      TEMPERA_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned output = lane / 4 + i / 2 * 8;
        const unsigned token = tokens * 8 + lane % 4 * 2 + i % 2;
        if (token < rows)
          add_in_any_order(outputs + (std::size_t{token} * tiles + tile) * 16 + output,
                           sums[tokens][i]);
      }
    }
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
