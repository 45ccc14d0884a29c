#pragma once

#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"

namespace tempera::reference {

/// Tokenwise proposal products along each record of a space, which must outlive it: the part of q_r
/// that regenerates.
class SuffixProposal {
 public:
  /// @throw BadInput if a probability to the power is irrational
  SuffixProposal(const RecordSpace& space, const Power& power);

  /// g_α(y_t | y_{<t}) for position t in 1..T, 1 on the padding.
  const Rational& token(std::size_t y, std::size_t t) const;
  /// Π_{t=r}^{T} g_α(y_t | y_{<t}).
  const Rational& suffix(std::size_t y, std::size_t r) const;
  /// q_r(y | x) = 1{y_{<r} = x_{<r}} Π_{t=r}^{T} g_α(y_t | y_{<t})
  /// (eq:implementation-fixed-suffix-proposal, eq:fixed-horizon-proposal).
  Rational operator()(std::size_t r, std::size_t x, std::size_t y) const;

 private:
  const RecordSpace& space_;
  std::vector<std::vector<Rational>> tokens_, suffixes_;
  Rational one_ = 1;
};

}  // namespace tempera::reference
