// What a generation writes: the bodies of an answer and of a stream's events.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "gpu/core/sampler/progress.hpp"
#include "serve/protocol/json_response.hpp"
#include "serve/protocol/token_logprobs.hpp"
#include "serve/sessions/generation.hpp"
#include "settings/field_json.hpp"
#include "settings/named_sampler.hpp"

namespace tempera::serve {
namespace {

using nlohmann::ordered_json;

const char* finish_reason(const gpu::Answer& answer) { return answer.is_cut() ? "length" : "stop"; }

ordered_json rates(const std::vector<gpu::AcceptanceCounts>& counts) {
  ordered_json list = ordered_json::array();
  for (const auto& count : counts)
    list.push_back({{"proposed", count.proposed}, {"accepted", count.accepted}});
  return list;
}

}  // namespace

ordered_json Generation::round_figures(std::size_t index, const gpu::Progress& progress,
                                       std::span<const gpu::Event> events) const {
  const Choice& choice = choices_[index];
  const gpu::SampleRequest& asked = requests_[choice.prompt];
  ordered_json rungs = ordered_json::array();
  for (const gpu::Record& record : progress.replicas) {
    auto tokens = record.token_ids();
    if (record.terminated()) tokens.pop_back();
    rungs.push_back({{"log_p0", json_log_p(record.log_p0())},
                     {"tokens", record.length()},
                     {"terminated", record.terminated()},
                     {"text", model_.decode(tokens)}});
    const std::size_t k = rungs.size() - 1;
    if (k < asked.ladder.rungs()) rungs.back()["power"] = asked.ladder.power(k);
  }
  ordered_json moves = ordered_json::array();
  std::size_t tokens = 0;
  for (const gpu::Event& event : events) {
    tokens += event.tokens;
    const char* kind = event.kind == gpu::Event::Kind::local_move  ? "local_move"
                       : event.kind == gpu::Event::Kind::swap      ? "swap"
                       : event.kind == gpu::Event::Kind::extension ? "extension"
                                                                   : "resampling";
    moves.push_back({{"kind", kind}, {"rung", event.rung + 1}, {"accepted", event.accepted}});
    if (event.kind == gpu::Event::Kind::local_move) moves.back()["proposed"] = event.proposed;
  }
  return {{"choice", index},
          {"step", choice.rounds},
          {"stage", progress.stage + 1},
          {"round", progress.round},
          {"horizon", asked.plan.stages[progress.stage].horizon},
          {"decode_tokens", tokens},
          {"events", std::move(moves)},
          {"rungs", std::move(rungs)}};
}

void Generation::send_last_chunk(std::size_t index) {
  const Choice& choice = choices_[index];
  // A sampler of whole records hands over all its text now; a tokenwise one what is left.
  const std::string text = choice.answer ? choice.answer->text.substr(choice.streamed) : "";
  tell_text(text);
  if (is_response()) {
    if (!text.empty()) send_text(index, text);
    return end_response_text();
  }
  ordered_json last =
      chunk_choice(index, text, choice.answer ? finish_reason(*choice.answer) : "length");
  last["logprobs"] = *choice.logprobs;
  // The figures come with the last choice: many clients look at the first choice of every chunk.
  ordered_json further = ordered_json::object();
  if (open_ == 0) further["tempera"] = figures();
  send_chunk({std::move(last)}, further);
}

ordered_json Generation::frame(const char* object) const {
  return {{"id", name_.id},
          {"object", object},
          {"created", name_.created},
          {"model", identity_.model},
          {"system_fingerprint", identity_.fingerprint}};
}

void Generation::send_chunk(ordered_json choices, const ordered_json& further) {
  ordered_json chunk = frame(is_chat() ? "chat.completion.chunk" : "text_completion");
  chunk["choices"] = std::move(choices);
  chunk.update(further);
  exchange_->write("data: " + spelled(chunk) + "\n\n");
}

ordered_json Generation::chunk_choice(std::size_t index, const std::string& text,
                                      const char* reason) const {
  ordered_json choice{{"index", index}};
  if (is_chat()) {
    choice["delta"] = ordered_json::object();
    if (!text.empty()) choice["delta"]["content"] = text;
  } else {
    choice["text"] = text;
  }
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = reason == nullptr ? ordered_json(nullptr) : ordered_json(reason);
  return choice;
}

std::string Generation::text_of(std::size_t index) const {
  const Choice& choice = choices_[index];
  std::string text = asked_.echo ? model_.decode(requests_[choice.prompt].prompt) : std::string();
  if (choice.answer) text += choice.answer->text;
  return text;
}

ordered_json Generation::whole_choice(std::size_t index) const {
  const Choice& choice = choices_[index];
  ordered_json said{{"index", index}};
  if (is_chat())
    said["message"] = {{"role", "assistant"}, {"content", text_of(index)}};
  else
    said["text"] = text_of(index);
  said["logprobs"] = *choice.logprobs;
  said["finish_reason"] = choice.answer ? finish_reason(*choice.answer) : "length";
  return said;
}

std::vector<gpu::TokenId> Generation::tokens_of(std::size_t index) const {
  const Choice& choice = choices_[index];
  std::vector<gpu::TokenId> tokens = requests_[choice.prompt].prompt;
  if (choice.answer)
    tokens.insert(tokens.end(), choice.answer->tokens.begin(), choice.answer->tokens.end());
  return tokens;
}

ordered_json Generation::logprobs_of(std::size_t index,
                                     std::span<const gpu::TokenAlternatives> scores) const {
  const Choice& choice = choices_[index];
  std::vector<SpelledToken> tokens;
  if (asked_.echo) spell_tokens(model_.text(), requests_[choice.prompt].prompt, tokens);
  if (choice.answer) spell_tokens(model_.text(), choice.answer->tokens, tokens);
  // The prompt is scored with its answer, whether it is part of what is said or not.
  scores = scores.last(std::min(scores.size(), tokens.size()));
  return is_chat() || is_response()
             ? chat_logprobs(model_.text(), tokens, scores)
             : completion_logprobs(model_.text(), tokens, scores, asked_.top_logprobs > 0);
}

ordered_json Generation::usage() const {
  std::size_t prompts = 0;
  std::size_t answers = 0;
  for (const auto& request : requests_) prompts += request.prompt.size();
  for (const Choice& choice : choices_)
    if (choice.answer) answers += choice.answer->tokens.size();
  return {{"prompt_tokens", prompts},
          {"completion_tokens", answers},
          {"total_tokens", prompts + answers}};
}

ordered_json Generation::figures() const {
  const gpu::SamplerSettings& settings = settings_.front();
  ordered_json used{{"sampler", settings.sampler},
                    {"powers", settings.powers},
                    // A prompt that leaves less of the model's context has a horizon of its own.
                    {"horizon", requests_.front().plan.stages.back().horizon},
                    {"block", settings.block},
                    {"rounds", settings.rounds},
                    {"local_moves", settings.local_moves},
                    {"sweeps", settings.sweeps},
                    {"schedule", gpu::name_of(settings.schedule)},
                    {"output_rung", settings.output}};
  if (gpu::sampler_named(settings.sampler, "sampler").takes_local_moves)
    used["restart_range"] = gpu::name_of(settings.restart_range);
  if (!settings.restart_weights.empty()) used["restart_weights"] = settings.restart_weights;
  if (settings.particles > 0) used["particles"] = settings.particles;
  if (settings.most_tokens > 0) used["most_tokens"] = settings.most_tokens;
  ordered_json others;
  gpu::write_config(others, settings, gpu::InConfig::unless_default);
  for (const std::string_view key : gpu::body_keys(&gpu::Places::beside))
    if (const auto other = others.find(key); other != others.end()) used[std::string(key)] = *other;
  if (!settings.preset.empty()) used["preset"] = settings.preset;
  used["arithmetic"] = identity_.arithmetic;
  // It is there as text too: a client that reads numbers as doubles would round a large one.
  used["seed"] = asked_.seed;
  used["seed_text"] = std::to_string(asked_.seed);
  std::uint64_t decode_tokens = 0;
  used["choices"] = ordered_json::array();
  for (const Choice& choice : choices_) {
    if (!choice.answer) continue;
    const gpu::Answer& answer = *choice.answer;
    decode_tokens += answer.decode_tokens;
    ordered_json records = ordered_json::array();
    for (const double log_p0 : answer.log_p0_of_records) records.push_back(json_log_p(log_p0));
    used["choices"].push_back({{"log_p0", json_log_p(answer.log_p0)},
                               {"log_p0_of_rungs", std::move(records)},
                               {"local_moves", rates(answer.moves)},
                               {"swaps", rates(answer.swaps)},
                               {"round_trips", choice.statistics.round_trips()},
                               {"decode_tokens", answer.decode_tokens}});
    if (!asked_.log_z) continue;
    auto& of_tokens = used["choices"].back()["log_z"] = ordered_json::array();
    for (const double log_z : choice.log_z) of_tokens.push_back(json_log_p(log_z));
  }
  used["decode_tokens"] = decode_tokens;
  if (asked_.digest)
    used["digest"] = identity_.digest ? ordered_json(*identity_.digest) : ordered_json(nullptr);
  if (asked_.audit) used["audit"] = audit();
  return used;
}

}  // namespace tempera::serve
