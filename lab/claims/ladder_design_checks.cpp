#include <algorithm>
#include <optional>

#include "lab/claims/checks.hpp"
#include "lab/claims/ladder_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/analysis/power_family.hpp"
#include "reference/analysis/spectral_gap.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

bool is_constant(const Law& p0) {
  return std::count(p0.begin(), p0.end(), p0.front()) == std::ssize(p0);
}

/// Calls each(name, p0) for the base laws of small uses whose energy is not constant.
template <class Each>
void on_energies(const CheckContext& context, Each&& each) {
  for (const ShippedUse& use : context.uses) {
    const FixedHorizonSpace space = use.space();
    if (space.size() > 40) continue;
    const Law p0 = context.functions.of<RecordFunctions>().base_law(space);
    if (!is_constant(p0)) each(use.name + ", T = " + std::to_string(use.horizon), p0);
  }
}

/// Whether the number is proved positive.
bool proved_positive(const std::function<Interval(long)>& value) { return decide_sign(value) == 1; }

/// E[1 ∧ e^G] for G ~ N(-d², 2d²), enclosed: with u = (G + d²)/(√2 d) it is the integral of
/// e^{-u²/2} min(1, e^{√2 d u - d²}) / √(2π), over cells of 1/256 between -10 and 10, on each of
/// which both factors are monotone; what is beyond has less than erfc(10/√2).
Interval gaussian_integral(const Interval& d, long bits) {
  const Interval root_two_d = sqrt(Interval(2, bits)) * d;
  const Interval pi = Interval(Rational(314159265358979, 100000000000000), bits);
  const Interval above = Interval(Rational(314159265358980, 100000000000000), bits);
  const Interval scale = sqrt(Interval(2, bits) * hull(pi, above));
  const auto integrand = [&](const Rational& u) {
    const Interval at(u, bits);
    const Interval density = exp(Interval(0, bits) - at * at / Interval(2, bits)) / scale;
    return std::pair(density, exp(least(Interval(0, bits), root_two_d * at - d * d)));
  };
  Interval sum(0, bits);
  auto left = integrand(-10);
  for (int i = -2560; i < 2560; ++i) {
    auto right = integrand(Rational(i + 1, 256));
    sum = sum + hull(left.first, right.first) * hull(left.second, right.second) *
                    Interval(Rational(1, 256), bits);
    left = right;
  }
  const Interval beyond = erfc(Interval(10, bits) / sqrt(Interval(2, bits)));
  return sum + hull(Interval(0, bits), beyond);
}

/// thm:unique-maximin-ladder: A(d) = 2Φ(-d/√2). The tilt that its proof names is the identity
/// (g + d²)² - 4d² g = (g - d²)², of degree 2 in g and 4 in d, seen at enough rational points; and
/// the integral itself is enclosed within 1/100, beside A(d), which falls with d.
CheckResult gaussian_closed_form(const CheckContext& context) {
  Count count;
  for (int g = -2; g <= 2; ++g)
    for (int d = -3; d <= 3; ++d) {
      const Rational square = Rational(d) * d, plus = g + square, minus = g - square;
      count.expect(plus * plus - 4 * square * g == minus * minus, "the tilt");
    }
  const long bits = 64;
  for (const Rational& d : {Rational(1, 4), Rational(1), Rational(2), Rational(3)}) {
    const Interval distance(d, bits);
    const Interval closed = context.functions.of<LadderFunctions>().gaussian_acceptance(distance);
    const Interval integral = gaussian_integral(distance, bits);
    count.expect(integral.lower() <= closed.upper() && closed.lower() <= integral.upper() &&
                     integral.upper() - integral.lower() < Rational(1, 100),
                 "d = " + to_string(d));
    count.expect(
        proved_positive([&](long more) {
          return context.functions.of<LadderFunctions>().gaussian_acceptance(Interval(d, more)) -
                 context.functions.of<LadderFunctions>().gaussian_acceptance(
                     Interval(d + Rational(1, 8), more));
        }),
        "it does not fall at d = " + to_string(d));
  }
  return count.seen("points of the identity, enclosures and falls");
}

