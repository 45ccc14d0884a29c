#include "runs/ladders/ladder_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "base/error.hpp"
#include "gpu/core/lottery/exponential.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/core/statistics/student_point.hpp"
#include "gpu/session/prompt_plans.hpp"

namespace tempera::gpu {
namespace {

/// Mean and variance of numbers as they come (Welford).
struct Moments {
  std::uint64_t count = 0;
  double mean = 0.0;
  double squares = 0.0;
  void take(double value) {
    ++count;
    const double from_old = value - mean;
    mean += from_old / static_cast<double>(count);
    squares += from_old * (value - mean);
  }
  double deviation() const {
    return count < 2 ? 0.0 : std::sqrt(squares / static_cast<double>(count - 1));
  }
};

/// Measures swaps, and the spread of log p0 in the second half of the last stage's rounds.
class Measurement final : public DrawListener {
 public:
  Measurement(const DrawSettings& settings, std::span<const Prompt> prompts,
              std::size_t restart_parts, const std::function<void()>& before_pass)
      : before_pass_(before_pass),
        prompts_(prompts),
        plans_(settings.plan, prompts),
        samples_(settings.samples),
        moments_(prompts.size(), std::vector<Moments>(settings.ladder.rungs())) {
    pilot_.powers = settings.ladder.powers();
    pilot_.attempts.resize(settings.ladder.rungs() - 1);
    pilot_.accepted.resize(settings.ladder.rungs() - 1);
    pilot_.runs.assign(prompts.size() * samples_, {pilot_.attempts, pilot_.accepted});
    std::size_t parts = restart_parts;
    for (const Prompt& prompt : prompts)
      parts = std::min(parts, plans_.of(prompt).stages.front().horizon);
    pilot_.restarts.resize(parts);
    pilot_.changes.resize(parts);
  }

  void before_batch(const SessionTotals& /*so_far*/) override {
    if (before_pass_) before_pass_();
  }

  void round_ended(RequestId run_index, std::size_t, const Progress& progress,
                   std::span<const Event> events) override {
    const std::size_t p = run_index / samples_;
    const std::vector<Stage>& stages = plans_.of(prompts_[p]).stages;
    if (progress.stage + 1 != stages.size()) return;
    if (2 * progress.round <= stages.back().rounds) return;
    for (const Event& event : events) {
      if (event.kind == Event::Kind::local_move) {
        const std::size_t part = pilot_.restarts.size() * (event.restart - 1) / event.horizon;
        ++pilot_.restarts[part];
        if (event.changed) ++pilot_.changes[part];
      }
      if (event.kind != Event::Kind::swap) continue;
      ++pilot_.attempts[event.rung];
      ++pilot_.runs[run_index].attempts[event.rung];
      if (!event.accepted) continue;
      ++pilot_.accepted[event.rung];
      ++pilot_.runs[run_index].accepted[event.rung];
    }
    for (Rung k = 0; k < progress.replicas.size(); ++k)
      moments_[p][k].take(progress.replicas[k].log_p0());
  }

  Pilot pilot() const {
    Pilot measured = pilot_;
    for (Rung k = 0; k < measured.powers.size(); ++k) {
      double sum = 0.0;
      for (const auto& of_prompt : moments_) sum += of_prompt[k].deviation();
      measured.deviations.push_back(sum / static_cast<double>(moments_.size()));
    }
    return measured;
  }

