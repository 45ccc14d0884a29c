#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

/// How the draws of two runs are tied to each other.
enum class Coupling {
  words,   ///< one word for the draws at an address, as runs/coupling does
  tokens,  ///< the two laws of each token coupled maximally
  moves,   ///< the two laws of each whole local move coupled maximally
};

/// Local moves L_k of two records at once, by their definition alone. The restart position, uniform
/// over 1..T, and the word of the acceptance are shared, but for Coupling::moves.
class CoupledMoves {
 public:
  /// @param space must outlive it
  /// @throw BadInput if a probability to the power is irrational
  CoupledMoves(const reference::FixedHorizonSpace& space, const reference::Power& power);

  /// Π_t g_α(x_t | x_<t): the law of a record that block extension draws in one stage.
  const reference::Law& starts() const { return starts_; }
  /// [x'][y']: the law of both records after the move from position r in 1..T.
  /// @pre coupling is words or tokens
  reference::Matrix after(std::size_t x, std::size_t y, std::size_t r, Coupling coupling) const;
  /// The same for a move whose position is drawn.
  reference::Matrix after(std::size_t x, std::size_t y, Coupling coupling) const;

 private:
  using Prefix = std::vector<reference::Token>;
  /// A proposal, or what there is of it.
  struct Drawn {
    Prefix tokens;
    bool has_ended = false;
  };

  Drawn kept(std::size_t x, std::size_t r) const;
  void draw(const Drawn& of_x, const Drawn& of_y, const reference::Rational& share,
            Coupling coupling, const auto& take) const;
  reference::Law alone(std::size_t x) const;

  const reference::FixedHorizonSpace& space_;
  std::map<Prefix, reference::TokenRow> proposals_;  ///< g_α by prefix
  reference::Law weights_;                           ///< Π_t z_α(x_<t) of each record
  reference::Law starts_;
};

/// P(τ − L > t) for t = 0, 1, …, until it is below `least`: X and Y begin by block extension in one
/// stage, each with words of its own, and Y's round t is coupled with X's round t + L. A round is a
/// local move of each rung and, of two rungs, a swap, whose word is shared. The moves are exact,
/// and what is made of them are doubles.
/// @pre one rung or two
std::vector<double> meeting_law(const reference::FixedHorizonSpace& space,
                                const reference::Ladder& ladder, Coupling coupling, std::size_t lag,
                                double least);

/// The bound of certify-run at round t by that law: Σ_{j >= 0} P(τ − L > t + jL).
double bound_of(const std::vector<double>& apart, std::size_t lag, std::size_t round);

}  // namespace tempera::lab
