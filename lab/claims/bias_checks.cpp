#include "lab/claims/checks.hpp"
#include "reference/analysis/structural_bias.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/swap.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/model/record_count.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// The truncating ensemble of one use on the comparison space: its kernels, targets and one round.
struct TruncatingEnsemble {
  explicit TruncatingEnsemble(const ShippedUse& use)
      : space(use.model, use.horizon), round(Shape(use.powers.size(), space.size())) {
    for (const unsigned power : use.powers) {
      kernels.push_back(truncating_kernel(space, Power(Rational(power))));
      targets.push_back(power_target(space, Power(Rational(power))));
    }
    round.then_move(kernels);
    for (std::size_t k = 0; k + 1 < use.powers.size(); ++k)
      round.then_swap(k, truncating_swap_acceptance(space, Power(Rational(use.powers[k])),
                                                    Power(Rational(use.powers[k + 1]))));
  }
  std::vector<RungBias> bias(std::size_t h) const {
    std::vector<RungBias> rungs;
    for (std::size_t k = 0; k < kernels.size(); ++k)
      rungs.push_back(rung_bias(space, kernels[k], targets[k], h));
    return rungs;
  }

  ComparisonSpace space;
  std::vector<Matrix> kernels;
  std::vector<Law> targets;
  FactoredKernel round;
};

/// Uses whose joint comparison space is quick to enumerate.
bool is_small(const ShippedUse& use) {
  const Integer single = count_comparison_records(use.model, use.horizon);
  Integer joint = 1;
  for (std::size_t k = 0; k < use.powers.size(); ++k) joint *= single;
  return joint <= 700;
}

/// eq:ppt-joint-bias-lower and eq:ppt-output-bias-lower, at every threshold and N = 1..5, and the
/// identity of D_k: one local update lowers the mass of long records by the accepted crossings.
Verdict structural_bias(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    if (!is_small(use)) continue;
    const TruncatingEnsemble ensemble(use);
    const Law target = product_law(ensemble.targets);
    for (std::size_t h = 1; h < use.horizon; ++h) {
      const auto rungs = ensemble.bias(h);
      for (const RungBias& rung : rungs)
        count.expect(rung.confined, use.name + ": a short record grew");
      for (std::size_t k = 0; k < rungs.size(); ++k) {
        Rational long_before = 0;
        Rational long_after = 0;
        const Law after = FactoredKernel(ensemble.kernels[k]).apply(ensemble.targets[k]);
        for (std::size_t s = 0; s < ensemble.space.size(); ++s) {
          if (ensemble.space[s].length() <= h) continue;
          long_before += ensemble.targets[k][s];
          long_after += after[s];
        }
        count.expect(long_after == long_before - rungs[k].flow, use.name + ": crossing identity");
      }
      Law law = point_mass(target.size(), 0);
      for (unsigned n = 1; n <= 5; ++n) {
        law = ensemble.round.apply(law);
        count.expect(total_variation(law, target) >= joint_bias_bound(rungs, n),
                     use.name + ": joint bound, N = " + std::to_string(n));
        for (std::size_t k = 0; k < rungs.size(); ++k)
          count.expect(total_variation(marginal(law, ensemble.round.from(), k),
                                       ensemble.targets[k]) >= output_bias_bound(rungs, k, n),
                       use.name + ": rung bound, N = " + std::to_string(n));
      }
    }
  }
  return count.verdict("bounds and identities");
}

/// TV(Π P~, Π) >= (1/K) Σ φ_k.
Verdict shortening_flow(const Evidence& evidence) {
  Count count;
  bool positive = false;
  for (const ShippedUse& use : evidence.uses) {
    if (!is_small(use)) continue;
    const TruncatingEnsemble ensemble(use);
    const Law target = product_law(ensemble.targets);
    const Rational moved = total_variation(ensemble.round.apply(target), target);
    for (std::size_t h = 1; h < use.horizon; ++h) {
      const Rational bound = flow_bound(ensemble.bias(h));
      count.expect(moved >= bound, use.name);
      positive = positive || bound > 0;
    }
  }
  count.expect(positive, "no shipped model has a shortening flow");
  return count.verdict("flows");
}

Verdict truncating_one_way(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const ComparisonSpace space(use.model, use.horizon);
    const Matrix kernel = truncating_kernel(space, Power(Rational(use.powers.back())));
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y)
        count.expect(kernel(x, y) == 0 || space[y].length() <= space[x].length(),
                     use.name + ": " + space.name(x) + " | " + space.name(y));
  }
  return count.verdict("pairs of records");
}

}  // namespace

std::map<std::string, Check> bias_checks() {
  return {{"structural_bias", structural_bias},
          {"shortening_flow", shortening_flow},
          {"truncating_one_way", truncating_one_way}};
}

}  // namespace tempera::lab
