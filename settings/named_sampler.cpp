#include "settings/named_sampler.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/nearest_name.hpp"
#include "gpu/core/sampler/best_of_n.hpp"
#include "gpu/core/sampler/exact_rejection.hpp"
#include "gpu/core/sampler/power_smc.hpp"
#include "gpu/core/sampler/tokenwise_sampling.hpp"
#include "gpu/core/sampler/uncoupled_ladder.hpp"

namespace tempera::gpu {
namespace {

using Powers = NamedSampler::Powers;

const std::array samplers{
    NamedSampler{"ppt", "Parallel Power Tempering, Algorithm 1", parallel_power_tempering,
                 Powers::ladder, false, true, true, true, true},
    NamedSampler{"standard", "tokens of the model itself", tokenwise_sampling, Powers::base},
    NamedSampler{"low-temperature", "tokens at temperature 1/power", tokenwise_sampling,
                 Powers::one},
    NamedSampler{"power-sampling", "Power Sampling as published: proposals cut at the record's end",
                 truncating_power_sampling, Powers::one, false, true},
    NamedSampler{"fixed-horizon", "its correction: Algorithm 1 on one rung",
                 parallel_power_tempering, Powers::one, false, true, true},
    NamedSampler{"power-smc", "particles, resampled by weight at the end of a block",
                 power_smc<PowerSmcRules>, Powers::one, true},
    NamedSampler{"ramped-smc", "power-smc whose power rises up the ladder, a rung for each block",
                 power_smc<PowerSmcRules>, Powers::ladder, true},
    NamedSampler{"exact-rejection", "exact draws: proposals until one survives all its tokens",
                 exact_rejection<RejectionRules>, Powers::one, false, false, false, false, false,
                 true},
    NamedSampler{"best-of-n", "the likeliest of independent answers", best_of_n<LikelihoodRules>,
                 Powers::one, true},
    NamedSampler{"uncoupled-ladder", "the ladder without swaps, its rung k*",
                 uncoupled_ladder<ColdestRung>, Powers::ladder, false, true, true, false, true},
    NamedSampler{"uncoupled-ladder-by-likelihood", "the ladder without swaps, its likeliest record",
                 uncoupled_ladder<LikeliestRung>, Powers::ladder, false, true, true},
};

}  // namespace

std::span<const NamedSampler> named_samplers() { return samplers; }

const NamedSampler& sampler_named(std::string_view name, std::string_view where) {
  const auto found =
      std::find_if(samplers.begin(), samplers.end(),
                   [&](const NamedSampler& sampler) { return sampler.name == name; });
  if (found != samplers.end()) return *found;
  std::vector<std::string_view> names;
  std::string list;
  for (const NamedSampler& sampler : samplers) {
    names.push_back(sampler.name);
    list += (list.empty() ? "" : ", ") + std::string(sampler.name);
  }
  const auto nearest = nearest_name(name, names);
  throw BadInput(std::string(where), "there is no sampler " + in_quotes(std::string(name)),
                 nearest ? "did you mean " + std::string(*nearest) + "?" : "give one of " + list);
}

}  // namespace tempera::gpu
