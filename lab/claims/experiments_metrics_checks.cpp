#include <algorithm>
#include <optional>

#include "lab/claims/checks.hpp"
#include "lab/claims/experiment_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/diagnostics.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// sec:hyperparameter-configuration: ESS of normalised weights is their inverse sum of squares; it
/// is at most N, exactly if all are equal, and at least 1, exactly if one has all.
CheckResult ess_range(const CheckContext& context) {
  Count count;
  for (unsigned n = 1; n <= 5; ++n)
    for (unsigned pattern = 1; pattern < 243; ++pattern) {
      std::vector<Rational> weights;
      Rational sum = 0;
      for (unsigned i = 0, rest = pattern; i < n; ++i, rest /= 3) {
        weights.emplace_back(rest % 3);
        sum += weights.back();
      }
      if (sum == 0) continue;
      Rational squares = 0;
      for (Rational& weight : weights) {
        weight /= sum;
        squares += weight * weight;
      }
      const Rational ess =
          context.functions.of<ExperimentFunctions>().effective_sample_size(weights);
      const bool equal =
          std::count(weights.begin(), weights.end(), weights.front()) == std::ssize(weights);
      const bool single = std::count(weights.begin(), weights.end(), Rational(1)) == 1;
      count.expect(
          ess * squares == 1 && ess >= 1 && ess <= n && (ess == n) == equal && (ess == 1) == single,
          "particles, pattern: " + std::to_string(n) + ", " + std::to_string(pattern));
    }
  return count.seen("weightings of 1 to 5 particles");
}

/// sec:related: g_α is the one prefix-only proposal that minimises the variance of PowerSMC's
/// incremental weight, to 0; every other of a grid of proposals leaves some.
CheckResult smallest_weight_variance(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    std::vector<TokenRow> rows;
    for (const auto& [history, row] : use.model.listed_rows()) rows.push_back(row);
    if (use.model.default_row()) rows.push_back(*use.model.default_row());
    const Power alpha{Rational(use.powers.back())};
    for (const TokenRow& row : rows) {
      const TokenRow best = token_proposal(row, alpha);
      count.expect(context.functions.of<ExperimentFunctions>().incremental_weight_variance(
                       row, alpha, best) == 0,
                   use.name);
      for (std::size_t v = 0; v < row.size(); ++v)
        for (std::size_t u = 0; u < row.size(); ++u) {
          if (u == v || row[u] == 0 || row[v] == 0) continue;
          TokenRow other = best;
          other[v] += best[u] / 3;
          other[u] -= best[u] / 3;
          count.expect(context.functions.of<ExperimentFunctions>().incremental_weight_variance(
                           row, alpha, other) > 0,
                       use.name + ": another proposal has no variance");
        }
    }
  }
  return count.seen("proposals at rows");
}

/// Diagnostic metrics: the confidence is at most 0, each position's term being so, and 0 exactly if
/// the next token is certain.
CheckResult confidence_at_most_zero(const CheckContext& context) {
  Count count;
  for (const ShippedUse& use : context.uses) {
    std::vector<TokenRow> rows;
    for (const auto& [history, row] : use.model.listed_rows()) rows.push_back(row);
    if (use.model.default_row()) rows.push_back(*use.model.default_row());
    for (const TokenRow& row : rows) {
      const bool certain = std::count(row.begin(), row.end(), Rational(1)) == 1;
      const Interval term = context.functions.of<ExperimentFunctions>().negative_entropy(row, 64);
      count.expect(certain ? term.lower() == 0 && term.upper() == 0 : term.is_negative(), use.name);
    }
  }
  return count.seen("rows");
}

/// The greatest of the counts, and among the answers with it the greatest of the products, both
/// found by trying every answer; nothing if two have both.
std::optional<std::size_t> voted(const std::vector<std::size_t>& answers,
                                 const std::vector<Rational>& likelihoods) {
  std::vector<std::size_t> winners;
  for (std::size_t answer = 0; answer < 3; ++answer) {
    const auto standing = [&](std::size_t which) {
      std::pair<std::size_t, Rational> votes{0, 1};
      for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i] != which) continue;
        ++votes.first;
        votes.second *= likelihoods[i];
      }
      return votes;
    };
    bool beaten = standing(answer).first == 0;
    for (std::size_t other = 0; other < 3; ++other)
      beaten = beaten || (standing(other).first > 0 && standing(other) > standing(answer));
    if (!beaten) winners.push_back(answer);
  }
  return winners.size() == 1 ? std::optional(winners.front()) : std::nullopt;
}

/// apx:compute-matched: the rule of the vote on every four traces of three answers and two
/// likelihoods. It breaks some ties and leaves others.
CheckResult vote_ties(const CheckContext& context) {
  Count count;
  std::size_t left = 0;
  for (unsigned pattern = 0; pattern < 1296; ++pattern) {
    std::vector<std::size_t> answers;
    std::vector<Rational> likelihoods;
    for (unsigned i = 0, rest = pattern; i < 4; ++i, rest /= 6) {
      answers.push_back(rest % 3);
      likelihoods.emplace_back(rest % 6 < 3 ? Rational(1, 2) : Rational(1, 8));
    }
    const auto expected = voted(answers, likelihoods);
    count.expect(context.functions.of<ExperimentFunctions>().majority_answer(
                     answers, likelihoods) == expected,
                 "pattern " + std::to_string(pattern));
    left += expected ? 0 : 1;
  }
  count.expect(left > 0, "no tie is left");
  CheckResult finding = count.seen("votes of four traces");
  if (finding.sound()) finding.detail += ", " + std::to_string(left) + " of them left open";
  return finding;
}

}  // namespace

std::map<std::string, Check> experiments_metrics_checks() {
  return {{"ess_range", ess_range},
          {"smallest_weight_variance", smallest_weight_variance},
          {"confidence_at_most_zero", confidence_at_most_zero},
          {"vote_ties", vote_ties}};
}

}  // namespace tempera::lab
