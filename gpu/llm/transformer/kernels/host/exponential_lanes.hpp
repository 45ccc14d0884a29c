#pragma once

#include <utility>

#include "gpu/device/float_lanes.hpp"
#include "gpu/llm/transformer/kernels/host/run_products.hpp"

// float32_exponential in every lane of some registers, and what attention's weights need beside it.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Makes x[i] e^x[i], the bits of float32_exponential. All registers take a step before any takes
/// the next one: the chain of a single register would wait for itself.
template <std::size_t Count>
[[gnu::always_inline]] inline void exponentials(FloatRegister (&x)[Count]) {
  FloatRegister shifted[Count];
  FloatRegister r[Count];
  FloatRegister p[Count];
  const auto each = [](const auto& work) __attribute__((always_inline)) {
    for_each_index<Count>(work);
  };
  const FloatRegister to_integer = broadcast_register(0x1.8p+23f);
  const FloatRegister log2_e = broadcast_register(0x1.715476p+0f);
  each([&](auto i) __attribute__((always_inline)) {
    x[i] = least_register(broadcast_register(88.0f),
                          largest_register(broadcast_register(-87.0f), x[i]));
    shifted[i] = fused_multiply_add_register(x[i], log2_e, to_integer);
  });
  each([&](auto i) __attribute__((always_inline)) {
    const FloatRegister n = to_integer - shifted[i];  // its negative
    r[i] = fused_multiply_add_register(n, broadcast_register(0x1.62e430p-1f), x[i]);
    r[i] = fused_multiply_add_register(n, broadcast_register(-0x1.05c610p-29f), r[i]);
    p[i] = broadcast_register(1.0f / 5040.0f);
  });
  constexpr float coefficients[] = {1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f,
                                    0.5f,          1.0f,          1.0f};
  for_each_index<7>([&](auto term) __attribute__((always_inline)) {
    const FloatRegister coefficient = broadcast_register(coefficients[term]);
    each([&](auto i) __attribute__((always_inline)) {
      p[i] = fused_multiply_add_register(p[i], r[i], coefficient);
    });
  });
  each([&](auto i) __attribute__((always_inline)) {
    const BitsRegister scale = (reinterpret_cast<BitsRegister>(shifted[i]) << 23) + 0x3F800000U;
    x[i] = p[i] * reinterpret_cast<FloatRegister>(scale);
  });
}

/// values[i] = silu(gates[i]) · ups[i] for i < 16 · blocks, silu(g) = g / (1 + e^-g).
inline void gate_blocks(const float* gates, const float* ups, std::size_t blocks, float* values) {
  const auto gate = [&]<std::size_t Count>(std::size_t first,
                                           std::integral_constant<std::size_t, Count>) {
    FloatRegister x[Count];
    for_each_index<Count>(
        [&](auto i) { x[i] = -load_register(gates + first + i * register_lanes); });
    exponentials(x);
    for_each_index<Count>([&](auto i) {
      const std::size_t place = first + i * register_lanes;
      *reinterpret_cast<FloatsInMemory*>(values + place) = load_register(gates + place) /
                                                           (broadcast_register(1.0f) + x[i]) *
                                                           load_register(ups + place);
    });
  };
  std::size_t block = 0;
  for (; block + 2 <= blocks; block += 2) {
    gate(block * lanes, std::integral_constant<std::size_t, 2 * block_registers>{});
  }
  if (block < blocks) gate(block * lanes, std::integral_constant<std::size_t, block_registers>{});
}

/// The largest lane. Of a positive and a negative zero either.
inline float largest_lane(FloatRegister x) {
  const auto rotated = [&]<std::size_t... Lane>(auto by, std::index_sequence<Lane...>) {
    return __builtin_shufflevector(x, x, (Lane + by) % register_lanes...);
  };
  for_each_index<5>([&](auto step) __attribute__((always_inline)) {
    constexpr std::size_t by = std::size_t{16} >> step;
    if constexpr (by < register_lanes) {
      x = largest_register(x, rotated(std::integral_constant<std::size_t, by>{},
                                      std::make_index_sequence<register_lanes>{}));
    }
  });
  return x[0];
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
