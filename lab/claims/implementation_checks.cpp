#include <algorithm>
#include <set>

#include "gpu/core/model/language_model.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/restart_law.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/program_law.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/kernels/block_extension.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

bool starts_with(const std::vector<Token>& tokens, const std::vector<Token>& prefix) {
  return tokens.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), tokens.begin());
}

/// Calls each(use, outcomes by k*) for the uses whose whole Algorithm 1 is walked: three rungs and
/// two stages of one token, each with a round.
template <class Each>
void on_whole_runs(const CheckContext& context, Each&& each) {
  for (const ShippedUse& use : context.uses) {
    if (use.powers.size() < 3 || use.horizon != 2) continue;
    std::vector<OutcomeLaw> by_output;
    for (gpu::Rung k = 0; k < use.powers.size(); ++k)
      by_output.push_back(context.functions.of<ProgramFunctions>().outcomes_of_tempering(
          use.model, {use.horizon, 1, use.powers, {{1, 1, 1}}, gpu::Schedule::adj, k}));
    each(use, by_output);
  }
}

/// alg:PPT: the answer is the record that rung k* holds in the end, whatever crossed it; k* decides
/// nothing else, and what is returned depends on it.
CheckResult output_rung_fixed(const CheckContext& context) {
  Count count;
  on_whole_runs(context, [&](const ShippedUse& use, const std::vector<OutcomeLaw>& by_output) {
    std::set<std::map<std::vector<Token>, Rational>> laws_of_answers;
    std::map<std::vector<std::vector<gpu::TokenId>>, Rational> records_of_first;
    for (std::size_t k = 0; k < by_output.size(); ++k) {
      const std::string where = use.name + ", k* = " + std::to_string(k + 1);
      std::map<std::vector<std::vector<gpu::TokenId>>, Rational> records;
      std::map<std::vector<Token>, Rational> answers;
      for (const auto& [outcome, probability] : by_output[k]) {
        count.expect(outcome.answer == outcome.records.at(k), where + ": another rung's record");
        records[outcome.records] += probability;
        answers[{outcome.answer.begin(), outcome.answer.end()}] += probability;
      }
      if (k == 0) records_of_first = records;
      count.expect(records == records_of_first, where + ": k* decides of the records");
      laws_of_answers.insert(answers);
    }
    count.expect(laws_of_answers.size() == by_output.size(), use.name + ": k* makes no difference");
  });
  return count.seen("outcomes of whole runs, each k*");
}

/// alg:PPT: the answer ends at its first terminal token; without one it has all T tokens.
CheckResult output_cut(const CheckContext& context) {
  Count count;
  std::size_t cut = 0, whole = 0;
  on_whole_runs(context, [&](const ShippedUse& use, const std::vector<OutcomeLaw>& by_output) {
    for (const OutcomeLaw& law : by_output)
      for (const auto& [outcome, probability] : law) {
        const auto first =
            std::find_if(outcome.answer.begin(), outcome.answer.end(),
                         [&](gpu::TokenId token) { return use.model.is_terminal(token); });
        const bool ends = first != outcome.answer.end();
        count.expect(
            ends ? first + 1 == outcome.answer.end() : outcome.answer.size() == use.horizon,
            use.name + ": an answer of " + std::to_string(outcome.answer.size()) + " tokens");
        (ends ? cut : whole) += 1;
      }
  });
  count.expect(cut > 0 && whole > 0, "some kind of answer is in no run");
  return count.seen("answers of whole runs");
}

/// subsec:implementation-extension: a record whose terminal token a refinement at T - 1 removes is
/// extended to T tokens by the next stage; one that keeps it stays as it is.
CheckResult reopened_records(const CheckContext& context) {
  Count count;
  std::size_t reopened = 0;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace longer = use.space();
    if (use.horizon < 2 || longer.size() > 100) continue;
    const FixedHorizonSpace shorter(use.model, use.horizon - 1);
    const Power alpha{Rational(use.powers.back())};
    const Matrix refined = context.functions.of<KernelFunctions>().fixed_horizon_kernel(
        shorter, alpha, RestartLaw::uniform(shorter.horizon()));
    const Matrix extended =
        context.functions.of<RecordFunctions>().block_extension(shorter, longer, alpha);
    for (std::size_t x = 0; x < shorter.size(); ++x) {
      if (!shorter[x].terminated) continue;
      count.expect(extended(x, longer.find(shorter[x].tokens).value()) == 1,
                   use.name + ": " + shorter.name(x) + " does not stay");
      for (std::size_t y = 0; y < shorter.size(); ++y) {
        if (shorter[y].terminated || refined(x, y) == 0) continue;
        Rational grown = 0;
        for (std::size_t z = 0; z < longer.size(); ++z)
          if (longer[z].length() == use.horizon && starts_with(longer[z].tokens, shorter[y].tokens))
            grown += extended(y, z);
        count.expect(grown == 1, use.name + ": " + shorter.name(y) + " does not grow");
        ++reopened;
      }
    }
  }
  count.expect(reopened > 0, "no record is opened again");
  return count.seen("records kept, and " + std::to_string(reopened) + " opened again");
}

