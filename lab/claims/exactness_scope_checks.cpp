// What the paper's statements need, or do not need, and do not say.
#include <algorithm>

#include "gpu/core/sampler/restart_law.hpp"
#include "lab/claims/bound_functions.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/experiment_functions.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/ladder_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/diagnostics.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/gamma_family.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/continuation_mass.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

FixedHorizonSpace four_state_space(std::size_t horizon) {
  return {parse_finite_model(four_state_model, "four-state"), horizon};
}

/// sec:ladder-design, its remark: "ADJ's sequential communication overhead grows quadratically with
/// the number of replicas, compared to the DEO's linear scaling". A trip of ADJ executes K - 1
/// exchanges in turn in each sweep, one of DEO one in each layer. If R stays bounded the first
/// is between K² / 2 and 2 K² and the second 4 K. At the remark's own constant acceptance R grows
/// with K, and the two are K²(K - 1) and 2 K² at acceptance 1/2.
CheckResult growth_at_constant(const CheckContext& context) {
  Count count;
  const auto overheads = [&](const EdgeAcceptances& a) {
    return std::pair<Rational, Rational>(
        Rational(a.size()) *
            context.functions.of<LadderFunctions>().adj_round_trip_formula(a).total(),
        context.functions.of<LadderFunctions>().deo_round_trip_formula(a));
  };
  for (const unsigned rungs : {4U, 8U, 16U, 32U, 64U}) {
    // ρ = 1/(K-1), so R = 1.
    const auto [adj, deo] = overheads(EdgeAcceptances(rungs - 1, Rational(rungs - 1, rungs)));
    const Rational square = Rational(rungs) * rungs;
    count.expect(2 * adj >= square && adj <= 2 * square && deo == 4 * rungs,
                 "R = 1, K = " + std::to_string(rungs));
    const auto [at_half, layers] = overheads(EdgeAcceptances(rungs - 1, Rational(1, 2)));
    count.expect_without(at_half <= 2 * square && layers <= 4 * rungs,
                         "at acceptance 1/2, K = " + std::to_string(rungs) + ": " +
                             to_string(at_half) + " exchanges in turn, " + to_string(layers) +
                             " layers");
  }
  return count.finding("trips of 4 to 64 rungs, R = 1");
}

/// Σ p0(x)^2 over the sequences of T tokens of the vocabulary, the padding among them or not.
Rational sum_of_squares(const FunctionsUnderTest& functions, const FiniteModel& model,
                        std::size_t horizon, bool padding) {
  const std::size_t tokens = model.vocabulary().size();
  const std::size_t symbols = tokens + (padding ? 1 : 0);
  std::size_t sequences = 1;
  for (std::size_t t = 0; t < horizon; ++t) sequences *= symbols;
  Rational sum = 0;
  for (std::size_t s = 0; s < sequences; ++s) {
    std::vector<Token> written;
    Rational product = 1;
    bool open = true;
    for (std::size_t t = 0, rest = s; t < horizon && product != 0; ++t, rest /= symbols) {
      const auto symbol = static_cast<Token>(rest % symbols);
      if (open != (symbol < tokens)) {
        product = 0;
      } else if (open) {
        product *= functions.of<RecordFunctions>().token_row(model, written)[symbol];
        written.push_back(symbol);
        open = !model.is_terminal(symbol);
      }
    }
    sum += product * product;
  }
  return sum;
}

/// eq:pi-alpha sums over V^T: that is Z of S_T if V holds the padding, as in App. A. Without it the
/// records that end early are left out.
CheckResult padding_in_vocabulary(const CheckContext& context) {
  Count count;
  const FixedHorizonSpace space = four_state_space(2);
  Rational z = 0;
  for (std::size_t x = 0; x < space.size(); ++x) {
    const Rational p = context.functions.of<RecordFunctions>().likelihood(space, x);
    z += p * p;
  }
  count.require(z == Rational(3, 8), "Z is " + to_string(z));
  count.expect(sum_of_squares(context.functions, space.model(), 2, true) == z, "with the padding");
  const Rational without = sum_of_squares(context.functions, space.model(), 2, false);
  count.expect_without(without == z, "the four-state example has Z = " + to_string(z) +
                                         ", and over {a, e}^2 " + to_string(without));
  return count.finding("sums over V^T");
}

