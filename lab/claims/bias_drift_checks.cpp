#include <algorithm>

#include "gpu/core/sampler/sweep.hpp"
#include "lab/claims/bound_functions.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/claims/truncated_metropolis.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/structural_bias.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/swap.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// The truncating ensemble of one use on its comparison space, as evidence.judged has it.
struct TruncatingEnsemble {
  TruncatingEnsemble(const ShippedUse& use, const FunctionsUnderTest& functions)
      : space(use.model, use.horizon), shape(use.powers.size(), space.size()) {
    for (const unsigned power : use.powers) {
      const Power alpha{Rational(power)};
      targets.push_back(power_target(space, alpha));
      kernels.push_back(functions.of<KernelFunctions>().truncating_kernel(space, alpha));
    }
    FactoredKernel moves(shape);
    moves.then_move(kernels);
    sweep.push_back(moves);
    for (std::size_t k = 0; k + 1 < use.powers.size(); ++k) {
      FactoredKernel one(shape);
      one.then_swap(k,
                    functions.of<KernelFunctions>().truncating_swap_acceptance(
                        space, Power(Rational(use.powers[k])), Power(Rational(use.powers[k + 1]))));
      swaps.push_back(one);
    }
  }

  /// V(X), the number of records longer than h.
  std::size_t long_records(std::size_t state, std::size_t h) const {
    std::size_t number = 0;
    for (const std::size_t x : coordinates(shape, state)) number += space[x].length() > h ? 1 : 0;
    return number;
  }
  /// E V under a joint law.
  Rational mean_long_records(const Law& law, std::size_t h) const {
    Rational mean = 0;
    for (std::size_t state = 0; state < law.size(); ++state)
      mean += law[state] * Rational(long_records(state, h));
    return mean;
  }
  Rational into_short(std::size_t rung, std::size_t x, std::size_t h) const {
    Rational sum = 0;
    for (std::size_t y = 0; y < space.size(); ++y)
      if (space[y].length() <= h) sum += kernels[rung](x, y);
    return sum;
  }

  ComparisonSpace space;
  Shape shape;
  std::vector<Matrix> kernels;
  std::vector<Law> targets;
  std::vector<FactoredKernel> sweep, swaps;
};

/// Calls each(use, ensemble) for the uses whose joint comparison space has at most 400 states.
template <class Each>
void on_small_ensembles(const CheckContext& context, Each&& each) {
  for (const ShippedUse& use : context.uses) {
    const std::size_t single = ComparisonSpace(use.model, use.horizon).size();
    std::size_t joint = 1;
    for (std::size_t k = 0; k < use.powers.size() && joint <= 400; ++k) joint *= single;
    if (joint <= 400) each(use, TruncatingEnsemble(use, context.functions));
  }
}

/// sec:truncation-lower-bound: swaps preserve V at every threshold, whatever they accept.
CheckResult swaps_preserve_count(const CheckContext& context) {
  Count count;
  bool moves = false;
  on_small_ensembles(context, [&](const ShippedUse& use, const TruncatingEnsemble& ensemble) {
    for (const FactoredKernel& swap : ensemble.swaps)
      for (std::size_t state = 0; state < joint_size(ensemble.shape); ++state) {
        const auto row = swap.row_numerators(state);
        bool kept = true;
        for (std::size_t to = 0; to < row.size(); ++to) {
          if (row[to] == 0) continue;
          moves = moves || to != state;
          for (std::size_t h = 1; h < use.horizon; ++h)
            kept = kept && ensemble.long_records(to, h) == ensemble.long_records(state, h);
        }
        count.expect(kept, use.name + ", state " + std::to_string(state));
      }
  });
  count.expect(moves, "no swap moves any state");
  return count.seen("rows of swaps that keep V");
}

