#pragma once

#include <optional>
#include <string>

#include "lab/judge/judged_case.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

/// The most states whose stationary law is solved for.
inline constexpr std::size_t judged_limit_law = 128;

/// What can be said of a kernel on one case, each exactly.
struct KernelVerdict {
  /// A state from which the kernel goes where no state is.
  struct Escape {
    std::string from, to;
    reference::Rational probability;
  };
  /// Two states between which the flows at the target differ: the smallest pair that shows it.
  struct Unbalanced {
    std::string from, to;
    reference::Rational forward_flow;  ///< Π(from) P(from, to)
    reference::Rational reverse_flow;  ///< Π(to) P(to, from)
  };
  /// A state whose mass one step from the target changes: the smallest.
  struct Moved {
    std::string state;
    reference::Rational before, after;
  };

  std::size_t states = 0;
  reference::Matrix matrix{0, 0};        ///< over the states of the case; an escape is in no entry
  std::optional<Escape> escape;          ///< nothing if every row is a law over the states
  std::optional<Moved> moved;            ///< nothing if the target is invariant
  std::optional<Unbalanced> unbalanced;  ///< nothing if the kernel is reversible
  bool irreducible = false;              ///< over the states that the target gives mass
  reference::Rational tv_one_step;       ///< TV(ΠP, Π)
  /// The most mass that one state loses on paths without an end.
  reference::Rational lost = 0;
  /// TV of the one stationary law to the target; nothing if there is none, or above
  /// judged_limit_law states.
  std::optional<reference::Rational> tv_limit;

  bool stochastic() const { return !escape; }
  bool invariant() const { return stochastic() && !moved; }
  bool reversible() const { return stochastic() && !unbalanced; }
  /// Whether the kernel samples its target: stochastic, invariant and irreducible.
  bool sound() const { return invariant() && irreducible; }
};

/// Judges a kernel by its rows from every state.
///
/// rounding: how far a mass, or a flow, may be off without being called so; 0 is exact. For
/// programs whose decisions are rounded to floating point, whose user says how far that may move
/// them. Mass at lost_state may be at any state: a flow or a mass is wrong if it is wrong wherever
/// that mass is. tv_one_step leaves it out, and tv_limit leaves it at its state.
/// @throw whatever the kernel throws
KernelVerdict judge_kernel(const JudgedKernel& kernel, const JudgedCase& judged,
                           const reference::Rational& rounding = 0);

/// What is wrong, in one line with its fractions: the escape, or the unbalanced pair and the state
/// whose mass changes, or that it is reducible; "it is sound" if nothing is.
std::string explanation(const KernelVerdict& verdict);

}  // namespace tempera::lab
