#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runs/ended_round.hpp"
#include "runs/job.hpp"

namespace tempera::gpu {

/// How each line about a sample begins, in events.jsonl and in samples.jsonl.
std::string line_start(const SamplePrompt& prompt, std::size_t sample);
/// A line of events.jsonl.
std::string event_line(const SamplePrompt& prompt, std::size_t sample, const Event& event);
/// The line of events.jsonl that follows those of a block extension (round 0) or a round: stage and
/// round, and of each rung (or particle) which replica it holds (numbered by the rung it began at,
/// from 1), the length of its record and log p0 of it, and its confidence if that is measured.
std::string round_line(const SamplePrompt& prompt, std::size_t sample, const EndedRound& round,
                       const std::vector<std::size_t>& index_process);
/// A line of samples.jsonl.
std::string answer_line(const SampledAnswer& answer);

/// A run's state between two rounds as a checkpoint holds it, and back.
nlohmann::json to_json(const SavedProgress& progress);
SavedProgress progress_of(const nlohmann::json& json, const std::string& where);
nlohmann::json to_json(const Answer& answer);
Answer answer_of(const nlohmann::json& json, const std::string& where);

}  // namespace tempera::gpu
