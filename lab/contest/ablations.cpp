#include "lab/contest/ablations.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "reference/analysis/ladder_design.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/power_target.hpp"

namespace tempera::lab {
namespace {

using reference::Ladder;
using reference::Power;
using reference::Rational;
using reference::Schedule;

constexpr std::size_t most_rungs = 5;
constexpr std::size_t most_whole_powers = 64;

std::string powers_text(const Ladder& ladder) {
  std::string text;
  for (std::size_t k = 0; k < ladder.rungs(); ++k)
    text += (k == 0 ? "" : ",") + reference::to_string(ladder[k].value());
  return text;
}

/// The whole powers from the ladder's first to its last.
std::vector<Power> whole_powers(const Ladder& ladder) {
  const Rational lowest = ladder[0].value(), highest = ladder[ladder.rungs() - 1].value();
  if (denominator(lowest) != 1 || denominator(highest) != 1 || highest == lowest ||
      highest - lowest > Rational(most_whole_powers))
    throw BadInput("--powers", "do not span a range between two whole powers",
                   "ablations take other ladders of whole powers from it: 1,3,9");
  std::vector<Power> powers;
  for (Rational power = lowest; power <= highest; power += 1) powers.emplace_back(power);
  return powers;
}

/// The exact acceptance of swaps at the product target, each pair computed once.
reference::EdgeQuality acceptance_on(const reference::FixedHorizonSpace& space) {
  return [&space, known = std::map<std::pair<Rational, Rational>, Rational>{}](
             const Power& lower, const Power& upper) mutable {
    const auto [entry, is_new] = known.try_emplace({lower.value(), upper.value()});
    if (is_new)
      entry->second = reference::expected_swap_acceptance(power_target(space, lower),
                                                          power_target(space, upper));
    return entry->second;
  };
}

/// The mean of rows, number by number.
ExactRow mean_of(const std::vector<ExactRow>& rows) {
  ExactRow mean;
  const Rational count(rows.size());
  for (const ExactRow& row : rows) {
    mean.decode_tokens += row.decode_tokens / count;
    mean.tv += row.tv / count;
    mean.log_likelihood += row.log_likelihood / to_real(count);
    mean.open_probability += row.open_probability / count;
    if (row.answer_probability)
      mean.answer_probability =
          mean.answer_probability.value_or(0) + *row.answer_probability / count;
  }
  return mean;
}

ExactRow named(ExactRow row, const std::string& sampler, const std::string& effort) {
  row.sampler = sampler;
  row.effort = effort;
  return row;
}

/// One model's ablations around one schedule of PPT.
class Bench {
 public:
  Bench(const reference::FiniteModel& model, const ExactComparisonSettings& settings)
      : settings_(settings),
        candidates_(whole_powers(settings.ladder)),
        contest_(model, settings.horizon, settings.block, candidates_.back(), settings.local_moves),
        comparison_(compare_exactly(model, settings)),
        acceptance_(acceptance_on(contest_.space())) {}

  /// Rows of the comparison at matched compute.
  std::vector<ExactRow> compared(const std::vector<std::string>& samplers) const {
    std::vector<ExactRow> rows;
    for (const std::string& sampler : samplers)
      rows.push_back(*std::find_if(comparison_.rows.begin(), comparison_.rows.end(),
                                   [&](const ExactRow& row) { return row.sampler == sampler; }));
    return rows;
  }
  std::vector<ExactRow> replicas() const {
    std::vector<ExactRow> rows{tempering(Ladder({candidates_.back()}), "K = 1")};
    for (std::size_t k = 2; k <= std::min(most_rungs, candidates_.size()); ++k) {
      if (reference::joint_states_up_to(reference::joint_limit, contest_.space().size(), k) >
          reference::joint_limit)
        break;
      rows.push_back(tempering(maximin_ladder(candidates_, k, acceptance_).ladder,
                               "K = " + std::to_string(k)));
    }
    return rows;
  }
  std::vector<ExactRow> refinement() const {
    std::vector<ExactRow> rows;
    for (const std::size_t factor : {1U, 2U, 4U, 8U}) {
      const std::size_t rounds = factor * settings_.rounds;
      rows.push_back(
          named(contest_.tempering(settings_.ladder, rounds, settings_.sweeps, Schedule::adj),
                "ppt", rounds_text(rounds)));
    }
    return rows;
  }
  std::vector<ExactRow> ladders() const {
    std::map<Rational, ExactRow> by_middle;
    std::vector<ExactRow> all;
    for (std::size_t i = 1; i + 1 < candidates_.size(); ++i) {
      all.push_back(
          tempering(Ladder({candidates_.front(), candidates_[i], candidates_.back()}), ""));
      by_middle.emplace(candidates_[i].value(), all.back());
    }
    if (all.empty()) return {};
    std::vector<ExactRow> rows{
        named(mean_of(all), "random", "mean of " + std::to_string(all.size()))};
    const Rational lowest = candidates_.front().value(), highest = candidates_.back().value();
    const auto add = [&](const std::string& name, const auto& fits) {
      for (const auto& [middle, row] : by_middle)
        if (fits(middle)) rows.push_back(named(row, name, row.effort));
    };
    add("arithmetic", [&](const Rational& m) { return m - lowest == highest - m; });
    add("geometric", [&](const Rational& m) { return m * m == lowest * highest; });
    const Rational best = maximin_ladder(candidates_, 3, acceptance_).ladder[1].value();
    add("equi-accepting", [&](const Rational& m) { return m == best; });
    return rows;
  }
  std::vector<ExactRow> truncation() const {
    const std::string rounds = rounds_text(settings_.rounds);
    std::vector<ExactRow> rows{
        named(contest_.truncating(settings_.rounds), "power-sampling", rounds),
        named(contest_.single_chain(settings_.rounds), "fixed-horizon", rounds)};
    rows.push_back(compared({"ppt"}).front());
    return rows;
  }

 private:
  ExactRow tempering(const Ladder& ladder, const std::string& name) const {
    return named(contest_.tempering(ladder, settings_.rounds, settings_.sweeps, Schedule::adj),
                 name, "powers " + powers_text(ladder));
  }

  ExactComparisonSettings settings_;
  std::vector<Power> candidates_;
  Contest contest_;
  ExactComparison comparison_;
  reference::EdgeQuality acceptance_;
};

}  // namespace

std::vector<Ablation> ablations(const reference::FiniteModel& model,
                                const ExactComparisonSettings& settings,
                                const std::function<void(std::size_t)>& done) {
  const Bench bench(model, chosen(model, settings));
  std::vector<Ablation> all;
  const auto add = [&](const std::string& name, const std::string& label,
                       std::vector<ExactRow> rows) {
    all.push_back({name, label, std::move(rows)});
    if (done) done(all.size());
  };
  add("single chain", "tab:compute-matched-single-chain", bench.compared({"fixed-horizon", "ppt"}));
  add("uncoupled ladder", "tab:compute-matched-app",
      bench.compared({"uncoupled-ladder-by-likelihood", "uncoupled-ladder", "best-of-n", "ppt"}));
  add("schedule", "tab:deo-adj", bench.compared({"ppt, schedule deo", "ppt"}));
  add("replicas", "fig:replica_tradeoff", bench.replicas());
  add("refinement", "fig:local_update_ablation", bench.refinement());
  add("ladder", "fig:replica_tradeoff", bench.ladders());
  add("truncation", "tab:cold-replica-results", bench.truncation());
  return all;
}

}  // namespace tempera::lab
