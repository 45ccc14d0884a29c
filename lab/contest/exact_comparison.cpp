#include "lab/contest/exact_comparison.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "reference/model/record_count.hpp"
#include "settings/resolve.hpp"

namespace tempera::lab {
namespace {

using reference::Power;
using reference::Rational;
using reference::Schedule;

constexpr std::size_t most_effort = 64;
constexpr std::size_t most_particle_states = 20'000;
constexpr std::size_t longest_chosen_horizon = 4;
constexpr std::size_t most_chosen_states = 2048;

std::size_t most_particles(std::size_t records) {
  std::size_t most = 1;
  while (most < most_effort && reference::joint_states_up_to(most_particle_states, records,
                                                             most + 1) <= most_particle_states)
    ++most;
  return most;
}

std::size_t chosen_horizon(const reference::FiniteModel& model, std::size_t rungs) {
  const auto is_small = [&](std::size_t horizon) {
    try {
      const reference::Integer records = count_fixed_horizon_records(model, horizon);
      return records <= reference::record_limit &&
             reference::joint_states_up_to(most_chosen_states, static_cast<std::size_t>(records),
                                           rungs) <= most_chosen_states;
    } catch (const BadInput&) {
      return false;  // the model has no rows for records that long
    }
  };
  std::size_t horizon = 1;
  while (horizon < longest_chosen_horizon && is_small(horizon + 1)) ++horizon;
  return horizon;
}

std::string particles_text(std::size_t count) { return "N = " + std::to_string(count); }

/// A sampler of the comparison: what it does at an effort, and which efforts it may take.
struct Contender {
  std::string sampler;
  std::function<ExactRow(std::size_t)> run;
  std::string (*effort)(std::size_t);  ///< none if there is nothing to choose
  enum class Chooses {
    nothing,
    effort,   ///< the least that takes the tokens of PPT
    schedule  ///< that of PPT
  } chooses;
  std::size_t most = 1;  ///< the greatest effort

  std::map<std::size_t, ExactRow> known = {};

