#include "lab/laws/law.hpp"

#include <limits>

#include "base/error.hpp"
#include "lab/laws/question_kernels.hpp"
#include "lab/laws/stationary_law.hpp"
#include "reference/kernels/parallel_tempering.hpp"

namespace tempera::lab {
namespace {

std::vector<Real> to_reals(const reference::Law& law) {
  std::vector<Real> reals;
  for (const Rational& probability : law) reals.push_back(to_real(probability));
  return reals;
}

/// ⊗ of one law per rung, first rung most significant.
std::vector<Real> product_of(const std::vector<std::vector<Real>>& laws) {
  std::vector<Real> product{1};
  for (const std::vector<Real>& law : laws) {
    std::vector<Real> next;
    for (const Real& left : product)
      for (const Real& right : law) next.push_back(left * right);
    product = std::move(next);
  }
  return product;
}

std::vector<std::string> joint_names(const CompiledSpace& space, std::size_t rungs) {
  std::vector<std::string> names{""};
  for (std::size_t k = 0; k < rungs; ++k) {
    std::vector<std::string> next;
    for (const std::string& name : names)
      for (std::size_t s = 0; s < space.size(); ++s)
        next.push_back(k == 0 ? space.name(s) : name + "|" + space.name(s));
    names = std::move(next);
  }
  return names;
}

/// The exact matrix of reference/, irrational powers of probabilities rounded; nothing if a power
/// has no such fraction as reference/ raises to.
std::optional<reference::Matrix> exact_matrix(const reference::FiniteModel& model,
                                              const LawQuestion& question) {
  std::vector<Rational> exact = question.exact_powers;
  if (exact.empty())
    for (const double power : question.powers) exact.emplace_back(power);
  std::vector<reference::Power> powers;
  try {
    for (const Rational& power : exact)
      powers.emplace_back(power, "power", reference::Irrational::rounded);
  } catch (const BadInput&) {
    return std::nullopt;
  }
  const reference::FixedHorizonSpace space(model, question.horizon);
  const reference::RestartLaw restart = question.restart.empty()
                                            ? reference::RestartLaw::uniform(question.horizon)
                                            : reference::RestartLaw(question.restart);
  const reference::ParallelTempering chain(space, reference::Ladder(powers), restart,
                                           question.restart_range == gpu::RestartRange::record
                                               ? reference::RestartRange::record
                                               : reference::RestartRange::horizon);
  return question.schedule == gpu::Schedule::adj ? chain.transition(1, 1).matrix()
                                                 : chain.deo_transition().matrix();
}

std::vector<Real> likelihoods_of(const reference::FiniteModel& model, std::size_t horizon) {
  const reference::FixedHorizonSpace space(model, horizon);
  std::vector<Real> likelihoods;
  for (std::size_t s = 0; s < space.size(); ++s)
    likelihoods.push_back(to_real(space.likelihood(s)));
  return likelihoods;
}

Real largest_difference(const reference::Matrix& a, const reference::Matrix& b) {
  Real largest = 0;
  for (std::size_t x = 0; x < a.rows(); ++x)
    for (std::size_t y = 0; y < a.columns(); ++y)
      largest = std::max(largest, Real(abs(to_real(a(x, y)) - to_real(b(x, y)))));
  return largest;
}

Real one_step_variation(const std::vector<Real>& law, const reference::Matrix& matrix) {
  std::vector<Real> next(law.size(), 0);
  for (std::size_t x = 0; x < law.size(); ++x)
    for (std::size_t y = 0; y < law.size(); ++y)
      if (matrix(x, y) != 0) next[y] += law[x] * to_real(matrix(x, y));
  return total_variation(next, law);
}

}  // namespace

Real total_variation(const std::vector<Real>& mu, const std::vector<Real>& nu) {
  Real sum = 0;
  for (std::size_t s = 0; s < mu.size(); ++s) sum += abs(mu[s] - nu[s]);
  return sum / 2;
}

LawReport compiled_law(const EnumerableModel& model, const reference::FiniteModel* rational,
                       const LawQuestion& question, const LawProgress& begins) {
  if (question.horizon == 0)
    throw BadInput("horizon", "is 0", "give a horizon of at least 1 token");
  const gpu::Ladder ladder(question.powers);
  const CompiledSpace space(model, question.horizon, law_limit);
  joint_states(space, ladder.rungs(), law_limit, "whose law is solved for");
  QuestionKernels kernel(space, ladder, question);

  // A matrix for each rung and edge, the joint step, its law, the exact matrix.
  const std::size_t steps = 2 * ladder.rungs() - 1 + 3;
  std::size_t done = 0;
  const auto begin = [&](const std::string& name) {
    if (begins) begins(done, steps, name);
    ++done;
  };
  std::vector<reference::Matrix> local;
  std::vector<reference::Matrix> swap;
  for (gpu::Rung k = 0; k < ladder.rungs(); ++k) {
    begin("local moves of rung " + std::to_string(k + 1));
    local.push_back(kernel.local_move(k));
  }
  for (gpu::Rung k = 0; k + 1 < ladder.rungs(); ++k) {
    begin("swaps of rungs " + std::to_string(k + 1) + " and " + std::to_string(k + 2));
    swap.push_back(kernel.swap(k));
  }

  LawReport report;
  report.states = joint_names(space, ladder.rungs());
  begin("one step of the chain");
  report.matrix = joint_step(local, swap, question.schedule);
  begin("its stationary law");
  try {
    report.stationary = exact_stationary_law(report.matrix);
  } catch (const ReducibleChain&) {
    throw BadInput("restart law", "the chain does not connect its states, so it has no one law",
                   "give restart position 1 a probability above 0");
  }
  report.stale_records = kernel.stale_records();

  std::vector<std::vector<Real>> own;
  std::vector<std::vector<Real>> target;
  const std::vector<Real> likelihoods =
      rational == nullptr ? std::vector<Real>{} : likelihoods_of(*rational, question.horizon);
  for (const double power : question.powers) {
    own.push_back(space.own_target(power));
    target.push_back(rational == nullptr ? own.back() : power_of(likelihoods, power));
  }
  const std::vector<Real> own_target = product_of(own);
  const std::vector<Real> stationary = to_reals(report.stationary);
  report.tv_own = total_variation(stationary, own_target);
  report.tv_to_target = total_variation(stationary, product_of(target));
  report.tv_one_step = one_step_variation(own_target, report.matrix);
  begin("comparison with reference/");
  if (rational != nullptr) {
    const auto exact = exact_matrix(*rational, question);
    if (exact) report.worst_entry = largest_difference(report.matrix, *exact);
  }
  return report;
}

}  // namespace tempera::lab
