// Compiled once per instruction set; see gpu/device/arithmetic.hpp.
#include "bench/speed/host_limits.hpp"

#include "gpu/device/compiled_for.hpp"
#include "gpu/device/float_lanes.hpp"
#include "gpu/device/host_threads.hpp"

namespace tempera::gpu {

namespace {

/// Enough chains to hide four cycles of two units, and no more than AVX2 has registers for.
constexpr std::size_t chains = 12;

struct MultiplyAdd {
  std::size_t passes;
  float* sums;

  void operator()(std::size_t item) const {
    // x/2 + 1 goes to 2, and stays there.
    const auto half = broadcast_register(0.5f);
    const auto one = broadcast_register(1.0f);
    FloatRegister chain[chains];
    for (std::size_t i = 0; i < chains; ++i) {
      chain[i] = broadcast_register(static_cast<float>(item + i));
    }
    for (std::size_t pass = 0; pass < passes; ++pass) {
      for (auto& x : chain) x = fused_multiply_add_register(x, half, one);
    }
    FloatRegister sum = chain[0];
    for (std::size_t i = 1; i < chains; ++i) sum = sum + chain[i];
    sums[item] = sum[0];
  }
};

struct Read {
  const std::uint32_t* words;
  std::uint32_t* sums;

  void operator()(std::size_t item) const {
    constexpr std::size_t side_by_side = 4;
    const std::uint32_t* const piece = words + item * piece_words;
    BitsRegister parts[side_by_side] = {};
    for (std::size_t i = 0; i < piece_words; i += side_by_side * register_lanes) {
      for (std::size_t j = 0; j < side_by_side; ++j) {
        parts[j] += *reinterpret_cast<const WordsInMemory*>(piece + i + j * register_lanes);
      }
    }
    std::uint32_t sum = 0;
    for (const auto& part : parts) {
      for (std::size_t lane = 0; lane < register_lanes; ++lane) sum += part[lane];
    }
    sums[item] = sum;
  }
};

}  // namespace

template <>
LimitLoops limit_loops_for<InstructionSet::TEMPERA_INSTRUCTION_SET>() {
  return {chains * register_lanes,
          [](std::size_t items, std::size_t passes, float* sums) {
            on_host_threads(items, MultiplyAdd{passes, sums});
          },
          [](const std::uint32_t* words, std::size_t pieces, std::uint32_t* sums) {
            on_host_threads(pieces, Read{words, sums});
          }};
}

}  // namespace tempera::gpu
