// Defects of one local move.
#include <algorithm>

#include "lab/defects/kernel_gallery.hpp"
#include "lab/defects/small_kernels.hpp"
#include "reference/kernels/token_proposal.hpp"

namespace tempera::lab {
namespace {

using reference::Power;
using reference::Token;
using reference::TokenRow;

/// A defect that replaces something of the paper's move.
Tokens first_of(const Tokens& x, std::size_t tokens) {
  return {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(std::min(tokens, x.size()))};
}

TokenRow proposal(const JudgedCase& judged, const Tokens& prefix, const Power& power) {
  return reference::token_proposal(row_after(judged, prefix), power);
}

/// R with the proposal's probabilities as they are claimed to be.
auto scored_by(const std::function<TokenRow(const JudgedCase&, const Tokens&, const Power&)>& row) {
  return [row](const JudgedCase& judged, const Tokens& x, const Tokens& y, std::size_t kept,
               const Power& power) {
    const auto claimed = [&](const Tokens& record) {
      return probability_of(record, kept,
                            [&](const Tokens& prefix) { return row(judged, prefix, power); });
    };
    return Rational(powered_of(judged, y, kept, power) * claimed(x) /
                    (powered_of(judged, x, kept, power) * claimed(y)));
  };
}

/// The likeliest tokens that together reach a share, or a number of them.
TokenRow cut(const TokenRow& row, std::size_t most, const Rational& share) {
  std::vector<std::size_t> order(row.size());
  for (std::size_t v = 0; v < row.size(); ++v) order[v] = v;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return row[a] > row[b]; });
  TokenRow kept(row.size());
  Rational reached = 0;
  for (std::size_t i = 0; i < order.size() && i < most && reached < share; ++i) {
    kept[order[i]] = row[order[i]];
    reached += row[order[i]];
  }
  return kept;
}

std::vector<PlantedDefect> of_restarts() {
  return {
      planted("tail slice",
              "the current record's scores are sliced to the proposal's length, as if what is "
              "after it cost nothing",
              [](SmallMove& move) {
                move.ratio = [](const JudgedCase& judged, const Tokens& x, const Tokens& y,
                                std::size_t kept, const Power& power) {
                  return Rational(weight_of(judged, y, kept, power) /
                                  weight_of(judged, first_of(x, y.size()), kept, power));
                };
              }),
      planted("restart range without factor",
              "the restart position is drawn from 1..len(x), and len(x)/len(y) is left out of the "
              "ratio",
              [](SmallMove& move) {
                move.kept = [](const JudgedCase&, const Tokens& x, KernelLottery& lottery) {
                  return lottery.draw(std::vector<Rational>(x.size(), Rational(1)));
                };
              }),
      planted("ended records left alone",
              "a record with its terminal token counts as finished and is never moved again",
              [](SmallMove& move) {
                move.kept = [](const JudgedCase& judged, const Tokens& x, KernelLottery& lottery) {
                  return has_ended(judged, x)
                             ? judged.horizon()
                             : lottery.draw(std::vector<Rational>(judged.horizon(), Rational(1)));
                };
              }),
      planted("first token never moved",
              "restart positions are counted from the second token on, so the first is kept for "
              "ever",
              [](SmallMove& move) {
                move.kept = [](const JudgedCase& judged, const Tokens&, KernelLottery& lottery) {
                  return judged.horizon() == 1 ? 1
                                               : 1 + lottery.draw(std::vector<Rational>(
                                                         judged.horizon() - 1, Rational(1)));
                };
              }),
  };
}