/// subsec:thermodynamic-coordinate: the expansions do not make G Gaussian. At a gap of 1/64 from
/// power 1 the exact acceptance is proved to be another than the surrogate's.
CheckResult surrogate_is_not_exact(const CheckContext& context) {
  Count count;
  on_energies(context, [&](const std::string& name, const Law& p0) {
    const Rational upper = 1 + Rational(1, 64);
    count.expect(decide_sign([&](long bits) {
                   const Interval distance =
                       context.functions.of<LadderFunctions>().thermodynamic_distance(p0, 1, upper,
                                                                                      128, bits);
                   return context.functions.of<LadderFunctions>().equilibrium_acceptance(
                              p0, 1, upper, bits) -
                          context.functions.of<LadderFunctions>().gaussian_acceptance(distance);
                 }).has_value(),
                 name);
  });
  return count.seen("models whose acceptance is not the surrogate's");
}

/// eq:local-swap-moments, first order: for gaps 1/4, 1/16, 1/64 the distance d(1, 1 + δ) is within
/// a factor e^{δ R/2} of δ σ(1), R being the range of U. So d is the local scale.
CheckResult distance_is_local_scale(const CheckContext& context) {
  Count count;
  on_energies(context, [&](const std::string& name, const Law& p0) {
    const auto [least_p, greatest_p] = std::minmax_element(p0.begin(), p0.end());
    for (const Rational& gap : {Rational(1, 4), Rational(1, 16), Rational(1, 64)}) {
      const long bits = 128;
      const Interval scale =
          Interval(gap, bits) *
          sqrt(context.functions.of<LadderFunctions>().energy_variance(p0, 1, bits));
      const Interval range = log(Interval(Rational(*greatest_p / *least_p), bits));
      const Interval ratio =
          context.functions.of<LadderFunctions>().thermodynamic_distance(p0, 1, 1 + gap, 64, bits) /
          scale;
      const Interval factor = exp(Interval(gap / 2, bits) * range);
      count.expect(
          (factor - ratio).is_positive() && (ratio * factor - Interval(1, bits)).is_positive(),
          name + ", gap " + to_string(gap));
    }
  });
  return count.seen("distances against gap times sigma");
}

/// sec:appendix-ladder-design, its last paragraph: on a finite space neither σ² nor α²σ² is
/// constant: both are proved to be less at power 64 than at 1, 2 or 4.
CheckResult no_constant_spread(const CheckContext& context) {
  Count count;
  on_energies(context, [&](const std::string& name, const Law& p0) {
    const auto falls = [&](unsigned weight) {
      bool any = false;
      for (const unsigned at : {1U, 2U, 4U})
        any =
            any || proved_positive([&](long bits) {
              const Interval late(integer_power(Rational(64), weight), bits);
              const Interval early(integer_power(Rational(at), weight), bits);
              return early * context.functions.of<LadderFunctions>().energy_variance(p0, at, bits) -
                     late * context.functions.of<LadderFunctions>().energy_variance(p0, 64, bits);
            });
      return any;
    };
    count.expect(falls(0), name + ": sigma^2");
    count.expect(falls(2), name + ": alpha^2 sigma^2");
  });
  return count.seen("spreads that are not constant");
}

/// sec:appendix-ladder-design: the variance is positive at every power, and goes to 0: at power 256
/// it is below 2^-20.
CheckResult variance_vanishes(const CheckContext& context) {
  Count count;
  on_energies(context, [&](const std::string& name, const Law& p0) {
    for (const unsigned at : {1U, 8U, 256U})
      count.expect(proved_positive([&](long bits) {
                     return context.functions.of<LadderFunctions>().energy_variance(p0, at, bits);
                   }),
                   name + ": no variance at power " + std::to_string(at));
    count.expect(proved_positive([&](long bits) {
                   return Interval(Rational(1, 1U << 20U), bits) -
                          context.functions.of<LadderFunctions>().energy_variance(p0, 256, bits);
                 }),
                 name + ": the variance at power 256");
  });
  return count.seen("variances at powers 1, 8 and 256");
}

