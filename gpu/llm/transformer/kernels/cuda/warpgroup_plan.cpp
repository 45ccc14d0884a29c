#include "gpu/llm/transformer/kernels/cuda/warpgroup_plan.hpp"

#include <algorithm>
#include <cmath>

namespace tempera::gpu {

namespace {

// In a stage of N tokens the tensor cores take two steps of N / 2 cycles for each group of four
// warps. Of shared memory, 128 bytes a cycle, the copies write a stage, the warps read its weights
// once, and each group its inputs. The second-level cache gives a stage. The slowest of the three
// bounds it. Between the steps of one stage and the next a group waits; the other block of the
// multiprocessor, if there is one, fills that gap, and multiplies while the sums of a segment go in
// and out.
template <class Layout>
double nanoseconds_of(const ProductPlan& plan, unsigned multiprocessors,
                      const WarpgroupRates& rates) {
  constexpr double weight_bytes = Layout::weight_vectors * 16.0;
  constexpr double stage_bytes = Layout::stage_vectors * 16.0;
  constexpr double input_bytes = stage_bytes - weight_bytes;
  constexpr double bytes_a_cycle = 128;
  constexpr double steps = double(Layout::groups) * Layout::tokens;
  constexpr double shared =
      (stage_bytes + weight_bytes + Layout::groups * input_bytes) / bytes_a_cycle;
  constexpr double adding = 2.0 * Layout::total_bytes / bytes_a_cycle;
  const double cache = stage_bytes / rates.cache * h200_cycles;
  const double stages = rates.waiting *
                        double(std::min(plan.in, plan.part_segments * segment_inputs)) /
                        Layout::stage_inputs;
  const double segments = plan.part_segments;
  const double together =
      stages * std::max({steps, shared + adding / Layout::segment_stages, cache});
  const double alone = stages * std::max({steps + rates.gap, shared, cache}) + segments * adding;
  const unsigned jobs = quotient_up(plan.jobs(), multiprocessors);
  const unsigned lonely = Layout::blocks_together == 1 ? jobs : jobs % 2;
  const double busiest = ((jobs - lonely) * together + lonely * alone) / h200_cycles +
                         quotient_up(jobs, Layout::blocks_together) * rates.job_begins;
  return launch_nanoseconds + std::hypot(busiest, memory_nanoseconds(plan, multiprocessors));
}

}  // namespace

double nanoseconds_of_warpgroups(const ProductPlan& plan, unsigned multiprocessors,
                                 const WarpgroupRates& rates) {
  return with_layout(block_of(plan), [&]<class Layout>(Layout) {
    return nanoseconds_of<Layout>(plan, multiprocessors, rates);
  });
}

ProductPlan plan_for_blocks(const WarpgroupBlock& block, unsigned part_segments, unsigned rows,
                            unsigned in, unsigned out, unsigned tiles, bool gated) {
  ProductPlan plan{};
  plan.form = ProductForm::warpgroups;
  plan.rows = rows;
  plan.token_tiles = block.tokens / 8;
  plan.in = in;
  plan.out = out;
  plan.tiles = tiles;
  plan.unit_tiles = gated ? 2 : 1;
  plan.units = gated ? tiles / 2 : quotient_up(out, tile_outputs);
  plan.segments = quotient_up(in, segment_inputs);
  plan.part_segments = std::min(part_segments, plan.segments);
  plan.parts = quotient_up(plan.segments, plan.part_segments);
  plan.chunks = quotient_up(rows, block.tokens);
  plan.window = 1;
  plan.adding = plan.parts == 1 ? Adding::own_block : Adding::next_kernel;
  plan.job_units = block.tiles / plan.unit_tiles;
  with_layout(block, [&]<class Layout>(Layout) {
    plan.stages = Layout::stages;
    plan.shared_bytes = Layout::shared_bytes;
  });
  plan.blocks = plan.jobs();
  return plan;
}

std::vector<ProductPlan> warpgroup_plans(unsigned rows, unsigned in, unsigned out, unsigned tiles,
                                         bool gated, const ProductDevice& device) {
  std::vector<ProductPlan> plans;
  if (!device.warpgroups || in % warpgroup_inputs != 0) return plans;
  for (const WarpgroupBlock& block : warpgroup_blocks) {
    if (block.tokens > 64 && rows <= block.tokens / 2) continue;  // a smaller one has room for all
    unsigned parts = 0;  // of the plan before: more segments of a part may leave as many
    for (unsigned segments = 1; segments <= quotient_up(in, segment_inputs); ++segments) {
      const ProductPlan plan = plan_for_blocks(block, segments, rows, in, out, tiles, gated);
      if (plan.shared_bytes > device.shared_bytes) break;
      if (plan.parts != parts) plans.push_back(plan);
      parts = plan.parts;
    }
  }
  return plans;
}

std::optional<ProductPlan> plan_warpgroups(unsigned rows, unsigned in, unsigned out, unsigned tiles,
                                           bool gated, const ProductDevice& device) {
  const auto plans = warpgroup_plans(rows, in, out, tiles, gated, device);
  if (plans.empty()) return std::nullopt;
  return *std::ranges::min_element(plans, {}, [&](const ProductPlan& plan) {
    return predicted_nanoseconds(plan, gated, device.multiprocessors);
  });
}

}  // namespace tempera::gpu
