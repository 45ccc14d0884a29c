#include <numeric>

#include "lab/claims/checks.hpp"
#include "reference/kernels/block_extension.hpp"
#include "reference/kernels/continuation_mass.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/record_agreement.hpp"
#include "reference/kernels/suffix_proposal.hpp"
#include "reference/kernels/token_proposal.hpp"

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

/// eq:theory-absorbing-law
Verdict base_law_check(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    for (const auto& prefix : open_prefixes(space))
      count.expect(sum_of(use.model.token_row(prefix)) == 1,
                   use.name + " after '" + use.model.text(prefix) + "'");
  }
  return count.verdict("rows of shipped models");
}

/// eq:record-prob, eq:theory-terminated-sequence-law
Verdict record_law(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    Rational total = 0;
    for (std::size_t s = 0; s < space.size(); ++s) {
      Rational product = 1;
      std::vector<Token> prefix;
      for (const Token token : space[s].tokens) {
        product *= use.model.token_row(prefix)[token];
        prefix.push_back(token);
      }
      count.expect(space.likelihood(s) == product && product > 0, use.name + ": " + space.name(s));
      total += product;
    }
    count.expect(total == 1, use.name + ": the records do not sum to one");
  }
  return count.verdict("records and sums");
}

/// eq:theory-power-target
Verdict power_target_check(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    for (const unsigned power : use.powers) {
      const Law target = power_target(space, Power(Rational(power)));
      Rational z = 0;
      for (std::size_t s = 0; s < space.size(); ++s) z += integer_power(space.likelihood(s), power);
      for (std::size_t s = 0; s < space.size(); ++s)
        count.expect(target[s] * z == integer_power(space.likelihood(s), power),
                     use.name + ": " + space.name(s));
    }
  }
  return count.verdict("target probabilities");
}

/// eq:theory-token-normalizer, eq:theory-tokenwise-proposal
Verdict token_proposal_check(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    for (const auto& prefix : open_prefixes(space)) {
      const TokenRow& row = use.model.token_row(prefix);
      for (const unsigned power : use.powers) {
        const Rational z = token_normalizer(row, Power(Rational(power)));
        const TokenRow g = token_proposal(row, Power(Rational(power)));
        bool holds = sum_of(g) == 1;
        for (std::size_t v = 0; v < row.size(); ++v)
          holds = holds && g[v] * z == integer_power(row[v], power);
        count.expect(holds, use.name + " after '" + use.model.text(prefix) + "'");
      }
    }
  }
  return count.verdict("tokenwise proposals");
}

/// eq:implementation-fixed-suffix-proposal
Verdict suffix_proposal_check(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    const SuffixProposal q(space, Power(Rational(use.powers.back())));
    for (std::size_t x = 0; x < space.size(); ++x) {
      for (std::size_t r = 1; r <= use.horizon; ++r) {
        Rational total = 0;
        for (std::size_t y = 0; y < space.size(); ++y) total += q(r, x, y);
        const bool behind = r > space[x].length();
        count.expect(total == 1 && (!behind || q(r, x, x) == 1),
                     use.name + ": " + space.name(x) + ", r = " + std::to_string(r));
      }
    }
  }
  return count.verdict("laws q_r(. | x)");
}

/// eq:theory-power-conditional, from the target's own marginals; and that it is not tokenwise.
Verdict power_conditional_check(const Evidence& evidence) {
  Count count;
  bool differs = false;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    const Power power{Rational(use.powers.back())};
    const Law target = power_target(space, power);
    for (const auto& prefix : open_prefixes(space)) {
      Rational mass = 0;
      std::vector<Rational> next(use.model.vocabulary_size());
      for (std::size_t s = 0; s < space.size(); ++s) {
        if (!begins_with(space[s].tokens, prefix)) continue;
        mass += target[s];
        next[space[s].tokens[prefix.size()]] += target[s];
      }
      for (Rational& probability : next) probability /= mass;
      count.expect(next == power_conditional(space, power, prefix),
                   use.name + " after '" + use.model.text(prefix) + "'");
      differs = differs || next != token_proposal(use.model.token_row(prefix), power);
    }
  }
  count.expect(differs, "every shipped model's conditional is its tokenwise proposal");
  return count.verdict("next-token conditionals");
}

/// eq:implementation-local-cached-ratio, as a product: the left side from the definition of target
/// and proposal, the right side from the normalizers along the two records.
Verdict cached_ratio(const Evidence& evidence) {
  Count count;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    const Power power{Rational(use.powers.back())};
    const Law target = power_target(space, power);
    const SuffixProposal q(space, power);
    const auto normalizers_from = [&](std::size_t s, std::size_t r) {
      Rational product = 1;
      const auto& tokens = space[s].tokens;
      for (std::size_t t = r; t <= tokens.size(); ++t)
        product *= token_normalizer(use.model.token_row(std::span(tokens).first(t - 1)), power);
      return product;
    };
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y)
        for (std::size_t r = 1; x != y && r <= last_shared_restart(space[x], space[y]); ++r)
          count.expect(target[y] * q(r, y, x) * normalizers_from(x, r) ==
                           target[x] * q(r, x, y) * normalizers_from(y, r),
                       use.name + ": " + space.name(x) + " | " + space.name(y));
  }
  return count.verdict("triples (x, y, r)");
}

/// eq:implementation-extension: from the empty record, block extension to T is Π g, which is not
/// the target.
Verdict block_extension_check(const Evidence& evidence) {
  Count count;
  bool differs = false;
  for (const ShippedUse& use : evidence.uses) {
    const FixedHorizonSpace space = use.space();
    const FixedHorizonSpace empty(use.model, 0);
    const FixedHorizonSpace half(use.model, (use.horizon + 1) / 2);
    const Power power{Rational(use.powers.back())};
    const Matrix first = block_extension(empty, half, power);
    const Matrix second = block_extension(half, space, power);
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
  return count.verdict("records extended in two blocks");
}

}  // namespace

std::map<std::string, Check> record_checks() {
  return {{"base_law", base_law_check},
          {"record_law", record_law},
          {"power_target", power_target_check},
          {"token_proposal", token_proposal_check},
          {"suffix_proposal", suffix_proposal_check},
          {"power_conditional", power_conditional_check},
          {"cached_ratio", cached_ratio},
          {"block_extension", block_extension_check}};
}

}  // namespace tempera::lab
