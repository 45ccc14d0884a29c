#include "gpu/core/sampler/best_of_n.hpp"
#include "gpu/core/sampler/chain.hpp"
#include "gpu/core/sampler/exact_rejection.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/power_smc.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/core/sampler/record.hpp"
#include "gpu/core/sampler/stages.hpp"
#include "gpu/core/sampler/tokenwise_sampling.hpp"
#include "gpu/core/sampler/uncoupled_ladder.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/named_sampler_law.hpp"
#include "reference/model/record.hpp"
#include "tests/lab/claims/planted.hpp"

namespace tempera::test {
namespace {

/// Another program under a sampler's name.
std::function<void(lab::FunctionsUnderTest&)> in_place_of(const std::string& sampler,
                                                          lab::Program program) {
  return [=](lab::FunctionsUnderTest& functions) {
    functions.of<lab::ProgramFunctions>().sampler_program = [=](const std::string& name) {
      return name == sampler ? program : lab::program_named(name);
    };
  };
}

/// Weighs by p0^α as though the proposal had been uniform.
struct ProposalLeftOut : gpu::PowerSmcRules {
  static double log_weight(const gpu::Record& x, const gpu::Ramp& ramp) {
    double sum = 0.0;
    for (std::size_t t = ramp.resampled + 1; t <= x.length(); ++t) sum += 2.0 * x.tokens().log_p(t);
    return sum;
  }
};
struct MeanOfTokens : gpu::LikelihoodRules {
  static double score(const gpu::Record& x) { return x.log_p0() / static_cast<double>(x.length()); }
};
struct LastTokenFree : gpu::RejectionRules {
  static double log_survival(const gpu::Record& x, gpu::Rung k) {
    return x.open() ? RejectionRules::log_survival(x, k) : 0.0;
  }
};
struct SurvivalByProbability : gpu::RejectionRules {
  static double log_survival(const gpu::Record& x, gpu::Rung) {
    return x.tokens().log_p(x.length());
  }
};
struct RoomForOneToken : gpu::RejectionRules {
  static bool may_begin(const gpu::Plan& plan, const gpu::Progress& progress, std::size_t) {
    return RejectionRules::may_begin(plan, progress, 1);
  }
};
struct AlwaysOutlived : gpu::RejectionRules {
  static double log_survival(const gpu::Record&, gpu::Rung) { return 0.0; }
};
struct OtherRung {
  static std::size_t answer(const gpu::Progress&, const gpu::Plan& plan) { return 1 - plan.output; }
};

gpu::Plan with_sweeps(const gpu::Plan& plan, std::size_t sweeps) {
  gpu::Plan other = plan;
  for (gpu::Stage& stage : other.stages) stage.sweeps = sweeps;
  return other;
}
gpu::Task one_sweep_less(gpu::Chain& run, const gpu::Plan& plan, gpu::Progress& progress,
                         gpu::Observer* observer) {
  const gpu::Plan other = with_sweeps(plan, plan.stages.front().sweeps - 1);
  co_await gpu::parallel_power_tempering(run, other, progress, observer);
}
gpu::Task one_move_more(gpu::Chain& run, const gpu::Plan& plan, gpu::Progress& progress,
                        gpu::Observer* observer) {
  gpu::Plan other = plan;
  for (gpu::Stage& stage : other.stages) ++stage.local_moves;
  co_await gpu::parallel_power_tempering(run, other, progress, observer);
}

}  // namespace

std::vector<Planted> planted_in_samplers() {
  return {
      {"sampler_tokenwise", "local moves after the tokens",
       in_place_of("low-temperature", gpu::parallel_power_tempering)},
      {"sampler_best_of_n", "the mean of the tokens for the likelihood",
       in_place_of("best-of-n", gpu::best_of_n<MeanOfTokens>)},
      {"sampler_power_smc", "weights without the proposal's score",
       in_place_of("power-smc", gpu::power_smc<ProposalLeftOut>)},
      {"sampler_exact_rejection", "the last token outlived whatever it is",
       in_place_of("exact-rejection", gpu::exact_rejection<LastTokenFree>)},
      {"sampler_exact_rejection", "the power left out of the survival",
       in_place_of("exact-rejection", gpu::exact_rejection<SurvivalByProbability>)},
      {"rejection_limited", "a proposal that the limit has no room for",
       in_place_of("exact-rejection", gpu::exact_rejection<RoomForOneToken>)},
      {"rejection_share", "tokens outlived whatever they are",
       in_place_of("exact-rejection", gpu::exact_rejection<AlwaysOutlived>)},
      {"sampler_truncating", "the fixed horizon in its place",
       in_place_of("power-sampling", gpu::parallel_power_tempering)},
      {"sampler_fixed_horizon", "one local move too many",
       in_place_of("fixed-horizon", one_move_more)},
      {"sampler_uncoupled", "the other rung",
       in_place_of("uncoupled-ladder", gpu::uncoupled_ladder<OtherRung>)},
      {"sampler_uncoupled", "swaps",
       in_place_of("uncoupled-ladder", gpu::parallel_power_tempering)},
      {"sampler_uncoupled", "the coldest rung for the likeliest",
       in_place_of("uncoupled-ladder-by-likelihood", gpu::uncoupled_ladder<gpu::ColdestRung>)},
      {"sampler_ppt", "one sweep less", in_place_of("ppt", one_sweep_less)},
  };
}

}  // namespace tempera::test
