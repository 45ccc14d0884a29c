#include "lab/exact_comparison.hpp"

#include "reference/analysis/total_variation.hpp"
#include "reference/bad_input.hpp"
#include "reference/kernels/likeliest_record.hpp"
#include "reference/kernels/power_smc.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/tokenwise_law.hpp"
#include "reference/model/record_count.hpp"

namespace tempera::lab {
namespace {

using reference::ComparisonSpace;
using reference::FixedHorizonSpace;
using reference::Law;
using reference::Power;
using reference::Rational;
using reference::Schedule;

constexpr std::size_t most_effort = 64;
constexpr std::size_t most_particle_states = 20'000;
constexpr std::size_t longest_chosen_horizon = 4;
constexpr std::size_t most_chosen_states = 2048;

std::size_t particle_states(std::size_t records, std::size_t coordinates) {
  std::size_t states = 1;
  for (std::size_t k = 0; k < coordinates; ++k) {
    if (states > most_particle_states) return states;
    states *= records;
  }
  return states;
}

std::size_t chosen_horizon(const reference::FiniteModel& model, std::size_t rungs) {
  const auto is_small = [&](std::size_t horizon) {
    try {
      const reference::Integer records = count_fixed_horizon_records(model, horizon);
      return records <= reference::record_limit &&
             particle_states(static_cast<std::size_t>(records), rungs) <= most_chosen_states;
    } catch (const reference::BadInput&) {
      return false;  // the model has no rows for records that long
    }
  };
  std::size_t horizon = 1;
  while (horizon < longest_chosen_horizon && is_small(horizon + 1)) ++horizon;
  return horizon;
}

/// Σ_x law(x) log p0(x).
Real log_likelihood(const reference::RecordSpace& space, const Law& law) {
  Real sum = 0;
  for (std::size_t x = 0; x < space.size(); ++x)
    if (law[x] != 0) sum += to_real(law[x]) * log(to_real(space.likelihood(x)));
  return sum;
}

/// The samplers on one model, each at one effort.
class Contest {
 public:
  Contest(const reference::FiniteModel& model, const ExactComparisonSettings& settings)
      : model_(model),
        settings_(settings),
        space_(model, settings.horizon),
        wider_(model, settings.horizon),
        sharpest_(settings.ladder[settings.ladder.rungs() - 1]),
        target_(power_target(space_, sharpest_)) {}

  const FixedHorizonSpace& space() const { return space_; }
  Real target_log_likelihood() const { return log_likelihood(space_, target_); }

  ExactRow tokenwise(const Power& power) const {
    const Law law = tokenwise_law(space_, power);
    return row(law, expected_length(space_, law));
  }
  ExactRow truncating(std::size_t rounds) const {
    const auto run = truncating_progressive_run(model_, settings_.horizon, settings_.block,
                                                sharpest_, schedule(rounds, 0));
    ExactRow told = row(power_target(wider_, sharpest_), wider_, run.law);
    told.decode_tokens = run.decode_tokens;
    return told;
  }
  ExactRow single_chain(std::size_t rounds) const {
    const auto run = chain(sharpest_, rounds);
    return row(run.law, run.decode_tokens);
  }
  ExactRow particles(std::size_t count) const {
    const auto exact = power_smc_law(space_, settings_.block, sharpest_, count);
    return row(exact.answer, exact.tokens);
  }
  ExactRow best_of(std::size_t count) const {
    const Law one = base_law(space_);
    return row(likeliest_record_law(space_, std::vector<Law>(count, one)),
               Rational(count) * expected_length(space_, one));
  }
  ExactRow uncoupled(bool by_likelihood) const {
    std::vector<Law> laws;
    Rational tokens = 0;
    for (std::size_t k = 0; k < settings_.ladder.rungs(); ++k) {
      const auto run = chain(settings_.ladder[k], settings_.rounds);
      laws.push_back(run.law);
      tokens += run.decode_tokens;
    }
    return row(by_likelihood ? likeliest_record_law(space_, laws) : laws.back(), tokens);
  }
  ExactRow tempering(Schedule sweeps) const {
    const auto run = progressive_run(model_, settings_.horizon, settings_.block, settings_.ladder,
                                     schedule(settings_.rounds, settings_.sweeps), sweeps);
    const std::size_t rungs = settings_.ladder.rungs();
    return row(reference::marginal(run.law, reference::Shape(rungs, space_.size()), rungs - 1),
               run.decode_tokens);
  }

