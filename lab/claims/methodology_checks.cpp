#include <algorithm>

#include "gpu/core/sampler/restart_law.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/ladder_functions.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/claims/truncated_metropolis.hpp"
#include "lab/contest/exact_comparison.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/program_law.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/power_family.hpp"
#include "reference/analysis/spectral_gap.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/model/vocabulary.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// sec:exploration-horizon: -E U rises with the power, in certified intervals, unless p0 is the
/// same for all records: then every target is p0.
CheckResult power_raises_likelihood(const CheckContext& context) {
  const std::vector<Rational> powers{1, Rational(3, 2), 2, 3, Rational(21, 4)};
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    if (space.size() > 200) continue;
    const Law p0 = context.functions.of<RecordFunctions>().base_law(space);
    const bool constant = std::count(p0.begin(), p0.end(), p0.front()) == std::ssize(p0);
    if (constant) {
      count.expect(
          context.functions.of<RecordFunctions>().power_target(space, Power(Rational(3))) == p0,
          use.name + ": the target of a constant p0");
      continue;
    }
    for (std::size_t i = 0; i + 1 < powers.size(); ++i)
      count.expect(
          decide_sign([&](long bits) {
            return context.functions.of<LadderFunctions>().mean_energy(p0, powers[i], bits) -
                   context.functions.of<LadderFunctions>().mean_energy(p0, powers[i + 1], bits);
          }) == 1,
          use.name + ", power " + to_string(powers[i + 1]));
  }
  return count.seen("pairs of powers, 1 to 5.25");
}

/// One token, e of probability 9/10, or two.
constexpr std::string_view usually_short_model =
    R"({"name": "usually-short", "vocabulary": ["a", "e"], "terminal": ["e"],
        "next": {"": {"a": "1/10", "e": "9/10"}}, "default": {"a": "1/2", "e": "1/2"}})";

Bracket second_eigenvalue_at(const FunctionsUnderTest& functions, const FixedHorizonSpace& space,
                             unsigned power) {
  const Power alpha{Rational(power)};
  return functions.of<KernelFunctions>().second_eigenvalue(
      functions.of<KernelFunctions>().fixed_horizon_kernel(space, alpha,
                                                           RestartLaw::uniform(space.horizon())),
      power_target(space, alpha), 30);
}

/// sec:exploration-horizon: raising the power impedes local exploration, measured by the single
/// chain's spectral gap, if power 1 is what it is compared with. Of two powers above 1 it is not
/// so: from power 2 to power 3 the second eigenvalue can fall, so that the gap grows.
CheckResult gap_against_power(const CheckContext& context) {
  Count count;
  const FixedHorizonSpace space(parse_finite_model(usually_short_model, "usually-short"), 2);
  const Bracket at_one = second_eigenvalue_at(context.functions, space, 1);
  for (const unsigned power : {2U, 3U, 4U})
    count.expect(second_eigenvalue_at(context.functions, space, power).upper >= at_one.lower,
                 "the gap at power " + std::to_string(power) + " is above that at power 1");
  const Bracket at_two = second_eigenvalue_at(context.functions, space, 2);
  const Bracket at_three = second_eigenvalue_at(context.functions, space, 3);
  count.expect_without(at_three.upper >= at_two.lower,
                       "the gap at power 2 is below " + to_decimal_above(1 - at_two.lower, 5) +
                           ", at power 3 above " + to_decimal_below(1 - at_three.upper, 5));
  return count.finding("comparisons of gaps");
}

/// The last position before which the tokens of all records are one and the same.
std::size_t first_choice(const RecordSpace& space) {
  for (std::size_t t = 0;; ++t)
    for (std::size_t x = 0; x < space.size(); ++x)
      if (t >= space[x].length() || space[x].tokens[t] != space[0].tokens[t]) return t + 1;
}

