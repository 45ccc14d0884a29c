#include "lab/claims/checks.hpp"
#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/analysis/irreducibility.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// prop:fixed-stage-invariance, first sentence: every L_{k,r}, and their mixture.
Verdict local_reversible(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    const auto tokens = token_counts(space);
    for (const unsigned power : use.powers) {
      const Power alpha{Rational(power)};
      const Law target = power_target(space, alpha);
      const auto check = [&](const Matrix& kernel) {
        const auto pair =
            first_violation_of_detailed_balance(FactoredKernel(kernel), target, tokens);
        count.expect(
            !pair, pair ? use.name + ": " + space.name(pair->x) + " | " + space.name(pair->y) : "");
      };
      for (std::size_t r = 1; r <= use.horizon; ++r)
        check(fixed_horizon_kernel_at(space, alpha, r));
      check(fixed_horizon_kernel(space, alpha, use.restart_law()));
    }
  }
  return count.verdict("kernels in detailed balance");
}

/// Whether kernels made from the joint chain of each use leave Π invariant.
Verdict invariant(
    const Evidence& evidence,
    const std::function<std::vector<FactoredKernel>(const ParallelTempering&)>& make) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    if (use.powers.size() < 2) continue;
    const FixedHorizonSpace space = use.space();
    const ParallelTempering chain(space, use.ladder(), use.restart_law());
    const auto tokens = token_counts(space, use.powers.size());
    for (const FactoredKernel& kernel : make(chain))
      count.expect(!first_violation_of_invariance(kernel, chain.target(), tokens), use.name);
  }
  return count.verdict("kernels leave the product target invariant");
}

Verdict sweep_invariant(const Evidence& evidence) {
  return invariant(evidence,
                   [](const ParallelTempering& chain) { return std::vector{chain.local_sweep()}; });
}

Verdict swap_invariant(const Evidence& evidence) {
  return invariant(evidence, [](const ParallelTempering& chain) {
    std::vector<FactoredKernel> swaps;
    for (std::size_t k = 1; k < chain.shape().size(); ++k) swaps.push_back(chain.swap(k));
    return swaps;
  });
}

Verdict adj_invariant(const Evidence& evidence) {
  return invariant(
      evidence, [](const ParallelTempering& chain) { return std::vector{chain.ordered_sweep()}; });
}

Verdict deo_invariant(const Evidence& evidence) {
  return invariant(evidence, [](const ParallelTempering& chain) {
    return std::vector{chain.odd_layer(), chain.even_layer()};
  });
}

Verdict transition_invariant(const Evidence& evidence) {
  return invariant(evidence, [](const ParallelTempering& chain) {
    return std::vector{chain.transition(1, 1), chain.transition(2, 3), chain.transition(3, 0)};
  });
}

Verdict transition_invariant_deo(const Evidence& evidence) {
  return invariant(evidence, [](const ParallelTempering& chain) {
    return std::vector{chain.even_odd_transition()};
  });
}

/// eq:theory-product-target: the marginals of Π are the rungs' targets.
Verdict output_marginal(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    const ParallelTempering chain(space, use.ladder(), use.restart_law());
    for (std::size_t k = 0; k < use.powers.size(); ++k)
      count.expect(marginal(chain.target(), chain.shape(), k) ==
                       power_target(space, Power(Rational(use.powers[k]))),
                   use.name + ", rung " + std::to_string(k + 1));
  }
  return count.verdict("marginals");
}

/// eq:swap-acceptance-theory as a product: Π(σX)/Π(X) = (p0(x)/p0(y))^(α_{k+1} − α_k).
Verdict swap_ratio(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    for (std::size_t k = 0; k + 1 < use.powers.size(); ++k) {
      const Law lower = power_target(space, Power(Rational(use.powers[k])));
      const Law upper = power_target(space, Power(Rational(use.powers[k + 1])));
      const unsigned gap = use.powers[k + 1] - use.powers[k];
      for (std::size_t x = 0; x < space.size(); ++x)
        for (std::size_t y = 0; y < space.size(); ++y)
          count.expect(lower[y] * upper[x] * integer_power(space.likelihood(y), gap) ==
                           lower[x] * upper[y] * integer_power(space.likelihood(x), gap),
                       use.name + ": " + space.name(x) + " | " + space.name(y));
    }
  }
  return count.verdict("pairs of records");
}

/// thm:fixed-horizon-convergence on every use: irreducible, R >= εΠ, and TV within (1 − ε)^N.
Verdict convergence_bound_check(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    const ParallelTempering chain(space, use.ladder(), use.restart_law());
    const Rational epsilon = full_restart_weight(space, use.ladder(), use.restart_law());
    const Law target = chain.target();
    const FactoredKernel round = chain.transition(1, use.powers.size() > 1 ? 1 : 0);
    count.expect(epsilon > 0 && is_irreducible(round), use.name + ": irreducible");
    const std::size_t last = target.size() - 1;
    for (const std::size_t start : {std::size_t{0}, last}) {
      const Law after = chain.local_sweep().apply(point_mass(target.size(), start));
      bool covered = true;
      for (std::size_t s = 0; s < target.size(); ++s)
        covered = covered && after[s] >= epsilon * target[s];
      count.expect(covered, use.name + ": minorization");
      const auto curve = total_variation_curve({round}, start, target, 4);
      for (unsigned n = 1; n < curve.size(); ++n)
        count.expect(curve[n] <= convergence_bound(epsilon, n, curve[0]),
                     use.name + ", N = " + std::to_string(n));
    }
  }
  return count.verdict("bounds, from the first and the last state");
}

/// eq:ord-up, eq:ord-down, K(1 + R), 2K(1 + R) against the chains' hitting times.
Verdict round_trip(const Evidence&) {
  Count count;
  const std::vector<Rational> menu{Rational(1),     Rational(1, 2), Rational(1, 3),
                                   Rational(9, 10), Rational(1, 7), Rational(3, 4)};
  for (std::size_t edges = 1; edges <= 7; ++edges) {
    for (std::size_t shift = 0; shift < menu.size(); ++shift) {
      EdgeAcceptances a;
      for (std::size_t k = 0; k < edges; ++k) a.push_back(menu[(shift + k * k) % menu.size()]);
      const RoundTrip chain = ordered_round_trip(a);
      const RoundTrip formula = ordered_round_trip_formula(a);
      const Rational deo = even_odd_round_trip(a).total();
      count.expect(chain.up == formula.up && chain.down == formula.down &&
                       deo == even_odd_round_trip_formula(a) && deo == 2 * chain.total(),
                   "K = " + std::to_string(edges + 1));
    }
  }
  return count.verdict("ladders of 2 to 8 rungs");
}

}  // namespace

std::map<std::string, Check> kernel_checks() {
  return {{"local_reversible", local_reversible},
          {"sweep_invariant", sweep_invariant},
          {"swap_invariant", swap_invariant},
          {"adj_invariant", adj_invariant},
          {"deo_invariant", deo_invariant},
          {"transition_invariant", transition_invariant},
          {"transition_invariant_deo", transition_invariant_deo},
          {"output_marginal", output_marginal},
          {"swap_ratio", swap_ratio},
          {"convergence_bound", convergence_bound_check},
          {"round_trip", round_trip}};
}

}  // namespace tempera::lab