 private:
  const std::function<void()>& before_pass_;
  std::span<const Prompt> prompts_;
  PromptPlans plans_;
  std::size_t samples_;
  Pilot pilot_;
  std::vector<std::vector<Moments>> moments_;  // [prompt][rung]
};

/// Whether the acceptances are equal as far as their numbers can tell.
bool is_even(const Pilot& pilot) {
  double mean = 0.0;
  for (std::size_t k = 0; k < pilot.attempts.size(); ++k) mean += pilot.acceptance(k);
  mean /= static_cast<double>(pilot.attempts.size());
  for (std::size_t k = 0; k < pilot.attempts.size(); ++k) {
    const double variance = mean * (1.0 - mean) / static_cast<double>(pilot.attempts[k]);
    if (std::abs(pilot.acceptance(k) - mean) > 2.0 * std::sqrt(variance)) return false;
  }
  return true;
}

/// The powers to four decimals, which is more than pilots can tell, if they stay apart.
std::vector<double> rounded(const std::vector<double>& powers) {
  std::vector<double> shorter = powers;
  for (std::size_t k = 1; k + 1 < powers.size(); ++k)
    shorter[k] = std::round(powers[k] * 1e4) / 1e4;
  const bool apart =
      std::adjacent_find(shorter.begin(), shorter.end(), std::greater_equal<>()) == shorter.end();
  return apart ? shorter : powers;
}

}  // namespace

double Pilot::acceptance(std::size_t edge) const {
  return attempts[edge] == 0
             ? 0.0
             : static_cast<double>(accepted[edge]) / static_cast<double>(attempts[edge]);
}

double Pilot::lowest_acceptance() const {
  double lowest = 1.0;
  for (std::size_t k = 0; k < attempts.size(); ++k) lowest = std::min(lowest, acceptance(k));
  return lowest;
}

// Let a_k = A_k/N_k be the acceptance of edge k over all runs, d_k = a_k − (mean over the edges),
// and D = Σ_k d_k². If the edges accept equally often the d_k have mean 0, and D has the mean
// V = Σ_k Var d_k. The number of attempts does not tell V: those of one run hang together, because
// records stay from round to round and neighbouring edges share one. But the R runs are
// independent, each with its own words. To first order run i takes part in a_k with u_ik = (A_ik −
// a_k N_ik)/N_k, and Σ_i u_ik = 0; with ū_i, the mean over the edges,
//   V' = R/(R − 1) Σ_i Σ_k (u_ik − ū_i)²
// has the mean V if all runs have one law, and a greater one if the prompts differ.
// Sums of many swaps are about normal. Of the sums of squares of normal numbers with one mean those
// of a single number have the most weight beyond what one in twenty exceeds (Székely and Bakirov,
// 2003), and there D/V' is the square of Student's t with R − 1 degrees of freedom. So if the
// acceptances are equal, D exceeds t² V' in about one case of twenty at most.
std::optional<bool> acceptances_are_equal(const Pilot& pilot) {
  const std::size_t edges = pilot.attempts.size();
  if (edges < 2) return true;
  if (pilot.runs.size() < 2) return std::nullopt;
  double mean = 0.0;
  for (std::size_t k = 0; k < edges; ++k) {
    if (pilot.attempts[k] == 0) return std::nullopt;
    mean += pilot.acceptance(k) / static_cast<double>(edges);
  }
  double distance = 0.0;
  for (std::size_t k = 0; k < edges; ++k) distance += std::pow(pilot.acceptance(k) - mean, 2);
  double noise = 0.0;
  for (const RunSwaps& run : pilot.runs) {
    Moments parts;
    for (std::size_t k = 0; k < edges; ++k)
      parts.take((static_cast<double>(run.accepted[k]) -
                  pilot.acceptance(k) * static_cast<double>(run.attempts[k])) /
                 static_cast<double>(pilot.attempts[k]));
    noise += parts.squares;
  }
  const auto runs = static_cast<double>(pilot.runs.size());
  const double point = student_point(pilot.runs.size() - 1);
  // A distance of less than 2^-42 is rounding: no counts have acceptances so close.
  return distance <= point * point * noise * runs / (runs - 1.0) + 0x1p-84;
}

std::vector<std::uint64_t> suggested_restart_weights(const Pilot& pilot) {
  if (pilot.restarts.size() < 2) return {};
  std::vector<double> shares;
  double largest = 0.0;
  for (std::size_t part = 0; part < pilot.restarts.size(); ++part) {
    shares.push_back(pilot.restarts[part] == 0 ? 0.0
                                               : static_cast<double>(pilot.changes[part]) /
                                                     static_cast<double>(pilot.restarts[part]));
    largest = std::max(largest, shares.back());
  }
  std::vector<std::uint64_t> weights(shares.size(), 1);
  for (std::size_t part = 0; largest > 0.0 && part < shares.size(); ++part)
    weights[part] = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::llround(64.0 * shares[part] / largest)));
  return weights;
}

std::vector<double> geometric_ladder(double from, double to, std::size_t replicas) {
  if (replicas < 2) throw BadInput("replicas", "is " + std::to_string(replicas), "give at least 2");
  require_power(from, "from");
  require_power(to, "to");
  if (!(from < to))
    throw BadInput("to", "is not above from", "give the flattest power first, then the sharpest");
  std::vector<double> powers;
  const double steps = static_cast<double>(replicas - 1);
  for (std::size_t k = 0; k < replicas; ++k)
    powers.push_back(from * exponential(logarithm(to / from) * static_cast<double>(k) / steps));
  powers.front() = from;
  powers.back() = to;
  return powers;
}

