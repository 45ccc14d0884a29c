// Early rejection is exact: with it the compiled kernels are the same rational matrices.
#include <stdexcept>

#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "lab/enumerate/compiled_kernel.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::early_rejection_test {

using namespace tempera;
using lab::Rational;

namespace {

/// Tokens that have one ticket at power 1, 2 or 3, for 1.35 that they should have: the rounding
/// raises their ζ to 0.3, where exact tickets would leave it at 0.
reference::FiniteModel model_of_rare_tokens() {
  reference::TokenRow row{Rational(1, 13'000'000'000'000), Rational(1, 3'600'000),
                          Rational(1, 23'500)};
  row.push_back(1 - row[0] - row[1] - row[2]);
  const reference::Vocabulary vocabulary({"a", "b", "c", "e"}, "rare");
  return reference::FiniteModel({"rare", vocabulary, {3}, {}, row}, "rare");
}

template <class Rules = gpu::PaperRules>
lab::Matrix kernel_of(const lab::CompiledSpace& space, const std::vector<double>& powers,
                      gpu::Rung k, bool early) {
  lab::CompiledKernel<Rules> kernel(space, gpu::Ladder(powers),
                                    gpu::RestartLaw::uniform(space.horizon()));
  if (early) kernel.reject_early();
  const lab::Matrix matrix = kernel.local_move(k);
  CHECK(kernel.stale().empty());
  return matrix;
}

/// Whether early rejection by these rules gives another matrix, or sees itself that it went wrong.
template <class Rules>
bool is_caught(const lab::CompiledSpace& space, const std::vector<double>& powers, gpu::Rung k) {
  try {
    return !(kernel_of<Rules>(space, powers, k, true) == kernel_of(space, powers, k, false));
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

/// The rounding of tickets to come is forgotten.
struct WithoutSlack : gpu::PaperRules {
  static double local_log_ratio_bound(double sum_y, double sum_x, std::size_t, double) {
    return sum_y - sum_x;
  }
};

/// It is taken off where it should be added.
struct SlackTakenOff : gpu::PaperRules {
  static double local_log_ratio_bound(double sum_y, double sum_x, std::size_t to_come,
                                      double power) {
    return (sum_y - sum_x) - static_cast<double>(to_come) * largest_log_z(power);
  }
};

/// The ratio upside down.
struct RecordsExchanged : gpu::PaperRules {
  static double local_log_ratio_bound(double sum_y, double sum_x, std::size_t to_come,
                                      double power) {
    return gpu::PaperRules::local_log_ratio_bound(sum_x, sum_y, to_come, power);
  }
};

TEST_CASE("early rejection leaves every entry of every local kernel as it is") {
  const auto [name, horizon] =
      GENERATE(table<std::string, std::size_t>({{"four_state", 4},
                                                {"unequal_lengths", 4},
                                                {"bimodal", 4},
                                                {"several_terminals", 3},
                                                {"zero_probabilities", 3},
                                                {"nearly_deterministic", 3},
                                                {"late_payoff", 4},
                                                {"four_tokens", 3}}));
  CAPTURE(name);
  const lab::FiniteLogits logits(shipped(name));
  const lab::CompiledSpace space(logits.enumerable(), horizon);
  const std::vector<double> powers{0.5, 1.0, 2.0, 6.0};
  for (gpu::Rung k = 0; k < powers.size(); ++k) {
    CAPTURE(k);
    CHECK(kernel_of(space, powers, k, true) == kernel_of(space, powers, k, false));
  }
}

TEST_CASE("early rejection is exact where the rounding of tickets raises the ratio") {
  const lab::FiniteLogits logits(model_of_rare_tokens());
  const lab::CompiledSpace space(logits.enumerable(), 2);
  const std::vector<double> powers{1.0, 2.0, 3.0};
  for (gpu::Rung k = 0; k < powers.size(); ++k) {
    CAPTURE(k);
    CHECK(kernel_of(space, powers, k, true) == kernel_of(space, powers, k, false));
    CHECK(is_caught<WithoutSlack>(space, powers, k));
  }
}

TEST_CASE("a bound of the wrong sign, and one of the wrong record, are caught") {
  const lab::FiniteLogits logits(shipped("four_state"));
  const lab::CompiledSpace space(logits.enumerable(), 3);
  CHECK_FALSE(is_caught<gpu::PaperRules>(space, {2.0, 4.0}, 0));
  // At power 4 every token costs more than the slack, so taking it off leaves a bound.
  CHECK(is_caught<SlackTakenOff>(space, {2.0, 4.0}, 0));
  for (const gpu::Rung k : {0, 1}) CHECK(is_caught<RecordsExchanged>(space, {2.0, 4.0}, k));
}

namespace {

gpu::Task tempering_early(gpu::Chain& run, const gpu::Plan& plan, gpu::Progress& progress,
                          gpu::Observer* observer) {
  run.options.early_rejection = true;
  return gpu::parallel_power_tempering(run, plan, progress, observer);
}

}  // namespace

TEST_CASE("early rejection leaves the law of the whole of Algorithm 1 as it is") {
  const lab::FiniteLogits logits(shipped("four_state"));
  const auto model = logits.enumerable();
  const auto [powers, horizon] =
      GENERATE(table<std::vector<double>, std::size_t>({{{1.0, 3.0}, 2}, {{6.0}, 4}}));
  const gpu::Ladder ladder(powers);
  const gpu::Plan plan{{{horizon - 1, 1, 1, 1}, {horizon, 1, 1, 1}}, gpu::Schedule::adj, 0};
  const auto early = lab::walk_every_path(tempering_early, model, ladder, plan);
  const auto whole = lab::walk_every_path(gpu::parallel_power_tempering, model, ladder, plan);
  CHECK(early.law == whole.law);
  CHECK(early.stale_records == 0);
  // Proposals do end early if a short record is followed by a long one.
  if (horizon > 2) CHECK(early.runs != whole.runs);
}

}  // namespace tempera::early_rejection_test
