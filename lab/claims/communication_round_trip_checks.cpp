#include "lab/claims/checks.hpp"
#include "lab/claims/ladder_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// Judges `holds`(acceptances, ρ) on ladders of 2 to 8 rungs with unequal acceptances; ρ_k =
/// (1 − a_k)/a_k.
template <class Holds>
CheckResult on_ladders(Holds&& holds) {
  Count count;
  const std::vector<Rational> menu{Rational(1),     Rational(1, 2), Rational(1, 3),
                                   Rational(9, 10), Rational(1, 7), Rational(3, 4)};
  for (std::size_t edges = 1; edges <= 7; ++edges)
    for (std::size_t shift = 0; shift < menu.size(); ++shift) {
      EdgeAcceptances a;
      std::vector<Rational> rho;
      for (std::size_t k = 0; k < edges; ++k) {
        a.push_back(menu[(shift + k * k) % menu.size()]);
        rho.push_back((1 - a.back()) / a.back());
      }
      count.expect(holds(a, rho), "K = " + std::to_string(edges + 1));
    }
  return count.finding("ladders of 2 to 8 rungs");
}

/// K (1 + R).
Rational rungs_by_rejection(const std::vector<Rational>& rho) {
  Rational sum = 1;
  for (const Rational& r : rho) sum += r;
  return Rational(rho.size() + 1) * sum;
}

/// eq:ord-up: the chain's hitting time, the formula of reference/, and the paper's sum.
CheckResult adj_up(const CheckContext& context) {
  return on_ladders([&](const EdgeAcceptances& a, const std::vector<Rational>& rho) {
    Rational up = 1;
    for (std::size_t k = 1; k <= rho.size(); ++k) up += Rational(k) * rho[k - 1];
    return context.functions.of<LadderFunctions>().adj_round_trip(a).up == up &&
           context.functions.of<LadderFunctions>().adj_round_trip_formula(a).up == up;
  });
}

/// eq:ord-down
CheckResult adj_down(const CheckContext& context) {
  return on_ladders([&](const EdgeAcceptances& a, const std::vector<Rational>& rho) {
    const std::size_t rungs = a.size() + 1;
    Rational down = rungs - 1;
    for (std::size_t k = 1; k < rungs; ++k) down += Rational(rungs - k) * rho[k - 1];
    return context.functions.of<LadderFunctions>().adj_round_trip(a).down == down &&
           context.functions.of<LadderFunctions>().adj_round_trip_formula(a).down == down;
  });
}

CheckResult adj_round_trip(const CheckContext& context) {
  return on_ladders([&](const EdgeAcceptances& a, const std::vector<Rational>& rho) {
    return context.functions.of<LadderFunctions>().adj_round_trip(a).total() ==
           rungs_by_rejection(rho);
  });
}

CheckResult deo_round_trip(const CheckContext& context) {
  return on_ladders([&](const EdgeAcceptances& a, const std::vector<Rational>& rho) {
    return context.functions.of<LadderFunctions>().deo_round_trip(a).total() ==
               2 * rungs_by_rejection(rho) &&
           context.functions.of<LadderFunctions>().deo_round_trip_formula(a) ==
               2 * rungs_by_rejection(rho);
  });
}

CheckResult adj_half_of_deo(const CheckContext& context) {
  return on_ladders([&](const EdgeAcceptances& a, const std::vector<Rational>&) {
    return 2 * context.functions.of<LadderFunctions>().adj_round_trip(a).total() ==
           context.functions.of<LadderFunctions>().deo_round_trip(a).total();
  });
}

}  // namespace

std::map<std::string, Check> communication_round_trip_checks() {
  return {{"adj_up", adj_up},
          {"adj_down", adj_down},
          {"adj_round_trip", adj_round_trip},
          {"deo_round_trip", deo_round_trip},
          {"adj_half_of_deo", adj_half_of_deo}};
}

}  // namespace tempera::lab
