// Restarts over the record's own positions, and restart weights: the compiled kernels and whole
// programs against reference/.
#include "base/error.hpp"
#include "lab/contest/kernel_comparison.hpp"
#include "lab/enumerate/own_model.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/program_law.hpp"
#include "lab/laws/question_kernels.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_restart_kernel.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::restart_range_test {

using namespace tempera;
using lab::Rational;
using lab::Real;

/// The factor is forgotten.
struct FactorDropped : gpu::RecordRestartRules {
  static double restart_log_factor(const gpu::RestartLaw&, std::size_t, std::size_t) { return 0.0; }
};

/// The factor is upside down.
struct FactorInverted : gpu::RecordRestartRules {
  static double restart_log_factor(const gpu::RestartLaw& law, std::size_t x_length,
                                   std::size_t y_length) {
    return gpu::RecordRestartRules::restart_log_factor(law, y_length, x_length);
  }
};

/// It is that of the uniform law, whatever the tickets are.
struct LengthsForTickets : gpu::RecordRestartRules {
  static double restart_log_factor(const gpu::RestartLaw&, std::size_t x_length,
                                   std::size_t y_length) {
    return gpu::logarithm(static_cast<double>(x_length)) -
           gpu::logarithm(static_cast<double>(y_length));
  }
};

/// Early rejection takes the proposal to be complete, or to last to the horizon.
struct EndedBound : gpu::RecordRestartRules {
  static double restart_log_factor_bound(const gpu::RestartLaw& law, std::size_t x_length,
                                         std::size_t) {
    return restart_log_factor(law, x_length, law.tickets().size());
  }
};

namespace {

struct Case {
  std::string model;
  std::size_t horizon;
  std::vector<std::uint64_t> tickets;
};

const std::vector<Case> cases{{"unequal_lengths", 5, {1, 1, 1, 1, 1}},
                              {"several_terminals", 3, {2, 7, 1}},
                              {"bimodal", 4, {5, 0, 1, 3}}};

/// The largest difference of a flow π(x)P(x, y) from the reference's on the model of the program's
/// own logits.
template <class Rules>
Real worst_flow(const Case& asked) {
  const lab::FiniteLogits logits(shipped(asked.model));
  const lab::CompiledSpace space(logits.enumerable(), asked.horizon);
  lab::CompiledKernel<Rules> kernel(space, gpu::Ladder({1.0, 3.0}), gpu::RestartLaw(asked.tickets));
  const reference::FixedHorizonSpace own(lab::own_model(logits.enumerable(), asked.horizon, "own"),
                                         asked.horizon);
  std::vector<Rational> weights(asked.tickets.begin(), asked.tickets.end());
  Real worst = 0;
  for (gpu::Rung k = 0; k < 2; ++k) {
    const reference::Power power{Rational(k == 0 ? 1 : 3)};
    const lab::Matrix exact =
        record_restart_kernel(own, power, reference::RestartLaw::in_parts(weights, asked.horizon));
    const lab::Matrix compiled = kernel.local_move(k);
    const reference::Law target = power_target(own, power);
    for (std::size_t x = 0; x < own.size(); ++x)
      for (std::size_t y = 0; y < own.size(); ++y)
        worst = std::max(
            worst, Real(abs(lab::to_real(Rational(target[x] * (compiled(x, y) - exact(x, y)))))));
  }
  CHECK(kernel.stale().empty());
  return worst;
}

template <class Rules>
bool early_rejection_differs(const Case& asked) {
  const lab::FiniteLogits logits(shipped(asked.model));
  const lab::CompiledSpace space(logits.enumerable(), asked.horizon);
  const gpu::Ladder ladder({1.0, 2.0, 6.0});
  lab::CompiledKernel<Rules> early(space, ladder, gpu::RestartLaw(asked.tickets));
  lab::CompiledKernel<Rules> whole(space, ladder, gpu::RestartLaw(asked.tickets));
  early.reject_early();
  try {
    for (gpu::Rung k = 0; k < 3; ++k)
      if (!(early.local_move(k) == whole.local_move(k))) return true;
  } catch (const Error&) {
    return true;
  }
  return false;
}

}  // namespace

