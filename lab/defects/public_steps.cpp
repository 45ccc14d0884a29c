// Steps of public samplers, stated anew in fractions (docs/reference/public_samplers.md).
#include "lab/defects/public_steps.hpp"

#include <algorithm>

#include "reference/kernels/token_proposal.hpp"

namespace tempera::lab {
namespace {

using reference::Power;
using reference::Token;

/// A uniform choice among 0..number - 1.
std::size_t uniform(KernelLottery& lottery, std::size_t number) {
  return lottery.draw(std::vector<Rational>(number, Rational(1)));
}

/// The first `kept` tokens of x, continued at this power to `length` tokens or an end.
Tokens continued(const JudgedCase& judged, const Tokens& x, std::size_t kept, std::size_t length,
                 const Power& power, KernelLottery& lottery) {
  Tokens y(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(std::min(kept, x.size())));
  while (y.size() < length && !has_ended(judged, y))
    y.push_back(
        static_cast<Token>(lottery.draw(reference::token_proposal(row_after(judged, y), power))));
  return y;
}

/// The mean over the powers of the probability that each gives to the tokens after `kept`.
Rational mixture_of(const JudgedCase& judged, const Tokens& record, std::size_t kept,
                    const std::vector<Power>& powers) {
  Rational sum = 0;
  for (const Power& power : powers)
    sum += powered_of(judged, record, kept, power) / weight_of(judged, record, kept, power);
  return sum / powers.size();
}

/// R of a move from x to y at a kept prefix: Π z of y's tokens after it, over that of x's.
Rational ratio_of(const JudgedCase& judged, const Tokens& x, const Tokens& y, std::size_t kept,
                  const Power& power) {
  return weight_of(judged, y, kept, power) / weight_of(judged, x, kept, power);
}

bool accepts(KernelLottery& lottery, const Rational& ratio) {
  return lottery.happens(ratio < 1 ? ratio : Rational(1));
}

JudgedKernel kernel_on_one_record(
    std::function<Tokens(const JudgedCase&, const Tokens&, const Power&, KernelLottery&)> step) {
  return enumerated([step = std::move(step)](const JudgedCase& judged, const JudgedState& from,
                                             KernelLottery& lottery) {
    return JudgedState{step(judged, from.front(), judged.target().powers.front(), lottery)};
  });
}

}  // namespace

JudgedKernel multi_try(std::size_t tries, const std::vector<Power>& powers,
                       bool counts_the_current) {
  return kernel_on_one_record(
      [=](const JudgedCase& judged, const Tokens& x, const Power& power, KernelLottery& lottery) {
        const std::size_t kept = uniform(lottery, judged.horizon());
        if (kept >= x.size()) return x;
        // The share of the target over that of the proposal, relative to x's.
        const auto share = [&](const Tokens& y) {
          return Rational(powered_of(judged, y, kept, power) / mixture_of(judged, y, kept, powers));
        };
        const Rational own = share(x);
        std::vector<Tokens> candidates;
        std::vector<Rational> weights;
        Rational sum = 0;
        for (std::size_t j = 0; j < tries; ++j) {
          const Power& drawn_at = powers[powers.size() == 1 ? 0 : uniform(lottery, powers.size())];
          candidates.push_back(continued(judged, x, kept, judged.horizon(), drawn_at, lottery));
          weights.emplace_back(share(candidates.back()) / own);
          sum += weights.back();
        }
        const std::size_t selected = lottery.draw(weights);
        const Rational others = sum - weights[selected] + (counts_the_current ? 1 : 0);
        return others == 0 || accepts(lottery, sum / others) ? candidates[selected] : x;
      });
}

JudgedKernel prefetched_pair(PrefetchedScores scores, PrefetchedCuts cuts) {
  return kernel_on_one_record(
      [=](const JudgedCase& judged, const Tokens& x, const Power& power, KernelLottery& lottery) {
        const auto propose = [&](const Tokens& from, std::size_t kept) {
          return continued(judged, from, kept, judged.horizon(), power, lottery);
        };
        const auto move = [&](const Tokens& from) {
          const std::size_t kept = uniform(lottery, judged.horizon());
          if (kept >= from.size()) return from;
          const Tokens y = propose(from, kept);
          return accepts(lottery, ratio_of(judged, from, y, kept, power)) ? y : from;
        };
        // A record is as long as the horizon there: after an end the model says the end again.
        const std::size_t first = uniform(lottery, judged.horizon());
        const Tokens y = propose(x, first);
        if (!accepts(lottery, ratio_of(judged, x, y, first, power))) return move(x);
        const std::size_t second = uniform(lottery, judged.horizon());
        if (second > first) {
          if (cuts == PrefetchedCuts::drawn_again) return move(y);
          const Tokens after = propose(y, second);
          return accepts(lottery, ratio_of(judged, y, after, second, power)) ? after : y;
        }
        // Drawn before it was known whether y is accepted: x and y begin alike.
        const Tokens after = propose(x, second);
        const Tokens& scored = scores == PrefetchedScores::of_the_root ? x : y;
        return accepts(lottery, ratio_of(judged, scored, after, second, power)) ? after : y;
      });
}

JudgedKernel pool_of_proposals(std::size_t proposals, PoolWeights weights, PoolCuts cuts) {
  return kernel_on_one_record([=](const JudgedCase& judged, const Tokens& x, const Power& power,
                                  KernelLottery& lottery) {
    const bool whole = cuts == PoolCuts::of_the_horizon;
    const std::size_t positions = whole ? judged.horizon() : std::max<std::size_t>(x.size(), 2) - 1;
    const std::size_t kept = uniform(lottery, positions);
    if (kept >= x.size()) return x;
    const auto share = [&](const Tokens& y) {
      const Rational powered = powered_of(judged, y, kept, power);
      const Rational drawn = powered / weight_of(judged, y, kept, power);
      return Rational(weights == PoolWeights::over_proposal ? powered / drawn : powered * drawn);
    };
    std::vector<Tokens> pool = {x};
    std::vector<Rational> shares = {share(x)};
    for (std::size_t j = 0; j < proposals; ++j) {
      pool.push_back(
          continued(judged, x, kept, whole ? judged.horizon() : x.size(), power, lottery));
      shares.push_back(share(pool.back()));
    }
    return pool[lottery.draw(shares)];
  });
}

std::vector<PlantedDefect> planted_in_public_steps() {
  return {
      {"likelier of two proposals",
       "two proposals are drawn, and the likelier one is accepted as if it had been the only one",
       kernel_on_one_record([](const JudgedCase& judged, const Tokens& x, const Power& power,
                               KernelLottery& lottery) {
         const std::size_t kept = uniform(lottery, judged.horizon());
         if (kept >= x.size()) return x;
         Tokens y = continued(judged, x, kept, judged.horizon(), power, lottery);
         const Tokens other = continued(judged, x, kept, judged.horizon(), power, lottery);
         if (likelihood_of(judged, other) > likelihood_of(judged, y)) y = other;
         return accepts(lottery, ratio_of(judged, x, y, kept, power)) ? y : x;
       }),
       small_case({2})},
      {"multiple tries without the current record",
       "the acceptance of a chosen candidate leaves the current record's own share out",
       multi_try(2, {Power(2)}, false), small_case({2})},
      {"prefetched move scored by the root",
       "two moves are drawn ahead, and the second is scored as if the first had been rejected",
       prefetched_pair(PrefetchedScores::of_the_root, PrefetchedCuts::kept), small_case()},
      {"prefetched restart drawn again",
       "a restart that does not fit the branch that was drawn ahead is thrown away and drawn anew",
       prefetched_pair(PrefetchedScores::of_the_current, PrefetchedCuts::drawn_again),
       small_case()},
      {"pool weighted by the proposal",
       "the next record is picked from a pool by p0^α times what the proposal gives it, and not "
       "over it",
       pool_of_proposals(2, PoolWeights::times_proposal, PoolCuts::of_the_horizon),
       small_case({2})},
      {"pool that never grows",
       "proposals are as long as the current record at most, and the restart comes from its length",
       pool_of_proposals(2, PoolWeights::over_proposal, PoolCuts::of_the_record), small_case({2})},
  };
}

}  // namespace tempera::lab
