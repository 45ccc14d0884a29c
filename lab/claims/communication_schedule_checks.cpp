#include <algorithm>

#include "gpu/core/sampler/restart_law.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/ladder_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/analysis/tagged_replica.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/kernels/swap.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// Unequal acceptances of 1 to 7 edges, some of them 1.
std::vector<EdgeAcceptances> menu() {
  const std::vector<Rational> values{Rational(1, 2), Rational(1, 3), Rational(1), Rational(9, 10),
                                     Rational(1, 7)};
  std::vector<EdgeAcceptances> all;
  for (std::size_t edges = 1; edges <= 7; ++edges)
    for (std::size_t shift = 0; shift < values.size(); ++shift) {
      EdgeAcceptances a;
      for (std::size_t k = 0; k < edges; ++k) a.push_back(values[(shift + k * k) % values.size()]);
      all.push_back(a);
    }
  return all;
}

std::string where(const EdgeAcceptances& a) { return "K = " + std::to_string(a.size() + 1); }

/// 1 + R.
Rational one_plus_rejection(const EdgeAcceptances& a) {
  Rational sum = 1;
  for (const Rational& accepted : a) sum += (1 - accepted) / accepted;
  return sum;
}

/// Mean steps until a chain from `state` is there again.
Rational return_time(const Matrix& chain, std::size_t state) {
  const auto times = expected_hitting_times(chain, state);
  Rational mean = 1;
  for (std::size_t y = 0; y < chain.columns(); ++y) mean += chain(state, y) * times[y];
  return mean;
}

/// sec:chain-communication: after a rejection at edge k the tag is back before it after k sweeps on
/// average, confined to rungs 1..k, and from above after K − k, confined to k+1..K.
CheckResult return_times(const CheckContext& context) {
  Count count;
  for (const EdgeAcceptances& a : menu()) {
    const std::size_t rungs = a.size() + 1;
    for (std::size_t k = 2; k < rungs; ++k) {
      const EdgeAcceptances below(a.begin(), a.begin() + static_cast<long>(k) - 1);
      count.expect(
          return_time(context.functions.of<LadderFunctions>().adj_chain(below), k - 1) == k,
          where(a) + ": below edge " + std::to_string(k));
      const EdgeAcceptances above(a.begin() + static_cast<long>(k) - 1, a.end());
      const std::size_t left = rungs - (k - 1);
      count.expect(return_time(context.functions.of<LadderFunctions>().adj_chain(above), 0) == left,
                   where(a) + ": above edge " + std::to_string(k - 1));
    }
  }
  return count.seen("mean return times");
}

/// sec:chain-communication: "the number of rejections before the successful crossing is geometric,
/// with mean ρ_k". The tag at an end attempts its edge in every sweep and stays there with r_k:
/// from below at edge 1, from above at the last, each with the part of the ladder on that side left
/// out.
CheckResult geometric_rejections(const CheckContext& context) {
  Count count;
  for (const EdgeAcceptances& a : menu())
    for (std::size_t k = 1; k <= a.size(); ++k) {
      const Rational rejected = 1 - a[k - 1];
      const EdgeAcceptances from_below(a.begin() + static_cast<long>(k) - 1, a.end());
      const EdgeAcceptances from_above(a.begin(), a.begin() + static_cast<long>(k));
      const Matrix upward = context.functions.of<LadderFunctions>().adj_chain(from_below);
      const Matrix downward = context.functions.of<LadderFunctions>().adj_chain(from_above);
      count.expect(
          upward(0, 0) == rejected && downward(k, k) == rejected,
          where(a) + ": the probability of another rejection at edge " + std::to_string(k));
      // The mean of the sweeps until it is left, less the one of the crossing.
      const Rational mean = 1 / (1 - upward(0, 0)) - 1;
      count.expect(mean == rejected / a[k - 1],
                   where(a) + ": the mean at edge " + std::to_string(k));
    }
  return count.seen("edges");
}

/// sec:chain-communication: an endpoint that is reached during a sweep is occupied to its end. From
/// every rung the probability to be at an endpoint when the sweep ends is that of ever having been
/// there, followed edge by edge, after some edge of it.
CheckResult endpoint_stays(const CheckContext& context) {
  Count count;
  for (const EdgeAcceptances& a : menu()) {
    const Matrix chain = context.functions.of<LadderFunctions>().adj_chain(a);
    const std::size_t last = a.size();
    for (const std::size_t endpoint : {std::size_t{0}, last})
      for (std::size_t from = 0; from <= last; ++from) {
        if (from == endpoint) continue;
        // The mass that has not been at the endpoint yet.
        Law elsewhere(last + 1);
        elsewhere[from] = 1;
        Rational been = 0;
        for (std::size_t edge = 0; edge < last; ++edge) {
          const Rational up = elsewhere[edge] * a[edge], down = elsewhere[edge + 1] * a[edge];
          elsewhere[edge] += down - up;
          elsewhere[edge + 1] += up - down;
          been += elsewhere[endpoint];
          elsewhere[endpoint] = 0;
        }
        count.expect(chain(from, endpoint) == been,
                     where(a) + ", from rung " + std::to_string(from + 1));
      }
  }
  return count.seen("rungs and endpoints");
}

