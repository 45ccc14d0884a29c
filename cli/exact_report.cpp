#include "cli/exact_report.hpp"

#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/analysis/irreducibility.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/truncating_kernel.hpp"

namespace tempera::cli {
namespace {

using namespace reference;
using Json = nlohmann::ordered_json;

Json fractions(const std::vector<Rational>& values) {
  Json list = Json::array();
  for (const Rational& value : values) list.push_back(to_string(value));
  return list;
}

Json fractions(const Matrix& matrix) {
  Json rows = Json::array();
  for (std::size_t x = 0; x < matrix.rows(); ++x) {
    Json row = Json::array();
    for (std::size_t y = 0; y < matrix.columns(); ++y) row.push_back(to_string(matrix(x, y)));
    rows.push_back(std::move(row));
  }
  return rows;
}

// A chain, its claimed target, and how its states are called and sized.
struct Claim {
  const FactoredKernel& chain;
  const Law& target;
  const std::vector<std::string>& names;
  const std::vector<std::size_t>& tokens;
};

void judge(ExactReport& report, const Claim& claim, const char* balance_field) {
  const auto moved = first_violation_of_invariance(claim.chain, claim.target, claim.tokens);
  if (moved) {
    report.findings.push_back("not invariant: one step changes the mass of (" +
                              claim.names[moved->state] + ") from " + to_string(moved->before) +
                              " to " + to_string(moved->after));
  }
  const auto pair = first_violation_of_detailed_balance(claim.chain, claim.target, claim.tokens);
  if (pair) {
    report.findings.push_back("not reversible: (" + claim.names[pair->x] + ") -> (" +
                              claim.names[pair->y] + ") flows " + to_string(pair->forward_flow) +
                              ", back " + to_string(pair->reverse_flow));
  }
  report.json["invariant"] = !moved;
  report.json[balance_field] = !pair;
  report.json["irreducible"] = is_irreducible(claim.chain);
}

template <class Space>
ExactReport report_one_rung(const Space& space, const Power& power, const char* kernel_name,
                            const Matrix& kernel, const std::optional<std::size_t>& start,
                            std::size_t steps) {
  const FiniteModel& model = space.model();
  const Law target = power_target(space, power);
  const auto names = space.names();
  const auto tokens = token_counts(space);
  const FactoredKernel chain(kernel);

  ExactReport report;
  report.title = model.name() + ", horizon " + std::to_string(space.horizon()) + ", power " +
                 to_string(power.value()) + ", " + kernel_name + " kernel";
  report.json["model"] = model.name();
  report.json["horizon"] = space.horizon();
  report.json["power"] = to_string(power.value());
  report.json["kernel"] = kernel_name;
  report.json["states"] = names;
  report.json["base"] = fractions(base_law(space));
  report.json["target"] = fractions(target);
  report.json["matrix"] = fractions(kernel);
  judge(report, {chain, target, names, tokens}, "detailed_balance");
  report.json["tv"] =
      start ? fractions(total_variation_curve({chain}, *start, target, steps)) : Json::array();
  return report;
}

// Before anything that takes time.
std::optional<std::size_t> start_record(const RecordSpace& space, const ExactQuestion& asked) {
  if (!asked.start) return std::nullopt;
  return space.parse(*asked.start, "--start");
}

RestartLaw restart_law(const ExactQuestion& asked) {
  return asked.restart ? *asked.restart : RestartLaw::uniform(asked.horizon);
}

}  // namespace

ExactReport report_fixed_horizon(const FiniteModel& model, const Power& power,
                                 const ExactQuestion& asked) {
  const FixedHorizonSpace space(model, asked.horizon);
  const auto start = start_record(space, asked);
  const Matrix kernel = fixed_horizon_kernel(space, power, restart_law(asked));
  return report_one_rung(space, power, "fixed", kernel, start, asked.steps);
}

ExactReport report_truncating(const FiniteModel& model, const Power& power,
                              const ExactQuestion& asked) {
  const ComparisonSpace space(model, asked.horizon);
  const auto start = start_record(space, asked);
  const Matrix kernel = truncating_kernel(space, power);
  return report_one_rung(space, power, "truncating", kernel, start, asked.steps);
}

ExactReport report_joint(const FiniteModel& model, const Ladder& ladder, Schedule schedule,
                         const ExactQuestion& asked) {
  const FixedHorizonSpace space(model, asked.horizon);
  std::optional<std::size_t> start;
  if (asked.start) start = parse_joint_state(space, ladder.rungs(), *asked.start, "--start");
  const ParallelTempering kernels(space, ladder, restart_law(asked));
  const Law target = kernels.target();
  const auto names = joint_names(space, ladder.rungs());
  const auto tokens = token_counts(space, ladder.rungs());
  const FactoredKernel chain =
      schedule == Schedule::ordered ? kernels.transition(1, 1) : kernels.even_odd_transition();

  ExactReport report;
  report.title = model.name() + ", horizon " + std::to_string(asked.horizon) + ", powers ";
  for (std::size_t k = 0; k < ladder.rungs(); ++k) {
    if (k > 0) report.title += ',';
    report.title += to_string(ladder[k].value());
  }
  report.title += schedule == Schedule::ordered ? ", schedule adj" : ", schedule deo";
  report.json["states"] = space.names();
  judge(report, {chain, target, names, tokens}, "reversible");
  report.json["swap_acceptance"] =
      ladder.rungs() == 1 ? Json::array() : fractions(diagnose_ladder(space, ladder).acceptances);
  report.json["tv"] = Json::array();
  if (start) {
    std::vector<FactoredKernel> steps{chain};
    if (schedule == Schedule::even_odd) {
      steps = {kernels.local_sweep(), kernels.local_sweep()};
      steps[0].then(kernels.odd_layer());
      steps[1].then(kernels.even_layer());
    }
    report.json["tv"] = fractions(total_variation_curve(steps, *start, target, asked.steps));
  }
  return report;
}

}  // namespace tempera::cli