/// sec:appendix-ladder-design: if U is constant all targets are one, and every swap is accepted.
CheckResult constant_energy(const CheckContext& context) {
  const FixedHorizonSpace space(
      parse_finite_model(R"({"name": "fair", "vocabulary": ["a", "b", "e"], "terminal": ["e"],
                             "default": {"a": "1/2", "b": "1/2"}})",
                         "fair"),
      3);
  Count count;
  std::vector<Law> targets;
  for (const unsigned power : {1U, 2U, 7U})
    targets.push_back(
        context.functions.of<RecordFunctions>().power_target(space, Power(Rational(power))));
  for (std::size_t k = 0; k + 1 < targets.size(); ++k) {
    count.expect(targets[k] == targets[k + 1], "two targets differ");
    count.expect(context.functions.of<LadderFunctions>().expected_swap_acceptance(
                     targets[k], targets[k + 1]) == 1,
                 "a swap is rejected");
  }
  count.expect(
      context.functions.of<LadderFunctions>().energy_variance(targets.front(), 2, 64).upper() == 0,
      "the energy has a variance");
  return count.seen("targets, acceptances and the variance");
}

/// The middle power of three that accepts equally on both sides, between rationals 2^-20 apart: the
/// acceptance below falls with it, that above rises.
Bracket equal_middle(const FunctionsUnderTest& functions, const Law& p0, const Rational& lowest,
                     const Rational& highest) {
  Bracket bracket{lowest, highest};
  while (bracket.upper - bracket.lower > Rational(1, 1U << 20U)) {
    const Rational middle = (bracket.lower + bracket.upper) / 2;
    const auto sign = decide_sign([&](long bits) {
      return functions.of<LadderFunctions>().equilibrium_acceptance(p0, lowest, middle, bits) -
             functions.of<LadderFunctions>().equilibrium_acceptance(p0, middle, highest, bits);
    });
    if (!sign) return {middle, middle};
    (*sign > 0 ? bracket.lower : bracket.upper) = middle;
  }
  return bracket;
}

/// sec:ladder-design, of the exact acceptances and not the surrogate's: of the ladders 1, m, 4
/// every one whose m is not that of the equi-accepting ladder has a weaker weakest edge.
CheckResult equal_exact_is_maximin(const CheckContext& context) {
  Count count;
  on_energies(context, [&](const std::string& name, const Law& p0) {
    const Rational lowest = 1, highest = 4;
    const Bracket middle = equal_middle(context.functions, p0, lowest, highest);
    const auto accepted = [&](const Rational& a, const Rational& b, long bits) {
      return context.functions.of<LadderFunctions>().equilibrium_acceptance(p0, a, b, bits);
    };
    for (int i = 1; i < 12; ++i) {
      const Rational other = 1 + Rational(i, 4);
      if (other >= middle.lower && other <= middle.upper) continue;
      // Both edges of the best ladder accept at least as the less of these two.
      count.expect(
          proved_positive([&](long bits) {
            const Interval best =
                least(accepted(lowest, middle.upper, bits), accepted(middle.lower, highest, bits));
            return best - least(accepted(lowest, other, bits), accepted(other, highest, bits));
          }),
          name + ", m = " + to_string(other));
    }
  });
  return count.seen("ladders of three rungs, each weaker than the equi-accepting");
}