 private:
  std::vector<reference::StageSchedule> schedule(std::size_t rounds, std::size_t sweeps) const {
    return {{rounds, settings_.local_moves, sweeps}};
  }
  reference::ProgressiveRun chain(const Power& power, std::size_t rounds) const {
    return progressive_run(model_, settings_.horizon, settings_.block, reference::Ladder({power}),
                           schedule(rounds, 0));
  }
  static ExactRow row(const Law& target, const reference::RecordSpace& space, const Law& law) {
    ExactRow told;
    told.tv = reference::total_variation(law, target);
    told.log_likelihood = log_likelihood(space, law);
    return told;
  }
  ExactRow row(const Law& law, const Rational& tokens) const {
    ExactRow told = row(target_, space_, law);
    told.decode_tokens = tokens;
    return told;
  }

  const reference::FiniteModel& model_;
  const ExactComparisonSettings& settings_;
  FixedHorizonSpace space_;
  ComparisonSpace wider_;
  Power sharpest_;
  Law target_;
};

/// The row of the least effort, from 1 to `most`, that takes at least `budget` tokens; else of the
/// most.
template <class Run>
ExactRow least_effort(const Rational& budget, std::size_t most, const char* name, const Run& run) {
  for (std::size_t effort = 1;; ++effort) {
    ExactRow row = run(effort);
    row.matched = row.decode_tokens >= budget;
    if (!row.matched && effort < most) continue;
    row.effort = name == std::string("N")
                     ? "N = " + std::to_string(effort)
                     : std::to_string(effort) + " " + name + (effort == 1 ? "" : "s");
    return row;
  }
}

}  // namespace

ExactComparison compare_exactly(const reference::FiniteModel& model,
                                const ExactComparisonSettings& asked,
                                const std::function<void(const ExactRow&)>& done) {
  ExactComparisonSettings settings = asked;
  const std::size_t rungs = settings.ladder.rungs();
  if (settings.horizon == 0) settings.horizon = chosen_horizon(model, rungs);
  if (settings.block == 0) settings.block = (settings.horizon + 1) / 2;
  const Contest contest(model, settings);
  ExactComparison comparison{settings.horizon,
                             settings.block,
                             contest.space().size(),
                             contest.target_log_likelihood(),
                             {}};
  const auto add = [&](ExactRow row, const std::string& name) {
    row.sampler = name;
    comparison.rows.push_back(std::move(row));
    if (done) done(comparison.rows.back());
  };
  ExactRow ppt = contest.tempering(Schedule::ordered);
  ppt.matched = true;
  const Rational budget = ppt.decode_tokens;
  const auto as_ppt = [&](ExactRow row) {
    row.effort = std::to_string(settings.rounds) + (settings.rounds == 1 ? " round" : " rounds");
    row.matched = row.decode_tokens >= budget;
    return row;
  };
  std::size_t most_particles = 1;
  while (most_particles < most_effort &&
         particle_states(contest.space().size(), most_particles + 1) <= most_particle_states)
    ++most_particles;

  add(contest.tokenwise(Power(Rational(1))), "standard");
  add(contest.tokenwise(settings.ladder[rungs - 1]), "low-temperature");
  add(least_effort(budget, most_effort, "round",
                   [&](std::size_t rounds) { return contest.truncating(rounds); }),
      "power-sampling");
  add(least_effort(budget, most_effort, "round",
                   [&](std::size_t rounds) { return contest.single_chain(rounds); }),
      "fixed-horizon");
  add(least_effort(budget, most_particles, "N",
                   [&](std::size_t count) { return contest.particles(count); }),
      "power-smc");
  add(least_effort(budget, most_effort, "N",
                   [&](std::size_t count) { return contest.best_of(count); }),
      "best-of-n");
  add(as_ppt(contest.uncoupled(false)), "uncoupled-ladder");
  add(as_ppt(contest.uncoupled(true)), "uncoupled-ladder-by-likelihood");
  add(as_ppt(std::move(ppt)), "ppt");
  add(as_ppt(contest.tempering(Schedule::even_odd)), "ppt, schedule deo");
  return comparison;
}

}  // namespace tempera::lab