/// sec:fixed-horizon: whatever was swapped, no local update lengthens any record, so a round never
/// raises the number of records longer than h, for any h.
CheckResult swapped_keep_budget(const CheckContext& context) {
  Count count;
  bool carried = false;
  on_small_ensembles(context, [&](const ShippedUse& use, const TruncatingEnsemble& ensemble) {
    FactoredKernel round(ensemble.shape);
    for (const FactoredKernel& swap : ensemble.swaps) round.then(swap);
    round.then(ensemble.sweep.front());
    for (std::size_t state = 0; state < joint_size(ensemble.shape); ++state) {
      const auto row = round.row_numerators(state);
      bool kept = true;
      for (std::size_t to = 0; to < row.size(); ++to) {
        if (row[to] == 0) continue;
        for (std::size_t h = 1; h < use.horizon; ++h)
          kept = kept && ensemble.long_records(to, h) <= ensemble.long_records(state, h);
        // A short record has come to the rung where a longer one was.
        const auto before = coordinates(ensemble.shape, state);
        const auto after = coordinates(ensemble.shape, to);
        carried =
            carried || (before.size() > 1 &&
                        ensemble.space[before[1]].length() < ensemble.space[before[0]].length() &&
                        ensemble.space[after[0]].length() == ensemble.space[before[1]].length() &&
                        ensemble.space[after[1]].length() == ensemble.space[before[0]].length());
      }
      count.expect(kept, use.name + ", state " + std::to_string(state));
    }
  });
  count.expect(carried, "no short record is swapped to a lower rung");
  return count.seen("rows of rounds that lengthen nothing");
}

/// sec:truncation-lower-bound: E_Π V = Σ b_k; the first local sweep lowers it by Σ φ_k exactly, and
/// the round by at least that.
CheckResult mean_count_drop(const CheckContext& context) {
  Count count;
  bool falls = false;
  on_small_ensembles(context, [&](const ShippedUse& use, const TruncatingEnsemble& ensemble) {
    const Law target = product_law(ensemble.targets);
    const Law swept = ensemble.sweep.front().apply(target);
    Law after = ensemble.sweep.front().apply(swept);
    for (const FactoredKernel& swap : ensemble.swaps) after = swap.apply(after);
    for (std::size_t h = 1; h < use.horizon; ++h) {
      Rational excluded = 0, flow = 0;
      for (std::size_t k = 0; k < ensemble.kernels.size(); ++k) {
        const RungBias bias = context.functions.of<BoundFunctions>().rung_bias(
            ensemble.space, ensemble.kernels[k], ensemble.targets[k], h);
        excluded += bias.excluded_mass;
        flow += bias.flow;
      }
      const std::string where = use.name + ", h = " + std::to_string(h);
      const Rational at_target = ensemble.mean_long_records(target, h);
      count.expect(at_target == excluded, where + ": E V at the target");
      count.expect(at_target - ensemble.mean_long_records(swept, h) == flow,
                   where + ": the drop of one sweep");
      count.expect(at_target - ensemble.mean_long_records(after, h) >= flow,
                   where + ": the drop of a round of two sweeps");
      falls = falls || flow > 0;
    }
  });
  count.expect(falls, "E V never falls");
  return count.seen("means of V and their drops");
}

/// sec:truncation-lower-bound: at Π some record is long with probability 1 - Π (1 - b_k).
CheckResult joint_long_mass(const CheckContext& context) {
  Count count;
  on_small_ensembles(context, [&](const ShippedUse& use, const TruncatingEnsemble& ensemble) {
    const Law target = product_law(ensemble.targets);
    for (std::size_t h = 1; h < use.horizon; ++h) {
      Rational all_short = 1, long_mass = 0;
      for (std::size_t k = 0; k < ensemble.kernels.size(); ++k)
        all_short *= 1 - context.functions.of<BoundFunctions>()
                             .rung_bias(ensemble.space, ensemble.kernels[k], ensemble.targets[k], h)
                             .excluded_mass;
      for (std::size_t state = 0; state < target.size(); ++state)
        if (ensemble.long_records(state, h) > 0) long_mass += target[state];
      count.expect(long_mass == 1 - all_short, use.name + ", h = " + std::to_string(h));
    }
  });
  return count.seen("masses of ensembles with a long record");
}

