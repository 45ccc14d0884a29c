#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/defects/small_kernels.hpp"
#include "lab/judge/shrink.hpp"

namespace tempera::lab {

/// A mistake known from samplers and tempering codes, planted in a small kernel of its own.
struct PlantedDefect {
  std::string name;         ///< a few words
  std::string description;  ///< what is done, and what is to be done, in a sentence
  JudgedKernel kernel;
  JudgedCase judged;  ///< where the hunt for it begins
  /// Where the defect leaves the target alone: the kernel that it is said to be.
  JudgedKernel said_to_be = {};
};

/// The small move with `plant` done to it, hunted from small_case().
PlantedDefect planted(const std::string& name, const std::string& description,
                      const std::function<void(SmallMove&)>& plant);

/// The defects of one local move, of rounds on several rungs, and of what is around them.
std::vector<PlantedDefect> planted_in_moves();
std::vector<PlantedDefect> planted_in_rounds();
std::vector<PlantedDefect> planted_around();
/// PowerSMC of two particles as it is to be, beside the planted one: its weighted law is the
/// target.
JudgedKernel sound_particles();
/// All of them.
std::vector<PlantedDefect> planted_defects();

/// The two states of a counterexample, and what is said of the way between them, as fractions; of a
/// program in floating point as decimals.
struct ShownPair {
  enum class What {
    flows,  ///< there Π(from) P(from, to), back Π(to) P(to, from): they ought to be equal
    entry,  ///< there P(from, to) as it is, back as it ought to be
    escape  ///< there P(from, to), `to` being no state; back nothing
  };
  What what = What::flows;
  std::string from, to;     ///< tokens joined by one space, records joined by '|'
  std::string there, back;  ///< numbers
};

/// What the lab says of a planted defect.
struct DefectFound {
  std::string name, description;
  bool caught = false;
  std::string model;  ///< the smallest that shows it, in the format of docs/reference/exact.md
  std::size_t horizon = 0;     ///< on it
  std::string counterexample;  ///< the smallest, with its fractions
  double seconds = 0.0;        ///< to catch it and to make it small
  /// Nothing if no pair of states shows it: a kernel that is balanced and does not reach all.
  std::optional<ShownPair> pair = {};
};

/// Judges the kernel, and shrinks the model if it fails.
DefectFound hunt(const PlantedDefect& defect);

/// The defects planted in production's own kernels (gallery.hpp), as they are found on the shipped
/// four_tokens model.
std::vector<DefectFound> found_in_production(const reference::FiniteModel& four_tokens);

/// The whole gallery: those found in production, then each of planted_defects() hunted down.
///
/// next: told before each step how many defects are done, how many there are, and what comes.
std::vector<DefectFound> hunt_all(
    const reference::FiniteModel& four_tokens,
    const std::function<void(std::size_t, std::size_t, const std::string&)>& next);

/// Cases small enough for every hunt: records of unequal length, unequal probabilities; one rung at
/// power 2, and rungs at these powers.
JudgedCase small_case();
JudgedCase small_case(const std::vector<int>& powers);

}  // namespace tempera::lab
