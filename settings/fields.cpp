#include "settings/fields.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "gpu/core/sampler/tokenwise_sampling.hpp"

namespace tempera::gpu {

void SamplerSettings::require_room(std::size_t longest, const std::string& what) const {
  if (options.min_tokens > longest)
    throw BadInput("min_tokens",
                   "is " + std::to_string(options.min_tokens) + ", and " + what + " has at most " +
                       std::to_string(longest) + " tokens",
                   "lower it, or let answers be longer");
}

/// Checks that powers, particles and restarts are such as the sampler takes.
void SamplerSettings::check_sampler() const {
  const NamedSampler& named = sampler_named(sampler, "sampler");
  if (named.powers != NamedSampler::Powers::ladder && powers.size() != 1)
    throw BadInput("powers", sampler + " takes one power, not " + std::to_string(powers.size()),
                   "give one");
  if (named.powers == NamedSampler::Powers::base && powers.front() != 1.0)
    throw BadInput("powers", sampler + " sampling has power 1",
                   "leave them out, or take the sampler low-temperature");
  if (!named.takes_particles && particles != 0)
    throw BadInput("particles", sampler + " has none", "leave them out");
  if (!named.until_kept && most_tokens != 0)
    throw BadInput("most tokens", sampler + " takes a known number", "leave them out");
  if (named.until_kept && powers.front() < 1.0)
    throw BadInput("powers",
                   sampler +
                       " has no power below 1: Σ p^α would exceed 1, and no proposal survives "
                       "with more than certainty",
                   "give a power of at least 1, or take the sampler ppt");
  if (most_tokens != 0 && most_tokens < horizon)
    throw BadInput("most tokens",
                   "are " + std::to_string(most_tokens) + ", and a proposal can take " +
                       std::to_string(horizon) + ", so that none may begin",
                   "give at least the horizon");
  if (change_rows(options, 0) && !takes(named, Takes::tokens))
    throw BadInput("top_k, top_p, min_p, min_tokens, ignore_eos and penalties",
                   sampler + " takes none", "leave them out");
  require_room(horizon, "an answer");
  const bool restarts = !restart_weights.empty() || restart_range != RestartRange::horizon;
  if (!named.takes_local_moves && restarts)
    throw BadInput("restart weights and range", sampler + " takes none", "leave them out");
  if (named.takes_particles && (particles == 0 || particles > most_particles))
    throw BadInput("particles", "are " + std::to_string(particles),
                   "give 1 to " + std::to_string(most_particles));
}

Plan SamplerSettings::plan() const {
  const Ladder ladder(powers);
  check_sampler();
  if (output < 1 || output > ladder.rungs())
    throw BadInput("output rung", "is " + std::to_string(output),
                   "give one of the rungs 1 to " + std::to_string(ladder.rungs()));
  if (samples == 0) throw BadInput("samples", "is 0", "ask for at least 1");
  if (samples > addressable_samples)
    throw BadInput(
        "samples", "is " + std::to_string(samples),
        "ask for at most " + std::to_string(addressable_samples) + " answers to a prompt");
  Plan plan{make_stages(horizon, block, rounds, local_moves, sweeps),
            schedule,
            particles > 0 ? 0 : output - 1,  // particles are not at a rung of their own
            particles,
            restart_weights,
            restart_range,
            sampler_named(sampler, "sampler").until_kept,
            most_tokens};
  require_restart(plan, "restart weights and range");
  require_affordable(plan, plan.replicas(ladder));
  return plan;
}

SampleRequest SamplerSettings::request(std::vector<TokenId> prompt, PromptNumber number,
                                       std::optional<std::size_t> own_horizon,
                                       std::vector<TokenId> terminal,
                                       const std::string& where) const {
  SampleRequest request{Ladder(powers), plan(), std::move(terminal), std::move(prompt), number};
  if (own_horizon) {
    request.plan = cut_at(request.plan, *own_horizon, where);
    require_room(*own_horizon, "an answer to this prompt");
  }
  request.sampler = sampler_named(sampler, "sampler").program;
  request.seed = seed;
  request.samples = samples;
  request.stop = stop;
  request.options = options;
  return request;
}

bool takes(const NamedSampler& sampler, Takes needed) {
  switch (needed) {
    case Takes::always:
      return true;
    case Takes::temperature:
      return sampler.name == "low-temperature";
    case Takes::proposals:
      return sampler.until_kept;
    case Takes::tokens:
      return sampler.program == tokenwise_sampling;
    case Takes::particles:
      return sampler.takes_particles;
    case Takes::moves:
      return sampler.takes_moves;
    case Takes::swaps:
      return sampler.takes_swaps;
    case Takes::local_moves:
      return sampler.takes_local_moves;
    case Takes::output:
      return sampler.takes_output;
  }
  throw Bug("a setting needs what no sampler is asked about");
}

double in_range(double value, const field::Number& kind, const std::string& where) {
  const bool is_in = kind.is_above ? value > kind.least : value >= kind.least;
  if (is_in && value <= kind.most) return value;
  std::ostringstream range;
  range << "a number " << (kind.is_above ? "above " : "from ") << kind.least
        << (kind.is_above ? ", at most " : " to ") << kind.most;
  throw BadInput(where, "is not " + range.str(), "give one, or leave it out");
}

void take_said(const SamplerWish& wish, SamplerSettings& settings) {
  visit_fields([&](const auto& field) {
    if constexpr (std::remove_cvref_t<decltype(field)>::is_kept) {
      if (!says(wish, field)) return;
      const auto& said = member_of(wish, field.wish);
      if constexpr (requires { said.value(); })
        member_of(settings, field.kept) = *said;
      else
        member_of(settings, field.kept) = said;
    }
  });
}

std::string spelt(std::string_view key, Spelling spelling) {
  if (spelling == Spelling::keys) return std::string(key);
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

void refuse_without_effect(const SamplerWish& wish, const NamedSampler& sampler,
                           Spelling spelling) {
  visit_fields([&](const auto& field) {
    if (takes(sampler, field.takes) || !says(wish, field)) return;
    if (field.takes == Takes::tokens)
      throw BadInput(spelt(field.key, spelling),
                     "changes the law of each token, and " + std::string(sampler.name) +
                         " draws whole answers by a power of the model's own law",
                     "leave it out and give powers above 1 for likelier answers, or take the "
                     "sampler standard or low-temperature");
    throw BadInput(spelt(field.key, spelling),
                   "has no effect on the sampler " + std::string(sampler.name),
                   "leave it out, or name another with " + spelt("sampler", spelling));
  });
}

}  // namespace tempera::gpu