/// sec:chain-communication: one sweep can carry the tag up the whole ladder, with probability
/// Π a_k, and down by at most one rung.
CheckResult up_cascades(const CheckContext& context) {
  Count count;
  for (const EdgeAcceptances& a : menu()) {
    const Matrix chain = context.functions.of<LadderFunctions>().adj_chain(a);
    Rational all = 1;
    for (const Rational& accepted : a) all *= accepted;
    count.expect(chain(0, a.size()) == all, where(a) + ": up");
    for (std::size_t from = 0; from <= a.size(); ++from)
      for (std::size_t to = 0; to + 1 < from; ++to)
        count.expect(chain(from, to) == 0, where(a) + ": down by more than one rung");
  }
  return count.seen("entries of sweeps");
}

/// sec:chain-communication: the lifted chain is the tag under layers that alternate, odd edges
/// first: a tag at rung k before a layer of k's parity looks up, else down. Its pairs of rung and
/// layer, moved edge by edge, are the lifted states.
CheckResult lifted_chain(const CheckContext& context) {
  Count count;
  for (const EdgeAcceptances& a : menu()) {
    const std::size_t rungs = a.size() + 1;
    const Matrix lifted = context.functions.of<LadderFunctions>().deo_chain(a);
    // Rungs and edges count from 1; layer 1 is odd, layer 0 even.
    const auto state = [](std::size_t rung, std::size_t layer) {
      return 2 * (rung - 1) + (rung % 2 == layer ? 1 : 0);
    };
    for (std::size_t rung = 1; rung <= rungs; ++rung)
      for (std::size_t layer = 0; layer < 2; ++layer) {
        Law expected(2 * rungs);
        const std::size_t edge = rung % 2 == layer ? rung : rung - 1;
        const bool idle = edge == 0 || edge == rungs;
        const Rational accepted = idle ? Rational(0) : a[edge - 1];
        if (!idle) expected[state(edge == rung ? rung + 1 : rung - 1, 1 - layer)] += accepted;
        expected[state(rung, 1 - layer)] += 1 - accepted;
        bool same = true;
        for (std::size_t y = 0; y < expected.size(); ++y)
          same = same && lifted(state(rung, layer), y) == expected[y];
        count.expect(same, where(a) + ", rung " + std::to_string(rung));
      }
  }
  return count.seen("rows of lifted chains");
}

/// sec:chain-communication: with iterations of length d_ADJ and d_DEO the ratio of elapsed times is
/// 1/2 + (d_ADJ − d_DEO)/(2 d_DEO), and DEO is faster exactly if d_ADJ > 2 d_DEO.
CheckResult elapsed_times(const CheckContext& context) {
  Count count;
  for (const EdgeAcceptances& a : menu())
    for (const auto& [adj, deo] :
         std::vector<std::pair<Rational, Rational>>{{3, 2}, {5, 2}, {2, 1}, {1, 1}, {9, 4}}) {
      const Rational by_order =
          adj * context.functions.of<LadderFunctions>().adj_round_trip(a).total();
      const Rational by_parity =
          deo * context.functions.of<LadderFunctions>().deo_round_trip(a).total();
      count.expect(by_order / by_parity == Rational(1, 2) + (adj - deo) / (2 * deo), where(a));
      count.expect((by_parity < by_order) == (adj > 2 * deo), where(a) + ": which is faster");
    }
  return count.seen("elapsed times and which is the less");
}

/// sec:chain-communication, its remark: if a sweep takes c + e (K − 1) and a layer c + e, the
/// ordered trip's elapsed time over K²(1 + R) stays between e/2 and c + e, the parity one's over
/// K (1 + R) is 2 (c + e), for K to 24; from some K on DEO is the faster.
CheckResult growth_of_times(const CheckContext& context) {
  Count count;
  const Rational local = 8, exchange = 1;
  bool slower = false;
  for (std::size_t rungs = 2; rungs <= 24; ++rungs) {
    EdgeAcceptances a(rungs - 1, Rational(2, 3));
    a.front() = Rational(1, 2);
    const Rational scale = one_plus_rejection(a) * Rational(rungs);
    const Rational by_order = (local + exchange * Rational(rungs - 1)) *
                              context.functions.of<LadderFunctions>().adj_round_trip(a).total();
    const Rational by_parity =
        (local + exchange) * context.functions.of<LadderFunctions>().deo_round_trip(a).total();
    const Rational per_square = by_order / (scale * Rational(rungs));
    count.expect(per_square >= exchange / 2 && per_square <= local + exchange, where(a));
    count.expect(by_parity == 2 * (local + exchange) * scale, where(a) + ": DEO");
    if (by_order > by_parity) slower = true;
    count.expect(slower == (rungs > 1 + (local + 2 * exchange) / exchange), where(a) + ": order");
  }
  count.expect(slower, "ADJ is never the slower");
  return count.seen("elapsed times, K to 24");
}

