#pragma once

#include "lab/laws/law.hpp"

namespace tempera::lab {

/// The most states, joint ones included, whose one step is enumerated.
inline constexpr std::size_t one_step_limit = 16'384;

/// What one step of the compiled sampler does to its own target, if there are too many states
/// for a stationary law to be solved for.
struct OneStepReport {
  std::size_t records = 0;  ///< of one rung
  std::size_t states = 0;   ///< joint ones
  /// TV(Π~ P, Π~), Π~ being the target that the float32 logits define, to 50 digits.
  Real tv_one_step;
  /// ε = Π_k Σ_y min_x L_k(x, y) of the compiled local moves: whatever its states, a step takes two
  /// laws nearer by a factor of at most 1 − ε.
  Real minorization;
  /// tv_one_step / ε. With ν the stationary law TV(ν, Π~) <= TV(νP, Π~P) + TV(Π~P, Π~), of which
  /// the first is at most (1 − ε) TV(ν, Π~): so the stationary law, which is not solved for, is at
  /// most this far from Π~. Nothing if ε is 0.
  std::optional<Real> tv_own_at_most;
  std::size_t stale_records = 0;  ///< outcomes that were not what a fresh record is: must be 0
};

/// |S_T|^K.
/// @throw BadInput if it exceeds one_step_limit
std::size_t law_states(const EnumerableModel& model, const LawQuestion& question);

/// Enumerates every draw of every local move and swap, as compiled_law does, and carries Π~ through
/// them one rung or edge after the other, without a joint matrix.
/// @throw as compiled_law
OneStepReport one_step_law(const EnumerableModel& model, const LawQuestion& question,
                           const LawProgress& begins = {});

}  // namespace tempera::lab
