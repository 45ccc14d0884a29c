#include "reference/analysis/mixing_time.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "reference/analysis/total_variation.hpp"

namespace tempera::reference {
namespace {

// Bits that decide what doubles leave open, but for ties.
constexpr std::size_t fine_bits = 256;

// Laws of the chain after `steps` steps from some of its states.
struct Laws {
  std::vector<std::size_t> starts;
  std::size_t steps;
  Doubles rows;
};

class Distances {
 public:
  Distances(const FactoredKernel& chain, const Law& target, const Rational& within)
      : size_(target.size()), chain_(chain), target_(target), within_(within) {
    for (const Rational& mass : target) masses_.push_back(mass.convert_to<double>());
    const RoundedMatrix kernel = chain.rounded_matrix();
    roundings_of_step_ = kernel.roundings + product_roundings(size_);
    powers_.push_back(kernel.entries);
  }

  Laws first() const {
    std::vector<std::size_t> all(size_);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return {all, 1, powers_.front()};
  }
  // Twice as many steps from every state.
  Laws square(const Laws& all) {
    powers_.push_back(product(powers_.back(), size_, powers_.back(), size_));
    return {all.starts, 2 * all.steps, powers_.back()};
  }
  /// The laws after another 2^digit steps.
  Laws further(const Laws& laws, std::size_t digit) const {
    return {laws.starts, laws.steps + (std::size_t{1} << digit),
            product(laws.rows, laws.starts.size(), powers_[digit], size_)};
  }

  /// True if the distance from every start is at most ε.
  bool are_within(const Laws& laws) const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < laws.starts.size(); ++i) {
      const Bracket distance = from(laws, i);
      if (distance.lower > within_) return false;
      if (distance.upper > within_) open.push_back(laws.starts[i]);
    }
    refuse_above_limit(static_cast<double>(open.size()) * fine_work(laws.steps), laws.steps);
    std::vector<std::size_t> ties;
    for (const std::size_t x : open) {
      const Bracket distance = finely(x, laws.steps);
      if (distance.lower > within_) return false;
      if (distance.upper > within_) ties.push_back(x);
    }
    refuse_above_limit(static_cast<double>(ties.size()) * exact_work(laws.steps), laws.steps);
    return std::all_of(ties.begin(), ties.end(), [&](std::size_t x) {
      Law law = point_mass(size_, x);
      for (std::size_t step = 0; step < laws.steps; ++step) law = chain_.apply(law);
      return total_variation(law, target_) <= within_;
    });
  }

  /// TV(δ_x P^N, π) of the start at place i. An entry of P^N is made of N entries of P by N - 1
  /// products of matrices without negative entries, and carries their roundings, k all told, as a
  /// share of itself; the entries of a row sum to 1, those of π too, each within a share of 2^-52.
  /// The sum of n differences, at most 2, adds n + 1 roundings. Half of it all is less than
  /// (k + n + 4) 2^-52, numbers below 2^-1022 included.
  Bracket from(const Laws& laws, std::size_t i) const {
    double sum = 0;
    for (std::size_t y = 0; y < size_; ++y) sum += std::abs(laws.rows[i * size_ + y] - masses_[y]);
    const Rational unit = Rational(1) / integer_power(Rational(2), 52);
    const Rational error = Rational(laws.steps * roundings_of_step_ + size_ + 4) * unit;
    const Rational middle = Rational(sum) / 2;
    return {std::max(Rational(0), Rational(middle - error)), middle + error};
  }

  /// The same of state x in units of 2^-256, or of that share of ε. Each number of a law is
  /// rounded down after each step, by less than a unit, and the next steps enlarge no sum of
  /// errors: after N steps n numbers are off by less than N n units, all told.
  Bracket finely(std::size_t x, std::size_t steps) const {
    const Integer share = within_ == 0 ? Integer(1) : Integer(Rational(1 / within_));
    const std::size_t bits = fine_bits + msb(share);
    const Integer units = Integer(1) << bits;
    Law law = point_mass(size_, x);
    for (std::size_t step = 0; step < steps; ++step) {
      law = chain_.apply(law);
      for (Rational& mass : law)
        mass = Rational(Integer(numerator(mass) * units / denominator(mass)), units);
    }
    const Rational middle = total_variation(law, target_);
    const Rational error = Rational(Integer(steps * size_), Integer(2 * units));
    return {std::max(Rational(0), Rational(middle - error)), middle + error};
  }

  /// The place of a start from which the distance is largest, and the distance.
  std::pair<std::size_t, Bracket> largest(const Laws& laws) const {
    std::pair<std::size_t, Bracket> found{0, from(laws, 0)};
    for (std::size_t i = 1; i < laws.starts.size(); ++i) {
      const Bracket distance = from(laws, i);
      if (distance.upper > found.second.upper) found = {i, distance};
    }
    return found;
  }