/// sec:ladder-design, "the communication schedule cannot change what we sample": if the edges are
/// chosen without seeing the records. Attempting edge 1 just if rung 1 holds the likelier record
/// moves the target.
CheckResult record_blind_schedules(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    if (use.powers.size() < 2 || use.horizon > 3) continue;
    const ParallelTempering chain(use.space(), use.ladder(), use.restart_law());
    const std::size_t last = use.powers.size() - 1;
    for (const std::vector<std::size_t>& edges :
         {std::vector<std::size_t>{1}, std::vector<std::size_t>{last, 1, 1},
          std::vector<std::size_t>{1, last, 1, last}}) {
      Law law = chain.target();
      for (const std::size_t edge : edges)
        law = context.functions.of<KernelFunctions>().swap(chain, edge).apply(law);
      count.expect(law == chain.target(), use.name);
    }
  }
  const FixedHorizonSpace space = four_state_space(2);
  const ParallelTempering chain(space, parse_ladder("1,2", "ladder"), RestartLaw::uniform(2));
  const Law target = chain.target();
  Law after(target.size());
  for (std::size_t state = 0; state < target.size(); ++state) {
    const auto records = coordinates(chain.shape(), state);
    const bool attempted = space.likelihood(records[0]) > space.likelihood(records[1]);
    const Law there = point_mass(target.size(), state);
    const Law then =
        attempted ? context.functions.of<KernelFunctions>().swap(chain, 1).apply(there) : there;
    for (std::size_t to = 0; to < then.size(); ++to) after[to] += target[state] * then[to];
  }
  count.expect_without(
      after == target,
      "an attempt just if rung 1 holds the likelier record takes the four-state "
      "target " +
          to_string(context.functions.of<BoundFunctions>().total_variation(after, target)) +
          " away");
  return count.finding("sequences of edges");
}

/// TV after `rounds` rounds of the four-state ladder (1, 2) from (a a, a a), with these restart
/// laws at its rungs.
Rational distance_after(const FunctionsUnderTest& functions,
                        const std::vector<RestartLaw>& restarts, unsigned rounds) {
  const FixedHorizonSpace space = four_state_space(2);
  const ParallelTempering chain(space, parse_ladder("1,2", "ladder"), RestartLaw::uniform(2));
  FactoredKernel round(chain.shape());
  round.then_move(
      {functions.of<KernelFunctions>().fixed_horizon_kernel(space, Power(Rational(1)), restarts[0]),
       functions.of<KernelFunctions>().fixed_horizon_kernel(space, Power(Rational(2)),
                                                            restarts[1])});
  round.then(functions.of<KernelFunctions>().swap(chain, 1));
  const std::size_t open = space.parse("a a", "start");
  Law law = point_mass(chain.target().size(), joint_state(chain.shape(), {open, open}));
  for (unsigned n = 0; n < rounds; ++n) law = round.apply(law);
  return functions.of<BoundFunctions>().total_variation(law, chain.target());
}

/// sec:fixed-horizon-convergence, Scope, "a sufficient condition for convergence": not a necessary
/// one. Without full restarts at the top rung alone swaps still bring the ensemble to its target;
/// without any it keeps its first tokens.
CheckResult full_restart_sufficient(const CheckContext& context) {
  Count count;
  const RestartLaw uniform = RestartLaw::uniform(2);
  const RestartLaw second(std::vector<Rational>{0, 1});
  const Rational near(1, 1'000'000);
  count.expect(distance_after(context.functions, {uniform, uniform}, 60) < near, "at both rungs");
  count.expect(distance_after(context.functions, {uniform, second}, 60) < near,
               "at the lower rung alone");
  count.expect(distance_after(context.functions, {second, second}, 60) == Rational(5, 6),
               "at no rung");
  return count.finding("ladders after 60 rounds");
}

