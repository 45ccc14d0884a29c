#include "settings/exact_wish.hpp"

#include <vector>

#include "base/error.hpp"
#include "settings/defaults.hpp"

namespace tempera::gpu {

SamplerWish ExactWish::as_sampler_wish() const {
  const auto of_all_stages = [](const std::optional<std::size_t>& count) {
    return count ? std::optional(std::vector<std::size_t>{*count}) : std::nullopt;
  };
  SamplerWish wish;
  wish.rounds = of_all_stages(rounds);
  wish.local_moves = of_all_stages(local_moves);
  wish.sweeps = of_all_stages(sweeps);
  wish.schedule = schedule;
  wish.output_rung = output_rung;
  wish.particles = particles;
  wish.most_tokens = most_tokens;
  return wish;
}

ExactSettings resolve_exact(const ExactWish& wish, std::size_t horizon, std::size_t rungs,
                            ExactBlock block, Spelling spelling) {
  const std::size_t own_block =
      block == ExactBlock::of_run ? defaults::block(horizon) : defaults::exact_block(horizon);
  const std::size_t output = wish.output_rung.value_or(rungs);
  if (output == 0 || output > rungs)
    throw BadInput(spelt("output_rung", spelling), "there is no rung " + std::to_string(output),
                   "give one from 1 to " + std::to_string(rungs));
  return {wish.block.value_or(own_block),
          wish.rounds.value_or(defaults::exact_rounds),
          wish.local_moves.value_or(defaults::local_moves),
          wish.sweeps.value_or(defaults::sweeps),
          wish.schedule.value_or(Schedule::adj),
          wish.particles.value_or(0),
          output - 1,
          wish.most_tokens.value_or(0)};
}

}  // namespace tempera::gpu