/// apx:extra-exp: the exact acceptance falls as the upper power rises and as the lower falls, so a
/// denser ladder accepts more on every edge if it keeps the powers that there were. One that moves
/// them can accept less: of 1, 5/4, 3/2, 4 the last edge less than that of 1, 5/2, 4.
CheckResult denser_accepts_more(const CheckContext& context) {
  Count count;
  on_energies(context, [&](const std::string& name, const Law& p0) {
    const auto greater = [&](const Rational& a, const Rational& b, const Rational& c,
                             const Rational& d) {
      return proved_positive([&](long bits) {
        return context.functions.of<LadderFunctions>().equilibrium_acceptance(p0, a, b, bits) -
               context.functions.of<LadderFunctions>().equilibrium_acceptance(p0, c, d, bits);
      });
    };
    const Rational half(5, 2);
    count.expect(greater(1, half, 1, 4) && greater(half, 4, 1, 4), name);
    count.expect_without(!greater(half, 4, Rational(3, 2), 4),
                         name + ": the edge from 3/2 to 4 accepts less than that from 5/2 to 4");
  });
  return count.finding("edges divided at power 5/2");
}

/// sec:ladder-design, "exchange rarely": however far apart two powers are, the acceptance stays
/// above the lower target's mass on the records of the highest likelihood, and comes to it.
CheckResult far_powers_floor(const CheckContext& context) {
  Count count;
  on_energies(context, [&](const std::string& name, const Law& p0) {
    const Rational greatest = *std::max_element(p0.begin(), p0.end());
    Rational modes = 0;
    for (const Rational& mass : p0) modes += mass == greatest ? mass : Rational(0);
    for (const unsigned power : {4U, 16U, 64U}) {
      count.expect(proved_positive([&](long bits) {
                     return context.functions.of<LadderFunctions>().equilibrium_acceptance(
                                p0, 1, power, bits) -
                            Interval(modes, bits);
                   }),
                   name + ", power " + std::to_string(power));
    }
    count.expect(proved_positive([&](long bits) {
                   return Interval(modes + Rational(1, 1000), bits) -
                          context.functions.of<LadderFunctions>().equilibrium_acceptance(
                              p0, 1, 1024, bits);
                 }),
                 name + ": not near its floor");
    count.expect_without(proved_positive([&](long bits) {
                           return Interval(Rational(1, 10), bits) -
                                  context.functions.of<LadderFunctions>().equilibrium_acceptance(
                                      p0, 1, 1024, bits);
                         }),
                         name + ": at powers 1 and 1024 more than a tenth is accepted");
  });
  return count.finding("acceptances and their floors");
}

/// sec:ladder-design, "powers placed too close spend replicas without sufficient exploration": of
/// powers 1/1024 apart more than 99 swaps of 100 are accepted, and their mean energies differ by
/// less than 1/50: the one explores as the other does.
CheckResult close_powers(const CheckContext& context) {
  Count count;
  const Rational near = 2 + Rational(1, 1024);
  on_energies(context, [&](const std::string& name, const Law& p0) {
    count.expect(proved_positive([&](long bits) {
                   return context.functions.of<LadderFunctions>().equilibrium_acceptance(
                              p0, 2, near, bits) -
                          Interval(Rational(99, 100), bits);
                 }),
                 name + ": the acceptance");
    count.expect(proved_positive([&](long bits) {
                   return Interval(Rational(1, 50), bits) -
                          (context.functions.of<LadderFunctions>().mean_energy(p0, 2, bits) -
                           context.functions.of<LadderFunctions>().mean_energy(p0, near, bits));
                 }),
                 name + ": the mean energies");
  });
  return count.seen("acceptances and mean energies");
}