/// sec:fixed-horizon-convergence, Scope: the convergence needs no consistency between the targets
/// of different horizons, and there is none: a comes first with 1/2 at T = 1 and with 1/3 at T = 2.
CheckResult inconsistent_stages(const CheckContext& context) {
  Count count;
  const auto mass_of_a = [&](std::size_t horizon) {
    const FixedHorizonSpace space = four_state_space(horizon);
    const Law target =
        context.functions.of<RecordFunctions>().power_target(space, Power(Rational(2)));
    Rational mass = 0;
    for (std::size_t x = 0; x < space.size(); ++x)
      if (space.model().text({space[x].tokens.data(), 1}) == "a") mass += target[x];
    return mass;
  };
  count.expect(mass_of_a(1) == Rational(1, 2), "T = 1: " + to_string(mass_of_a(1)));
  count.expect(mass_of_a(2) == Rational(1, 3), "T = 2: " + to_string(mass_of_a(2)));
  return count.finding("masses of a at power 2");
}

/// sec:endpoint-bias-example-condensed, Takeaway: on S_T both directions of a proposal are positive
/// together, so the convention for a vanishing reverse is void there.
CheckResult both_directions(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    if (space.size() > 60) continue;
    const SuffixLaw q = context.functions.of<RecordFunctions>().suffix_proposal(
        space, Power(Rational(use.powers.back())));
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y)
        for (std::size_t r = 1; r <= use.horizon; ++r)
          count.expect((q(r, x, y) > 0) == (q(r, y, x) > 0) &&
                           (r > last_shared_restart(space[x], space[y]) || q(r, x, y) > 0),
                       use.name + ": " + space.name(x) + " | " + space.name(y));
  }
  return count.seen("triples (x, y, r)");
}

/// eq:theory-continuation-mass at t = T: the continuation is empty and has mass one.
CheckResult last_continuation(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    for (std::size_t x = 0; x < space.size(); ++x) {
      if (space[x].length() != use.horizon) continue;
      const std::vector<Token> prefix(space[x].tokens.begin(), space[x].tokens.end() - 1);
      count.expect(
          context.functions.of<RecordFunctions>().continuation_mass(
              space, Power(Rational(use.powers.back())), prefix, space[x].tokens.back()) == 1,
          use.name + ": " + space.name(x));
    }
  }
  return count.seen("last tokens");
}

/// sec:exp-settings: at α = 1 the target is p0 and so is the proposal, token by token.
CheckResult power_one(const CheckContext& context) {
  Count count;
  const Power one{Rational(1)};
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    count.expect(context.functions.of<RecordFunctions>().power_target(space, one) ==
                     context.functions.of<RecordFunctions>().base_law(space),
                 use.name + ": the target");
    for (const auto& [history, row] : use.model.listed_rows())
      count.expect(context.functions.of<RecordFunctions>().token_proposal(row, one) == row,
                   use.name + ": a row");
  }
  return count.seen("targets and rows");
}

/// sec:fixed-horizon-convergence, Scope: uniform restarts contribute T^-K, "and the minimum
/// proposal-to-target ratio can be smaller still": ε is below T^-K on some models.
CheckResult smaller_than_uniform(const CheckContext& context) {
  Count count;
  std::size_t below = 0;
  for (const ShippedUse& use : context.uses) {
    Rational uniform = 1;
    for (std::size_t k = 0; k < use.powers.size(); ++k) uniform /= Rational(use.horizon);
    const Rational epsilon = context.functions.of<BoundFunctions>().full_restart_weight(
        use.space(), use.ladder(), RestartLaw::uniform(use.horizon));
    count.expect(epsilon <= uniform, use.name);
    below += epsilon < uniform ? 1 : 0;
  }
  count.expect(below > 0, "epsilon is nowhere below T^-K");
  return count.seen("epsilons, " + std::to_string(below) + " below T^-K");
}

/// thm:fixed-horizon-convergence, its proof: if ε = 1 one local sweep has law Π. It is 1 at T = 1,
/// if the proposal is the target.
CheckResult one_sweep_is_exact(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space(use.model, 1);
    const RestartLaw first = RestartLaw::uniform(1);
    const ParallelTempering chain(space, use.ladder(), first);
    const Law target = chain.target();
    count.expect(
        context.functions.of<BoundFunctions>().full_restart_weight(space, use.ladder(), first) == 1,
        use.name + ": epsilon");
    for (std::size_t state = 0; state < target.size(); ++state)
      count.expect(context.functions.of<KernelFunctions>().local_sweep(chain).apply(
                       point_mass(target.size(), state)) == target,
                   use.name + ", from state " + std::to_string(state));
  }
  return count.seen("weights and sweeps at T = 1");
}