/// sec:truncation-lower-bound: a positive sum of the flows φ_k implies Π P-tilde ≠ Π.
CheckResult flow_moves_target(const CheckContext& context) {
  Count count;
  on_small_ensembles(context, [&](const ShippedUse& use, const TruncatingEnsemble& ensemble) {
    const Law target = product_law(ensemble.targets);
    Law after = ensemble.sweep.front().apply(target);
    for (const FactoredKernel& swap : ensemble.swaps) after = swap.apply(after);
    for (std::size_t h = 1; h < use.horizon; ++h) {
      Rational flow = 0;
      for (std::size_t k = 0; k < ensemble.kernels.size(); ++k)
        flow += context.functions.of<BoundFunctions>()
                    .rung_bias(ensemble.space, ensemble.kernels[k], ensemble.targets[k], h)
                    .flow;
      if (flow > 0) count.expect(after != target, use.name + ", h = " + std::to_string(h));
    }
  });
  return count.seen("ensembles with a flow");
}

/// Fixed Horizon vs One-Way Truncation: a record that has not terminated can only be shortened by a
/// proposal that itself terminates.
CheckResult shortened_by_terminal(const CheckContext& context) {
  Count count;
  on_small_ensembles(context, [&](const ShippedUse& use, const TruncatingEnsemble& ensemble) {
    for (const Matrix& kernel : ensemble.kernels)
      for (std::size_t x = 0; x < ensemble.space.size(); ++x) {
        if (ensemble.space[x].terminated) continue;
        for (std::size_t y = 0; y < ensemble.space.size(); ++y)
          if (ensemble.space[y].length() < ensemble.space[x].length() && kernel(x, y) > 0)
            count.expect(ensemble.space[y].terminated,
                         use.name + ": " + ensemble.space.name(x) + " | " + ensemble.space.name(y));
      }
  });
  return count.seen("shortenings of open records");
}

/// thm:ppt-structural-bias, its proof: E[V(X') | X] <= (1 − δ) V(X) for every X, and = for some.
CheckResult count_contracts(const CheckContext& context) {
  Count count;
  bool reached = false;
  on_small_ensembles(context, [&](const ShippedUse& use, const TruncatingEnsemble& ensemble) {
    for (std::size_t h = 1; h < use.horizon; ++h) {
      std::vector<RungBias> rungs;
      for (std::size_t k = 0; k < ensemble.kernels.size(); ++k)
        rungs.push_back(context.functions.of<BoundFunctions>().rung_bias(
            ensemble.space, ensemble.kernels[k], ensemble.targets[k], h));
      Rational delta = 1;
      for (const RungBias& rung : rungs) delta = std::min(delta, rung.entry);
      for (std::size_t state = 0; state < joint_size(ensemble.shape); ++state) {
        const auto records = coordinates(ensemble.shape, state);
        Rational mean = 0;
        for (std::size_t k = 0; k < records.size(); ++k)
          mean += 1 - ensemble.into_short(k, records[k], h);
        const Rational bound = (1 - delta) * Rational(ensemble.long_records(state, h));
        count.expect(mean <= bound, use.name + ", h = " + std::to_string(h));
        reached = reached || (bound > 0 && delta > 0 && mean == bound);
      }
    }
  });
  count.expect(reached, "the bound is reached nowhere with a delta above 0");
  return count.seen("states of ensembles");
}