/// At power 1 the second eigenvalue is the probability λ of restarting after the first position
/// with a choice; at no power is it less. Eigenvalues below λ are those above -λ of -L.
CheckResult gap_at_most_base(const CheckContext& context) {
  Count count;
  const Rational grain(1, 1U << 20U);
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    if (space.size() < 2 || space.size() > 16) continue;
    const RestartLaw restart = use.restart_law();
    Rational lambda = 0;
    for (std::size_t r = first_choice(space) + 1; r <= use.horizon; ++r) lambda += restart(r);
    for (const unsigned power : {1U, 2U, 3U, 5U}) {
      const Power alpha{Rational(power)};
      const Law target = power_target(space, alpha);
      Matrix kernel =
          context.functions.of<KernelFunctions>().fixed_horizon_kernel(space, alpha, restart);
      const std::string where = use.name + ", power " + std::to_string(power);
      if (power == 1)
        count.expect(context.functions.of<KernelFunctions>().eigenvalues_above(kernel, target,
                                                                               lambda) == 1 &&
                         context.functions.of<KernelFunctions>().eigenvalues_above(
                             kernel, target, lambda - grain) > 1,
                     where + ": the second eigenvalue");
      for (std::size_t x = 0; x < space.size(); ++x)
        for (std::size_t y = 0; y < space.size(); ++y) kernel(x, y) *= -1;
      count.expect(space.size() - context.functions.of<KernelFunctions>().eigenvalues_above(
                                      kernel, target, -lambda) >=
                       2,
                   where);
    }
  }
  return count.seen("kernels, powers 1, 2, 3 and 5");
}

/// sec:fixed-horizon: q(y|x) > 0 = q(x|y) for every shorter y that x proposes.
CheckResult one_way_proposal(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const ComparisonSpace space(use.model, use.horizon);
    if (space.size() > 60) continue;
    const Power alpha{Rational(use.powers.back())};
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y) {
        if (space[y].length() >= space[x].length()) continue;
        if (context.functions.of<KernelFunctions>().truncated_proposal(space, alpha, x, y) == 0)
          continue;
        count.expect(
            context.functions.of<KernelFunctions>().truncated_proposal(space, alpha, y, x) == 0,
            use.name + ": " + space.name(x) + " | " + space.name(y));
      }
  }
  return count.seen("shortening proposals without a reverse");
}

/// sec:fixed-horizon: exact Metropolis-Hastings on these proposals rejects every shortening, so it
/// keeps the target, and every record its length.
CheckResult exact_on_truncated(const CheckContext& context) {
  Count count;
  bool moves = false;
  for (const ShippedUse& use : context.uses) {
    const ComparisonSpace space(use.model, use.horizon);
    if (space.size() > 200) continue;
    const Power alpha{Rational(use.powers.back())};
    const Matrix kernel =
        context.functions.of<KernelFunctions>().truncated_metropolis(space, alpha);
    count.expect(!first_violation_of_detailed_balance(
                     FactoredKernel(kernel), power_target(space, alpha), token_counts(space)),
                 use.name + ": detailed balance");
    bool keeps = true;
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y) {
        keeps = keeps && (kernel(x, y) == 0 || space[x].length() == space[y].length());
        moves = moves || (x != y && kernel(x, y) > 0);
      }
    count.expect(keeps, use.name + ": a length changes");
  }
  count.expect(moves, "no kernel moves any record");
  return count.seen("kernels reversible, no length changed");
}

/// sec:repps-llm: T_m = min{mB, T}, M = ⌈T/B⌉, T_M = T.
CheckResult stages_of_blocks(const CheckContext& context) {
  Count count;
  for (std::size_t horizon = 1; horizon <= 20; ++horizon)
    for (std::size_t block = 1; block <= 22; ++block) {
      std::vector<std::size_t> expected;
      for (std::size_t m = 1; m * block < horizon + block; ++m)
        expected.push_back(std::min(m * block, horizon));
      const auto stages = context.functions.of<KernelFunctions>().stage_horizons(horizon, block);
      count.expect(stages == expected && stages.back() == horizon,
                   "T = " + std::to_string(horizon) + ", B = " + std::to_string(block));
    }
  return count.seen("pairs of T and B");
}

/// sec:repps-llm: g_α is the softmax of logits over the temperature 1/α, whatever is added to the
/// logits: odds of two tokens are the odds under p0 to the power α.
CheckResult proposal_is_temperature(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    std::vector<TokenRow> rows;
    for (const auto& [history, row] : use.model.listed_rows()) rows.push_back(row);
    if (use.model.default_row()) rows.push_back(*use.model.default_row());
    for (const unsigned power : {2U, 5U})
      for (const TokenRow& row : rows) {
        const TokenRow g =
            context.functions.of<RecordFunctions>().token_proposal(row, Power(Rational(power)));
        bool odds = true;
        for (std::size_t v = 0; v < row.size(); ++v)
          for (std::size_t u = 0; u < row.size(); ++u) {
            Rational left = g[v], right = g[u];
            for (unsigned i = 0; i < power; ++i) {
              left *= row[u];
              right *= row[v];
            }
            odds = odds && left == right;
          }
        count.expect(odds, use.name);
      }
  }
  return count.seen("rows at powers 2 and 5");
}

