// Defects of rounds on several rungs.
#include <algorithm>

#include "lab/defects/kernel_gallery.hpp"
#include "lab/defects/small_kernels.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "reference/numbers/common_denominator.hpp"

namespace tempera::lab {
namespace {

using reference::Power;
using reference::TokenRow;

PlantedDefect planted(const std::string& name, const std::string& description,
                      const std::vector<int>& powers,
                      const std::function<void(SmallRound&)>& plant) {
  SmallRound round;
  plant(round);
  return {name, description, kernel_of(round), small_case(powers)};
}

Power gap(const JudgedCase& judged, std::size_t lower, std::size_t upper) {
  const auto& powers = judged.target().powers;
  return Power(powers[upper].value() - powers[lower].value());
}

/// The ratio of two likelihoods to a power.
Rational ratio_of(const JudgedCase& judged, const Power& power, const Tokens& above,
                  const Tokens& below) {
  return power.raise(likelihood_of(judged, above) / likelihood_of(judged, below));
}

/// All rungs move by the same words: each draws from the unit interval, cut at every rung's
/// tickets.
JudgedState moved_by_one_stream(const JudgedCase& judged, JudgedState state,
                                KernelLottery& lottery) {
  const std::size_t kept = lottery.draw(std::vector<Rational>(judged.horizon(), Rational(1)));
  std::vector<Tokens> proposed(state.size());
  for (std::size_t k = 0; k < state.size(); ++k)
    proposed[k] = {state[k].begin(),
                   state[k].begin() + static_cast<std::ptrdiff_t>(std::min(kept, state[k].size()))};
  const auto is_open = [&](std::size_t k) {
    return kept < state[k].size() && proposed[k].size() < judged.horizon() &&
           !has_ended(judged, proposed[k]);
  };
  for (std::size_t t = kept; t < judged.horizon(); ++t) {
    // One word for the token at position t, whichever rung it is for.
    std::vector<Rational> cuts{0, 1};
    std::vector<TokenRow> rows(state.size());
    for (std::size_t k = 0; k < state.size(); ++k) {
      if (!is_open(k)) continue;
      rows[k] =
          reference::token_proposal(row_after(judged, proposed[k]), judged.target().powers[k]);
      Rational sum = 0;
      for (const Rational& p : rows[k]) cuts.push_back(sum += p);
    }
    std::sort(cuts.begin(), cuts.end());
    std::vector<Rational> cells;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) cells.push_back(cuts[i + 1] - cuts[i]);
    const std::size_t cell = lottery.draw(cells);
    for (std::size_t k = 0; k < state.size(); ++k) {
      if (rows[k].empty()) continue;
      Rational sum = rows[k][0];
      reference::Token v = 0;
      while (sum <= cuts[cell]) sum += rows[k][++v];
      proposed[k].push_back(v);
    }
  }
  for (std::size_t k = 0; k < state.size(); ++k) {
    if (kept >= state[k].size()) continue;
    const Power& power = judged.target().powers[k];
    const Rational ratio =
        weight_of(judged, proposed[k], kept, power) / weight_of(judged, state[k], kept, power);
    if (lottery.happens(ratio < 1 ? ratio : Rational(1))) state[k] = proposed[k];
  }
  return state;
}

/// Two tokens that both go on, so that a kept token may be another one.
JudgedCase case_without_end() {
  const auto q = [](int a, int b) { return Rational(a) / Rational(b); };
  return {reference::FiniteModel({"endless",
                                  {{"a", "b"}, "gallery"},
                                  {},
                                  {{{0}, TokenRow{q(1, 4), q(3, 4)}}},
                                  TokenRow{q(2, 3), q(1, 3)}},
                                 "gallery"),
          2,
          {{Power(1), Power(2)}, {}}};
}

std::vector<PlantedDefect> of_swaps() {
  return {
      planted("swap with transposed energies",
              "the two log-likelihoods change places in the exchange ratio", {1, 2},
              [](SmallRound& round) {
                round.swap_ratio = [](const JudgedCase& judged, const JudgedState& state,
                                      std::size_t k) {
                  return ratio_of(judged, gap(judged, k, k + 1), state[k + 1], state[k]);
                };
              }),
      planted("in-place permutation that duplicates states",
              "an accepted exchange writes one record over the other before that is saved", {1, 2},
              [](SmallRound& round) {
                round.exchange = [](JudgedState& state, std::size_t k) {
                  state[k] = state[k + 1];
                  state[k + 1] = state[k];
                };
              }),
      planted("wrong neighbour",
              "the exchange is decided by one pair of neighbours and done with the next", {1, 2, 3},
              [](SmallRound& round) {
                round.exchange = [](JudgedState& state, std::size_t k) {
                  std::swap(state[k], state[(k + 2) % state.size()]);
                };
              }),
      planted("exchange by the better record alone",
              "the likelier record always moves up and the less likely never does", {1, 2},
              [](SmallRound& round) {
                round.swap_ratio = [](const JudgedCase& judged, const JudgedState& state,
                                      std::size_t k) {
                  return Rational(
                      likelihood_of(judged, state[k]) >= likelihood_of(judged, state[k + 1]) ? 1
                                                                                             : 0);
                };
              }),
      planted("exchange at the wrong gap of powers",
              "the upper power is used instead of the difference of the powers", {1, 2},
              [](SmallRound& round) {
                round.swap_ratio = [](const JudgedCase& judged, const JudgedState& state,
                                      std::size_t k) {
                  return ratio_of(judged, judged.target().powers[k + 1], state[k], state[k + 1]);
                };
              }),
      planted("copy instead of exchange",
              "the upper rung takes the lower one's record, which keeps it", {1, 2},
              [](SmallRound& round) {
                round.exchange = [](JudgedState& state, std::size_t k) { state[k + 1] = state[k]; };
              }),
  };
}

std::vector<PlantedDefect> of_rounds() {
  std::vector<PlantedDefect> defects{
      planted("stale cache after a swap",
              "after an exchange the next move reads the kept tokens from the cache of the record "
              "that stood there before",
              {1, 2},
              [](SmallRound& round) {
                round.move = [](const JudgedCase& judged, JudgedState& state, std::size_t k,
                                KernelLottery& lottery) {
                  // The caches are as before the exchange: each holds the other's tokens.
                  const Tokens cached = state[state.size() - 1 - k];
                  SmallMove move;
                  move.tickets = [&](const JudgedCase& at, const Tokens& prefix,
                                     const Power& power) {
                    Tokens read = prefix;
                    for (std::size_t t = 0; t < read.size() && t < cached.size(); ++t)
                      if (!at.model().is_terminal(cached[t])) read[t] = cached[t];
                    return reference::token_proposal(row_after(at, read), power);
                  };
                  state[k] = move(judged, state[k], judged.target().powers[k], lottery);
                };
              }),
      planted("batch-dependent logit",
              "a row of logits depends on what is computed beside it: its first token is twice as "
              "likely where the other record has ended",
              {1, 2},
              [](SmallRound& round) {
                round.move = [](const JudgedCase& judged, JudgedState& state, std::size_t k,
                                KernelLottery& lottery) {
                  const bool is_alone = has_ended(judged, state[(k + 1) % state.size()]);
                  const auto row = [is_alone](const JudgedCase& at, const Tokens& prefix) {
                    TokenRow biased = row_after(at, prefix);
                    if (is_alone) biased[0] *= 2;
                    return biased;
                  };
                  SmallMove move;
                  move.tickets = [&](const JudgedCase& at, const Tokens& prefix,
                                     const Power& power) {
                    TokenRow tickets;
                    for (const Rational& p : row(at, prefix)) tickets.push_back(power.raise(p));
                    return tickets;
                  };
                  // Scores are read from the same logits: R is Π z of the rows that were seen.
                  move.ratio = [&](const JudgedCase& at, const Tokens& x, const Tokens& y,
                                   std::size_t kept, const Power& power) {
                    const auto weight = [&](const Tokens& record) {
                      Rational product = 1;
                      for (std::size_t t = kept; t < record.size(); ++t) {
                        const Tokens prefix(record.begin(),
                                            record.begin() + static_cast<std::ptrdiff_t>(t));
                        Rational total = 0;
                        for (const Rational& p : row(at, prefix)) total += p;
                        TokenRow seen = row(at, prefix);
                        for (Rational& p : seen) p /= total;
                        product *= reference::token_normalizer(seen, power);
                      }
                      return product;
                    };
                    return Rational(weight(y) / weight(x));
                  };
                  state[k] = move(judged, state[k], judged.target().powers[k], lottery);
                };
              }),
      planted("adaptation of the ladder during collection",
              "the lower rung moves at a power that is chosen anew from the record that it holds",
              {1, 2},
              [](SmallRound& round) {
                round.move = [](const JudgedCase& judged, JudgedState& state, std::size_t k,
                                KernelLottery& lottery) {
                  static const SmallMove local;
                  const bool is_adapted = k == 0 && state[k].size() > 1;
                  state[k] =
                      local(judged, state[k],
                            judged.target().powers[is_adapted ? state.size() - 1 : k], lottery);
                };
              }),
      {"the same random stream in every call",
       "every rung's move is seeded alike, so that all draw by the same words",
       enumerated(moved_by_one_stream), small_case({1, 2})},
  };
  defects.front().judged = case_without_end();
  // Half a sweep preserves the target: it is only not the kernel that it is said to be.
  defects.push_back(planted("one swap only", "a sweep attempts the first edge and no other",
                            {1, 2, 3}, [](SmallRound& round) {
                              round.edges = [](const JudgedCase&) {
                                return std::vector<std::size_t>{0};
                              };
                            }));
  defects.back().said_to_be = kernel_of(SmallRound());
  return defects;
}

}  // namespace

std::vector<PlantedDefect> planted_in_rounds() {
  std::vector<PlantedDefect> defects = of_swaps();
  for (PlantedDefect& defect : of_rounds()) defects.push_back(std::move(defect));
  return defects;
}

}  // namespace tempera::lab