/// sec:local-preservation: if every long record enters B with some probability δ > 0, as in
/// eq:ppt-local-confinement, and the b_k sum to more than 0, one truncating round moves Π. Without
/// that it need not: one token, which never ends a record, to horizon 2: the target is all on the
/// record of two tokens, b_1 = 1 at h = 1, and the truncating kernel stays.
CheckResult long_mass_harmless(const CheckContext& context) {
  Count count;
  on_small_ensembles(context, [&](const ShippedUse& use, const TruncatingEnsemble& ensemble) {
    const Law target = product_law(ensemble.targets);
    Law after = ensemble.sweep.front().apply(target);
    for (const FactoredKernel& swap : ensemble.swaps) after = swap.apply(after);
    for (std::size_t h = 1; h < use.horizon; ++h) {
      Rational excluded = 0, entry = 1;
      for (std::size_t k = 0; k < ensemble.kernels.size(); ++k) {
        const RungBias bias = context.functions.of<BoundFunctions>().rung_bias(
            ensemble.space, ensemble.kernels[k], ensemble.targets[k], h);
        excluded += bias.excluded_mass;
        entry = std::min(entry, bias.entry);
      }
      if (excluded > 0 && entry > 0)
        count.expect(after != target, use.name + ", h = " + std::to_string(h));
    }
  });
  const FiniteModel model = parse_finite_model(
      R"({"name": "one-token", "vocabulary": ["a"], "terminal": [], "default": {"a": "1"}})",
      "one-token");
  const ComparisonSpace space(model, 2);
  const Law target = context.functions.of<RecordFunctions>().power_target(
      FixedHorizonSpace(model, 2), Power(Rational(2)));
  const Law extended = power_target(space, Power(Rational(2)));
  const Matrix kernel =
      context.functions.of<KernelFunctions>().truncating_kernel(space, Power(Rational(2)));
  const RungBias bias =
      context.functions.of<BoundFunctions>().rung_bias(space, kernel, extended, 1);
  count.require(target.size() == 1 && target.front() == 1, "the target of one token");
  count.require(bias.excluded_mass == 1, "b_1 is " + to_string(bias.excluded_mass));
  count.require(bias.entry == 0, "the entry probability is " + to_string(bias.entry));
  count.expect_without(FactoredKernel(kernel).apply(extended) != extended,
                       "one token, T = 2, h = 1: b = 1, and the target stays");
  return count.finding("rounds that move the target");
}

/// sec:truncation-lower-bound. Of kernels in general a crossing from elsewhere says nothing of the
/// target's flow: one on the four-state space that shortens X_2's companions alone. Of the
/// truncating kernel it says that the flow is positive, and not how large it is.
CheckResult transient_crossings(const CheckContext& context) {
  Count count;
  bool other_size = false, beyond_the_target = false;
  on_small_ensembles(context, [&](const ShippedUse& use, const TruncatingEnsemble& ensemble) {
    for (std::size_t h = 1; h < use.horizon; ++h)
      for (std::size_t k = 0; k < ensemble.kernels.size(); ++k) {
        const Rational flow =
            context.functions.of<BoundFunctions>()
                .rung_bias(ensemble.space, ensemble.kernels[k], ensemble.targets[k], h)
                .flow;
        bool crosses = false;
        for (std::size_t x = 0; x < ensemble.space.size(); ++x) {
          if (ensemble.space[x].length() <= h) continue;
          const Rational from_there = ensemble.into_short(k, x, h);
          crosses = crosses || from_there > 0;
          other_size = other_size || (from_there > 0 && from_there != flow);
        }
        count.require(flow == 0 || crosses, use.name + ", h = " + std::to_string(h));
        beyond_the_target = beyond_the_target || (crosses && flow == 0);
      }
  });
  count.expect(other_size, "every crossing is as probable as at the target");
  count.expect_without(beyond_the_target,
                       "of the truncating kernel a crossing from a record of these models always "
                       "comes with a flow");

  // T = 3: the open record of two tokens, without target mass, becomes e; all else stays.
  const FiniteModel model = parse_finite_model(four_state_model, "four-state");
  const ComparisonSpace space(model, 3);
  Matrix kernel(space.size(), space.size());
  const std::size_t open = space.parse("a a", "record"), e = space.parse("e", "record");
  for (std::size_t x = 0; x < space.size(); ++x) kernel(x, x == open ? e : x) = 1;
  const RungBias bias = context.functions.of<BoundFunctions>().rung_bias(
      space, kernel, power_target(space, Power(Rational(2))), 1);
  count.expect(bias.flow == 0 && kernel(open, e) == 1, "a flow that no crossing makes");
  return count.finding("kinds of crossings");
}

