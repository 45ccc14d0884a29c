#include "lab/contest/kernel_comparison.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/decode_tokens.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_restart_kernel.hpp"
#include "reference/kernels/swap.hpp"
#include "reference/kernels/tokenwise_law.hpp"

namespace tempera::lab {
namespace {

using reference::FactoredKernel;
using reference::Law;
using reference::Rational;
using reference::Schedule;
using reference::Shape;

constexpr std::size_t most_moves = 1000;
constexpr unsigned gap_halvings = 24;

/// Σ_x law(x) tokens(x).
Rational expected(const Law& law, const std::vector<Rational>& tokens) {
  Rational sum = 0;
  for (std::size_t x = 0; x < law.size(); ++x) sum += law[x] * tokens[x];
  return sum;
}

/// A ladder that one of the kernels runs.
class Runner {
 public:
  Runner(const KernelContest& contest, const ComparedKernel& kernel)
      : shape_(contest.ladder.rungs(), contest.space.size()), local_sweep_(shape_) {
    reference::joint_size(shape_);
    std::vector<reference::Matrix> matrices;
    for (std::size_t k = 0; k < shape_.size(); ++k) {
      LocalKernel local = kernel.local(contest.space, contest.ladder[k]);
      targets_.push_back(power_target(contest.space, contest.ladder[k]));
      starts_.push_back(tokenwise_law(contest.space, contest.ladder[k]));
      tokens_.push_back(std::move(local.tokens));
      matrices.push_back(std::move(local.matrix));
    }
    local_sweep_.then_move(matrices);
    const bool layered = kernel.schedule == Schedule::deo;
    for (std::size_t number = 0; number < (layered ? 2 : 1); ++number) {
      FactoredKernel& step = steps_.emplace_back(local_sweep_);
      for (std::size_t k = layered ? number : 0; k + 1 < shape_.size(); k += layered ? 2 : 1)
        step.then_swap(k, reference::swap_acceptance(targets_[k], targets_[k + 1]));
    }
  }

  Law start() const { return reference::product_law(starts_); }
  Law after(const Law& law, std::size_t number) const {
    return steps_[number % steps_.size()].apply(law);
  }
  Rational tv(const Law& law) const {
    const std::size_t last = shape_.size() - 1;
    return reference::total_variation(reference::marginal(law, shape_, last), targets_[last]);
  }
  /// Expected decode tokens of the next move of every rung.
  Rational tokens(const Law& law) const {
    Rational sum = 0;
    for (std::size_t k = 0; k < shape_.size(); ++k)
      sum += expected(reference::marginal(law, shape_, k), tokens_[k]);
    return sum;
  }
  Rational tokens_at_equilibrium() const {
    Rational sum = 0;
    for (std::size_t k = 0; k < shape_.size(); ++k) sum += expected(targets_[k], tokens_[k]);
    return sum;
  }
  std::optional<reference::Bracket> gap() const {
    const std::size_t records = targets_.front().size();
    if (shape_.size() > 1 || records < 2 || records > gap_limit) return std::nullopt;
    const auto second =
        reference::second_eigenvalue(local_sweep_.matrix(), targets_.front(), gap_halvings);
    return reference::Bracket{1 - second.upper, 1 - second.lower};
  }

 private:
  Shape shape_;
  FactoredKernel local_sweep_;
  std::vector<Law> targets_, starts_;
  std::vector<std::vector<Rational>> tokens_;
  std::vector<FactoredKernel> steps_;
};

/// Moves until the budget is spent.
void spend(const Runner& runner, const Rational& budget, KernelFigures& row) {
  Law law = runner.start();
  Rational spent = 0;
  for (row.moves = 0; row.moves < most_moves; ++row.moves) {
    const Rational next = runner.tokens(law);
    const Law moved = runner.after(law, row.moves);
    if (spent + next > budget) {
      const Rational share = (budget - spent) / next;
      for (std::size_t x = 0; x < law.size(); ++x) law[x] += share * (moved[x] - law[x]);
      row.tv = runner.tv(law);
      return;
    }
    spent += next;
    law = moved;
  }
  throw BadInput(row.name, "does not spend the budget in 1000 moves",
                 "compare kernels that take more tokens");
}

}  // namespace

KernelComparison compare_kernels(const KernelContest& contest,
                                 const std::vector<ComparedKernel>& kernels) {
  KernelComparison comparison;
  for (const ComparedKernel& kernel : kernels) {
    const Runner runner(contest, kernel);
    if (comparison.rows.empty()) {
      Law law = runner.start();
      comparison.tv_start = runner.tv(law);
      for (std::size_t n = 0; n < contest.moves; ++n) {
        comparison.budget += runner.tokens(law);
        law = runner.after(law, n);
      }
    }
    KernelFigures row{kernel.name, runner.tokens_at_equilibrium(), 0, 0, runner.gap()};
    spend(runner, comparison.budget, row);
    comparison.rows.push_back(std::move(row));
  }
  return comparison;
}

ComparedKernel paper_kernel(Schedule schedule) {
  ComparedKernel kernel =
      restart_kernel("paper", reference::RestartLaw::uniform, reference::RestartRange::horizon);
  kernel.schedule = schedule;
  return kernel;
}

std::vector<Rational> equilibrium_weights(const KernelContest& contest) {
  std::vector<Rational> weights(contest.space.horizon());
  for (std::size_t k = 0; k < contest.ladder.rungs(); ++k) {
    const Law target = power_target(contest.space, contest.ladder[k]);
    for (std::size_t r = 1; r <= weights.size(); ++r) {
      const reference::Matrix moves =
          reference::fixed_horizon_kernel_at(contest.space, contest.ladder[k], r);
      for (std::size_t x = 0; x < target.size(); ++x)
        weights[r - 1] += target[x] * (1 - moves(x, x));
    }
  }
  const Rational largest = *std::max_element(weights.begin(), weights.end());
  if (largest == 0) return std::vector<Rational>(weights.size(), Rational(1));
  for (Rational& weight : weights) weight /= largest;
  return weights;
}

ComparedKernel restart_kernel(const std::string& name,
                              const std::function<reference::RestartLaw(std::size_t)>& law,
                              reference::RestartRange range) {
  return {name,
          [law, range](const reference::FixedHorizonSpace& space, const reference::Power& power) {
            const reference::RestartLaw restart = law(space.horizon());
            reference::DecodeTokens tokens(space.model(), power);
            LocalKernel local{local_kernel(space, power, restart, range), {}};
            for (std::size_t x = 0; x < space.size(); ++x)
              local.tokens.push_back(tokens.local_move(space[x], restart, range));
            return local;
          }};
}

}  // namespace tempera::lab
