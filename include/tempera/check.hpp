#pragma once

/// @file
/// Judging a sampler of your own: its exact law, a verdict, and the smallest counterexample.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tempera/exact.hpp"

namespace tempera::check {

/// A record: its generated tokens, a terminal one included.
using Record = std::vector<std::size_t>;
/// A state of a kernel: one record, or one for each power of a ladder.
using State = std::vector<Record>;

/// Where every decision of a kernel is drawn. There must be no other source of chance.
class Lottery {
 public:
  virtual ~Lottery() = default;
  /// Index i with probability weights[i] / Σ weights.
  /// @pre no weight is negative, and one is positive
  virtual std::size_t draw(const std::vector<exact::Fraction>& weights) = 0;
  /// Whether an event of this probability happens. @pre 0 <= probability <= 1
  bool happens(const exact::Fraction& probability);
};

/// What a kernel is judged on: a model, a horizon T, and the powers of its target Π_k p0^α_k.
struct Case {
  exact::FiniteModel model;  ///< p0
  std::size_t horizon = 2;   ///< T
  std::vector<exact::Fraction> powers{
      exact::Fraction(2)};  ///< α_1, …, one for each record of a state
};

/// One step of a Markov kernel. It must be a function of its state and its draws.
using Kernel = std::function<State(const Case&, const State&, Lottery&)>;

/// What was decided of a kernel on a case, exactly.
struct Verdict {
  bool stochastic = false;               ///< every step ends at a state
  bool invariant = false;                ///< ΠP = Π
  bool reversible = false;               ///< Π(x)P(x, y) = Π(y)P(y, x); a kernel need not be
  bool irreducible = false;              ///< every state of the target is reached from every other
  exact::Fraction tv_one_step = {};      ///< TV(ΠP, Π)
  std::vector<std::string> states = {};  ///< as text, in order
  std::vector<std::vector<exact::Fraction>> matrix = {};  ///< P by those states
  std::string explanation =
      {};  ///< the state whose mass changes and the pair whose flow is unbalanced

  /// Whether the kernel samples its target: stochastic, invariant and irreducible.
  bool sound() const { return stochastic && invariant && irreducible; }
};

/// Takes every decision of the kernel from every state.
/// @param kernel one step of it
/// @param judged model, horizon and target
/// @param within how far a mass or flow may be off and still count as equal
/// @throw BadInput for a case with too many states
/// @throw Bug if the kernel is no function of its state and draws
Verdict judge(const Kernel& kernel, const Case& judged, const exact::Fraction& within = 0);

/// A case on which a kernel fails, and how.
struct Failure {
  Case judged;                  ///< the smallest case found
  Verdict verdict;              ///< on that case
  std::size_t tried = 0;        ///< cases that were judged on the way
  std::string model_json = {};  ///< the model's file, in one line
};

/// The smallest case found on which the kernel still fails, from one on which it does.
/// @pre !judge(kernel, failing, within).sound()
Failure shrink(const Kernel& kernel, const Case& failing, const exact::Fraction& within = 0);

/// "" for a kernel that samples its target; otherwise what is wrong, on the smallest model found.
///
/// With any test framework: `CHECK(tempera::check::fault(kernel, judged) == "")`.
std::string fault(const Kernel& kernel, const Case& judged, const exact::Fraction& within = 0);

}  // namespace tempera::check
