#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_layout.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_plan.hpp"

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

/// The plans of the least busiest_bytes, the least first; of equal ones those that came first.
class Ranked {
 public:
  explicit Ranked(std::size_t most) : most_(most) {}
  void offer(std::size_t bytes, const ProductPlan& plan) {
    const auto place =
        std::ranges::upper_bound(plans_, bytes, {}, [](const auto& each) { return each.first; });
    plans_.insert(place, {bytes, plan});
    if (plans_.size() > most_) plans_.pop_back();
  }
  const std::vector<std::pair<std::size_t, ProductPlan>>& plans() const { return plans_; }

 private:
  std::size_t most_;
  std::vector<std::pair<std::size_t, ProductPlan>> plans_;
};

/// Offers the cuts of those with the token tiles and the ring of `plan`.
void offer_cuts(ProductPlan plan, bool gated, const ProductDevice& device, Ranked& ranked) {
  // More than eight units of many segments would not share their inputs any better.
  constexpr unsigned most_units = 16;
  const auto try_cut = [&] {
    plan.shared_bytes = shared_bytes(plan);
    if (plan.shared_bytes > device.shared_bytes) return;
    if (blocks_together(plan, device) < device.least_blocks) return;
    plan.blocks = std::min(plan.jobs(), blocks_together(plan, device) * device.multiprocessors);
    ranked.offer(busiest_bytes(plan, gated, device.multiprocessors), plan);
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

/// One wait of a block, as the bytes that it could have asked for meanwhile: a stage of the ring,
/// which has three or four of them so that memory never waits.
constexpr std::size_t wait_bytes = std::size_t{product_warps} * 4 * 32 * 16;

/// Waits of a second phase besides those for its sums: for the others' counter; or for the last
/// block of the first kernel, the begin of the next, and its first instructions.
unsigned begins(Adding adding) {
  return adding == Adding::own_block ? 0 : adding == Adding::last_block ? 1 : 3;
}

/// The tokens of a chunk that have room in a block.
unsigned staged_tokens(const ProductPlan& plan) {
  return plan.token_tiles == 1 ? ProductLayout<1>::staged(plan.rows) : 8 * plan.token_tiles;
}

/// A job's weights count as if every warp had as many units as the one that has most.
std::size_t bytes_of_chunks_job(const ProductPlan& plan) {
  constexpr std::size_t tile_bytes = std::size_t{segment_inputs} * tile_outputs * 2;
  const std::size_t turns = quotient_up(plan.job_units * plan.window, product_warps);
  const std::size_t weights = turns * product_warps * plan.unit_tiles * tile_bytes;
  const std::size_t inputs = std::size_t{plan.window} * staged_tokens(plan) * segment_inputs * 2;
  return quotient_up(plan.part_segments, plan.window) * (weights + inputs + wait_bytes);
}

template <class Layout>
std::size_t bytes_of_warpgroups_job(const ProductPlan& plan) {
  const unsigned inputs = std::min(plan.in, plan.part_segments * segment_inputs);
  return std::size_t{inputs} / Layout::stage_inputs * Layout::stage_vectors * 16 + wait_bytes;
}

}  // namespace

std::size_t busiest_bytes(const ProductPlan& plan, bool gated, unsigned multiprocessors) {
  const bool is_chunks = plan.form == ProductForm::chunks;
  const std::size_t job = is_chunks ? bytes_of_chunks_job(plan)
                                    : with_layout(block_of(plan), [&]<class Layout>(Layout) {
                                        return bytes_of_warpgroups_job<Layout>(plan);
                                      });
  // Sums that leave their block count twice, each way: the cache that they pass writes them on.
  const std::size_t sums = std::size_t{plan.part_segments} * plan.job_units * plan.unit_tiles *
                           tile_outputs * staged_tokens(plan);
  const SecondPhase second = second_phase(plan, gated, multiprocessors);
  const std::size_t leaving = plan.adding == Adding::own_block ? 0 : 2 * sizeof(float);
  const std::size_t jobs = std::size_t{quotient_up(plan.jobs(), plan.blocks)} *
                           quotient_up(plan.blocks, multiprocessors);
  return jobs * (job + leaving * sums) + leaving * second.sums +
         (second.waits + begins(plan.adding)) * wait_bytes;
}

namespace {

/// Plans of `product`, in chunks of at most 32 tokens.
Ranked ranked_chunks(unsigned rows, unsigned in, unsigned out, unsigned tiles, bool gated,
                     const ProductDevice& device, std::size_t most) {
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
      Ranked ranked(most);
      offer_cuts(plan, gated, device, ranked);
      if (!ranked.plans().empty()) return ranked;
    }
  }
  throw BadInput("the device",
                 "it gives a block " + std::to_string(device.shared_bytes) +
                     " bytes of shared memory, too few for a matrix product",
                 "use a GPU of compute capability 8.0 or newer, or the build of cmake --preset "
                 "release, which runs on the host");
}

}  // namespace

std::vector<ProductPlan> candidate_plans(unsigned rows, unsigned in, unsigned out, unsigned tiles,
                                         bool gated, const ProductDevice& device, WeightForm form,
                                         std::size_t most) {
  const Ranked chunks = ranked_chunks(rows, in, out, tiles, gated, device, most);
  Ranked warpgroups(most);
  if (form == WeightForm::fragments && rows > 32) {
    for (const ProductPlan& plan : warpgroup_plans(rows, in, out, tiles, gated, device))
      warpgroups.offer(busiest_bytes(plan, gated, device.multiprocessors), plan);
  }
  // Half of each form, if there are two: bytes of one say little of the other.
  const std::size_t of_chunks =
      warpgroups.plans().empty() ? most : most - std::min(warpgroups.plans().size(), most / 2);
  Ranked both(most);
  for (std::size_t i = 0; i < std::min(of_chunks, chunks.plans().size()); ++i)
    both.offer(chunks.plans()[i].first, chunks.plans()[i].second);
  for (std::size_t i = 0; i < std::min(most, warpgroups.plans().size()); ++i) {
    if (both.plans().size() == most && i >= most - of_chunks && most > 1) break;
    both.offer(warpgroups.plans()[i].first, warpgroups.plans()[i].second);
  }
  std::vector<ProductPlan> plans;
  for (const auto& [bytes, plan] : both.plans()) plans.push_back(plan);
  return plans;
}

ProductPlan plan_product(unsigned rows, unsigned in, unsigned out, unsigned tiles, bool gated,
                         const ProductDevice& device, WeightForm form) {
  return candidate_plans(rows, in, out, tiles, gated, device, form, 1).front();
}

}  // namespace tempera::gpu
