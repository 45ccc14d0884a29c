#include "reference/report/carried_report.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "reference/analysis/carried_laws.hpp"
#include "reference/model/record_count.hpp"

namespace tempera::reference {
namespace {

constexpr std::size_t small_states = 4;

std::vector<std::size_t> records_of(std::size_t state, std::size_t rungs, std::size_t records) {
  std::vector<std::size_t> coordinates(rungs);
  for (std::size_t k = rungs; k-- > 0; state /= records) coordinates[k] = state % records;
  return coordinates;
}

std::string name_of(const RecordTree& tree, std::size_t state, std::size_t rungs) {
  std::string name;
  for (const std::size_t record : records_of(state, rungs, tree.size()))
    name += (name.empty() ? "" : "|") + tree.name(record);
  return name;
}

std::size_t start_state(const RecordTree& tree, std::size_t rungs, const Start& start) {
  const std::string& text = start.text;
  const auto given = static_cast<std::size_t>(std::count(text.begin(), text.end(), '|')) + 1;
  if (given != rungs)
    throw BadInput(start.where, "the joint state has " + std::to_string(given) + " records",
                   "give one for each of the " + std::to_string(rungs) + " rungs, joined by '|'");
  std::size_t state = 0;
  for (std::size_t k = 0, begin = 0; k < rungs; ++k) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    state = state * tree.size() + tree.parse(text.substr(begin, end - begin), start.where);
    begin = end + 1;
  }
  return state;
}

void judge_reversibility(CarriedReport& report, const CarriedTempering& kernels,
                         const CarriedChain& chain) {
  report.reversible = chain.is_palindrome();
  if (report.reversible) return;
  std::vector<std::size_t> tokens(chain.size());
  for (std::size_t state = 0; state < chain.size(); ++state)
    for (const std::size_t x : records_of(state, kernels.rungs(), kernels.tree().size()))
      tokens[state] += kernels.tree().length(x);
  const auto pair = violation_among_small_states(kernels, chain, tokens, small_states);
  if (!pair) return;
  report.reversible = false;
  report.unbalanced = {name_of(kernels.tree(), pair->x, kernels.rungs()),
                       name_of(kernels.tree(), pair->y, kernels.rungs()), pair->forward_flow,
                       pair->reverse_flow};
}

}  // namespace

bool is_carried(const FiniteModel& model, std::size_t horizon, std::size_t rungs) {
  const Integer records = count_fixed_horizon_records(model, horizon);
  if (records > record_limit) return true;
  Integer size = 1;
  for (std::size_t k = 0; k < rungs; ++k) size *= records;
  return rungs > 1 && size > joint_limit;
}

CarriedReport report_carried(const FiniteModel& model, const Ladder& ladder, Schedule schedule,
                             const ExactQuestion& asked) {
  if (asked.range == RestartRange::record)
    throw BadInput(
        "restart range",
        "the record's own positions are for spaces whose matrix fits, and this is larger",
        "lower the horizon or take the range horizon");
  const RestartLaw restart = asked.restart ? *asked.restart : RestartLaw::uniform(asked.horizon);
  const CarriedTempering kernels(model, asked.horizon, ladder, restart);
  const RecordTree& tree = kernels.tree();
  std::optional<std::size_t> start;
  if (asked.start) start = start_state(tree, ladder.rungs(), *asked.start);
  const CarriedChain chain =
      schedule == Schedule::adj ? kernels.transition(1, 1) : kernels.deo_transition();

  CarriedReport report;
  report.records = tree.size();
  report.size = chain.size();
  if (tree.size() <= listed_limit) {
    for (std::size_t x = 0; x < tree.size(); ++x) {
      report.states.push_back(tree.name(x));
      report.base.push_back(tree.likelihoods()[tree.likelihood(x)]);
      if (ladder.rungs() == 1) report.target.push_back(kernels.target(x));
    }
  }
  report.invariant = is_invariant(kernels, chain);
  judge_reversibility(report, kernels, chain);
  report.irreducible = chain.is_irreducible();
  report.swap_acceptance = kernels.swap_acceptances();
  if (!start) return report;
  std::vector<CarriedChain> steps{chain};
  if (schedule == Schedule::deo) {
    steps = {kernels.local_sweep(), kernels.local_sweep()};
    steps[0].then(kernels.odd_layer());
    steps[1].then(kernels.even_layer());
  }
  report.total_variation = total_variation_curve(kernels, steps, *start, asked.steps);
  return report;
}

}  // namespace tempera::reference