/// sec:exp-settings: T^-1 Σ log p0 and C(x) are means over the generated positions, as the text
/// says beside them, if T is the completion's length. Of e at T = 2, whose padding adds nothing,
/// the mean over T positions is half of it.
CheckResult divided_by_length(const CheckContext& context) {
  Count count;
  const FixedHorizonSpace space = four_state_space(2);
  for (std::size_t x = 0; x < space.size(); ++x) {
    Interval sum(0, 64), worst(0, 64);
    std::vector<Token> prefix;
    for (const Token token : space[x].tokens) {
      const Interval term = context.functions.of<ExperimentFunctions>().negative_entropy(
          space.model().token_row(prefix), 64);
      sum = sum + term;
      worst = term;  // that of each position is the same here: log 1/2
      prefix.push_back(token);
    }
    const auto is_mean_over = [&](std::size_t positions) {
      const Interval difference = sum / Interval(Rational(positions), 64) - worst;
      return !difference.is_positive() && !difference.is_negative();
    };
    count.expect(is_mean_over(space[x].length()), space.name(x));
    count.expect_without(is_mean_over(2), "of " + space.name(x) +
                                              " the sum over T = 2 is half of "
                                              "the mean over its position");
  }
  return count.finding("means over generated positions");
}

/// A law of the Gamma family: at power α the energy less its least value is Gamma with shape c and
/// rate α, so its spread is √c / α. The exact acceptance between α < β.
/// rem:ar_geom_seq: it depends on β/α only, falls as that rises, and so the ladder of equal exact
/// acceptances is geometric; no Gaussian surrogate is needed.
CheckResult gamma_acceptances(const CheckContext& context) {
  Count count;
  for (const unsigned shape : {1U, 2U, 5U, 9U}) {
    const auto accepted = [&](const Rational& lower, const Rational& upper) -> Rational {
      return context.functions.of<LadderFunctions>().gamma_acceptance(shape, lower, upper);
    };
    const std::string where = "shape " + std::to_string(shape);
    // The spread is √c / α: the variance of the energy at α, from its moments.
    for (const Rational& alpha : {Rational(1), Rational(5, 2)})
      count.expect(context.functions.of<LadderFunctions>().gamma_variance(shape, alpha) ==
                       shape / (alpha * alpha),
                   where + ": the spread");
    for (const Rational& ratio : {Rational(3, 2), Rational(2), Rational(5)}) {
      for (const Rational& lower : {Rational(17, 10), Rational(3), Rational(1, 3)})
        count.expect(accepted(lower, lower * ratio) == accepted(1, ratio),
                     where + ", ratio " + to_string(ratio));
      count.expect(accepted(1, ratio) > accepted(1, ratio + Rational(1, 8)),
                   where + ": it does not fall at " + to_string(ratio));
    }
    // 1, 2, 4, 8 is equi-accepting, and no other middle rungs of quarters are.
    count.expect(accepted(1, 2) == accepted(2, 4) && accepted(2, 4) == accepted(4, 8),
                 where + ": the geometric ladder");
    for (int i = 5; i < 16; ++i) {
      const Rational middle(i, 4);
      count.expect((accepted(1, middle) == accepted(middle, 4)) == (middle == 2),
                   where + ", middle " + to_string(middle));
    }
  }
  return count.seen("acceptances and spreads of Gamma laws");
}

}  // namespace

std::map<std::string, Check> exactness_scope_checks() {
  return {{"growth_at_constant", growth_at_constant},
          {"padding_in_vocabulary", padding_in_vocabulary},
          {"record_blind_schedules", record_blind_schedules},
          {"full_restart_sufficient", full_restart_sufficient},
          {"inconsistent_stages", inconsistent_stages},
          {"both_directions", both_directions},
          {"last_continuation", last_continuation},
          {"power_one", power_one},
          {"smaller_than_uniform", smaller_than_uniform},
          {"one_sweep_is_exact", one_sweep_is_exact},
          {"divided_by_length", divided_by_length},
          {"gamma_acceptances", gamma_acceptances}};
}

}  // namespace tempera::lab