/// subsec:implementation-local: a restart just at τ can put another terminal token in the place of
/// the one that is there; one after it leaves the record as it is.
CheckResult ending_replaced(const CheckContext& context) {
  Count count;
  std::size_t replaced = 0;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    if (space.size() > 100) continue;
    const Power alpha{Rational(use.powers.back())};
    for (std::size_t r = 1; r <= use.horizon; ++r) {
      const Matrix kernel =
          context.functions.of<KernelFunctions>().fixed_horizon_kernel_at(space, alpha, r);
      for (std::size_t x = 0; x < space.size(); ++x) {
        if (!space[x].terminated || space[x].length() > r) continue;
        if (space[x].length() < r) {
          count.expect(kernel(x, x) == 1, use.name + ": " + space.name(x) + " moves");
          continue;
        }
        const std::vector<Token> before(space[x].tokens.begin(), space[x].tokens.end() - 1);
        for (std::size_t y = 0; y < space.size(); ++y) {
          if (y == x || !space[y].terminated || space[y].length() != r ||
              !starts_with(space[y].tokens, before))
            continue;
          count.expect(kernel(x, y) > 0, use.name + ": " + space.name(x) + " | " + space.name(y));
          ++replaced;
        }
      }
    }
  }
  count.expect(replaced > 0, "no terminal token is replaced");
  return count.seen("restarts after an end, and " + std::to_string(replaced) + " replacements");
}

/// Fixed Horizon vs One-Way Truncation: refinement can turn a censored record into a terminated
/// one.
CheckResult censored_terminates(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    if (space.size() > 100) continue;
    const Matrix kernel = context.functions.of<KernelFunctions>().fixed_horizon_kernel(
        space, Power(Rational(use.powers.back())), RestartLaw::uniform(use.horizon));
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y)
        if (!space[x].terminated && space[y].terminated)
          count.expect(kernel(x, y) > 0, use.name + ": " + space.name(x) + " | " + space.name(y));
  }
  return count.seen("moves from censored records to terminated ones");
}

/// sec:repps-llm, (2): refinement can revise decisions before the newest block: with blocks of one
/// token, records that differ in a token before the last reach one another in one move.
CheckResult earlier_blocks(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    if (use.horizon < 2 || space.size() > 100) continue;
    const Matrix kernel = context.functions.of<KernelFunctions>().fixed_horizon_kernel(
        space, Power(Rational(use.powers.back())), RestartLaw::uniform(use.horizon));
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y)
        if (space[x].tokens.front() != space[y].tokens.front())
          count.expect(kernel(x, y) > 0, use.name + ": " + space.name(x) + " | " + space.name(y));
  }
  return count.seen("moves that revise the first token");
}

/// apx:implement, "total generated tokens still grow with K": the expected decode tokens of
/// Algorithm 1 with a rung more.
CheckResult tokens_grow(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    if (use.horizon > 3 || use.space().size() > 6) continue;
    Rational fewer = 0;
    for (const std::string ladder : {"4", "1,4", "1,2,4"}) {
      const Rational tokens =
          context.functions.of<KernelFunctions>()
              .progressive_run(use.model, use.horizon, 1, parse_ladder(ladder, "ladder"),
                               {{1, 1, 1}}, Schedule::adj, {})
              .decode_tokens;
      count.expect(tokens > fewer, use.name + ", powers " + ladder);
      fewer = tokens;
    }
  }
  return count.seen("expected decode tokens, K = 1 to 3");
}

