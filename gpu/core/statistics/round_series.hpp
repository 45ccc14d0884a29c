#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "gpu/core/sampler/stages.hpp"
#include "gpu/core/statistics/state_text.hpp"

namespace tempera::gpu {

/// The course of runs of one plan: after each block extension (round 0) and each round, the means
/// over the runs of log p0(x^(k)) and C(x^(k)) at every rung k; the index process of the first of
/// them; and of all, how many rounds each replica spent at each rung.
///
/// Its size has a bound, whatever the plan: of n steps it keeps every s-th, the last among them,
/// where s is the least for which K ⌈n/s⌉ <= most_numbers (or one step is left); replicas are
/// counted if K^2 <= most_numbers. events.jsonl has every round of every run.
class RoundSeries {
 public:
  static constexpr std::size_t most_numbers = 1024;

  /// Nothing is kept without stages, and of a sampler that proposes until a proposal is kept.
  RoundSeries(std::size_t rungs, const Plan& plan);

  /// Takes the state of a run after a block extension or a round, in their order. log_p0,
  /// confidence: by rung, or of one rung's particles; confidence is empty if it is not measured.
  /// replica_at: which replica each rung holds. A stage or round beyond the plan is not counted.
  void count(std::size_t stage, std::size_t round, std::span<const double> log_p0,
             std::span<const double> confidence, std::span<const std::size_t> replica_at);
  /// Adds other runs of the same plan, or of one that is cut earlier; the first run stays this
  /// series' own, if it has one.
  void add(const RoundSeries& other);

  /// Adds "rounds" and "replica_rounds" to a report, if there is something to say.
  void report(nlohmann::ordered_json& into) const;
  /// What a checkpoint holds; restore() brings back the same bits.
  nlohmann::json state() const;
  void restore(const nlohmann::json& state);
  /// The same of the text of a state, whatever was counted here before.
  void restore(StateText& state);

 private:
  struct Step {
    std::size_t stage = 0;
    std::size_t round = 0;
    std::uint64_t records = 0;          ///< of each rung
    std::vector<double> log_p0;         ///< their sum at each rung
    std::vector<double> confidence;     ///< the same
    std::vector<std::size_t> replicas;  ///< of the first run; none if it had ended
  };

  bool are_replicas_counted() const { return rungs_ > 1 && rungs_ * rungs_ <= most_numbers; }
  /// The steps that have been counted.
  std::span<const Step> counted() const;

  std::size_t rungs_;
  std::size_t stride_ = 1;
  std::vector<std::size_t> ends_;  ///< of each stage: how many steps are before its end
  std::vector<Step> steps_;
  std::vector<std::uint64_t> replica_rounds_;  ///< [replica, rung]
  bool is_confidence_measured_ = false;
};

}  // namespace tempera::gpu