// flow_bound (lab/defects/gallery.hpp): the factor adds to log R two logarithms of at most
// 4, each off by less than 2^-50.
TEST_CASE("the compiled move over the record's own positions is the reference's") {
  for (const Case& asked : cases) {
    CAPTURE(asked.model);
    CHECK(worst_flow<gpu::RecordRestartRules>(asked) < 1e-11);
    CHECK(worst_flow<FactorDropped>(asked) > 1e-4);
    CHECK(worst_flow<FactorInverted>(asked) > 1e-4);
    const bool is_uniform = asked.tickets == std::vector<std::uint64_t>(asked.horizon, 1);
    CHECK((worst_flow<LengthsForTickets>(asked) > 1e-4) != is_uniform);
    CHECK(worst_flow<gpu::PaperRules>(asked) > 1e-4);
  }
}

TEST_CASE("early rejection leaves the move over the record's own positions as it is") {
  bool caught = false;
  for (const Case& asked : cases) {
    CAPTURE(asked.model);
    CHECK_FALSE(early_rejection_differs<gpu::RecordRestartRules>(asked));
    caught = caught || early_rejection_differs<EndedBound>(asked);
  }
  CHECK(caught);
}

// The bounds are derived in lab/laws/shipped_laws.hpp.
TEST_CASE("the law of a ladder over the records' own positions") {
  const auto model = shipped("several_terminals");
  const lab::FiniteLogits logits(model);
  for (const auto schedule : {gpu::Schedule::adj, gpu::Schedule::deo}) {
    lab::LawQuestion question{2, {1.0, 2.0}, {Rational(1, 4), Rational(3, 4)}, schedule};
    const lab::Matrix paper = lab::compiled_law(logits.enumerable(), &model, question).matrix;
    question.restart_range = gpu::RestartRange::record;
    const lab::LawReport report = lab::compiled_law(logits.enumerable(), &model, question);
    CHECK(report.tv_own < 1e-11);
    CHECK(report.tv_one_step < 1e-11);
    CHECK(*report.worst_entry < 1e-6);
    CHECK(report.stale_records == 0);
    CHECK_FALSE(report.matrix == paper);
  }
  lab::LawQuestion question{2, {1.0}, {Rational(0), Rational(1)}};
  question.restart_range = gpu::RestartRange::record;
  CHECK_THROWS_AS(lab::compiled_law(logits.enumerable(), &model, question), tempera::BadInput);
}

TEST_CASE("whole programs with restart weights and either range have the reference's law") {
  lab::ProgramQuestion question{3, 2, {1, 3}, {{1, 1, 1}, {1, 1, 1}}};
  question.output = 1;
  question.restart_weights = {5, 1};
  for (const auto range : {gpu::RestartRange::horizon, gpu::RestartRange::record}) {
    question.restart_range = range;
    const lab::ProgramReport report = lab::tempering_program(shipped("unequal_lengths"), question);
    CHECK(report.tv_own < lab::program_bound);
    CHECK(report.stale_records == 0);
  }
  const auto law_of = [&](gpu::RestartRange range, std::vector<std::uint64_t> weights) {
    lab::ProgramQuestion other = question;
    other.restart_range = range;
    other.restart_weights = std::move(weights);
    return lab::outcomes_of_tempering(shipped("unequal_lengths"), other);
  };
  const auto weighted = law_of(gpu::RestartRange::horizon, {5, 1});
  CHECK_FALSE(weighted == law_of(gpu::RestartRange::record, {5, 1}));
  CHECK_FALSE(weighted == law_of(gpu::RestartRange::horizon, {}));
}

}  // namespace tempera::restart_range_test