/// The formula of constant, history-independent acceptances, which sec:ladder-design assumes,
/// against the joint chain at equilibrium, whose acceptances are neither. With two rungs they
/// agree, whatever the model: an upward step and a downward one alternate. With three on the
/// four-state records they do not.
CheckResult real_round_trips(const CheckContext& context) {
  Count count;
  const FiniteModel model = parse_finite_model(four_state_model, "four-state");
  const FixedHorizonSpace space(model, 2);
  const auto of_ladder = [&](const std::string& powers) {
    const ParallelTempering chain(space, parse_ladder(powers, "ladder"), RestartLaw::uniform(2));
    EdgeAcceptances a;
    for (std::size_t k = 0; k + 1 < chain.shape().size(); ++k)
      a.push_back(context.functions.of<LadderFunctions>().expected_swap_acceptance(
          chain.rung_target(k), chain.rung_target(k + 1)));
    return std::pair(context.functions.of<LadderFunctions>().mean_round_trip(chain),
                     context.functions.of<LadderFunctions>().adj_round_trip_formula(a).total());
  };
  const auto [two, two_formula] = of_ladder("1,3");
  count.expect(two == two_formula, "two rungs: " + to_string(two));
  const auto [three, three_formula] = of_ladder("1,2,4");
  count.expect(three == Rational(24, 5) && three_formula == Rational(156, 35),
               "three rungs: " + to_string(three) + ", the formula " + to_string(three_formula));
  CheckResult finding = count.finding("");
  if (finding.sound()) finding.detail = "K = 3: 24/5 sweeps, the formula says 156/35";
  return finding;
}

/// subsec:maximin-ladder: with weakest acceptance a the round trip takes at least K/a sweeps,
/// reached if all others are 1, and at most K(1 + (K-1)(1-a)/a), reached if all are equal. It
/// is no order: of two ladders that with the weaker edge can be the faster.
CheckResult weakest_edge_bounds(const CheckContext& context) {
  Count count;
  const auto trip = [&](const EdgeAcceptances& a) {
    return context.functions.of<LadderFunctions>().adj_round_trip(a).total();
  };
  const auto at_least = [](const EdgeAcceptances& a) -> Rational {
    return Rational(a.size() + 1) / *std::min_element(a.begin(), a.end());
  };
  const auto at_most = [](const EdgeAcceptances& a) -> Rational {
    const Rational weakest = *std::min_element(a.begin(), a.end());
    return Rational(a.size() + 1) * (1 + Rational(a.size()) * (1 - weakest) / weakest);
  };
  for (const EdgeAcceptances& a : menu())
    count.expect(at_least(a) <= trip(a) && trip(a) <= at_most(a), where(a) + ": a bound");
  for (std::size_t edges = 1; edges <= 6; ++edges) {
    EdgeAcceptances one(edges, Rational(1));
    one[edges / 2] = Rational(2, 7);
    count.expect(trip(one) == at_least(one), where(one) + ": the lower bound is not reached");
    const EdgeAcceptances equal(edges, Rational(2, 7));
    count.expect(trip(equal) == at_most(equal), where(equal) + ": the upper is not");
  }
  const EdgeAcceptances one_weaker{Rational(1, 2), 1, 1}, all_stronger(3, Rational(3, 5));
  count.expect_without(trip(one_weaker) > trip(all_stronger),
                       "acceptances 1/2, 1, 1 take " + to_string(trip(one_weaker)) +
                           " sweeps, three times 3/5 " + to_string(trip(all_stronger)));
  return count.finding("round trips against their weakest edges");
}

}  // namespace

std::map<std::string, Check> communication_schedule_checks() {
  return {{"return_times", return_times},
          {"geometric_rejections", geometric_rejections},
          {"endpoint_stays", endpoint_stays},
          {"up_cascades", up_cascades},
          {"lifted_chain", lifted_chain},
          {"elapsed_times", elapsed_times},
          {"growth_of_times", growth_of_times},
          {"real_round_trips", real_round_trips},
          {"weakest_edge_bounds", weakest_edge_bounds}};
}

}  // namespace tempera::lab