/// eq:theory-absorbing-law: over all sequences of T tokens and paddings the rule's product is the
/// likelihood of the record that the sequence writes down, and zero if it writes none: a padding
/// before the end, another token after it.
CheckResult invalid_constructions(const CheckContext& context) {
  Count count;
  std::size_t invalid = 0;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const std::size_t padding = use.model.vocabulary().size();
    std::size_t sequences = 1;
    for (std::size_t t = 0; t < use.horizon && sequences <= 5000; ++t) sequences *= padding + 1;
    if (sequences > 5000) continue;
    for (std::size_t s = 0; s < sequences; ++s) {
      std::vector<Token> written;
      for (std::size_t t = 0, rest = s; t < use.horizon; ++t, rest /= padding + 1)
        written.push_back(static_cast<Token>(rest % (padding + 1)));
      Rational product = 1;
      bool open = true;
      for (std::size_t t = 0; t < written.size() && product != 0; ++t) {
        if (open != (written[t] < padding)) {
          product = 0;
        } else if (open) {
          product *= context.functions.of<RecordFunctions>().token_row(
              use.model, std::span(written).first(t))[written[t]];
          open = !use.model.is_terminal(written[t]);
        }
      }
      std::vector<Token> tokens = written;
      while (!tokens.empty() && tokens.back() == padding) tokens.pop_back();
      const bool has_padding = std::count(tokens.begin(), tokens.end(), padding) > 0;
      const auto record = has_padding ? std::nullopt : space.find(tokens);
      const Rational mass =
          record ? context.functions.of<RecordFunctions>().likelihood(space, *record) : Rational(0);
      count.expect(mass == product, use.name + ": sequence " + std::to_string(s));
      invalid += record ? 0 : 1;
    }
  }
  count.expect(invalid > 0, "no sequence is invalid");
  return count.seen("sequences, " + std::to_string(invalid) + " of them without probability");
}

/// How many records of S_T a kernel on the comparison space reaches from each of its records.
std::vector<std::size_t> reached_from(const Matrix& kernel, const ComparisonSpace& space) {
  std::vector<std::size_t> numbers;
  for (std::size_t x = 0; x < space.size(); ++x) {
    std::set<std::size_t> seen{x};
    for (std::vector<std::size_t> open{x}; !open.empty();) {
      const std::size_t from = open.back();
      open.pop_back();
      for (std::size_t y = 0; y < space.size(); ++y)
        if (kernel(from, y) > 0 && seen.insert(y).second) open.push_back(y);
    }
    numbers.push_back(static_cast<std::size_t>(std::count_if(
        seen.begin(), seen.end(), [&](std::size_t y) { return space.in_fixed_horizon_space(y); })));
  }
  return numbers;
}

/// sec:theoretical-properties: from every record the fixed horizon reaches all others, in one move;
/// truncating none that is longer.
CheckResult fixed_horizon_reaches_all(const CheckContext& context) {
  Count count;
  std::size_t fewer = 0;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const ComparisonSpace comparison(use.model, use.horizon);
    if (comparison.size() > 100) continue;
    const Power alpha{Rational(use.powers.back())};
    const Matrix fixed = context.functions.of<KernelFunctions>().fixed_horizon_kernel(
        space, alpha, RestartLaw::uniform(use.horizon));
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y)
        count.expect(fixed(x, y) > 0, use.name + ": " + space.name(x) + " | " + space.name(y));
    const auto reached = reached_from(
        context.functions.of<KernelFunctions>().truncating_kernel(comparison, alpha), comparison);
    for (std::size_t x = 0; x < comparison.size(); ++x) {
      bool longer = false;
      for (std::size_t y = 0; y < space.size(); ++y)
        longer = longer || space[y].length() > comparison[x].length();
      count.expect(longer ? reached[x] < space.size() : reached[x] <= space.size(),
                   use.name + ": truncating from " + comparison.name(x));
      fewer += longer ? 1 : 0;
    }
  }
  count.require(fewer > 0, "no record is shorter than another");
  // Another measure: how often a record moves at all. From e at power 2, T = 2.
  const FiniteModel model = parse_finite_model(four_state_model, "four-state");
  const FixedHorizonSpace space(model, 2);
  const ComparisonSpace comparison(model, 2);
  const std::size_t e = space.parse("e", "X_1"), there = comparison.parse("e", "X_1");
  const Rational fixed = 1 - context.functions.of<KernelFunctions>().fixed_horizon_kernel(
                                 space, Power(Rational(2)), RestartLaw::uniform(2))(e, e);
  const Rational cut = 1 - context.functions.of<KernelFunctions>().truncating_kernel(
                               comparison, Power(Rational(2)))(there, there);
  count.expect_without(fixed >= cut, "in the four-state example e moves with probability " +
                                         to_string(fixed) + ", truncating with " + to_string(cut));
  return count.finding("moves, and records from which truncating is compared with it");
}

}  // namespace

std::map<std::string, Check> implementation_checks() {
  return {{"output_rung_fixed", output_rung_fixed},
          {"output_cut", output_cut},
          {"censored_terminates", censored_terminates},
          {"earlier_blocks", earlier_blocks},
          {"tokens_grow", tokens_grow},
          {"reopened_records", reopened_records},
          {"ending_replaced", ending_replaced},
          {"invalid_constructions", invalid_constructions},
          {"fixed_horizon_reaches_all", fixed_horizon_reaches_all}};
}

}  // namespace tempera::lab
