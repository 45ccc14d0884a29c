#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lab/enumerate/real.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/model/record_space.hpp"

namespace tempera::lab {

/// One sampler at one effort, from its definition alone.
struct ExactRow {
  std::string sampler;  ///< as `tempera sample --sampler` knows it, and the schedule of ppt
  std::string effort;   ///< "2 rounds", "N = 5"; empty if there is nothing to choose
  reference::Rational decode_tokens;  ///< expected, proposals included
  reference::Rational tv;             ///< of the answer's law from π_α, α the sharpest power
  Real log_likelihood;                ///< E log p0 of the answer
  /// That the answer is in the model's answer set; nothing if the model names none.
  std::optional<reference::Rational> answer_probability;
  reference::Rational open_probability;  ///< that it ends without a terminal token
  /// Whether it takes as many tokens as PPT with ordered sweeps, or a choice of effort could not
  /// make it.
  bool matched = false;
};

/// The samplers that the paper compares on one model, each run at one effort by its exact law, with
/// the stages T_m = min(mB, T). All aim at π_α on S_T.
class Contest {
 public:
  /// The model must outlive the object.
  /// @throw BadInput if there are too many records or p0^α is irrational
  Contest(const reference::FiniteModel& model, std::size_t horizon, std::size_t block,
          const reference::Power& power, std::size_t local_moves);

  std::size_t horizon() const { return space_.horizon(); }
  std::size_t block() const { return block_; }
  const reference::FixedHorizonSpace& space() const { return space_; }
  /// π_α itself: its E log p0, answer set and open records.
  ExactRow target() const { return row(target_, 0); }

  // Each has neither name nor effort; `rounds` are of every stage.
  ExactRow tokenwise(const reference::Power& power) const;
  /// Power Sampling as published.
  ExactRow truncating(std::size_t rounds) const;
  /// Its correction: Algorithm 1 at K = 1.
  ExactRow single_chain(std::size_t rounds) const;
  ExactRow particles(std::size_t count) const;
  /// Exact draws: the target itself, at length / Z_α tokens. Range: a power of at least 1.
  ExactRow rejection() const;
  ExactRow best_of(std::size_t count) const;
  ExactRow uncoupled(const reference::Ladder& ladder, std::size_t rounds, bool by_likelihood) const;
  /// Algorithm 1, the answer at the sharpest rung.
  ExactRow tempering(const reference::Ladder& ladder, std::size_t rounds, std::size_t sweeps,
                     reference::Schedule schedule) const;

 private:
  reference::ProgressiveRun run(const reference::Ladder& ladder, std::size_t rounds,
                                std::size_t sweeps, reference::Schedule schedule) const;
  ExactRow row(const reference::Law& law, const reference::Rational& tokens) const;

  const reference::FiniteModel& model_;
  std::size_t block_;
  std::size_t local_moves_;
  reference::FixedHorizonSpace space_;
  reference::ComparisonSpace wider_;  ///< where the truncating sampler's answers are
  reference::Power power_;
  reference::Law target_;
};

}  // namespace tempera::lab
