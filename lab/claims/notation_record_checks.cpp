#include <algorithm>
#include <numeric>
#include <optional>

#include "lab/claims/checks.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/kernels/block_extension.hpp"
#include "reference/kernels/cached_ratio.hpp"
#include "reference/kernels/continuation_mass.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"
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

Rational sum_of(const std::vector<Rational>& terms) {
  return std::accumulate(terms.begin(), terms.end(), Rational(0));
}

/// The open prefixes of a space's records, the empty one included.
std::vector<std::vector<Token>> open_prefixes(const RecordSpace& space) {
  std::map<std::vector<Token>, bool> seen;
  for (std::size_t s = 0; s < space.size(); ++s) {
    const auto& tokens = space[s].tokens;
    for (std::size_t length = 0; length < tokens.size(); ++length)
      seen[{tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(length)}] = true;
  }
  std::vector<std::vector<Token>> prefixes;
  for (const auto& [prefix, unused] : seen) prefixes.push_back(prefix);
  return prefixes;
}

bool begins_with(const std::vector<Token>& tokens, const std::vector<Token>& prefix) {
  return tokens.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), tokens.begin());
}

/// The mass that the space's records put on each of its prefixes, whole records included.
std::map<std::vector<Token>, Rational> prefix_masses(const RecordSpace& space,
                                                     const FunctionsUnderTest& functions) {
  std::map<std::vector<Token>, Rational> masses;
  for (std::size_t s = 0; s < space.size(); ++s) {
    std::vector<Token> prefix;
    const Rational mass = functions.of<RecordFunctions>().likelihood(space, s);
    masses[prefix] += mass;
    for (const Token token : space[s].tokens) {
      prefix.push_back(token);
      masses[prefix] += mass;
    }
  }
  return masses;
}

/// Π p0(x_t | x_{<t}) along tokens, from the model's rows.
Rational along_rows(const FiniteModel& model, std::span<const Token> tokens,
                    const FunctionsUnderTest& functions) {
  Rational product = 1;
  for (std::size_t t = 0; t < tokens.size(); ++t)
    product *= functions.of<RecordFunctions>().token_row(model, tokens.first(t))[tokens[t]];
  return product;
}

/// eq:theory-absorbing-law. The next-token law after h is read off the records: the mass of those
/// that begin with h v, over the rows' product along h. A terminated record goes on by padding
/// alone, so what is left of it is its own mass.
CheckResult padded_law(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const auto masses = prefix_masses(space, context.functions);
    std::map<std::vector<Token>, Rational> next_sums;
    for (const auto& [prefix, mass] : masses)
      if (!prefix.empty()) next_sums[{prefix.begin(), prefix.end() - 1}] += mass;
    for (std::size_t s = 0; s < space.size(); ++s)
      if (space[s].terminated && space[s].length() < use.horizon)
        next_sums[space[s].tokens] += masses.at(space[s].tokens);
    for (const auto& [history, sum] : next_sums)
      count.expect(sum == along_rows(use.model, history, context.functions),
                   use.name + " after '" + use.model.text(history) + "'");
  }
  return count.finding("next-token laws, padding included");
}

/// eq:record-prob
CheckResult record_law(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const Law law = context.functions.of<RecordFunctions>().base_law(use.space());
    count.expect(sum_of(law) == 1, use.name + ": the records do not sum to one");
    count.expect(std::all_of(law.begin(), law.end(), [](const Rational& p) { return p > 0; }),
                 use.name + ": a record without probability");
  }
  return count.finding("sums and signs of record spaces");
}

/// eq:theory-terminated-sequence-law; a record that ends before the horizon is as likely at a
/// shorter one, with less padding.
CheckResult terminated_law(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const FixedHorizonSpace shorter(use.model, use.horizon - 1);
    for (std::size_t s = 0; s < space.size(); ++s) {
      const Rational product = along_rows(use.model, space[s].tokens, context.functions);
      count.expect(context.functions.of<RecordFunctions>().likelihood(space, s) == product,
                   use.name + ": " + space.name(s));
      if (space[s].length() < use.horizon)
        count.expect(context.functions.of<RecordFunctions>().likelihood(
                         shorter, shorter.find(space[s].tokens).value()) == product,
                     use.name + ": " + space.name(s) + " with less padding");
    }
  }
  return count.finding("records, terminated ones at two horizons");
}

/// eq:theory-power-target
CheckResult power_target_check(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    for (const unsigned power : use.powers) {
      const Law target =
          context.functions.of<RecordFunctions>().power_target(space, Power(Rational(power)));
      count.expect(sum_of(target) == 1, use.name + ": the target does not sum to one");
      Rational z = 0;
      for (std::size_t s = 0; s < space.size(); ++s) z += integer_power(space.likelihood(s), power);
      for (std::size_t s = 0; s < space.size(); ++s)
        count.expect(target[s] > 0 && target[s] * z == integer_power(space.likelihood(s), power),
                     use.name + ": " + space.name(s));
    }
  }
  return count.finding("target probabilities and sums");
}

