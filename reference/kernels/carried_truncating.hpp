#pragma once

#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// P̃ of truncating_kernel() as steps of laws, without its matrix.
///
/// In the acceptance of a candidate y of length e, all but w(y) / w(x_{1:e}) cancels, where w(u) is
/// the product of z_α over the prefixes at which the tokens of u were drawn. Sources of one length
/// that share a prefix, and the candidates of one length after it, are each sorted once by w; what
/// flows between them is then two running sums: O(Σ_x len(x) T) operations on a law.
class CarriedTruncating {
 public:
  /// @throw BadInput if a probability to the power is irrational and refused
  CarriedTruncating(const ComparisonSpace& space, const Power& power);

  const ComparisonSpace& space() const { return space_; }
  /// law P̃.
  Law apply(const Law& law) const;
  /// P̃(x, y), x ≠ y.
  Rational probability(std::size_t x, std::size_t y) const;

 private:
  /// Sources of one length that agree before restart position r, and the candidates of one length
  /// that are proposed from there.
  struct Group {
    std::size_t restart, source_length, end;
    std::vector<std::size_t> sources, candidates;  ///< rising by w
  };
  void gather(std::size_t first, std::size_t last, std::size_t depth);
  const Rational& weight(std::size_t x, std::size_t end) const { return weights_[x][end]; }
  /// g_α of tokens r..len(y) of y.
  Rational proposal(std::size_t y, std::size_t restart) const;

  ComparisonSpace space_;
  std::vector<std::vector<Rational>> weights_;    ///< w of the first n tokens, n = 0..len(x)
  std::vector<std::vector<Rational>> proposals_;  ///< g_α of the first n tokens
  std::vector<Group> groups_;
};

}  // namespace tempera::reference