/// thm:ppt-structural-bias: with one rung that enters B with probability δ = 1/4 and follows the
/// target on either side, started long, both bounds are reached at every N, so neither δ nor the
/// term (1 − δ)^N can be left out.
CheckResult bias_bound_reached(const CheckContext& context) {
  const FiniteModel model = parse_finite_model(four_state_model, "four-state");
  const ComparisonSpace space(model, 2);
  const Law target = power_target(space, Power(Rational(2)));
  Matrix kernel(space.size(), space.size());
  Rational excluded = 0;
  for (std::size_t x = 0; x < space.size(); ++x)
    if (space[x].length() > 1) excluded += target[x];
  for (std::size_t x = 0; x < space.size(); ++x)
    for (std::size_t y = 0; y < space.size(); ++y) {
      const bool to_long = space[y].length() > 1;
      const Rational share = target[y] / (to_long ? excluded : Rational(1 - excluded));
      kernel(x, y) = share * (space[x].length() > 1 ? Rational(to_long ? 3 : 1, 4)
                                                    : Rational(to_long ? 0 : 1));
    }
  const std::vector<RungBias> rungs{
      context.functions.of<BoundFunctions>().rung_bias(space, kernel, target, 1)};
  Law law(space.size());
  for (std::size_t x = 0; x < space.size(); ++x)
    if (space[x].length() > 1) law[x] = target[x] / excluded;
  Count count;
  for (unsigned n = 1; n <= 16; ++n) {
    law = FactoredKernel(kernel).apply(law);
    const Rational left = integer_power(Rational(3, 4), n);
    const Rational reached = excluded > left ? Rational(excluded - left) : Rational(0);
    const std::string where = "N = " + std::to_string(n);
    count.expect(context.functions.of<BoundFunctions>().joint_bias_bound(rungs, n) == reached,
                 where + ": joint bound");
    count.expect(context.functions.of<BoundFunctions>().output_bias_bound(rungs, 0, n) == reached,
                 where + ": rung bound");
    if (excluded > left)
      count.expect(context.functions.of<BoundFunctions>().total_variation(law, target) == reached,
                   where + ": distance");
  }
  return count.finding("bounds reached, N to 16");
}

/// subsec:implementation-local: with τ of a censored record counted as T the factor τ(x)/τ(y) makes
/// the restart through τ reversible; counted as T + 1, or as 1, it does not.
CheckResult tau_of_censored(const CheckContext& context) {
  Count count;
  bool sees = false;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    if (space.size() > 60) continue;
    const Power alpha{Rational(use.powers.back())};
    const Law target = power_target(space, alpha);
    const auto reversible = [&](std::size_t censored) {
      return !first_violation_of_detailed_balance(
          FactoredKernel(
              context.functions.of<KernelFunctions>().restart_through_tau(space, alpha, censored)),
          target, token_counts(space));
    };
    count.expect(reversible(use.horizon), use.name + ": as T");
    bool censored = false, ended = false;
    for (std::size_t x = 0; x < space.size(); ++x) (space[x].terminated ? ended : censored) = true;
    if (censored && ended) {
      count.expect_without(reversible(use.horizon + 1), use.name + ", counted as T + 1");
      sees = true;
    }
  }
  count.require(sees, "no model has records of both kinds");
  return count.finding("verdicts of detailed balance");
}

}  // namespace

std::map<std::string, Check> bias_drift_checks() {
  return {{"swaps_preserve_count", swaps_preserve_count},
          {"swapped_keep_budget", swapped_keep_budget},
          {"joint_long_mass", joint_long_mass},
          {"flow_moves_target", flow_moves_target},
          {"shortened_by_terminal", shortened_by_terminal},
          {"mean_count_drop", mean_count_drop},
          {"count_contracts", count_contracts},
          {"long_mass_harmless", long_mass_harmless},
          {"transient_crossings", transient_crossings},
          {"bias_bound_reached", bias_bound_reached},
          {"tau_of_censored", tau_of_censored}};
}

}  // namespace tempera::lab