/// eq:theory-token-normalizer, eq:theory-tokenwise-proposal
CheckResult token_proposal_check(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    for (const auto& prefix : open_prefixes(space)) {
      const TokenRow& row = use.model.token_row(prefix);
      for (const unsigned power : use.powers) {
        Rational z = 0;
        for (const Rational& p : row) z += integer_power(p, power);
        const TokenRow g =
            context.functions.of<RecordFunctions>().token_proposal(row, Power(Rational(power)));
        bool holds = sum_of(g) == 1;
        for (std::size_t v = 0; v < row.size(); ++v)
          holds = holds && g[v] * z == integer_power(row[v], power);
        count.expect(holds, use.name + " after '" + use.model.text(prefix) + "'");
      }
    }
  }
  return count.finding("tokenwise proposals");
}

/// eq:implementation-token-normalizers at the padding: the proposal there is ⊥ alone, whose
/// normalizer is one; production's cached sum over the padding is zero.
CheckResult padding_normalizer(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const auto g = context.functions.of<RecordFunctions>().padded_token(
        space, Power(Rational(use.powers.back())));
    for (std::size_t s = 0; s < space.size(); ++s) {
      const std::size_t length = space[s].length();
      for (std::size_t t = length + 1; t <= use.horizon; ++t)
        count.expect(g(s, t) == 1, use.name + ": " + space.name(s) + ", t = " + std::to_string(t));
      if (length < use.horizon)
        count.expect(
            context.functions.of<RecordFunctions>().cached_zeta(
                use.model, use.horizon, use.powers.back(), space[s].tokens, length + 1) == 0.0,
            use.name + ": cached zeta of " + space.name(s));
    }
  }
  return count.finding("normalizers of padding");
}

/// eq:implementation-fixed-suffix-proposal
CheckResult suffix_proposal_check(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const auto q = context.functions.of<RecordFunctions>().suffix_proposal(
        space, Power(Rational(use.powers.back())));
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t r = 1; r <= use.horizon; ++r) {
        Rational total = 0;
        for (std::size_t y = 0; y < space.size(); ++y) total += q(r, x, y);
        count.expect(total == 1, use.name + ": " + space.name(x) + ", r = " + std::to_string(r));
      }
  }
  return count.finding("laws q_r(. | x)");
}

CheckResult self_transition(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const auto q = context.functions.of<RecordFunctions>().suffix_proposal(
        space, Power(Rational(use.powers.back())));
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t r = space[x].length() + 1; r <= use.horizon; ++r)
        for (std::size_t y = 0; y < space.size(); ++y)
          count.expect(q(r, x, y) == (x == y ? 1 : 0),
                       use.name + ": " + space.name(x) + ", r = " + std::to_string(r));
  }
  return count.finding("proposals of a restart in the padding");
}

/// The target's next-token law after an open prefix, from its own marginals.
TokenRow target_conditional(const RecordSpace& space, const Law& target,
                            const std::vector<Token>& prefix) {
  Rational mass = 0;
  TokenRow next(space.model().vocabulary_size());
  for (std::size_t s = 0; s < space.size(); ++s) {
    if (!begins_with(space[s].tokens, prefix)) continue;
    mass += target[s];
    next[space[s].tokens[prefix.size()]] += target[s];
  }
  for (Rational& probability : next) probability /= mass;
  return next;
}

/// eq:theory-power-conditional
CheckResult power_conditional_check(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const Power power{Rational(use.powers.back())};
    const Law target = power_target(space, power);
    for (const auto& prefix : open_prefixes(space))
      count.expect(
          target_conditional(space, target, prefix) ==
              context.functions.of<RecordFunctions>().power_conditional(space, power, prefix),
          use.name + " after '" + use.model.text(prefix) + "'");
  }
  return count.finding("next-token conditionals");
}

/// eq:theory-continuation-mass, both directions; both must occur.
CheckResult proposal_is_conditional(const CheckContext& context) {
  Count count;
  std::size_t equal = 0;
  std::size_t different = 0;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const Power power{Rational(use.powers.back())};
    const Law target = power_target(space, power);
    for (const auto& prefix : open_prefixes(space)) {
      const TokenRow& row = use.model.token_row(prefix);
      std::optional<Rational> mass;
      bool same_mass = true;
      for (Token v = 0; v < row.size(); ++v) {
        if (row[v] == 0) continue;
        const Rational h =
            context.functions.of<RecordFunctions>().continuation_mass(space, power, prefix, v);
        same_mass = same_mass && (!mass || *mass == h);
        mass = h;
      }
      const bool same_law = context.functions.of<RecordFunctions>().token_proposal(row, power) ==
                            target_conditional(space, target, prefix);
      ++(same_law ? equal : different);
      count.expect(same_law == same_mass, use.name + " after '" + use.model.text(prefix) + "'");
    }
  }
  count.expect(equal > 0 && different > 0, "only one of the two cases occurs");
  CheckResult finding = count.finding("");
  if (finding.sound())
    finding.detail = std::to_string(equal) + " prefixes with equal continuation masses, " +
                     std::to_string(different) + " without";
  return finding;
}

