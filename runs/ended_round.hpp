#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "gpu/session/draw_answers.hpp"
#include "gpu/session/prompt_plans.hpp"

namespace tempera::gpu {

/// A round, or a block extension, that has ended: all that is needed to resume its run after it.
struct EndedRound {
  std::size_t run_index = 0;  ///< of the run
  SavedProgress progress;
  std::vector<double> confidence;  ///< of each record, if it is measured
  std::vector<Event> events;
};

EndedRound ended_round(std::size_t run_index, const Progress& progress,
                       std::span<const Event> events, bool is_confidence_measured);

/// A line of a run folder's journal, without its end. It is written after every round, so it is
/// short and takes a few microseconds.
std::string journal_line(const EndedRound& round);

/// What a run's files can hold: answers to these prompts, of a vocabulary's tokens.
struct PossibleRuns {
  const DrawSettings& settings;
  const PromptPlans& plans;
  std::span<const Prompt> prompts;
  std::size_t vocabulary = 0;

  std::size_t runs() const { return prompts.size() * settings.samples; }
  const Plan& plan_of(std::size_t run_index) const {
    return plans.of(prompts[run_index / settings.samples]);
  }
};

/// The round that a line of journal_line spells.
/// @throw BadInput, naming `where`, if it is none, or one that no such run has
EndedRound ended_round_of(const nlohmann::json& json, const PossibleRuns& runs,
                          const std::string& where);
/// @throw BadInput, naming `where`, unless such a run can be there between two rounds
void require_possible(std::size_t run_index, const SavedProgress& progress,
                      const PossibleRuns& runs, const std::string& where);
/// @throw BadInput, naming `where`, unless all are of the vocabulary
void require_possible(std::span<const TokenId> tokens, const PossibleRuns& runs,
                      const std::string& where);

}  // namespace tempera::gpu
