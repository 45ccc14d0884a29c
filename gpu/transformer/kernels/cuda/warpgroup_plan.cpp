#include "gpu/transformer/kernels/cuda/warpgroup_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/transformer/kernels/cuda/warpgroup_layout.hpp"

namespace tempera::gpu {

namespace {

// By calculated rates, which no device has confirmed. In a stage of N tokens the tensor cores take
// four steps of N / 2 cycles. Of shared memory, 128 bytes a cycle, the copies write a stage, the
// warps read its weights once, and each group of four its inputs. The second-level cache gives a
// stage. The slowest of the three bounds it. Between the steps of one stage and the next a group
// waits some 60 cycles; the other block of the multiprocessor, if there is one, fills that gap, and
// multiplies while the sums of a segment go in and out.
template <unsigned Tokens>
double nanoseconds_of(const ProductPlan& plan, unsigned multiprocessors) {
  using Layout = WarpgroupLayout<Tokens>;
  constexpr double gap = 60;
  constexpr double job_begins = 700;
  constexpr double weight_bytes = Layout::weight_vectors * 16.0;
  constexpr double stage_bytes = Layout::stage_vectors * 16.0;
  constexpr double input_bytes = stage_bytes - weight_bytes;
  constexpr double bytes_a_cycle = 128;
  constexpr double steps = 2.0 * Tokens;
  constexpr double shared = (stage_bytes + weight_bytes + 2 * input_bytes) / bytes_a_cycle;
  constexpr double adding = 2.0 * Layout::total_bytes / bytes_a_cycle;
  const double cache = stage_bytes / h200_cache * h200_cycles;
  const double stages =
      double(std::min(plan.in, plan.part_segments * segment_inputs)) / Layout::stage_inputs;
  const double segments = plan.part_segments;
  const double together =
      stages * std::max({steps, shared + adding / Layout::segment_stages, cache});
  const double alone = stages * std::max({steps + gap, shared, cache}) + segments * adding;
  const unsigned jobs = quotient_up(plan.jobs(), multiprocessors);
  const unsigned lonely = Layout::blocks_together == 1 ? jobs : jobs % 2;
  const double busiest = ((jobs - lonely) * together + lonely * alone) / h200_cycles +
                         quotient_up(jobs, Layout::blocks_together) * job_begins;
  return launch_nanoseconds + std::hypot(busiest, memory_nanoseconds(plan, multiprocessors));
}

template <unsigned Tokens>
void try_tokens(ProductPlan plan, bool gated, const ProductDevice& device, double& least,
                std::optional<ProductPlan>& best) {
  using Layout = WarpgroupLayout<Tokens>;
  // A smaller tile has room for all rows.
  if (Tokens > 64 && plan.rows <= Tokens / 2) return;
  if (Layout::shared_bytes > device.shared_bytes) return;
  plan.token_tiles = Tokens / 8;
  plan.stages = Layout::stages;
  plan.chunks = quotient_up(plan.rows, Tokens);
  plan.job_units = Layout::tiles / plan.unit_tiles;
  plan.shared_bytes = Layout::shared_bytes;
  for (unsigned part_segments = 1; part_segments <= plan.segments; ++part_segments) {
    plan.part_segments = part_segments;
    plan.parts = quotient_up(plan.segments, part_segments);
    plan.adding = plan.parts == 1 ? Adding::own_block : Adding::next_kernel;
    plan.blocks = plan.jobs();
    const double time = predicted_nanoseconds(plan, gated, device.multiprocessors);
    if (time >= least) continue;
    least = time;
    best = plan;
  }
}

}  // namespace

double nanoseconds_of_warpgroups(const ProductPlan& plan, unsigned multiprocessors) {
  switch (8 * plan.token_tiles) {
    case 64:
      return nanoseconds_of<64>(plan, multiprocessors);
    case 128:
      return nanoseconds_of<128>(plan, multiprocessors);
    default:
      return nanoseconds_of<256>(plan, multiprocessors);
  }
}

std::optional<ProductPlan> plan_warpgroups(unsigned rows, unsigned in, unsigned out, unsigned tiles,
                                           bool gated, const ProductDevice& device) {
  if (!device.warpgroups || in % warpgroup_inputs != 0) return std::nullopt;
  ProductPlan plan{};
  plan.form = ProductForm::warpgroups;
  plan.rows = rows;
  plan.in = in;
  plan.out = out;
  plan.tiles = tiles;
  plan.unit_tiles = gated ? 2 : 1;
  plan.units = gated ? tiles / 2 : quotient_up(out, tile_outputs);
  plan.segments = quotient_up(in, segment_inputs);
  plan.window = 1;
  double least = std::numeric_limits<double>::infinity();
  std::optional<ProductPlan> best;
  try_tokens<64>(plan, gated, device, least, best);
  try_tokens<128>(plan, gated, device, least, best);
  try_tokens<256>(plan, gated, device, least, best);
  return best;
}

}  // namespace tempera::gpu