/// ps-vs-lowtemp: the four-state model, squared.
CheckResult not_tokenwise(const CheckContext& context) {
  const FixedHorizonSpace space(parse_finite_model(four_state_model, "four-state"), 2);
  const Power power{Rational(2)};
  const Token e = *space.model().find_token("e");
  const Rational at_target = target_conditional(
      space, context.functions.of<RecordFunctions>().power_target(space, power), {})[e];
  const Rational tokenwise =
      context.functions.of<RecordFunctions>().token_proposal(space.model().token_row({}), power)[e];
  Count count;
  count.expect(at_target == Rational(2, 3), "e comes first with " + to_string(at_target));
  count.expect(tokenwise == Rational(1, 2), "g proposes e with " + to_string(tokenwise));
  return count.finding("probabilities: 2/3 and 1/2");
}

/// Judges the ratio pi(y) q_r(x | y) / (pi(x) q_r(y | x)), from the definition of target and
/// proposal, against `ratio`(space, power, x, y, r) on every pair and every restart they share.
template <class Ratio>
CheckResult local_ratio(const CheckContext& context, Ratio&& ratio) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const Power power{Rational(use.powers.back())};
    const Law target = power_target(space, power);
    const SuffixProposal q(space, power);
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y)
        for (std::size_t r = 1; x != y && r <= last_shared_restart(space[x], space[y]); ++r)
          count.expect(
              target[y] * q(r, y, x) == target[x] * q(r, x, y) * ratio(space, power, x, y, r),
              use.name + ": " + space.name(x) + " | " + space.name(y));
  }
  return count.finding("triples (x, y, r)");
}

/// eq:implementation-local-cached-ratio: the product over all positions from r to T, padding
/// contributing one.
CheckResult cached_ratio_check(const CheckContext& context) {
  const FunctionsUnderTest& functions = context.functions;
  return local_ratio(context, [&](const RecordSpace& space, const Power& power, std::size_t x,
                                  std::size_t y, std::size_t r) {
    Rational product = 1;
    const auto normalizer = [&](std::size_t s, std::size_t t) {
      const std::span<const Token> tokens = space[s].tokens;
      if (t > tokens.size()) return Rational(1);
      return functions.of<RecordFunctions>().token_normalizer(
          space.model().token_row(tokens.first(t - 1)), power);
    };
    for (std::size_t t = r; t <= space.horizon(); ++t)
      product *= normalizer(y, t) / normalizer(x, t);
    return product;
  });
}

/// The same from sums that stop at the two records' own lengths.
CheckResult cached_ratio_length(const CheckContext& context) {
  return local_ratio(context, context.functions.of<RecordFunctions>().cached_ratio);
}

/// eq:implementation-extension: from the empty record, block extension to T is Π g, which is not
/// the target.
CheckResult block_extension_check(const CheckContext& context) {
  Count count;
  bool differs = false;
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    const FixedHorizonSpace empty(use.model, 0);
    const FixedHorizonSpace half(use.model, (use.horizon + 1) / 2);
    const Power power{Rational(use.powers.back())};
    const Matrix first =
        context.functions.of<RecordFunctions>().block_extension(empty, half, power);
    const Matrix second =
        context.functions.of<RecordFunctions>().block_extension(half, space, power);
    const SuffixProposal q(space, power);
    const Law target = power_target(space, power);
    for (std::size_t y = 0; y < space.size(); ++y) {
      Rational reached = 0;
      for (std::size_t x = 0; x < half.size(); ++x) reached += first(0, x) * second(x, y);
      count.expect(reached == q.suffix(y, 1), use.name + ": " + space.name(y));
      differs = differs || reached != target[y];
    }
  }
  count.expect(differs, "on every shipped model the extension is the target");
  return count.finding("records extended in two blocks");
}

}  // namespace

std::map<std::string, Check> notation_record_checks() {
  return {{"padded_law", padded_law},
          {"record_law", record_law},
          {"terminated_law", terminated_law},
          {"power_target", power_target_check},
          {"token_proposal", token_proposal_check},
          {"padding_normalizer", padding_normalizer},
          {"suffix_proposal", suffix_proposal_check},
          {"self_transition", self_transition},
          {"power_conditional", power_conditional_check},
          {"proposal_is_conditional", proposal_is_conditional},
          {"not_tokenwise", not_tokenwise},
          {"cached_ratio", cached_ratio_check},
          {"cached_ratio_length", cached_ratio_length},
          {"block_extension", block_extension_check}};
}

}  // namespace tempera::lab
