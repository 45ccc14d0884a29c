#pragma once

/// @file
/// Judging a sampler of your own, one step or a whole program: its exact law, a verdict, and the
/// smallest counterexample.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tempera/exact.hpp"

namespace tempera::check {

/// A record: its generated tokens, a terminal one included (`eq:theory-terminated-sequence-law`).
using Record = std::vector<std::size_t>;
/// A state of a kernel: one record, or one for each power of a ladder.
using State = std::vector<Record>;

/// Where every decision of a kernel is drawn. There must be no other source of chance.
class Lottery {
 public:
  virtual ~Lottery() = default;
  /// Index i with probability weights[i] / Σ weights, exactly, however large their numbers are.
  /// @throw BadInput if a weight is below 0 or none is above 0, and, if nothing may be lost
  /// (`within` is 0), at the draw that is one more than 1,000 since the kernel or program was
  /// called: it is taken to draw without end. Any other exception ends a path that is
  /// lost; let it pass
  virtual std::size_t draw(const std::vector<exact::Fraction>& weights) = 0;
  /// Whether an event of this probability happens.
  /// @throw BadInput if it is not from 0 to 1
  bool happens(const exact::Fraction& probability);
  /// Says that what follows is a function of `key` and of later draws, such as at the beginning of
  /// each try of a rejection sampler: it is followed once for each key, and where tries go round
  /// their law is solved for exactly. Any exception that it throws must pass
  virtual void merge(const std::string& key);
};

/// What a kernel is judged on: a model, a horizon T, and the powers of its target Π_k p0^α_k
/// (`eq:theory-product-target`).
struct Case {
  exact::FiniteModel model;  ///< p0
  std::size_t horizon = 2;   ///< T
  std::vector<exact::Fraction> powers{
      exact::Fraction(2)};  ///< α_1, …, one for each record of a state
};

/// The cases on which `tempera check` judges if its user names no model: small models, with records
/// of unequal length and probability, several terminal tokens, tokens of probability 0 and tokens
/// that join to another one. Together they show every defect of `tempera gallery`.
/// @param powers of the target, one for each record of a state
/// @throw BadInput for none, and for more powers than there are models for
std::vector<Case> default_models(const std::vector<exact::Fraction>& powers = {exact::Fraction(2)});

/// One step of a Markov kernel. It must be a function of its state and its draws: each of its paths
/// is run at least twice, in another order, and a step that then goes elsewhere, since it draws by
/// itself or remembers, is refused and never judged.
using Kernel = std::function<State(const Case&, const State&, Lottery&)>;

/// The exact verdict on a kernel for one case.
struct Verdict {
  bool stochastic = false;               ///< every step ends at a state
  bool invariant = false;                ///< ΠP = Π (`prop:fixed-stage-invariance`)
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
/// @param within how far a mass or flow may be off and still count as equal, and what may be lost
/// from a state on paths that draw without end, such as those of a rejection sampler: a path that
/// has drawn more than 40 times and has a probability below within / 2^20 is lost, and so is one of
/// more than 1,000 draws. Lost mass may belong to any state; more than 2,000 such paths are
/// refused. Tries that are merged (Lottery::merge) lose nothing
/// @throw BadInput for a case with too many states, for a kernel that is no function of its state
/// and draws or loses more than `within`, and for draws from weights that make no law
Verdict judge(const Kernel& kernel, const Case& judged, const exact::Fraction& within = 0);

/// A case on which a kernel fails, and how.
struct Failure {
  Case judged;                  ///< the smallest case found
  Verdict verdict;              ///< on that case
  std::size_t tried = 0;        ///< cases that were judged on the way
  std::string model_json = {};  ///< the model's file, in one line
};

/// The smallest case found on which the kernel still fails, from one on which it does.
/// @throw BadInput if it does not fail on that one, and as judge() does
Failure shrink(const Kernel& kernel, const Case& failing, const exact::Fraction& within = 0);

/// "" for a kernel that samples its target; otherwise what is wrong, on the smallest model found.
///
/// With any test framework: `CHECK(tempera::check::fault(kernel, judged) == "")`.
std::string fault(const Kernel& kernel, const Case& judged, const exact::Fraction& within = 0);

/// The same on several cases, such as default_models(): "" if the kernel samples the target of
/// each.
std::string fault(const Kernel& kernel, const std::vector<Case>& judged,
                  const exact::Fraction& within = 0);

/// A whole program: from the prompt to an answer. It must be a function of its draws, which is
/// looked at as of a Kernel.
///
/// An answer that ends before the horizon without a terminal token is an answer like any other.
using Program = std::function<Record(const Case&, Lottery&)>;

/// The probability of each answer that has any.
using Law = std::map<Record, exact::Fraction>;

/// A sampler by its name, as `tempera law --sampler` knows it, and how it is run: "ppt" is
/// Algorithm 1 (`alg:PPT`).
struct Algorithm {
  std::string name;                          ///< such as "power-sampling", "power-smc" or "ppt"
  std::size_t block = 0;                     ///< B in tokens; 0 is half of the horizon
  std::size_t rounds = 1;                    ///< N_m in each stage
  std::size_t local_moves = 1;               ///< of a round
  std::size_t sweeps = 1;                    ///< of swaps, in a round
  std::size_t particles = 1;                 ///< N, of power-smc and best-of-n
  bool swaps_by_parity = false;              ///< the schedule deo instead of adj
  std::vector<exact::Fraction> powers = {};  ///< whole powers; none: those of the case
};

/// The exact law of a program's answers, every decision taken in turn.
/// @throw BadInput as judge() does of a kernel
Law answer_law(const Program& program, const Case& judged);
/// The law of p0^α over complete records (`eq:theory-power-target`), for the one power α of the
/// case.
/// @throw BadInput for a case with more than one power
Law answer_law(const Case& judged);
/// The law of answers that an algorithm is defined to have, from its definition in rationals.
/// @throw BadInput for a name, block or powers that make no run
Law answer_law(const Algorithm& algorithm, const Case& judged);

/// TV(a, b) = ½ Σ |a(x) - b(x)|.
exact::Fraction total_variation(const Law& a, const Law& b);

/// "" for a program whose answers have the target's law; otherwise the shortest answer that differs
/// and its two probabilities, on the smallest model found.
/// @param program the whole program
/// @param judged model, horizon and target, of one power
/// @param within how far two probabilities may be apart and still count as equal, and what may be
/// lost as in judge()
std::string fault(const Program& program, const Case& judged, const exact::Fraction& within = 0);
/// The same on several cases, such as default_models().
std::string fault(const Program& program, const std::vector<Case>& judged,
                  const exact::Fraction& within = 0);
/// The same with the law of a named algorithm instead of the target: "" if the program is it.
std::string fault(const Program& program, const Algorithm& algorithm, const Case& judged,
                  const exact::Fraction& within = 0);

}  // namespace tempera::check