/// sec:repps-llm, (3): from (x, y, z) one ordered sweep can reach (y, z, x): x crosses both edges.
CheckResult several_rungs(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    if (space.size() > 9) continue;
    const ParallelTempering chain(space, parse_ladder("1,2,4", "ladder"),
                                  RestartLaw::uniform(use.horizon));
    const FactoredKernel sweep = context.functions.of<KernelFunctions>().ordered_sweep(chain);
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y) {
        if (x == y) continue;
        const auto row = sweep.row_numerators(joint_state(chain.shape(), {x, y, y}));
        count.expect(row[joint_state(chain.shape(), {y, y, x})] > 0,
                     use.name + ": " + space.name(x) + " stays below");
      }
  }
  return count.seen("records from rung 1 to rung 3 in one sweep");
}

/// alg:PPT: a zero count skips its operation.
CheckResult zero_counts(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    if (use.powers.size() < 2 || use.horizon > 3) continue;
    const ParallelTempering chain(use.space(), use.ladder(), RestartLaw::uniform(use.horizon));
    const Law start = point_mass(chain.target().size(), 0);
    const auto& transition = context.functions.of<KernelFunctions>().transition;
    count.expect(transition(chain, 0, 0).apply(start) == start, use.name + ": nothing");
    count.expect(
        transition(chain, 0, 2).apply(start) == repeated(chain.ordered_sweep(), 2).apply(start),
        use.name + ": sweeps alone");
    count.expect(
        transition(chain, 2, 0).apply(start) == repeated(chain.local_sweep(), 2).apply(start),
        use.name + ": local moves alone");
    const auto law = [&](const StageSchedule& stage) {
      return context.functions.of<KernelFunctions>().progressive_law(
          use.model, use.horizon, 1, use.ladder(), {stage}, Schedule::adj);
    };
    count.expect(law({0, 2, 2}) == law({3, 0, 0}), use.name + ": no rounds");
    count.expect(law({0, 2, 2}) != law({1, 1, 1}) || chain.target().size() == 1,
                 use.name + ": rounds that do nothing");
    // The compiled program: without local moves its rounds exchange what block extension has left.
    const auto compiled = [&](const StageSchedule& stage) {
      const ProgramQuestion question{use.horizon, 1, use.powers, {stage}};
      OutcomeLaw sorted;
      for (const auto& [outcome, probability] :
           context.functions.of<ProgramFunctions>().outcomes_of_tempering(use.model, question)) {
        Outcome without_rungs{outcome.records, {}};
        std::sort(without_rungs.records.begin(), without_rungs.records.end());
        sorted[without_rungs] += probability;
      }
      return sorted;
    };
    if (chain.target().size() > 16) continue;
    const OutcomeLaw extended = compiled({0, 1, 1});
    count.expect(compiled({1, 0, 0}) == extended && compiled({1, 0, 1}) == extended,
                 use.name + ": the compiled program without local moves");
    count.expect(compiled({1, 1, 0}) != extended || chain.target().size() == 1,
                 use.name + ": compiled local moves that do nothing");
  }
  return count.seen("equations of skipped operations");
}

/// subsec:implementation-local: a restart at or before τ can remove the terminal token, bring it
/// nearer and take it further. From an ended record of fewer than T tokens a move to each kind.
CheckResult endings_move(const CheckContext& context) {
  Count count;
  std::size_t removed = 0, earlier = 0, later = 0;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    if (space.size() > 100) continue;
    const Matrix kernel = context.functions.of<KernelFunctions>().fixed_horizon_kernel(
        space, Power(Rational(use.powers.back())), RestartLaw::uniform(use.horizon));
    for (std::size_t x = 0; x < space.size(); ++x) {
      if (!space[x].terminated) continue;
      for (std::size_t y = 0; y < space.size(); ++y) {
        // The two share at least the empty prefix, so the restart at 1 leads from one to the other.
        count.expect(kernel(x, y) > 0, use.name + ": " + space.name(x) + " | " + space.name(y));
        removed += space[y].terminated ? 0 : 1;
        earlier += space[y].terminated && space[y].length() < space[x].length() ? 1 : 0;
        later += space[y].terminated && space[y].length() > space[x].length() ? 1 : 0;
      }
    }
  }
  count.expect(removed > 0 && earlier > 0 && later > 0, "some kind of move is in no model");
  return count.seen("moves from ended records");
}

