#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tempera::gpu {

/// The law ω of the restart position on {1, …, T_m}, as tickets ω(r). It is made from the horizon,
/// never from a record: a restart law that depended on the state would need the factor
/// ω(r | y)/ω(r | x) in the acceptance ratio (Section implementation-local).
class RestartLaw {
 public:
  /// ω(r) = 1/T_m, the paper's choice. Range: horizon >= 1.
  static RestartLaw uniform(std::size_t horizon) {
    return RestartLaw(std::vector<std::uint64_t>(horizon, 1));
  }
  /// ω(r) = tickets[r − 1] / Σ tickets. Range: not empty, 0 < Σ < 2^64; convergence needs
  /// tickets[0] > 0 (`thm:fixed-horizon-convergence`).
  explicit RestartLaw(std::vector<std::uint64_t> tickets) : tickets_(std::move(tickets)) {}
  std::span<const std::uint64_t> tickets() const { return tickets_; }

 private:
  std::vector<std::uint64_t> tickets_;
};

}  // namespace tempera::gpu