std::vector<double> equidistant_ladder(std::span<const double> powers,
                                       std::span<const double> deviations) {
  std::vector<double> length{0.0};  // from the first power to each
  for (std::size_t k = 0; k + 1 < powers.size(); ++k)
    length.push_back(length.back() +
                     (powers[k + 1] - powers[k]) * (deviations[k] + deviations[k + 1]) / 2.0);
  std::vector<double> placed(powers.begin(), powers.end());
  if (length.back() <= 0.0) return placed;
  const double steps = static_cast<double>(powers.size() - 1);
  for (std::size_t k = 1; k + 1 < powers.size(); ++k) {
    const double wanted = length.back() * static_cast<double>(k) / steps;
    std::size_t i = 0;
    while (i + 2 < powers.size() && length[i + 1] < wanted) ++i;
    const double gap = powers[i + 1] - powers[i];
    // length[i] + σ_i x + (σ_{i+1} − σ_i) x²/2·gap, which increases with x.
    double low = 0.0;
    double high = gap;
    for (int step = 0; step < 60; ++step) {
      const double x = (low + high) / 2.0;
      const double reached =
          length[i] + deviations[i] * x + (deviations[i + 1] - deviations[i]) * x * x / (2.0 * gap);
      (reached < wanted ? low : high) = x;
    }
    placed[k] = powers[i] + high;
  }
  return placed;
}

DrawSettings pilot_settings(const CalibrationSettings& settings, const std::vector<double>& powers,
                            std::size_t number) {
  DrawSettings draw{Ladder(powers), settings.plan, settings.terminal};
  draw.seed = settings.seed;
  draw.samples = settings.samples;
  static_cast<SessionOptions&>(draw) = settings.session;
  draw.pilot = static_cast<std::uint8_t>(number);
  return draw;
}

namespace {

/// The ladder that a pilot's deviations place.
std::vector<double> ladder_after(const Pilot& pilot) {
  return rounded(equidistant_ladder(pilot.powers, pilot.deviations));
}

}  // namespace

std::vector<Pilot> calibrate_ladder(LanguageModel& model, std::span<const Prompt> prompts,
                                    const CalibrationSettings& settings,
                                    const std::function<void(const Pilot&)>& done) {
  const PromptPlans plans(settings.plan, prompts);
  for (const Prompt& prompt : prompts)
    if (const Stage& last = plans.of(prompt).stages.back(); last.rounds < 2 || last.sweeps == 0)
      throw BadInput("rounds", "leave nothing to measure",
                     "give at least 2 rounds and a sweep in each");
  if (settings.pilots < 1 || settings.pilots > addressable_pilots)
    throw BadInput("pilots", "is " + std::to_string(settings.pilots), "give 1 to 255");
  if (settings.samples < 1 || settings.samples > addressable_samples)
    throw BadInput("samples", "is " + std::to_string(settings.samples),
                   "give 1 to " + std::to_string(addressable_samples));
  std::vector<Pilot> pilots;
  std::vector<double> powers = geometric_ladder(settings.from, settings.to, settings.replicas);
  for (std::size_t number = 1; number <= settings.pilots; ++number) {
    const DrawSettings draw = pilot_settings(settings, powers, number);
    Measurement measurement(draw, prompts, settings.restart_parts, settings.before_pass);
    draw_answers(model, prompts, parallel_power_tempering, draw, measurement);
    pilots.push_back(measurement.pilot());
    if (done) done(pilots.back());
    if (why_calibration_ends(pilots, settings.pilots)) break;
    powers = ladder_after(pilots.back());
  }
  return pilots;
}

std::optional<CalibrationEnd> why_calibration_ends(std::span<const Pilot> pilots,
                                                   std::size_t most_pilots) {
  const Pilot& last = pilots.back();
  // Few swaps look equal by their number alone, and runs may still tell them apart.
  if (is_even(last) && acceptances_are_equal(last) != false) return CalibrationEnd::equal;
  if (ladder_after(last) == last.powers) return CalibrationEnd::same;
  if (pilots.size() >= most_pilots) return CalibrationEnd::exhausted;
  return std::nullopt;
}

const Pilot& best_pilot(std::span<const Pilot> pilots) {
  return *std::max_element(pilots.begin(), pilots.end(), [](const Pilot& a, const Pilot& b) {
    return a.lowest_acceptance() < b.lowest_acceptance();
  });
}

}  // namespace tempera::gpu
