#include <algorithm>

#include "gpu/core/sampler/sweep.hpp"
#include "lab/claims/bound_functions.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/irreducibility.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// ε = Π_k ω(1) min_y q_k^full(y) / π_k(y), with q^full from the rows.
Rational epsilon_of(const ShippedUse& use) {
  const FixedHorizonSpace space = use.space();
  Rational epsilon = 1;
  for (const unsigned power : use.powers) {
    const Power alpha{Rational(power)};
    const Law target = power_target(space, alpha);
    std::vector<Rational> ratios;
    for (std::size_t y = 0; y < space.size(); ++y) {
      Rational full = 1;
      const std::span<const Token> tokens = space[y].tokens;
      for (std::size_t t = 0; t < tokens.size(); ++t)
        full *= token_proposal(use.model.token_row(tokens.first(t)), alpha)[tokens[t]];
      ratios.push_back(full / target[y]);
    }
    epsilon *= use.restart_law()(1) * *std::min_element(ratios.begin(), ratios.end());
  }
  return epsilon;
}

/// From which joint states a law is followed: all of a small chain, else the first and the last.
std::vector<std::size_t> starts_among(std::size_t states) {
  if (states > 100) return {0, states - 1};
  std::vector<std::size_t> starts(states);
  for (std::size_t s = 0; s < states; ++s) starts[s] = s;
  return starts;
}

/// R(X, Y) >= ε Π(Y) with the paper's ε, which is positive if ω(1) is.
CheckResult minorization(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const ParallelTempering chain(use.space(), use.ladder(), use.restart_law());
    const Rational epsilon = context.functions.of<BoundFunctions>().full_restart_weight(
        use.space(), use.ladder(), use.restart_law());
    count.expect(epsilon == epsilon_of(use) && (epsilon > 0) == (use.restart_law()(1) > 0),
                 use.name + ": epsilon");
    const Law target = chain.target();
    const FactoredKernel sweep = context.functions.of<KernelFunctions>().local_sweep(chain);
    for (const std::size_t start : starts_among(target.size())) {
      const Law after = sweep.apply(point_mass(target.size(), start));
      bool covered = true;
      for (std::size_t s = 0; s < target.size(); ++s)
        covered = covered && after[s] >= epsilon * target[s];
      count.expect(covered, use.name + ": row " + std::to_string(start));
    }
  }
  return count.finding("rows of local sweeps, and the epsilons");
}

/// thm:fixed-horizon-convergence: Π is invariant under a round that is irreducible, so it is the
/// one invariant law; and TV(μ_N^(k), π_k) <= TV(μ_N, Π) <= (1 − ε)^N TV(μ_0, Π).
CheckResult convergence(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const ParallelTempering chain(space, use.ladder(), use.restart_law());
    const Rational left_over = 1 - epsilon_of(use);
    const Law target = chain.target();
    const FactoredKernel round =
        context.functions.of<KernelFunctions>().transition(chain, 1, use.powers.size() > 1 ? 1 : 0);
    count.expect(is_irreducible(round) && round.apply(target) == target,
                 use.name + ": the one invariant law");
    for (const std::size_t start : {std::size_t{0}, target.size() - 1}) {
      Law law = point_mass(target.size(), start);
      const Rational initial = context.functions.of<BoundFunctions>().total_variation(law, target);
      for (unsigned n = 1; n <= 4; ++n) {
        law = round.apply(law);
        const std::string where = use.name + ", N = " + std::to_string(n);
        const Rational bound = integer_power(left_over, n) * initial;
        const Rational joint = context.functions.of<BoundFunctions>().total_variation(law, target);
        count.expect(context.functions.of<BoundFunctions>().convergence_bound(1 - left_over, n,
                                                                              initial) == bound,
                     where + ": the bound");
        count.expect(joint <= bound, where + ": the ensemble");
        for (std::size_t k = 0; k < use.powers.size(); ++k)
          count.expect(context.functions.of<BoundFunctions>().total_variation(
                           marginal(law, chain.shape(), k), chain.rung_target(k)) <= joint,
                       where + ": rung " + std::to_string(k + 1));
      }
    }
  }
  return count.finding("bounds and laws, from the first and the last state");
}

}  // namespace

std::map<std::string, Check> exactness_convergence_checks() {
  return {{"minorization", minorization}, {"convergence", convergence}};
}

}  // namespace tempera::lab
