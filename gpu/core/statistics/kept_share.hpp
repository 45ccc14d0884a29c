#pragma once

#include <cstddef>
#include <cstdint>

namespace tempera::gpu {

/// Z_α, the probability that a proposal of exact rejection is kept, with an interval.
struct KeptShare {
  double estimate = 0.0;  ///< (k − 1)/(n − 1), without bias for k >= 2; 1/n of one answer
  double low = 0.0;
  double high = 0.0;
};

/// From proposals that were made until `kept` of them were kept. The interval inverts the tests
/// P(N <= n) and P(N >= n) of the number N of proposals (Clopper and Pearson, for inverse
/// sampling), so it covers Z_α with at least the confidence.
/// @pre 1 <= kept <= proposals, 0 < confidence < 1
KeptShare kept_share(std::uint64_t kept, std::uint64_t proposals, double confidence);

/// After so many local moves one chain at power α >= 1 is within `tv` of its target, from any
/// start, if Z_α is at least `share`: a move restarts at position 1 with probability 1/T and then
/// proposes the whole record, so that (1 − Z_α/T)^N bounds the total variation, and this is below
/// exp(−N Z_α/T).
double moves_of_one_chain(double share, std::size_t horizon, double tv);

}  // namespace tempera::gpu
