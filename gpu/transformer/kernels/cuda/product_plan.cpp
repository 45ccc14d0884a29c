#include "gpu/transformer/kernels/cuda/product_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "gpu/transformer/kernels/cuda/product_layout.hpp"
#include "gpu/transformer/kernels/cuda/warpgroup_plan.hpp"

namespace tempera::gpu {

namespace {

std::size_t shared_bytes(const ProductPlan& plan) {
  const unsigned tiles = plan.job_units * plan.unit_tiles;
  switch (plan.token_tiles) {
    case 1:
      return ProductLayout<1>::shared_bytes(plan.stages, plan.window, plan.rows, tiles,
                                            plan.adding);
    case 2:
      return ProductLayout<2>::shared_bytes(plan.stages, plan.window, plan.rows, tiles,
                                            plan.adding);
    default:
      return ProductLayout<4>::shared_bytes(plan.stages, plan.window, plan.rows, tiles,
                                            plan.adding);
  }
}

/// Blocks of the plan that a multiprocessor has room for; each takes 1 KiB besides its own.
unsigned blocks_together(const ProductPlan& plan, const ProductDevice& device) {
  constexpr std::size_t reserved = 1024;
  const std::size_t room = (device.shared_bytes + reserved) / (plan.shared_bytes + reserved);
  return static_cast<unsigned>(std::min<std::size_t>(room, product_blocks_together));
}

/// The cheapest cut of those with the token tiles and the ring of `plan`.
std::optional<ProductPlan> cheapest(ProductPlan plan, bool gated, const ProductDevice& device) {
  // More than eight units of many segments would not share their inputs any better.
  constexpr unsigned most_units = 16;
  std::optional<ProductPlan> best;
  double least = std::numeric_limits<double>::infinity();
  const auto try_cut = [&] {
    plan.shared_bytes = shared_bytes(plan);
    if (plan.shared_bytes > device.shared_bytes) return;
    if (blocks_together(plan, device) < device.least_blocks) return;
    plan.blocks = std::min(plan.jobs(), blocks_together(plan, device) * device.multiprocessors);
    const double estimate = predicted_nanoseconds(plan, gated, device.multiprocessors);
    if (estimate >= least) return;
    least = estimate;
    best = plan;
  };
  for (unsigned part_segments = 1; part_segments <= plan.segments; ++part_segments) {
    plan.part_segments = part_segments;
    plan.parts = quotient_up(plan.segments, part_segments);
    for (unsigned units = 1; units <= std::min(most_units, plan.units); ++units) {
      plan.job_units = units;
      // Beyond 16 tokens one segment at a time is all that fits.
      const unsigned widest = plan.token_tiles <= 2 ? part_segments : 1;
      for (plan.window = widest;; plan.window = quotient_up(plan.window, 2)) {
        for (const Adding adding : {Adding::own_block, Adding::last_block, Adding::next_kernel}) {
          if ((adding == Adding::own_block) != (plan.parts == 1)) continue;
          plan.adding = adding;
          try_cut();
        }
        if (plan.window == 1) break;
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

namespace {

/// What a warp waits for a unit of its own: 32 steps after each other, with their loads.
double unit_nanoseconds(const ProductPlan& plan) {
  const bool two = plan.unit_tiles == 2;
  switch (plan.token_tiles) {
    case 1:
      return two ? 3100 : 1800;
    case 2:
      return two ? 3800 : 1400;
    default:
      return two ? 5200 : 1200;
  }
}

/// The tokens of a chunk that have room in a block.
unsigned staged_tokens(const ProductPlan& plan) {
  return plan.token_tiles == 1 ? ProductLayout<1>::staged(plan.rows) : 8 * plan.token_tiles;
}

// Fitted to 22,820 plans that an H200 was measured with (docs/performance.md): the plan that this
// chooses takes 1.04 of the time of the fastest, in the mean. Three things go on side by side: each
// block's waits after each other, all units of a multiprocessor, and the weights' way from memory.
double nanoseconds_of_chunks(const ProductPlan& plan, unsigned multiprocessors) {
  constexpr double window_begins = 1050;
  constexpr double input_row = 38;   // of a segment
  constexpr double sums_of_row = 6;  // of a tile and a segment, in shared memory
  constexpr double unit = 200;       // of a multiprocessor that has many
  const double windows = quotient_up(plan.part_segments, plan.window);
  const double staged = staged_tokens(plan);
  const double turns = quotient_up(plan.job_units * plan.window, product_warps);
  double job =
      windows * (window_begins + input_row * plan.window * staged + turns * unit_nanoseconds(plan));
  if (plan.adding == Adding::own_block)
    job += sums_of_row * plan.job_units * plan.unit_tiles * staged * plan.segments;
  const double of_block = quotient_up(plan.jobs(), plan.blocks) * job;
  const double units = double(plan.units) * plan.segments * plan.chunks / multiprocessors;
  return launch_nanoseconds +
         std::hypot(of_block, unit * units, memory_nanoseconds(plan, multiprocessors));
}

/// What the second phase of the plan takes besides.
double nanoseconds_of_adding(const ProductPlan& plan, bool gated, unsigned multiprocessors) {
  constexpr double kernel = 3100;
  constexpr double scratch = 10;  // bytes a nanosecond
  constexpr double meeting = 900;
  constexpr double wait = 800;
  switch (plan.adding) {
    case Adding::own_block:
      return 0;
    case Adding::last_block:
      return meeting + wait * second_phase(plan, gated, multiprocessors).waits;
    default:
      return kernel + double(plan.scratch_floats()) * sizeof(float) / multiprocessors / scratch;
  }
}

}  // namespace

double predicted_nanoseconds(const ProductPlan& plan, bool gated, unsigned multiprocessors) {
  switch (plan.form) {
    case ProductForm::warpgroups:
      return nanoseconds_of_warpgroups(plan, multiprocessors) +
             nanoseconds_of_adding(plan, gated, multiprocessors);
    default:
      return nanoseconds_of_chunks(plan, multiprocessors) +
             nanoseconds_of_adding(plan, gated, multiprocessors);
  }
}

namespace {

/// The plan of `product`, in chunks of at most 32 tokens.
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
    plan.unit_tiles = unit_tiles_for(gated);
    plan.units = gated ? tiles / 2 : quotient_up(quotient_up(out, tile_outputs), plan.unit_tiles);
    for (const unsigned stages : ring_depths) {
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
  ProductPlan best = plan_in_chunks(rows, in, out, tiles, gated, device);
  if (form == WeightForm::quantised) return best;
  const auto time_of = [&](const ProductPlan& each) {
    return predicted_nanoseconds(each, gated, device.multiprocessors);
  };
  if (rows <= 32) return best;
  const auto other = plan_warpgroups(rows, in, out, tiles, gated, device);
  if (other && time_of(*other) < time_of(best)) best = *other;
  return best;
}

}  // namespace tempera::gpu
