#include "gpu/transformer/kernels/cuda/product_plan.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "gpu/transformer/kernels/cuda/product_layout.hpp"

namespace tempera::gpu {

namespace {

// An H200's, for one multiprocessor: cycles a nanosecond, and bytes a nanosecond of memory and of
// the second-level cache.
constexpr double h200_cycles = 1.755;
constexpr double h200_memory = 36;
constexpr double h200_cache = 60;

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

// By the rates of predicted_nanoseconds. A stage of a block is 256 steps of the tensor cores, 0.6 a
// cycle. Of shared memory, 128 bytes a cycle, it writes 16 KiB and reads 32; to that come 64 KiB in
// and out for each segment that is added. From the second-level cache it has 16 KiB, and the
// results go there once. The slowest of the three bounds it. A block that has its multiprocessor
// alone waits 40 ns a stage for its barrier and its first operands; two wait for each other's.
double nanoseconds_of_many_rows(const ProductPlan& plan, unsigned multiprocessors) {
  using Layout = ManyRowsLayout;
  constexpr double alone = 40;
  constexpr double begin_and_end = 700;
  constexpr double vector_bytes = 16;
  const double stages = double(plan.in) / Layout::stage_inputs;
  const double tensor_cores = stages * 2 * Layout::tiles * Layout::token_tiles / 0.6 / h200_cycles;
  const double stage_bytes = Layout::stage_vectors * vector_bytes;
  constexpr double read_again = 2;  // weights by two warps, and inputs by two
  const double shared =
      (stages * (1 + read_again) * stage_bytes + 2.0 * plan.segments * Layout::total_bytes) / 128 /
      h200_cycles;
  const double second_level = (stages * stage_bytes + Layout::total_bytes) / h200_cache;
  const unsigned jobs = quotient_up(plan.jobs(), multiprocessors);
  const double busiest = jobs * std::max({tensor_cores, shared, second_level}) +
                         jobs % 2 * stages * alone + quotient_up(jobs, 2) * begin_and_end;
  const double weights = double(plan.segments) * segment_steps * plan.tiles * 512;
  return std::max(busiest, weights / (h200_memory * multiprocessors));
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
// last sums cost about 0.7 µs. Chunks read the same weights at about the same time, so that memory
// gives them once. Shared memory lets a block take half a step of the tensor cores a cycle. Blocks
// that meet at a counter take 1 µs for it, one more kernel 2.5 µs: what is between two kernels of a
// graph, its first bytes and its tail.
double predicted_nanoseconds(const ProductPlan& plan, bool gated, unsigned multiprocessors) {
  if (plan.token_tiles == ManyRowsLayout::token_tiles)
    return nanoseconds_of_many_rows(plan, multiprocessors);
  constexpr double tensor_core_steps = 0.5 * h200_cycles;
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
  const double steps = double(plan.job_units) * plan.unit_tiles * plan.part_segments *
                       segment_steps * plan.token_tiles;
  const double first =
      rounds * (std::max({weights / (h200_memory * plan.chunks), (weights + inputs) / h200_cache,
                          steps / tensor_core_steps}) +
                sums_out / h200_cache + 700);
  if (plan.adding == Adding::own_block) return first;
  const SecondPhase second = second_phase(plan, gated, multiprocessors);
  return first + (plan.adding == Adding::last_block ? meeting : kernel) +
         std::max(second.waits * latency, double(second.sums) * sizeof(float) / h200_cache);
}

std::optional<ProductPlan> plan_many_rows(unsigned rows, unsigned in, unsigned out, unsigned tiles,
                                          bool gated, const ProductDevice& device) {
  using Layout = ManyRowsLayout;
  if (!fills_stages(in) || Layout::shared_bytes > device.shared_bytes) return std::nullopt;
  ProductPlan plan{};
  plan.rows = rows;
  plan.token_tiles = Layout::token_tiles;
  plan.stages = Layout::stages;
  plan.in = in;
  plan.out = out;
  plan.tiles = tiles;
  plan.unit_tiles = gated ? 2 : 1;
  plan.units = gated ? tiles / 2 : quotient_up(out, tile_outputs);
  plan.segments = quotient_up(in, segment_inputs);
  plan.job_units = Layout::tiles / plan.unit_tiles;
  plan.parts = 1;
  plan.part_segments = plan.segments;
  plan.chunks = quotient_up(rows, Layout::tokens);
  plan.window = 1;
  plan.blocks = plan.jobs();
  plan.adding = Adding::own_block;
  plan.shared_bytes = Layout::shared_bytes;
  return plan;
}

namespace {

/// The plan of `product`, in chunks of at most 64 tokens.
ProductPlan plan_in_chunks(unsigned rows, unsigned in, unsigned out, unsigned tiles, bool gated,
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

}  // namespace

ProductPlan plan_product(unsigned rows, unsigned in, unsigned out, unsigned tiles, bool gated,
                         const ProductDevice& device, WeightForm form) {
  const ProductPlan plan = plan_in_chunks(rows, in, out, tiles, gated, device);
  constexpr unsigned most_rows_of_one_chunk = 64;
  if (rows <= most_rows_of_one_chunk || form == WeightForm::quantised) return plan;
  const auto many = plan_many_rows(rows, in, out, tiles, gated, device);
  const auto time_of = [&](const ProductPlan& each) {
    return predicted_nanoseconds(each, gated, device.multiprocessors);
  };
  return many && time_of(*many) < time_of(plan) ? *many : plan;
}

}  // namespace tempera::gpu