std::vector<PlantedDefect> of_ratios() {
  return {
      planted("sign of the Hastings term", "q(y|x)/q(x|y) is used instead of its inverse",
              [](SmallMove& move) {
                move.ratio = [](const JudgedCase& judged, const Tokens& x, const Tokens& y,
                                std::size_t kept, const Power& power) {
                  const auto g = [&](const Tokens& record) {
                    return powered_of(judged, record, kept, power) /
                           weight_of(judged, record, kept, power);
                  };
                  return Rational(powered_of(judged, y, kept, power) * g(y) /
                                  (powered_of(judged, x, kept, power) * g(x)));
                };
              }),
      planted("Hastings term left out",
              "the target's ratio alone decides, as if the proposal were symmetric",
              [](SmallMove& move) {
                move.ratio = [](const JudgedCase& judged, const Tokens& x, const Tokens& y,
                                std::size_t kept, const Power& power) {
                  return Rational(powered_of(judged, y, kept, power) /
                                  powered_of(judged, x, kept, power));
                };
              }),
      planted("power applied to the Hastings correction",
              "the whole log ratio is multiplied by the power, the proposal's part too",
              [](SmallMove& move) {
                move.ratio = [](const JudgedCase& judged, const Tokens& x, const Tokens& y,
                                std::size_t kept, const Power& power) {
                  const auto ratio = [&](const Tokens& record) {
                    return Rational(likelihood_of(judged, record) *
                                    weight_of(judged, record, kept, power) /
                                    powered_of(judged, record, kept, power));
                  };
                  return power.raise(ratio(y) / ratio(x));
                };
              }),
      planted("every proposal accepted",
              "the regenerated record is taken without a decision, as plain low-temperature "
              "resampling",
              [](SmallMove& move) {
                move.accept = [](KernelLottery&, const Rational&) { return true; };
              }),
      planted("only improvements accepted",
              "a proposal is taken if its ratio is at least 1, without a draw",
              [](SmallMove& move) {
                move.accept = [](KernelLottery&, const Rational& ratio) { return ratio >= 1; };
              }),
      planted("proposal scored at another rung's power",
              "tokens are drawn at the rung's power and scored at power 1",
              [](SmallMove& move) {
                move.ratio = scored_by([](const JudgedCase& judged, const Tokens& prefix,
                                          const Power&) { return row_after(judged, prefix); });
              }),
      planted("NaN as rejection",
              "a row with a forbidden token makes the ratio NaN (0 times minus infinity), and NaN "
              "counts as a rejection",
              [](SmallMove& move) {
                move.ratio = [](const JudgedCase& judged, const Tokens& x, const Tokens& y,
                                std::size_t kept, const Power& power) {
                  for (const Tokens* record : {&x, &y})
                    for (std::size_t t = kept; t < record->size(); ++t)
                      for (const Rational& p : row_after(judged, std::span(*record).first(t)))
                        if (p == 0) return Rational(0);
                  return Rational(weight_of(judged, y, kept, power) /
                                  weight_of(judged, x, kept, power));
                };
              }),
  };
}

std::vector<PlantedDefect> of_proposals() {
  const auto uncut = scored_by(proposal);
  return {
      planted("top-k in the proposal only",
              "tokens are drawn from the likeliest two and scored as if from all",
              [&](SmallMove& move) {
                move.tickets = [](const JudgedCase& judged, const Tokens& prefix,
                                  const Power& power) {
                  return cut(proposal(judged, prefix, power), 2, 1);
                };
                move.ratio = uncut;
              }),
      planted("top-p in the proposal only",
              "tokens are drawn from the likeliest that reach two thirds and scored as if from all",
              [&](SmallMove& move) {
                move.tickets = [](const JudgedCase& judged, const Tokens& prefix,
                                  const Power& power) {
                  return cut(proposal(judged, prefix, power), prefix.max_size(),
                             Rational(2) / Rational(3));
                };
                move.ratio = uncut;
              }),
      planted("min-new-tokens in the proposal only",
              "the terminal tokens are masked at the first position when drawing, not when scoring",
              [&](SmallMove& move) {
                move.tickets = [](const JudgedCase& judged, const Tokens& prefix,
                                  const Power& power) {
                  TokenRow row = proposal(judged, prefix, power);
                  TokenRow masked = row;
                  for (Token v = 0; v < row.size(); ++v)
                    if (prefix.empty() && judged.model().is_terminal(v)) masked[v] = 0;
                  for (const Rational& p : masked)
                    if (p != 0) return masked;
                  return row;
                };
                move.ratio = uncut;
              }),
      planted("repetition penalty in the proposal only",
              "a token that occurs before it is drawn half as often, and scored as if not",
              [&](SmallMove& move) {
                move.tickets = [](const JudgedCase& judged, const Tokens& prefix,
                                  const Power& power) {
                  TokenRow row = proposal(judged, prefix, power);
                  for (Token v = 0; v < row.size(); ++v)
                    if (std::find(prefix.begin(), prefix.end(), v) != prefix.end()) row[v] /= 2;
                  return row;
                };
                move.ratio = uncut;
              }),
      planted("two purposes that share a word",
              "the number that drew the last token decides about the acceptance, too",
              [](SmallMove& move) {
                // The word's place among `cells` equal parts of the unit interval.
                const auto word = std::make_shared<std::pair<Rational, Rational>>(0, 1);
                move.draw = [word](KernelLottery& lottery, const TokenRow& row) {
                  const std::size_t token = lottery.draw(row);
                  Rational before = 0, total = 0;
                  for (std::size_t v = 0; v < row.size(); ++v) {
                    if (v < token) before += row[v];
                    total += row[v];
                  }
                  *word = {before / total, (before + row[token]) / total};
                  return token;
                };
                move.accept = [word](KernelLottery& lottery, const Rational& ratio) {
                  const auto& [low, high] = *word;
                  if (ratio <= low || ratio >= high) return ratio >= high;
                  return lottery.happens((ratio - low) / (high - low));
                };
              }),
  };
}

}  // namespace

std::vector<PlantedDefect> planted_in_moves() {
  std::vector<PlantedDefect> defects = of_restarts();
  for (auto more : {of_ratios(), of_proposals()})
    defects.insert(defects.end(), more.begin(), more.end());
  return defects;
}

}  // namespace tempera::lab
