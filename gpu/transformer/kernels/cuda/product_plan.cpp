#include "gpu/transformer/kernels/cuda/product_plan.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "gpu/transformer/kernels/cuda/product_layout.hpp"

namespace tempera::gpu {

namespace {

unsigned quotient_up(unsigned a, unsigned b) { return (a + b - 1) / b; }

std::size_t shared_bytes(const ProductPlan& plan) {
  const unsigned tiles = plan.job_units * plan.unit_tiles;
  const bool whole = plan.parts == 1;
  switch (plan.token_tiles) {
    case 1:
      return ProductLayout<1>::shared_bytes(plan.stages, plan.window, tiles, whole);
    case 2:
      return ProductLayout<2>::shared_bytes(plan.stages, plan.window, tiles, whole);
    case 4:
      return ProductLayout<4>::shared_bytes(plan.stages, plan.window, tiles, whole);
    default:
      return ProductLayout<8>::shared_bytes(plan.stages, plan.window, tiles, whole);
  }
}

/// The deepest ring that is worth its room: 128 KiB in flight a block; 80 KiB if the inputs of
/// 64 tokens need the room.
unsigned deepest_ring(unsigned token_tiles) { return token_tiles <= 4 ? 8 : 5; }

/// The cheapest cut of those with the token tiles and the ring of `plan`.
std::optional<ProductPlan> cheapest(ProductPlan plan, bool gated, const ProductDevice& device) {
  // More than eight units of many segments would not share their inputs any better.
  constexpr unsigned most_units = 16;
  std::optional<ProductPlan> best;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned part_segments = 1; part_segments <= plan.segments; ++part_segments) {
    plan.part_segments = part_segments;
    plan.parts = quotient_up(plan.segments, part_segments);
    for (unsigned units = 1; units <= std::min(most_units, plan.units); ++units) {
      plan.job_units = units;
      // The warps share the units of a window: the fewer segments it takes to keep all of them
      // busy, the less shared memory; beyond 16 tokens one segment at a time is all that fits.
      const unsigned busy = quotient_up(2 * product_warps, units);
      plan.window = plan.token_tiles <= 2 ? std::min(part_segments, std::max(busy, 1U)) : 1;
      while (plan.window > 1 && shared_bytes(plan) > device.shared_bytes) --plan.window;
      plan.shared_bytes = shared_bytes(plan);
      if (plan.shared_bytes > device.shared_bytes) continue;
      plan.blocks = std::min(plan.jobs(), device.multiprocessors);
      for (const Adding adding : {Adding::own_block, Adding::last_block, Adding::next_kernel}) {
        if ((adding == Adding::own_block) != (plan.parts == 1)) continue;
        plan.adding = adding;
        const double estimate = predicted_nanoseconds(plan, gated, device.multiprocessors);
        if (estimate >= least) continue;
        least = estimate;
        best = plan;
      }
    }
  }
  return best;
}

}  // namespace

SecondPhase second_phase(const ProductPlan& plan, bool gated, unsigned multiprocessors) {
  const unsigned waits = quotient_up(plan.segments, segments_together);
  if (plan.adding == Adding::own_block) return {0, 0};
  if (plan.adding == Adding::next_kernel) {
    // All of a multiprocessor's blocks are there together, and wait together.
    const unsigned blocks = quotient_up(plan.adding_blocks(gated), multiprocessors);
    const unsigned of_result = gated ? 2 : 1;
    return {std::size_t{blocks} * product_threads * of_result * plan.segments, waits * of_result};
  }
  // If a block has several jobs, it may end last for each.
  const unsigned jobs = quotient_up(plan.jobs(), plan.blocks);
  const unsigned tokens = std::min(plan.rows, 8 * plan.token_tiles);
  const unsigned sums = tokens * plan.job_units * plan.unit_tiles * tile_outputs;
  return {std::size_t{jobs} * sums * plan.segments,
          jobs * quotient_up(sums, product_threads) * waits};
}

// Nanoseconds by the rates of an H200: of 4.8 TB/s a multiprocessor gets 36 bytes a nanosecond,
// from the second-level cache about 60, 200 ns after it has asked; a block's first bytes and its
// last sums cost about 0.7 µs. Blocks that meet at a counter take 1 µs for it, one more kernel
// 2.5 µs: what is between two kernels of a graph, its first bytes and its tail.
double predicted_nanoseconds(const ProductPlan& plan, bool gated, unsigned multiprocessors) {
  constexpr double memory = 36;
  constexpr double cache = 60;
  constexpr double latency = 200;
  constexpr double meeting = 1000;
  constexpr double kernel = 2500;
  const unsigned tokens = std::min(plan.rows, 8 * plan.token_tiles);
  const double segment_bytes = double{segment_steps} * 512;
  const double rounds = quotient_up(plan.jobs(), multiprocessors);
  const double weights =
      double(plan.job_units) * plan.unit_tiles * plan.part_segments * segment_bytes;
  const double inputs = double(plan.part_segments) * tokens * segment_inputs * 2;
  const double sums_out = plan.adding == Adding::own_block
                              ? 0
                              : double(plan.part_segments) * tokens * plan.job_units *
                                    plan.unit_tiles * tile_outputs * 4;
  const double first =
      rounds * (std::max(weights / memory, (weights + inputs) / cache) + sums_out / cache + 700);
  if (plan.adding == Adding::own_block) return first;
  const SecondPhase second = second_phase(plan, gated, multiprocessors);
  return first + (plan.adding == Adding::last_block ? meeting : kernel) +
         std::max(second.waits * latency, double(second.sums) * sizeof(float) / cache);
}

ProductPlan plan_product(unsigned rows, unsigned in, unsigned out, unsigned tiles, bool gated,
                         const ProductDevice& device) {
  ProductPlan plan{};
  plan.rows = rows;
  plan.in = in;
  plan.out = out;
  plan.tiles = tiles;
  plan.segments = quotient_up(in, segment_inputs);
  for (unsigned token_tiles = token_tiles_for(rows); token_tiles > 0; token_tiles /= 2) {
    plan.token_tiles = token_tiles;
    plan.chunks = quotient_up(rows, 8 * token_tiles);
    plan.unit_tiles = unit_tiles_for(token_tiles, gated);
    plan.units = gated ? tiles / 2 : quotient_up(quotient_up(out, tile_outputs), plan.unit_tiles);
    for (const unsigned stages : ring_depths) {
      if (stages > deepest_ring(token_tiles)) continue;
      plan.stages = stages;
      if (const auto best = cheapest(plan, gated, device)) return *best;
    }
  }
  throw BadInput("the device",
                 "it gives a block " + std::to_string(device.shared_bytes) +
                     " bytes of shared memory, too few for a matrix product",
                 "use a GPU of compute capability 8.0 or newer, or the build of cmake --preset "
                 "release, which runs on the host");
}

}  // namespace tempera::gpu
