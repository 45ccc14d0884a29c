#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "gpu/core/sampler/event.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "gpu/core/statistics/round_series.hpp"

namespace tempera::gpu {

/// What is counted of the local moves whose restart position is in one tenth of {1, …, T_m}.
struct DecileCounts {
  std::uint64_t proposed = 0;
  std::uint64_t accepted = 0;
};

/// What is counted of a run at one rung.
struct RungCounts {
  std::uint64_t moves = 0;     ///< local moves
  std::uint64_t proposed = 0;  ///< of them, with r <= τ(x)
  std::uint64_t accepted = 0;
  std::uint64_t tokens = 0;           ///< decode tokens, block extension included
  std::uint64_t proposal_tokens = 0;  ///< of them, those of proposals
  std::uint64_t kept_tokens = 0;      ///< and of these, those of accepted ones
  std::uint64_t early = 0;            ///< proposals whose rejection was certain before their end
  std::uint64_t unspent = 0;  ///< tokens between those and the horizon: the most that were saved
  /// The counts by decile floor(10 (r − 1) / T_m) of the restart position.
  std::array<DecileCounts, 10> deciles = {};
  std::uint64_t records = 0;  ///< those that rounds of the last stage have left
  double log_p0 = 0.0;        ///< the sum of their log p0(x), in the order of the rounds
  double confidence = 0.0;    ///< and of their confidence C(x), if it is measured
};

/// What is counted of a run at one edge, between rung k and k + 1.
struct EdgeCounts {
  std::uint64_t attempts = 0;
  std::uint64_t accepted = 0;
  /// Σ and the number of the terms exp((α_{k+1} − α_k) log p0(x^(k)) − shift) at the last stage:
  /// the stepping-stone estimate of log Z_{k+1} / Z_k. The sum is kept relative to its largest
  /// term.
  double shift = 0.0;
  double sum = 0.0;
  std::uint64_t terms = 0;
};

/// What the paper expects of one replica's round trip, in sweeps, if the edges accept independently
/// of the past with the measured shares a_k: K(1 + R) under ADJ and 2K(1 + R) under DEO, where
/// R = Σ_k (1 − a_k)/a_k (Section `sec:chain-communication`). Nothing for one rung, and if an
/// edge has accepted no swap.
std::optional<double> expected_round_trip(std::span<const EdgeCounts> edges, Schedule schedule);

/// What people expect of a tempering run: acceptance per rung and edge, the index process, round
/// trips, and log Z.
class TemperingStatistics {
 public:
  /// plan: the one whose series by round are kept (round_series.hpp); without one there are none.
  explicit TemperingStatistics(const Ladder& ladder, const Plan& plan = {});

  /// Counts what happened, in the order of the events.
  void count(std::span<const Event> events);
  /// Takes log p0(x^(k)) of every rung after a round of the last stage into its mean and into the
  /// estimates of log Z, and C(x^(k)), if it is measured, into its own mean. Of a run of one
  /// power there may be several records, its particles.
  void count_round(std::span<const double> log_p0, std::span<const double> confidence = {});
  /// Takes the state after a block extension (round 0) or a round into the series; after `count`.
  void trace(std::size_t stage, std::size_t round, std::span<const double> log_p0,
             std::span<const double> confidence = {}) {
    series_.count(stage, round, log_p0, confidence, replica_at_);
  }
  /// Adds another run's counts; the index process stays this run's.
  void add(const TemperingStatistics& other);

  const std::vector<RungCounts>& rungs() const { return rungs_; }
  const std::vector<EdgeCounts>& edges() const { return edges_; }
  /// Which replica (numbered by the rung it began at) each rung holds now.
  const std::vector<std::size_t>& index_process() const { return replica_at_; }
  /// Trips rung 1 → K → 1 that replicas have completed; a replica that begins elsewhere starts its
  /// first trip when it first reaches rung 1.
  std::uint64_t round_trips() const { return round_trips_; }
  std::uint64_t decode_tokens() const;
  /// log Z_{k+1}/Z_k at the last horizon, one per edge; NaN before its first term.
  std::vector<double> log_z_ratios() const;

  /// What summary.json holds.
  nlohmann::ordered_json report() const;
  /// What a checkpoint holds; restore() brings back the same bits.
  nlohmann::json state() const;
  /// @throw ForeignState if it is no such state, or that of another ladder or plan
  void restore(const nlohmann::json& state);
  /// The same of the state's text, state().dump() and nothing else, whatever was counted here
  /// before. The memory that this object has serves again.
  /// @throw ForeignState for any other text; what is counted here is then unspecified
  void restore_text(std::string_view text);

 private:
  void visit_endpoints();

  std::vector<double> powers_;
  std::vector<RungCounts> rungs_;
  std::vector<EdgeCounts> edges_;
  std::vector<std::size_t> replica_at_;
  /// Per replica: 0 before it has been at rung 1, 1 on its way up, 2 on its way down.
  std::vector<unsigned> direction_;
  std::uint64_t round_trips_ = 0;
  RoundSeries series_;
  bool is_confidence_measured_ = false;
};

}  // namespace tempera::gpu
