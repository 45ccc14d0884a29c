// The record in an answer whose request asks for an audit: the same as in a run folder.
#include <nlohmann/json.hpp>

#include "gpu/session/answer_text.hpp"
#include "runs/ended_round.hpp"
#include "runs/run_lines.hpp"
#include "serve/sessions/generation.hpp"

namespace tempera::serve {

using nlohmann::ordered_json;

void Generation::keep_for_audit(std::size_t index, const gpu::Progress& progress,
                                std::span<const gpu::Event> events) {
  Choice& choice = choices_[index];
  const gpu::SamplePrompt prompt;
  const std::size_t sample = index % asked_.choices_of_a_prompt;
  const auto keep = [&](std::string line) {
    line.pop_back();  // its end
    choice.events.push_back(std::move(line));
  };
  for (const gpu::Event& event : events) keep(gpu::event_line(prompt, sample, event));
  const gpu::EndedRound round = gpu::ended_round(index, progress, events, false);
  keep(gpu::round_line(prompt, sample, round, choice.statistics.index_process()));
}

ordered_json Generation::audit() const {
  gpu::SamplingSettings settings;
  static_cast<gpu::SamplerSettings&>(settings) = settings_.front();
  settings.model = settings.model_path = identity_.model;
  settings.audit = gpu::SamplingSettings::Audit{.model = identity_.digest};
  settings.arithmetic = model_.arithmetic();
  settings.foreign = model_.foreign();
  settings.rope_factors = model_.rope_factors();
  settings.terminal = model_.terminal();
  settings.seed = requests_.front().seed;
  settings.samples = asked_.choices_of_a_prompt;
  const std::size_t horizon = requests_.front().plan.stages.back().horizon;
  settings.prompts = {{std::nullopt, requests_.front().prompt,
                       horizon < settings.horizon ? std::optional(horizon) : std::nullopt}};
  ordered_json events = ordered_json::array();
  ordered_json samples = ordered_json::array();
  for (std::size_t index = 0; index < choices_.size(); ++index) {
    const Choice& choice = choices_[index];
    if (choice.is_resumed || !choice.answer) return nullptr;
    for (const std::string& line : choice.events) events.push_back(line);
    samples.push_back(gpu::answer_line(
        {settings.prompts.front(), index, *choice.answer, model_.decode(choice.answer->tokens),
         gpu::text_of(*choice.answer, model_.text(), settings.stop)}));
  }
  return {{"config", settings.to_json()},
          {"events", std::move(events)},
          {"samples", std::move(samples)}};
}

}  // namespace tempera::serve