  const ExactRow& at(std::size_t amount) {
    const auto [entry, is_new] = known.try_emplace(amount);
    ExactRow& row = entry->second;
    if (!is_new) return row;
    row = run(amount);
    row.sampler = sampler;
    if (effort != nullptr) row.effort = effort(amount);
    return row;
  }
};

std::vector<Contender> contenders(const Contest& contest, const ExactComparisonSettings& settings) {
  using Chooses = Contender::Chooses;
  const reference::Ladder& ladder = settings.ladder;
  const auto tempering = [&](Schedule schedule) {
    return [&, schedule](std::size_t rounds) {
      return contest.tempering(ladder, rounds, settings.sweeps, schedule);
    };
  };
  const auto uncoupled = [&](bool by_likelihood) {
    return [&, by_likelihood](std::size_t rounds) {
      return contest.uncoupled(ladder, rounds, by_likelihood);
    };
  };
  const auto tokenwise = [&](const Power& power) {
    return [&, power](std::size_t) { return contest.tokenwise(power); };
  };
  std::vector<Contender> all{
      {"standard", tokenwise(Power(Rational(1))), nullptr, Chooses::nothing},
      {"low-temperature", tokenwise(ladder[ladder.rungs() - 1]), nullptr, Chooses::nothing},
      {"power-sampling", [&](std::size_t rounds) { return contest.truncating(rounds); },
       rounds_text, Chooses::effort, most_effort},
      {"fixed-horizon", [&](std::size_t rounds) { return contest.single_chain(rounds); },
       rounds_text, Chooses::effort, most_effort},
      {"power-smc", [&](std::size_t count) { return contest.particles(count); }, particles_text,
       Chooses::effort, most_particles(contest.space().size())},
      {"best-of-n", [&](std::size_t count) { return contest.best_of(count); }, particles_text,
       Chooses::effort, most_effort},
      {"uncoupled-ladder", uncoupled(false), rounds_text, Chooses::schedule},
      {"uncoupled-ladder-by-likelihood", uncoupled(true), rounds_text, Chooses::schedule},
      {"ppt", tempering(Schedule::adj), rounds_text, Chooses::schedule},
      {"ppt, schedule deo", tempering(Schedule::deo), rounds_text, Chooses::schedule}};
  if (ladder[ladder.rungs() - 1].value() >= 1)
    all.push_back({"exact-rejection", [&](std::size_t) { return contest.rejection(); }, nullptr,
                   Chooses::nothing});
  return all;
}

bool chooses_effort(const Contender& contender) {
  return contender.chooses == Contender::Chooses::effort;
}

/// The row at matched compute.
ExactRow matched(Contender& contender, std::size_t rounds, const Rational& budget) {
  for (std::size_t effort = chooses_effort(contender) ? 1 : rounds;; ++effort) {
    ExactRow row = contender.at(effort);
    row.matched = row.decode_tokens >= budget;
    if (row.matched || !chooses_effort(contender) || effort == contender.most) return row;
  }
}

/// Growing efforts until one takes `budget` tokens; of those that keep PPT's schedule, from its
/// rounds to `multiple` times as many.
ExactCurve followed(Contender& contender, std::size_t rounds, const Rational& budget,
                    std::size_t multiple) {
  ExactCurve curve{contender.sampler, {}};
  if (chooses_effort(contender)) {
    for (std::size_t effort = 1;; effort += std::max<std::size_t>(1, effort / 4)) {
      effort = std::min(effort, contender.most);
      curve.rows.push_back(contender.at(effort));
      if (curve.rows.back().decode_tokens >= budget || effort == contender.most) return curve;
    }
  }
  curve.rows.push_back(contender.at(rounds));
  if (contender.chooses == Contender::Chooses::schedule)
    for (std::size_t factor = 2; factor <= multiple; factor *= 2)
      curve.rows.push_back(contender.at(factor * rounds));
  return curve;
}

}  // namespace

std::string rounds_text(std::size_t rounds) {
  return std::to_string(rounds) + (rounds == 1 ? " round" : " rounds");
}

ExactComparisonSettings chosen(const reference::FiniteModel& model,
                               const ExactComparisonSettings& settings) {
  ExactComparisonSettings all = settings;
  if (all.horizon == 0) all.horizon = chosen_horizon(model, all.ladder.rungs());
  if (all.block == 0) all.block = gpu::defaults::exact_block(all.horizon);
  return all;
}

ExactComparison compare_exactly(const reference::FiniteModel& model,
                                const ExactComparisonSettings& asked,
                                const std::function<void(const ExactRow&)>& done) {
  const ExactComparisonSettings settings = chosen(model, asked);
  const reference::Ladder& ladder = settings.ladder;
  const Contest contest(model, settings.horizon, settings.block, ladder[ladder.rungs() - 1],
                        settings.local_moves);
  ExactComparison comparison{model.name(),
                             settings.horizon,
                             settings.block,
                             contest.space().size(),
                             contest.target(),
                             {},
                             {}};
  auto all = contenders(contest, settings);
  Contender& ppt = *std::find_if(all.begin(), all.end(),
                                 [](const Contender& one) { return one.sampler == "ppt"; });
  const Rational budget = ppt.at(settings.rounds).decode_tokens;
  const std::size_t multiple = settings.curve_multiple;
  const Rational farthest =
      multiple == 0 ? budget : ppt.at(multiple * settings.rounds).decode_tokens;
  for (Contender& contender : all) {
    comparison.rows.push_back(matched(contender, settings.rounds, budget));
    if (done) done(comparison.rows.back());
    if (multiple > 0)
      comparison.curves.push_back(followed(contender, settings.rounds, farthest, multiple));
  }
  return comparison;
}

}  // namespace tempera::lab
