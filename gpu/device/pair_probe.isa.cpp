// Compiled once per instruction set, as
// transformer/kernels/host/bfloat16_pairs_kernels.isa.cpp.
#include "gpu/device/pair_probe.hpp"

#include "gpu/device/compiled_for.hpp"
#include "gpu/device/pair_lanes.hpp"
#include "gpu/device/pair_tiles.hpp"

namespace tempera::gpu {

namespace {

[[gnu::noinline]] void add_pairs(const std::uint32_t* a, const std::uint32_t* b, const float* sums,
                                 std::size_t count, float* results) {
  for (std::size_t i = 0; i < count; i += register_lanes) {
    *reinterpret_cast<FloatsInMemory*>(results + i) =
        add_pair_register(load_pairs(a + i), load_pairs(b + i), load_register(sums + i));
  }
}

void add_pairs_flushed(const std::uint32_t* a, const std::uint32_t* b, const float* sums,
                       std::size_t count, float* results) {
  const SubnormalsAreZero scope;
  add_pairs(a, b, sums, count, results);
}

}  // namespace

template <>
AddPairs add_pairs_for<InstructionSet::TEMPERA_INSTRUCTION_SET>() {
  return add_pairs_flushed;
}

#if defined(TEMPERA_TILES)
template <>
AddSegments add_segments_for<InstructionSet::amx_bf16>() {
  return [](const std::uint32_t* a, const std::uint32_t* b, float* sums) {
    const Tiles tiles;
    Tiles::load<0>(sums, tile_side);
    Tiles::load<1>(a, segment_pairs);
    Tiles::load<2>(b, tile_side);
    Tiles::add<0, 1, 2>();
    Tiles::store<0>(sums, tile_side);
  };
}
#endif

}  // namespace tempera::gpu