  /// The same, finely if doubles leave it open which start that is, or whether it is within ε, and
  /// it takes no long time: the first of equal ones.
  std::pair<std::size_t, Bracket> furthest(const Laws& laws) const {
    std::pair<std::size_t, Bracket> found = largest(laws);
    std::vector<std::size_t> rivals;
    for (std::size_t i = 0; i < laws.starts.size(); ++i)
      if (from(laws, i).upper >= found.second.lower) rivals.push_back(i);
    const bool is_open = found.second.lower <= within_ && within_ < found.second.upper;
    constexpr double a_second = 1e9;
    if ((rivals.size() == 1 && !is_open) ||
        static_cast<double>(rivals.size()) * fine_work(laws.steps) > a_second)
      return found;
    std::vector<Bracket> distances;
    for (const std::size_t i : rivals) distances.push_back(finely(laws.starts[i], laws.steps));
    const auto most =
        std::max_element(distances.begin(), distances.end(),
                         [](const Bracket& a, const Bracket& b) { return a.upper < b.upper; });
    std::size_t first = 0;
    while (distances[first].upper < most->lower) ++first;
    return {rivals[first], {distances[first].lower, most->upper}};
  }

  /// Those whose distance may be `least` or more.
  Laws at_least(const Laws& laws, const Rational& least) const {
    Laws kept{{}, laws.steps, {}};
    for (std::size_t i = 0; i < laws.starts.size(); ++i)
      if (from(laws, i).upper >= least) append(kept, laws, i);
    return kept;
  }

  Laws alone(const Laws& laws, std::size_t i) const {
    Laws kept{{}, laws.steps, {}};
    append(kept, laws, i);
    return kept;
  }

 private:
  // Nanoseconds, by orders of magnitude: 32 for a product of short numbers, and one for each word
  // of 64 bits. The numbers by which a step multiplies are of so many words.
  double words_of_step() const {
    return static_cast<double>(msb(chain_.row_denominator()) + 1) / 64;
  }
  double fine_work(std::size_t steps) const {
    const double states = static_cast<double>(size_);
    return static_cast<double>(steps) * states * states *
           (32 + static_cast<double>(fine_bits) / 64 * words_of_step());
  }
  // After N steps rationals are N times as long as after one, and are put in lowest terms by an
  // operation for each pair of words.
  double exact_work(std::size_t steps) const {
    const double states = static_cast<double>(size_);
    const double length = static_cast<double>(steps) * words_of_step();
    return static_cast<double>(steps) * states *
           (states * (32 + length * words_of_step()) + length * length);
  }

  void refuse_above_limit(double work, std::size_t steps) const {
    constexpr double half_a_minute = 3e10;
    if (work > half_a_minute)
      throw BadInput("mixing time",
                     "the distance after " + std::to_string(steps) +
                         " steps is closer to that asked for than doubles can tell",
                     "choose another distance");
  }

  void append(Laws& kept, const Laws& laws, std::size_t i) const {
    const auto row = laws.rows.begin() + static_cast<long>(i * size_);
    kept.starts.push_back(laws.starts[i]);
    kept.rows.insert(kept.rows.end(), row, row + static_cast<long>(size_));
  }

  std::size_t size_;
  const FactoredKernel& chain_;
  const Law& target_;
  const Rational& within_;
  Doubles masses_;
  std::size_t roundings_of_step_ = 0;
  std::vector<Doubles> powers_;  // P, P², P⁴, …
};

}  // namespace

std::optional<MixingTime> mixing_time(const FactoredKernel& chain, const Law& target,
                                      const Rational& within,
                                      const std::function<void(const std::string&)>& progress) {
  const auto rarest = std::min_element(target.begin(), target.end());
  const Rational at_start = 1 - *rarest;
  const auto rarest_state = static_cast<std::size_t>(rarest - target.begin());
  if (at_start <= within)
    return MixingTime{0, rarest_state, {at_start, at_start}, {at_start, at_start}};
  Distances distances(chain, target, within);
  // The distance from a start never grows: the first power of two that suffices, and the one
  // before.
  Laws half, all = distances.first();
  std::size_t digits = 0;
  for (; !distances.are_within(all); ++digits) {
    if (all.steps >= mixing_steps_limit) return std::nullopt;
    half = std::move(all);
    progress("distances after " + std::to_string(2 * half.steps) + " steps");
    all = distances.square(half);
  }
  if (digits == 0)
    return MixingTime{1, rarest_state, {at_start, at_start}, distances.furthest(all).second};
  Laws leader = distances.alone(half, distances.largest(half).first);
  while (true) {
    // The most steps that are too few for the leader, by their binary digits.
    for (std::size_t digit = digits - 1; digit-- > 0;) {
      Laws longer = distances.further(leader, digit);
      if (!distances.are_within(longer)) leader = std::move(longer);
    }
    // A start that was closer to π than the leader will be is not the furthest then.
    const Rational least = distances.from(distances.further(leader, 0), 0).lower;
    Laws before = distances.at_least(half, least);
    progress("distances after " + std::to_string(leader.steps) + " steps, of " +
             std::to_string(before.starts.size()) + " starts");
    for (std::size_t digit = digits - 1; digit-- > 0;)
      if (((leader.steps - half.steps) >> digit & 1U) != 0)
        before = distances.at_least(distances.further(before, digit), least);
    const Laws after = distances.further(before, 0);
    if (distances.are_within(after)) {
      const auto [place, distance] = distances.furthest(before);
      return MixingTime{after.steps, before.starts[place], distance,
                        distances.furthest(after).second};
    }
    leader = distances.alone(after, distances.largest(after).first);
  }
}

}  // namespace tempera::reference
