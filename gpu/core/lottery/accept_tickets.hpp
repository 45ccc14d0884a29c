#pragma once

#include <array>
#include <cstdint>

#include "base/error.hpp"
#include "gpu/core/lottery/exponential.hpp"

namespace tempera::gpu {

/// How many tickets decide an acceptance.
inline constexpr std::uint64_t all_accept_tickets = std::uint64_t{1} << 62;

/// The lottery that decides a Metropolis–Hastings acceptance 1 ∧ R from log R:
///   {t, 2^62 − t} with t = floor(2^62 · exp(min(0, log R))); index 0 accepts.
///
/// Computes `eq:implementation-local-mh-acceptance` and `eq:implementation-swap-general` to within
/// 2^-62 plus the error of exp.
/// @throw ModelError if log R is NaN: that is an error in a score, never a rejection.
inline std::array<std::uint64_t, 2> accept_tickets(double log_ratio) {
  if (log_ratio != log_ratio)
    throw ModelError("the log acceptance ratio is NaN: a score in this run is not a number");
  const double probability = log_ratio >= 0.0 ? 1.0 : exponential(log_ratio);
  const auto accepting = static_cast<std::uint64_t>(0x1p+62 * probability);
  return {accepting, all_accept_tickets - accepting};
}

}  // namespace tempera::gpu
