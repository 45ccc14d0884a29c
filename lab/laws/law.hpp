#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/enumerate/compiled_space.hpp"
#include "lab/laws/law_question.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

/// The exact law of the compiled sampler on one model, and how far it is from what it should be.
struct LawReport {
  std::vector<std::string> states;  ///< single records, or joint states "s1|s2"
  reference::Matrix matrix{0, 0};   ///< one step of the program, [states, states]
  reference::Law stationary;        ///< of the matrix, exactly
  Real tv_to_target;  ///< TV(stationary, Π) for the rational model; own target if there is none
  Real tv_own;        ///< TV(stationary, Π~), Π~ being the target that the float32 logits define
  Real tv_one_step;   ///< TV(Π~ P, Π~): what one step does to its own target
  /// max |P − P_exact| over all entries, P_exact from reference/ on the rational model; nothing
  /// if a power makes it irrational, or if there is no rational model.
  std::optional<Real> worst_entry;
  std::size_t stale_records = 0;  ///< outcomes that were not what a fresh record is: must be 0
};

/// The most states, joint ones included, whose stationary law is solved for.
inline constexpr std::size_t law_limit = 1024;

/// (steps done, steps in all, name of the next)
using LawProgress = std::function<void(std::size_t, std::size_t, const std::string&)>;

/// Enumerates the compiled program: every draw of every move from every state.
///
/// `rational` is the finite model after the logits, if there is one.
/// @throw BadInput for a space above law_limit, and for a restart law of the wrong
/// length, one that leaves the chain without a unique stationary law, or over the record's own
/// positions one without ω(1)
/// @throw BadInput for a ladder that does not increase
/// @throw FractionsTooLong as exact_stationary_law
/// `begins` is told of each step of the work before it: how many are done, how many there are, and
/// its name.
LawReport compiled_law(const EnumerableModel& model, const reference::FiniteModel* rational,
                       const LawQuestion& question, const LawProgress& begins = {});

/// TV(μ, ν) = ½ Σ |μ − ν| to 50 digits.
Real total_variation(const std::vector<Real>& mu, const std::vector<Real>& nu);

}  // namespace tempera::lab
