#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "gpu/session/draw_answers.hpp"
#include "settings/defaults.hpp"

namespace tempera::gpu {

/// What a ladder is calibrated for.
struct CalibrationSettings {
  double from = 0.0;         ///< α_1
  double to = 0.0;           ///< α_K
  std::size_t replicas = 0;  ///< K, at least 2
  Plan plan;                 ///< of the pilots, of prompts without a horizon of their own
  std::vector<TokenId> terminal;
  std::uint64_t seed = defaults::seed;
  std::size_t samples = defaults::samples;  ///< pilot runs of each prompt
  std::size_t pilots =
      defaults::pilots;            ///< the most ladders that are tried, at most addressable_pilots
  SessionOptions session = {};     ///< how the pilots are laid out
  std::size_t restart_parts = 10;  ///< the most parts that restarts are counted in
  /// Called before each forward pass; what it throws ends all pilots.
  std::function<void()> before_pass = {};
};

/// The swaps of one of a pilot's runs, one number per edge.
struct RunSwaps {
  std::vector<std::uint64_t> attempts;
  std::vector<std::uint64_t> accepted;
};

/// A ladder and what its pilot measured.
struct Pilot {
  std::vector<double> powers;
  /// The standard deviation of log p0 at each rung, σ(α_k), the mean of the prompts'.
  std::vector<double> deviations;
  std::vector<std::uint64_t> attempts;  ///< of swaps, one per edge
  std::vector<std::uint64_t> accepted;
  std::vector<RunSwaps> runs;  ///< the same of each sample of each prompt
  /// The local moves of all rungs, by the part of {1, …, T} that they restarted in: how many,
  /// and how many of them changed the record. The parts are equal, and as many as the settings
  /// say, or as the first stage of every prompt has positions.
  std::vector<std::uint64_t> restarts;
  std::vector<std::uint64_t> changes;
  double acceptance(std::size_t edge) const;
  double lowest_acceptance() const;
};

/// α_k = α_1 (α_K/α_1)^{(k−1)/(K−1)}, `eq:arithmetic-geometric-ladders`.
/// @throw BadInput unless 0 < from < to and replicas >= 2
std::vector<double> geometric_ladder(double from, double to, std::size_t replicas);

/// The ladder with the same ends whose neighbours are equally far apart in thermodynamic length
/// d(α, β) = ∫ σ(s) ds (`eq:equal-thermodynamic-distance`), σ being linear between the powers at
/// which it is known. The same ladder if σ is 0 throughout.
std::vector<double> equidistant_ladder(std::span<const double> powers,
                                       std::span<const double> deviations);

/// What the number-th pilot draws, counted from 1: its draws have addresses of their own, which no
/// run that gives answers and no other pilot has.
DrawSettings pilot_settings(const CalibrationSettings& settings, const std::vector<double>& powers,
                            std::size_t number);

/// Restart weights that a pilot suggests: for each of its parts the share of restarts there that
/// changed the record, the largest being 64, none below 1, so that the law keeps its full support.
/// A run takes them as a setting, fixed before it begins: the law depends on no state of the run.
/// None for a pilot of one part, whose law is uniform.
std::vector<std::uint64_t> suggested_restart_weights(const Pilot& pilot);

/// Runs pilots, the first on the geometric ladder, each further one on the equidistant ladder by
/// the deviations that the one before it measured, until why_calibration_ends gives a reason.
/// Nothing that they draw is ever an answer. Returns them in their order.
/// @throw BadInput as geometric_ladder and draw_answers, and if the plan has no round at its last
/// stage or no sweep in it
std::vector<Pilot> calibrate_ladder(LanguageModel& model, std::span<const Prompt> prompts,
                                    const CalibrationSettings& settings,
                                    const std::function<void(const Pilot&)>& done = {});

/// Whether the acceptances of a pilot's edges are equal as far as its noise can tell: of ladders
/// whose acceptances are equal about one in twenty, at most, is told to have others. Noise is how
/// acceptances vary from run to run; nothing if there is one run of several edges, or an edge
/// without an attempt.
std::optional<bool> acceptances_are_equal(const Pilot& pilot);

/// Why no pilot follows.
enum class CalibrationEnd {
  equal,     ///< no acceptance of an edge differs from their mean by more than two standard errors
             ///< of that many swaps, and acceptances_are_equal does not deny it
  same,      ///< the deviations place the powers where they are
  exhausted  ///< there are as many as asked for
};
/// The reason, of pilots in their order; nothing if another one follows.
std::optional<CalibrationEnd> why_calibration_ends(std::span<const Pilot> pilots,
                                                   std::size_t most_pilots);

/// The first of the pilots' ladders whose lowest acceptance is highest
/// (`eq:maximin-ladder-problem`).
const Pilot& best_pilot(std::span<const Pilot> pilots);

}  // namespace tempera::gpu
