#pragma once

#include <cstdint>

#include "gpu/core/lottery/exponential.hpp"

namespace tempera::gpu {

/// The largest vocabulary: with 2^44 tickets for the likeliest token the sum stays below 2^63.
inline constexpr std::uint64_t largest_vocabulary = std::uint64_t{1} << 18;

/// If α(ℓ − max ℓ) is below this a token has one ticket and no exponential is needed:
/// 2^44 · exp(−31.2) < 0.496 rounds to 0, and max(1, ·) makes it 1.
inline constexpr double one_ticket_below = -31.2;

/// If ℓ − max ℓ is below this a token adds no grain to Z_1: 2^63 · exp(−44.5) < 0.436.
inline constexpr double no_grain_below = -44.5;

/// A sum of 2^-63 grains that does not depend on the order of its terms: 128 bits wide.
struct GrainSum {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

inline namespace TEMPERA_INSTRUCTION_SET {

/// x rounded to the nearest integer, ties to even. Range: 0 <= x < 2^64.
TEMPERA_HOST_DEVICE inline std::uint64_t round_to_integer(double x) {
  constexpr double to_integer = 0x1p+52;
  if (x < to_integer) x = (x + to_integer) - to_integer;
  return static_cast<std::uint64_t>(x);
}

/// The tickets of a token at power α, `eq:proposal` (`eq:theory-tokenwise-proposal`) as integers:
///   w = max(1, round(2^44 · exp(α(ℓ − max ℓ)))), and 0 for a forbidden token (ℓ = −infinity).
///
/// max(1, ·) keeps the full support that `thm:fixed-horizon-convergence` needs; a rounded ticket is
/// not an error, because the proposal that is drawn from is the proposal that is scored.
/// Range: logit <= largest, largest finite, α > 0; 0 <= w <= 2^44.
TEMPERA_HOST_DEVICE inline std::uint64_t tickets_of(float logit, float largest, double power) {
  if (logit < -3.4028234663852886e38F) return 0;
  const double distance = static_cast<double>(logit) - static_cast<double>(largest);
  const std::uint64_t tickets = round_to_integer(0x1p+44 * exponential(power * distance));
  return tickets == 0 ? 1 : tickets;
}

/// 2^power · e^x rounded to the nearest integer, ties to even, from additions and shifts alone: a
/// device converts between doubles and 64-bit integers at a quarter of its rate.
///
/// Range: x <= 0, 0 <= power <= 63 and a result of 0 or more than 2^-60 before rounding.
TEMPERA_HOST_DEVICE inline std::uint64_t rounded_exponential(double x, int power) {
  constexpr double to_integer = 0x1p+52;  // adding it rounds to an integer, in the last 52 bits
  constexpr std::uint64_t fraction = 0x000FFFFFFFFFFFFFULL;
  const ScaledExponential parts = scaled_exponential(x);
  const auto scale = static_cast<std::uint64_t>(static_cast<std::int64_t>(parts.exponent + power));
  const std::uint64_t bits = to_bits(parts.significand) + (scale << 52);
  const auto exponent = static_cast<std::int32_t>(bits >> 52) - 1075;
  if (exponent >= 0) return ((bits & fraction) | (fraction + 1)) << exponent;
  return to_bits(from_bits(bits) + to_integer) & fraction;
}

/// tickets_of at ℓ − max ℓ = distance, with its bits, for loops over many tokens and rungs on a
/// device: no branch, so that several run side by side, and no conversion.
///
/// Range: distance <= 0, -infinity for a forbidden token; α > 0.
TEMPERA_HOST_DEVICE inline std::uint64_t tickets_at(double distance, double power) {
  const double x = power * distance;
  const std::uint64_t rounded =
      rounded_exponential(x < one_ticket_below ? one_ticket_below : x, 44);
  const std::uint64_t tickets = rounded == 0 ? 1 : rounded;
  return distance < -1.7976931348623157e308 ? 0 : tickets;
}

TEMPERA_HOST_DEVICE inline GrainSum operator+(const GrainSum& a, const GrainSum& b) {
  GrainSum sum{a.high + b.high, a.low + b.low};
  if (sum.low < a.low) ++sum.high;
  return sum;
}

/// round(2^63 · exp(ℓ − max ℓ)), one token's part of Z_1; its error is below 2^-51 of itself plus
/// half a grain.
TEMPERA_HOST_DEVICE inline GrainSum grains_of(float logit, float largest) {
  const double distance = static_cast<double>(logit) - static_cast<double>(largest);
  return {0, round_to_integer(0x1p+63 * exponential(distance))};
}

/// grains_of at ℓ − max ℓ = distance, with its bits, as tickets_at is to tickets_of.
TEMPERA_HOST_DEVICE inline GrainSum grains_at(double distance) {
  return {0, rounded_exponential(distance < no_grain_below ? no_grain_below : distance, 63)};
}

/// log Z_1 = log Σ_v exp(ℓ_v − max ℓ) from its grains. Range: the sum holds the largest token, so
/// it is at least 2^63 grains. Error below 2^-45 for any vocabulary the lottery takes.
TEMPERA_HOST_DEVICE inline double log_of_grains(const GrainSum& sum) {
  const double z = static_cast<double>(sum.high) * 2.0 + static_cast<double>(sum.low) * 0x1p-63;
  return logarithm(z);
}

/// log g = log w − log W, the logarithm of the probability with which the lottery draws a token.
/// Range: 0 < w <= W < 2^63.
TEMPERA_HOST_DEVICE inline double log_share(std::uint64_t tickets, std::uint64_t total) {
  return logarithm(static_cast<double>(tickets)) - logarithm(static_cast<double>(total));
}

}  // namespace TEMPERA_INSTRUCTION_SET

}  // namespace tempera::gpu
