#include "gpu/llm/transformer/kernels/cuda/warpgroup_plan.hpp"

#include <algorithm>

namespace tempera::gpu {

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
    return busiest_bytes(plan, gated, device.multiprocessors);
  });
}

}  // namespace tempera::gpu
