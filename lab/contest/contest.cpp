#include "lab/contest/contest.hpp"

#include "reference/analysis/answer_probability.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/exact_rejection.hpp"
#include "reference/kernels/likeliest_record.hpp"
#include "reference/kernels/power_smc.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/tokenwise_law.hpp"

namespace tempera::lab {
namespace {

using reference::Law;
using reference::Power;
using reference::Rational;
using reference::RecordSpace;

/// Σ_x law(x) log p0(x).
Real log_likelihood(const RecordSpace& space, const Law& law) {
  Real sum = 0;
  for (std::size_t x = 0; x < space.size(); ++x)
    if (law[x] != 0) sum += to_real(law[x]) * log(to_real(space.likelihood(x)));
  return sum;
}

ExactRow row_on(const RecordSpace& space, const Law& target, const Law& law,
                const Rational& tokens) {
  ExactRow told;
  told.decode_tokens = tokens;
  told.tv = reference::total_variation(law, target);
  told.log_likelihood = log_likelihood(space, law);
  told.answer_probability = reference::answer_probability(space, law);
  told.open_probability = reference::open_probability(space, law);
  return told;
}

}  // namespace

Contest::Contest(const reference::FiniteModel& model, std::size_t horizon, std::size_t block,
                 const Power& power, std::size_t local_moves)
    : model_(model),
      block_(block),
      local_moves_(local_moves),
      space_(model, horizon),
      wider_(model, horizon),
      power_(power),
      target_(power_target(space_, power)) {}

ExactRow Contest::row(const Law& law, const Rational& tokens) const {
  return row_on(space_, target_, law, tokens);
}

ExactRow Contest::tokenwise(const Power& power) const {
  const Law law = tokenwise_law(space_, power);
  return row(law, expected_length(space_, law));
}

ExactRow Contest::truncating(std::size_t rounds) const {
  const auto run =
      truncating_progressive_run(model_, horizon(), block_, power_, {{rounds, local_moves_, 0}});
  return row_on(wider_, power_target(wider_, power_), run.law, run.decode_tokens);
}

ExactRow Contest::single_chain(std::size_t rounds) const {
  const auto run = this->run(reference::Ladder({power_}), rounds, 0, reference::Schedule::adj);
  return row(run.law, run.decode_tokens);
}

ExactRow Contest::particles(std::size_t count) const {
  const auto exact = power_smc_law(space_, block_, power_, count);
  return row(exact.answer, exact.tokens);
}

ExactRow Contest::rejection() const {
  const auto one = rejection_law(space_, power_, horizon());
  return row(one.answer, one.tokens / one.drawn);
}

ExactRow Contest::best_of(std::size_t count) const {
  const Law one = base_law(space_);
  return row(likeliest_record_law(space_, std::vector<Law>(count, one)),
             Rational(count) * expected_length(space_, one));
}

ExactRow Contest::uncoupled(const reference::Ladder& ladder, std::size_t rounds,
                            bool by_likelihood) const {
  std::vector<Law> laws;
  Rational tokens = 0;
  for (std::size_t k = 0; k < ladder.rungs(); ++k) {
    const auto chain = run(reference::Ladder({ladder[k]}), rounds, 0, reference::Schedule::adj);
    laws.push_back(chain.law);
    tokens += chain.decode_tokens;
  }
  return row(by_likelihood ? likeliest_record_law(space_, laws) : laws.back(), tokens);
}

ExactRow Contest::tempering(const reference::Ladder& ladder, std::size_t rounds, std::size_t sweeps,
                            reference::Schedule schedule) const {
  const auto joint = run(ladder, rounds, sweeps, schedule);
  const std::size_t rungs = ladder.rungs();
  return row(reference::marginal(joint.law, reference::Shape(rungs, space_.size()), rungs - 1),
             joint.decode_tokens);
}

reference::ProgressiveRun Contest::run(const reference::Ladder& ladder, std::size_t rounds,
                                       std::size_t sweeps, reference::Schedule schedule) const {
  return progressive_run(model_, horizon(), block_, ladder, {{rounds, local_moves_, sweeps}},
                         schedule);
}

}  // namespace tempera::lab
