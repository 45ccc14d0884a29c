#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference/analysis/cuts.hpp"
#include "reference/analysis/mixing_time.hpp"
#include "reference/report/exact_report.hpp"

namespace tempera::reference {

/// The most states between whose classes flows are computed.
inline constexpr std::size_t cut_states_limit = 65'536;

/// A question about how fast a chain forgets its start.
struct MixingQuestion {
  bool gap = false;
  std::optional<Rational> within;  ///< ε of the mixing time
  bool cuts = false;
  /// Hears what is computed next, if that takes long.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// A cut and the names of its classes.
struct NamedCut {
  Cut cut;
  std::vector<std::string> classes;
};

/// How fast a chain forgets its start. The chain is L_k for a ladder of one rung, R C, or R O R E.
struct MixingReport {
  /// λ_2 of L_k, or the second largest eigenvalue λ of the multiplicative reversibilisation P P* of
  /// the joint chain P, P*(x, y) = Π(y) P(y, x) / Π(x): TV(δ_x P^N, Π)² <= λ^N (1/Π(x) - 1) / 4
  /// (Fill 1991).
  std::optional<Bracket> second;
  std::optional<MixingTime> time;
  std::string worst_start;  ///< the state of `time`, records joined by '|'
  /// The narrowest cut between first tokens, of the joint chain those of rung K; and, of up to
  /// all_cuts_limit states, the narrowest cut of all.
  std::optional<NamedCut> first_token_cut, any_cut;
};

/// @throw BadInput, naming what was asked, if there are more states than its limit, joint_limit but
/// for cuts, one state alone, or a mixing time of more than mixing_steps_limit steps; as
/// mixing_time and report_joint
MixingReport report_mixing(const FiniteModel& model, const Ladder& ladder, Schedule schedule,
                           const ExactQuestion& asked, const MixingQuestion& mixing);
MixingReport report_mixing(AskedChain& asked, const MixingQuestion& mixing);

}  // namespace tempera::reference
