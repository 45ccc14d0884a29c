#include "gpu/core/sampler/restart_law.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/kernels/swap.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// Expects a kernel in detailed balance with its target.
void expect_reversible(Count& count, const ShippedUse& use, const FixedHorizonSpace& space,
                       const Matrix& kernel, const Law& target) {
  const auto pair =
      first_violation_of_detailed_balance(FactoredKernel(kernel), target, token_counts(space));
  count.expect(!pair, pair ? use.name + ": " + space.name(pair->x) + " | " + space.name(pair->y)
                           : std::string());
}

/// prop:fixed-stage-invariance, first sentence: every L_{k,r}.
CheckResult local_reversible(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    for (const unsigned power : use.powers) {
      const Power alpha{Rational(power)};
      const Law target = power_target(space, alpha);
      for (std::size_t r = 1; r <= use.horizon; ++r)
        expect_reversible(
            count, use, space,
            context.functions.of<KernelFunctions>().fixed_horizon_kernel_at(space, alpha, r),
            target);
    }
  }
  return count.finding("kernels L_{k,r} in detailed balance");
}

/// Four restart laws over 1..T: the use's own, uniform, weights that grow with r, and T alone.
std::vector<RestartLaw> restart_laws(const ShippedUse& use) {
  std::vector<Rational> growing, last(use.horizon);
  for (std::size_t r = 1; r <= use.horizon; ++r)
    growing.push_back(Rational(2 * r) / Rational(use.horizon * (use.horizon + 1)));
  last.back() = 1;
  return {use.restart_law(), RestartLaw::uniform(use.horizon), RestartLaw(growing),
          RestartLaw(last)};
}

/// The same of Σ_r ω(r) L_{k,r}, which L_k must be, entry by entry.
CheckResult local_mixture(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const Power alpha{Rational(use.powers.back())};
    const Law target = power_target(space, alpha);
    std::vector<Matrix> at;
    for (std::size_t r = 1; r <= use.horizon; ++r)
      at.push_back(fixed_horizon_kernel_at(space, alpha, r));
    for (const RestartLaw& restart : restart_laws(use)) {
      const Matrix kernel =
          context.functions.of<KernelFunctions>().fixed_horizon_kernel(space, alpha, restart);
      expect_reversible(count, use, space, kernel, target);
      Matrix mixture(space.size(), space.size());
      for (std::size_t r = 1; r <= use.horizon; ++r)
        for (std::size_t x = 0; x < space.size(); ++x)
          for (std::size_t y = 0; y < space.size(); ++y)
            mixture(x, y) += restart(r) * at[r - 1](x, y);
      count.expect(kernel == mixture, use.name + ": not the mixture");
    }
  }
  return count.finding("mixtures: their entries and detailed balance");
}

/// Whether kernels made from the joint chain of each use leave Π invariant. One that moves nothing
/// would: some use must see one of them move a state.
CheckResult invariant(
    const CheckContext& context,
    const std::function<std::vector<FactoredKernel>(const ParallelTempering&)>& make) {
  Count count;
  bool moves = false;
  for (const ShippedUse& use : context.uses) {
    if (use.powers.size() < 2) continue;
    const FixedHorizonSpace space = use.space();
    const ParallelTempering chain(space, use.ladder(), use.restart_law());
    const Law target = context.functions.of<KernelFunctions>().product_target(chain);
    const auto tokens = token_counts(space, use.powers.size());
    for (const FactoredKernel& kernel : make(chain)) {
      count.expect(!first_violation_of_invariance(kernel, target, tokens), use.name);
      for (std::size_t s = 0; !moves && s < target.size(); ++s)
        moves = kernel.apply(point_mass(target.size(), s))[s] != 1;
    }
  }
  count.expect(moves, "no kernel moves any state");
  return count.finding("kernels leave the product target invariant");
}

CheckResult sweep_invariant(const CheckContext& context) {
  return invariant(context, [&](const ParallelTempering& chain) {
    return std::vector{context.functions.of<KernelFunctions>().local_sweep(chain)};
  });
}

CheckResult swap_invariant(const CheckContext& context) {
  return invariant(context, [&](const ParallelTempering& chain) {
    std::vector<FactoredKernel> swaps;
    for (std::size_t k = 1; k < chain.shape().size(); ++k)
      swaps.push_back(context.functions.of<KernelFunctions>().swap(chain, k));
    return swaps;
  });
}

CheckResult adj_invariant(const CheckContext& context) {
  return invariant(context, [&](const ParallelTempering& chain) {
    return std::vector{context.functions.of<KernelFunctions>().ordered_sweep(chain)};
  });
}

CheckResult deo_invariant(const CheckContext& context) {
  return invariant(context, [&](const ParallelTempering& chain) {
    return std::vector{context.functions.of<KernelFunctions>().odd_layer(chain),
                       context.functions.of<KernelFunctions>().even_layer(chain)};
  });
}

CheckResult transition_invariant(const CheckContext& context) {
  return invariant(context, [&](const ParallelTempering& chain) {
    const auto& transition = context.functions.of<KernelFunctions>().transition;
    return std::vector{transition(chain, 1, 1), transition(chain, 2, 3), transition(chain, 3, 0)};
  });
}

CheckResult transition_invariant_deo(const CheckContext& context) {
  return invariant(context, [&](const ParallelTempering& chain) {
    return std::vector{context.functions.of<KernelFunctions>().deo_transition(chain)};
  });
}

/// eq:theory-product-target: the marginals of Π are the rungs' targets.
CheckResult output_marginal(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const ParallelTempering chain(space, use.ladder(), use.restart_law());
    const Law target = context.functions.of<KernelFunctions>().product_target(chain);
    for (std::size_t k = 0; k < use.powers.size(); ++k)
      count.expect(
          marginal(target, chain.shape(), k) == power_target(space, Power(Rational(use.powers[k]))),
          use.name + ", rung " + std::to_string(k + 1));
  }
  return count.finding("marginals");
}

/// eq:swap-acceptance-theory: 1 ∧ (p0(x)/p0(y))^(α_{k+1} − α_k), from p0 and the powers alone.
CheckResult swap_ratio(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    for (std::size_t k = 0; k + 1 < use.powers.size(); ++k) {
      const Law lower = power_target(space, Power(Rational(use.powers[k])));
      const Law upper = power_target(space, Power(Rational(use.powers[k + 1])));
      const Matrix accepted = context.functions.of<KernelFunctions>().swap_acceptance(lower, upper);
      const unsigned gap = use.powers[k + 1] - use.powers[k];
      for (std::size_t x = 0; x < space.size(); ++x)
        for (std::size_t y = 0; y < space.size(); ++y) {
          const Rational ratio = integer_power(space.likelihood(x) / space.likelihood(y), gap);
          count.expect(accepted(x, y) == (ratio < 1 ? ratio : Rational(1)),
                       use.name + ": " + space.name(x) + " | " + space.name(y));
        }
    }
  }
  return count.finding("pairs of records");
}

}  // namespace

std::map<std::string, Check> exactness_invariance_checks() {
  return {{"local_reversible", local_reversible},
          {"local_mixture", local_mixture},
          {"sweep_invariant", sweep_invariant},
          {"swap_invariant", swap_invariant},
          {"adj_invariant", adj_invariant},
          {"deo_invariant", deo_invariant},
          {"transition_invariant", transition_invariant},
          {"transition_invariant_deo", transition_invariant_deo},
          {"output_marginal", output_marginal},
          {"swap_ratio", swap_ratio}};
}

}  // namespace tempera::lab
