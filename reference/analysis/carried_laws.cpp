#include "reference/analysis/carried_laws.hpp"

#include <gmp.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <tuple>

#include "base/error.hpp"
#include "reference/numbers/all_cores.hpp"

namespace tempera::reference {
namespace {

using Elements = std::vector<PrimeField::Element>;

// Primes have more than 61 bits each.
std::size_t primes_beyond(const Integer& bound) { return (msb(bound) + 3) / 61 + 1; }

void refuse_above_limit(std::size_t laws, const CarriedChain& chain) {
  const std::size_t bytes = laws * chain.size() * sizeof(PrimeField::Element);
  if (bytes > carried_bytes_limit)
    throw BadInput("the exact law",
                   "needs " + std::to_string(bytes >> 30U) + " GiB of residues, more than " +
                       std::to_string(carried_bytes_limit >> 30U),
                   "ask for fewer steps, a smaller horizon or a smaller model");
}

// The primes modulo which every number of these chains and of the target is defined, with a product
// of more than twice `bound`.
Residues residues_beyond(const Integer& bound, const CarriedTempering& kernels,
                         const std::vector<CarriedChain>& chains) {
  const Integer of_target = kernels.target_denominator();
  return Residues(prime_fields(msb(bound) + 3, [&](std::uint64_t prime) {
    return mpz_divisible_ui_p(of_target.backend().data(), prime) == 0 &&
           std::all_of(chains.begin(), chains.end(),
                       [&](const CarriedChain& chain) { return chain.admits(prime); });
  }));
}

// |μ - Π| summed, over `denominator`, which every difference has.
Integer distance(const Residues& residues, const std::vector<Elements>& law,
                 const std::vector<Elements>& target, std::size_t primes,
                 const Integer& denominator) {
  const auto& fields = residues.fields();
  Elements whole;
  for (const PrimeField& field : fields) whole.push_back(field.of(denominator));
  constexpr std::size_t parts = 64;
  std::vector<Integer> sums(parts);
  const std::size_t size = law.front().size();
  on_all_cores(parts, [&](std::size_t part) {
    Elements difference(primes);
    for (std::size_t state = part; state < size; state += parts) {
      for (std::size_t i = 0; i < primes; ++i)
        difference[i] =
            fields[i].multiply(fields[i].subtract(law[i][state], target[i][state]), whole[i]);
      sums[part] += abs(residues.signed_integer(difference));
    }
  });
  return std::accumulate(sums.begin(), sums.end(), Integer(0));
}

}  // namespace

bool is_invariant(const CarriedTempering& kernels, const CarriedChain& chain) {
  const Integer bound = kernels.target_denominator() * chain.denominator();
  refuse_above_limit(primes_beyond(bound), chain);
  const Residues residues = residues_beyond(bound, kernels, {chain});
  std::atomic<bool> agree{true};
  on_all_cores(residues.fields().size(), [&](std::size_t i) {
    const Elements target = kernels.target_modulo(residues.fields()[i]);
    Elements law = target;
    chain.apply(residues.fields()[i], law);
    if (law != target) agree = false;
  });
  return agree;
}

std::vector<Rational> total_variation_curve(const CarriedTempering& kernels,
                                            const std::vector<CarriedChain>& schedule,
                                            std::size_t start, std::size_t steps) {
  const Integer of_target = kernels.target_denominator();
  // The norms of μ P_1 ⋯ P_n - Π for n = 0, 1, ..., steps.
  std::vector<Integer> of_laws{Integer(1)};
  for (std::size_t n = 0; n < steps; ++n)
    of_laws.push_back(of_laws.back() * schedule[n % schedule.size()].denominator());
  const auto denominator = [&](std::size_t n) { return Integer(lcm(of_laws[n], of_target)); };
  refuse_above_limit(primes_beyond(denominator(steps)), schedule.front());
  const Residues residues = residues_beyond(denominator(steps), kernels, schedule);
  const auto& fields = residues.fields();
  std::vector<Elements> law(fields.size()), target(fields.size());
  on_all_cores(fields.size(), [&](std::size_t i) {
    law[i].resize(schedule.front().size());
    law[i][start] = fields[i].one();
    target[i] = kernels.target_modulo(fields[i]);
  });
  std::vector<Rational> curve;
  for (std::size_t n = 0;; ++n) {
    const Integer whole = denominator(n);
    const std::size_t primes = std::min(fields.size(), primes_beyond(whole));
    curve.push_back(Rational(distance(residues, law, target, primes, whole)) / Rational(2 * whole));
    if (n == steps) return curve;
    on_all_cores(fields.size(),
                 [&](std::size_t i) { schedule[n % schedule.size()].apply(fields[i], law[i]); });
  }
}

std::vector<Rational> round_trip_curve(const CarriedTempering& kernels,
                                       const std::vector<CarriedChain>& schedule,
                                       std::size_t rounds) {
  const std::size_t rungs = kernels.rungs(), size = schedule.front().size();
  refuse_above_limit(2 * rungs * std::max(1U, std::thread::hardware_concurrency()),
                     schedule.front());
  // The norms of the arrivals in step n, at most one in each.
  std::vector<Integer> of_arrivals{kernels.target_denominator()};
  for (std::size_t n = 0; n < rounds; ++n)
    of_arrivals.push_back(of_arrivals.back() * schedule[n % schedule.size()].denominator());
  const Residues residues = residues_beyond(of_arrivals.back(), kernels, schedule);
  const auto& fields = residues.fields();
  std::vector<Elements> arrivals(rounds, Elements(fields.size()));  // [step][prime]
  on_all_cores(fields.size(), [&](std::size_t i) {
    const PrimeField& field = fields[i];
    // [rung][joint state], of tags that were last at rung K and of those that were last at rung 1.
    std::vector<Elements> down(rungs, Elements(size)), up = down;
    down.back() = kernels.target_modulo(field);
    const auto turn = [&](Elements& from, Elements& to) {
      PrimeField::Element sum = 0;
      for (std::size_t state = 0; state < size; ++state) {
        sum = field.add(sum, from[state]);
        to[state] = field.add(to[state], from[state]);
        from[state] = 0;
      }
      return sum;
    };
    for (std::size_t n = 0; n < rounds; ++n) {
      const CarriedChain& step = schedule[n % schedule.size()];
      step.apply_tagged(field, down);
      step.apply_tagged(field, up);
      turn(down.front(), up.front());
      const auto arrived = turn(up.back(), down.back());
      arrivals[n][i] = field.multiply(arrived, field.of(of_arrivals[n + 1]));
    }
  });
  std::vector<Rational> curve{Rational(0)};
  for (std::size_t n = 0; n < rounds; ++n)
    curve.push_back(curve.back() +
                    Rational(residues.signed_integer(arrivals[n])) / Rational(of_arrivals[n + 1]));
  return curve;
}

std::optional<StatePair> violation_among_small_states(const CarriedTempering& kernels,
                                                      const CarriedChain& chain,
                                                      const std::vector<std::size_t>& tokens,
                                                      std::size_t looked_at) {
  std::vector<std::size_t> states(chain.size());
  std::iota(states.begin(), states.end(), std::size_t{0});
  looked_at = std::min(looked_at, states.size());
  const auto is_smaller = [&](std::size_t x, std::size_t y) {
    return std::pair(tokens[x], x) < std::pair(tokens[y], y);
  };
  std::partial_sort(states.begin(), states.begin() + static_cast<std::ptrdiff_t>(looked_at),
                    states.end(), is_smaller);
  states.resize(looked_at);
  const Integer whole = chain.denominator();
  refuse_above_limit(primes_beyond(whole), chain);
  const Residues residues = residues_beyond(whole, kernels, {chain});
  const auto& fields = residues.fields();
  // [from][to][prime], of the numerators over `whole`.
  std::vector<std::vector<Elements>> rows(
      looked_at, std::vector<Elements>(looked_at, Elements(fields.size())));
  on_all_cores(fields.size(), [&](std::size_t i) {
    for (std::size_t from = 0; from < looked_at; ++from) {
      Elements law(chain.size());
      law[states[from]] = fields[i].of(whole);
      chain.apply(fields[i], law);
      for (std::size_t to = 0; to < looked_at; ++to) rows[from][to][i] = law[states[to]];
    }
  });
  const auto flow = [&](std::size_t from, std::size_t to) {
    return Rational(kernels.target(states[from]) *
                    Rational(residues.signed_integer(rows[from][to])) / Rational(whole));
  };
  std::optional<StatePair> found;
  for (std::size_t i = 0; i < looked_at; ++i) {
    for (std::size_t j = 0; j < looked_at; ++j) {
      const std::size_t x = states[i], y = states[j];
      if (x >= y) continue;
      const Rational forward = flow(i, j);
      const Rational reverse = flow(j, i);
      const auto size = [&](std::size_t a, std::size_t b) {
        return std::tuple(tokens[a] + tokens[b], a, b);
      };
      if (forward != reverse && (!found || size(x, y) < size(found->x, found->y)))
        found = StatePair{x, y, forward, reverse};
    }
  }
  return found;
}

}  // namespace tempera::reference
