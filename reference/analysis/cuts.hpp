#pragma once

#include <optional>
#include <vector>

#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// Up to so many classes of states every cut is looked at, 2,047 of them.
inline constexpr std::size_t all_cuts_limit = 12;

/// How much a chain at equilibrium moves between classes of states in one step.
struct ClassFlows {
  Law masses;      ///< π of each class
  Matrix between;  ///< (A, B): Q(A, B) = Σ_{x in A, y in B} π(x) P(x, y)
};

/// The flows of a chain whose `apply` carries a law, between classes numbered from 0.
/// class_of: of each state.
template <class Chain>
ClassFlows flows_between(const Chain& chain, const Law& target,
                         const std::vector<std::size_t>& class_of, std::size_t classes) {
  ClassFlows flows{Law(classes), Matrix(classes, classes)};
  for (std::size_t a = 0; a < classes; ++a) {
    Law inside(target.size());
    for (std::size_t x = 0; x < target.size(); ++x)
      if (class_of[x] == a) flows.masses[a] += inside[x] = target[x];
    const Law moved = chain.apply(inside);
    for (std::size_t y = 0; y < moved.size(); ++y) flows.between(a, class_of[y]) += moved[y];
  }
  return flows;
}

/// A set S of classes with π(S) <= 1/2 and what crosses its border.
struct Cut {
  std::vector<std::size_t> classes;
  Rational mass;  ///< π(S)
  Rational flow;  ///< Q(S, Sᶜ)

  /// Φ(S) = Q(S, Sᶜ) / π(S).
  Rational conductance() const { return flow / mass; }
  /// The spectral gap of a reversible chain is at most Q(S, Sᶜ) / (π(S) π(Sᶜ)).
  Rational gap_at_most() const { return flow / (mass * (1 - mass)); }
  /// Cheeger: the gap of a reversible chain is at least Φ²/2, if no cut has a smaller Φ.
  Rational gap_at_least() const { return conductance() * conductance() / 2; }
  /// t_mix(ε) >= (π(Sᶜ) - ε) / Φ(S), since the law that starts from π on S is moved by at most
  /// Φ(S) in a step; nothing if Φ(S) is 0, so that no number of steps suffices. Not negative.
  std::optional<Rational> steps_at_least(const Rational& within) const;
};

/// The cut with the smallest Φ, the first of several: among all sets of classes up to
/// all_cuts_limit of them, and above that among the single classes and their complements. Nothing
/// if there is one class alone. @pre every class has mass, and the chain preserves π
std::optional<Cut> narrowest_cut(const ClassFlows& flows);

}  // namespace tempera::reference