/// Levels of two tokens: a, of probability 3/5, and a fair coin; or b and n. The record of b n
/// alone is the best mode, (2/5)^d against (3/10)^d, and has more than half of the target at power
/// 8; but g_α chooses a too often.
FiniteModel lopsided_levels(std::size_t levels) {
  FiniteModelParts parts{
      "lopsided-levels", Vocabulary({"a", "b", "h", "t", "n"}, "levels"), {}, {}, std::nullopt};
  const TokenRow choice{Rational(3, 5), Rational(2, 5), 0, 0, 0};
  const TokenRow coin{0, 0, Rational(1, 2), Rational(1, 2), 0};
  const TokenRow nothing{0, 0, 0, 0, 1};
  std::vector<std::vector<Token>> histories{{}};
  for (std::size_t level = 0; level < levels; ++level) {
    std::vector<std::vector<Token>> next;
    for (const std::vector<Token>& history : histories) {
      parts.next[history] = choice;
      for (const Token token : {0U, 1U}) {
        std::vector<Token> chosen = history;
        chosen.push_back(token);
        parts.next[chosen] = token == 0 ? coin : nothing;
        for (const Token last : token == 0 ? std::vector<Token>{2, 3} : std::vector<Token>{4}) {
          next.push_back(chosen);
          next.back().push_back(last);
        }
      }
    }
    histories = std::move(next);
  }
  return {std::move(parts), "lopsided-levels"};
}

/// Half of the restarts at 1, the others anywhere else.
RestartLaw half_at_first(std::size_t horizon) {
  std::vector<Rational> weights(horizon, Rational(1, 2) / Rational(horizon - 1));
  weights.front() = Rational(1, 2);
  return RestartLaw(weights);
}

/// sec:repps-llm, Free Exploration. The best mode has more than half of the target at power 8. The
/// single chain's gap falls by more than 13/20 with each level, and what two rounds of the ladder
/// (1, 8) hold of the target in every row by less than 3/5: how far the ladder is ahead grows by a
/// factor with each level.
CheckResult swaps_accelerate(const CheckContext& context) {
  Count count;
  std::vector<Bracket> brackets;
  std::vector<Rational> held;
  for (std::size_t levels = 1; levels <= 3; ++levels) {
    const FixedHorizonSpace space(lopsided_levels(levels), 2 * levels);
    const Power alpha{Rational(8)};
    const RestartLaw restart = half_at_first(2 * levels);
    const Law at_power = power_target(space, alpha);
    const std::string where = std::to_string(levels) + " levels";
    count.expect(2 * *std::max_element(at_power.begin(), at_power.end()) > 1,
                 where + ": the best mode");
    brackets.push_back(context.functions.of<KernelFunctions>().second_eigenvalue(
        context.functions.of<KernelFunctions>().fixed_horizon_kernel(space, alpha, restart),
        at_power, 20));
    if (levels > 1)
      count.expect(20 * (1 - brackets[levels - 1].lower) < 7 * (1 - brackets[levels - 2].upper),
                   where + ": the single chain's gap");
    if (levels > 2) continue;
    const ParallelTempering chain(space, parse_ladder("1,8", "ladder"), restart);
    const FactoredKernel rounds =
        repeated(context.functions.of<KernelFunctions>().transition(chain, 1, 1), 2);
    const Law target = chain.target();
    Rational least = 1;
    for (std::size_t from = 0; from < target.size(); ++from) {
      const Law after = rounds.apply(point_mass(target.size(), from));
      for (std::size_t to = 0; to < target.size(); ++to)
        least = std::min(least, Rational(after[to] / target[to]));
    }
    held.push_back(least);
  }
  count.expect(held[0] > 0 && 5 * held[1] > 2 * held[0], "what the ladder holds");
  CheckResult finding = count.seen("");
  if (finding.sound())
    finding.detail = "single gaps below " + to_decimal_above(1 - brackets[0].lower, 4) + ", " +
                     to_decimal_above(1 - brackets[1].lower, 4) + ", " +
                     to_decimal_above(1 - brackets[2].lower, 4) +
                     "; two rounds of the ladder hold " + to_decimal(held[0], 4) + ", " +
                     to_decimal(held[1], 4);
  return finding;
}

}  // namespace

std::map<std::string, Check> methodology_checks() {
  return {{"power_raises_likelihood", power_raises_likelihood},
          {"gap_against_power", gap_against_power},
          {"gap_at_most_base", gap_at_most_base},
          {"one_way_proposal", one_way_proposal},
          {"exact_on_truncated", exact_on_truncated},
          {"stages_of_blocks", stages_of_blocks},
          {"proposal_is_temperature", proposal_is_temperature},
          {"several_rungs", several_rungs},
          {"zero_counts", zero_counts},
          {"endings_move", endings_move},
          {"swaps_accelerate", swaps_accelerate}};
}

}  // namespace tempera::lab