/// The largest factor, from above, by which the weight sigma(s) s^order differs between two powers
/// of [lowest, highest], R being the range of U: on each of `cells` cells sigma is within e^{hR/4}
/// of its value at the middle (power_family.hpp), and s within its ends.
Rational greatest_ratio(const FunctionsUnderTest& functions, const Law& p0, unsigned order,
                        const Rational& lowest, const Rational& highest, unsigned cells) {
  constexpr long bits = 64;
  const auto [least_p, greatest_p] = std::minmax_element(p0.begin(), p0.end());
  const Interval range = log(Interval(Rational(*greatest_p / *least_p), bits));
  const Rational width = (highest - lowest) / cells;
  const Interval factor = exp(Interval(Rational(width / 4), bits) * range);
  std::optional<Rational> least, greatest;
  for (unsigned i = 0; i < cells; ++i) {
    const Rational left = lowest + width * i;
    const Interval deviation =
        sqrt(functions.of<LadderFunctions>().energy_variance(p0, Rational(left + width / 2), bits));
    const Rational below = (deviation / factor).lower() * integer_power(left, order);
    const Rational above =
        (deviation * factor).upper() * integer_power(Rational(left + width), order);
    if (!least || below < *least) least = below;
    if (!greatest || above > *greatest) greatest = above;
  }
  return *greatest / *least;
}

/// sec:appendix-ladder-design, with a bound: let the weight of ds, or of d log s, differ by at most
/// a factor q between the powers of the range. The rung that divides the distance at the share u
/// divides the range, or its logarithm, at a share s, and with m and M the mean weights below and
/// above it s m / (s m + (1-s) M) = u. As m/M is within [1/q, q], s is between u/(u + (1-u) q) and
/// u q/(u q + 1-u), which is within (sqrt q - 1)/(sqrt q + 1) of u. The rung is between two
/// powers just if the distances to them from below are less and more than u of the whole.
CheckResult near_flat_curves(const CheckContext& context) {
  constexpr unsigned cells = 96;
  Count count;
  on_energies(context, [&](const std::string& name, const Law& p0) {
    if (p0.size() > 12) return;
    const Rational lowest = 1, highest = 2;
    for (const unsigned order : {0U, 1U}) {
      const Rational q = greatest_ratio(context.functions, p0, order, lowest, highest, cells);
      for (const Rational& u : {Rational(1, 3), Rational(2, 3)}) {
        // The power at a share of the range or, rounded to the side of u, of its logarithm.
        const auto power_at = [&](const Rational& share, bool below) -> Rational {
          if (order == 0) return lowest + share * (highest - lowest);
          const Interval at = power(highest, share, 64);
          return below ? at.upper() : at.lower();
        };
        const Rational least = power_at(u / (u + (1 - u) * q), true);
        const Rational greatest = power_at(u * q / (u * q + 1 - u), false);
        // (1-u) d(1, s) - u d(s, 2): negative below the rung, positive above.
        const auto beyond = [&](const Rational& s) {
          const auto distance = [&](const Rational& from, const Rational& to) {
            return context.functions.of<LadderFunctions>().thermodynamic_distance(p0, from, to,
                                                                                  cells, 64);
          };
          return Interval(1 - u, 64) * distance(lowest, s) - Interval(u, 64) * distance(s, highest);
        };
        count.expect(
            beyond(least).is_negative() && beyond(greatest).is_positive(),
            name + (order == 0 ? ", arithmetic" : ", geometric") + ", share " + to_string(u));
        const Interval at_template = beyond(power_at(u, true));
        count.expect_without(!at_template.is_negative() && !at_template.is_positive(),
                             name + (order == 0 ? ", arithmetic" : ", geometric") +
                                 ": the template's rung at share " + to_string(u) +
                                 " does not divide the distance");
      }
    }
  });
  return count.finding("rungs of equal distance within their bounds, 1 to 2");
}

}  // namespace

std::map<std::string, Check> ladder_design_checks() {
  return {{"gaussian_closed_form", gaussian_closed_form},
          {"surrogate_is_not_exact", surrogate_is_not_exact},
          {"distance_is_local_scale", distance_is_local_scale},
          {"no_constant_spread", no_constant_spread},
          {"variance_vanishes", variance_vanishes},
          {"constant_energy", constant_energy},
          {"equal_exact_is_maximin", equal_exact_is_maximin},
          {"denser_accepts_more", denser_accepts_more},
          {"far_powers_floor", far_powers_floor},
          {"close_powers", close_powers},
          {"near_flat_curves", near_flat_curves}};
}

}  // namespace tempera::lab
