#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tempera::gpu {

/// The positions that a local move of a record x chooses among.
enum class RestartRange {
  horizon,  ///< {1, …, T_m}, whatever the record
  record,   ///< {1, …, len(x)}: τ(x), or T_m for a record without a terminal token
};

/// The law ω of the restart position on {1, …, T_m}, as tickets ω(r). It is made from the horizon,
/// never from a record: over the positions of the record alone, the acceptance ratio has the factor
/// ω(r | y)/ω(r | x) (Section implementation-local, RecordRestartRules).
class RestartLaw {
 public:
  /// ω(r) = 1/T_m, the paper's choice. Range: horizon >= 1.
  static RestartLaw uniform(std::size_t horizon) {
    return RestartLaw(std::vector<std::uint64_t>(horizon, 1));
  }
  /// ω(r) in proportion to the weight of r's part, the parts being as many equal ones of
  /// {1, …, T_m} as there are weights: part floor(J (r − 1)/T_m) of J, counted from 0; uniform
  /// if there are none. Range: at most as many weights as positions, each below 2^32.
  static RestartLaw in_parts(std::span<const std::uint64_t> weights, std::size_t horizon) {
    if (weights.empty()) return uniform(horizon);
    std::vector<std::uint64_t> tickets;
    for (std::size_t r = 1; r <= horizon; ++r)
      tickets.push_back(weights[weights.size() * (r - 1) / horizon]);
    return RestartLaw(std::move(tickets));
  }
  /// ω(r) = tickets[r − 1] / Σ tickets. Range: not empty, 0 < Σ < 2^64; convergence needs
  /// tickets[0] > 0 (`thm:fixed-horizon-convergence`).
  explicit RestartLaw(std::vector<std::uint64_t> tickets) : tickets_(std::move(tickets)) {
    totals_.reserve(tickets_.size());
    std::uint64_t total = 0;
    for (const std::uint64_t count : tickets_) totals_.push_back(total += count);
  }
  std::span<const std::uint64_t> tickets() const { return tickets_; }
  /// Σ_{s <= r} ω(s), in tickets. Range: r in 1..T_m.
  std::uint64_t total(std::size_t r) const { return totals_[r - 1]; }

 private:
  std::vector<std::uint64_t> tickets_;
  std::vector<std::uint64_t> totals_;
};

}  // namespace tempera::gpu
