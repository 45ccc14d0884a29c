#include "serve/sessions/generation.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "gpu/session/named_sampler.hpp"
#include "serve/protocol/error_body.hpp"
#include "serve/protocol/fresh_id.hpp"
#include "serve/protocol/json_response.hpp"

namespace tempera::serve {
namespace {

using nlohmann::ordered_json;

/// log p as JSON, which knows no infinity.
ordered_json number(double log_p) {
  return std::isfinite(log_p) ? ordered_json(log_p) : ordered_json(-1e9);
}

/// A token as chat completions have it.
ordered_json token_of_chat(const std::string& text, double log_p) {
  ordered_json bytes = ordered_json::array();
  for (const char byte : text) bytes.push_back(static_cast<unsigned char>(byte));
  return {{"token", text}, {"logprob", number(log_p)}, {"bytes", std::move(bytes)}};
}

const char* finish_reason(const gpu::Answer& answer) { return answer.is_cut() ? "length" : "stop"; }

/// Appends what each token adds to the text of those before it: together they are the text of all,
/// where a character may have come in several tokens and ends with the last of them.
void append_words(const gpu::TokenText& text, std::span<const gpu::TokenId> tokens,
                  std::vector<std::string>& words) {
  if (tokens.empty()) return;
  const auto pieces = text.pieces();
  for (const gpu::TokenId token : tokens) words.push_back(pieces->push(token));
  words.back() += pieces->finish();
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](unsigned char byte) { return (byte & 0xC0U) != 0x80U; }));
}

ordered_json rates(const std::vector<gpu::AcceptanceCounts>& counts) {
  ordered_json list = ordered_json::array();
  for (const auto& count : counts)
    list.push_back({{"proposed", count.proposed}, {"accepted", count.accepted}});
  return list;
}

}  // namespace

GenerationName GenerationName::fresh(bool is_chat) {
  return {fresh_id(is_chat ? "chatcmpl-" : "cmpl-"), static_cast<std::int64_t>(std::time(nullptr))};
}

Generation::Generation(const gpu::OpenedModel& model, const Identity& identity, Counters& counters,
                       ResolvedGeneration resolved, GenerationName name,
                       std::shared_ptr<Exchange> exchange, std::unique_ptr<QueueEntry> entry)
    : model_(model),
      identity_(identity),
      counters_(counters),
      asked_(std::move(resolved.asked)),
      requests_(std::move(resolved.requests)),
      settings_(std::move(resolved.settings)),
      exchange_(std::move(exchange)),
      name_(std::move(name)),
      entry_(std::move(entry)),
      is_of_client_(entry_ != nullptr) {
  for (std::size_t prompt = 0; prompt < requests_.size(); ++prompt)
    for (std::size_t n = 0; n < asked_.choices_of_a_prompt; ++n) {
      choices_.push_back(
          {.prompt = prompt, .statistics = gpu::TemperingStatistics(requests_[prompt].ladder)});
    }
  open_ = choices_.size();
}

void Generation::keep(std::map<std::size_t, KeptChoice> begun, ChoiceKeeper& keeper) {
  begun_ = std::move(begun);
  keeper_ = &keeper;
}

void Generation::begin(gpu::Session& session) {
  if (is_over_) return;
  session_ = &session;
  try {
    if (asked_.generates)
      for (std::size_t prompt = 0; prompt < requests_.size(); ++prompt) submit(prompt);
    for (const auto& request : requests_) counters_.prompt_tokens += request.prompt.size();
    if (asked_.stream) open_stream();
    if (!asked_.generates)
      for (std::size_t index = 0; index < choices_.size(); ++index) score_or_end(index);
  } catch (const BadInput& error) {
    give_up(400, error.what());
  } catch (const std::exception& error) {
    give_up(500, error.what());
  }
}

void Generation::submit(std::size_t prompt) {
  if (begun_.empty()) {
    prompt_of_[session_->submit(requests_[prompt], *this)] = prompt;
    return;
  }
  // An earlier process has begun some of its choices: each is a request of its own.
  for (std::size_t n = 0; n < asked_.choices_of_a_prompt; ++n) {
    gpu::SampleRequest one = requests_[prompt];
    one.first_sample = n;
    one.samples = 1;
    const std::size_t index = prompt * asked_.choices_of_a_prompt + n;
    const auto kept = begun_.find(index);
    if (kept == begun_.end()) {
      prompt_of_[session_->submit(std::move(one), *this)] = prompt;
      continue;
    }
    Choice& choice = choices_[index];
    choice.is_resumed = true;
    choice.statistics.restore(kept->second.statistics);
    prompt_of_[session_->resume(std::move(one), kept->second.progress, *this)] = prompt;
  }
}

void Generation::cancel_all() {
  if (session_ == nullptr) return;
  for (const auto& [request, prompt] : prompt_of_) session_->cancel(request);
  prompt_of_.clear();
  if (scoring_) session_->cancel(*scoring_);
}

void Generation::leave_queue() { entry_.reset(); }

void Generation::leave(gpu::Session& session) {
  if (is_over_) return;
  session_ = &session;
  cancel_all();
  is_over_ = true;
  if (is_of_client_) ++counters_.cancelled;
  leave_queue();
}

void Generation::give_up(unsigned status, const std::string& message) {
  if (is_over_) return;
  cancel_all();
  is_over_ = true;
  if (is_of_client_) ++counters_.refused;
  leave_queue();
  const std::string shown = identity_.without_paths(message);
  if (is_streaming_) {
    exchange_->write(error_event(status, shown));
    exchange_->end();
  } else {
    exchange_->respond(error_response(status, shown));
  }
}

std::size_t Generation::index_of(gpu::RequestId request, std::size_t sample) const {
  return prompt_of_.at(request) * asked_.choices_of_a_prompt + sample;
}

void Generation::round_ended(gpu::RequestId request, std::size_t sample,
                             const gpu::Progress& progress, std::span<const gpu::Event> events) {
  if (is_over_) return;
  const std::size_t index = index_of(request, sample);
  Choice& choice = choices_[index];
  ++choice.rounds;
  const std::uint64_t trips = choice.statistics.round_trips();
  choice.statistics.count(events);
  counters_.round_trips += choice.statistics.round_trips() - trips;
  if (keeper_ != nullptr)
    keeper_->round_ended(index,
                         {gpu::saved(progress, "the saved rounds"), choice.statistics.state()});
  if (!asked_.stream) return;
  // A comment: clients skip it, and it keeps the connection open.
  exchange_->write(": choice " + std::to_string(index) + ", stage " +
                   std::to_string(progress.stage + 1) + ", round " +
                   std::to_string(progress.round) + "\n\n");
  if (!asked_.round_events) return;
  const gpu::SampleRequest& asked = requests_[choice.prompt];
  ordered_json rungs = ordered_json::array();
  for (const gpu::Record& record : progress.replicas) {
    auto tokens = record.token_ids();
    if (record.terminated()) tokens.pop_back();
    rungs.push_back({{"log_p0", number(record.log_p0())},
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
  }
  send_chunk(ordered_json::array(), {{"tempera",
                                      {{"choice", index},
                                       {"step", choice.rounds},
                                       {"stage", progress.stage + 1},
                                       {"round", progress.round},
                                       {"horizon", asked.plan.stages[progress.stage].horizon},
                                       {"decode_tokens", tokens},
                                       {"events", std::move(moves)},
                                       {"rungs", std::move(rungs)}}}});
}

void Generation::tokens_drawn(gpu::RequestId request, std::size_t sample,
                              std::span<const gpu::TokenId> /*tokens*/, std::string_view text) {
  if (is_over_ || !asked_.stream || asked_.logprobs || text.empty()) return;
  const std::size_t index = index_of(request, sample);
  choices_[index].streamed += text.size();
  send_chunk({chunk_choice(index, std::string(text), nullptr)}, ordered_json::object());
}

void Generation::answered(gpu::RequestId request, std::size_t sample, const gpu::Answer& answer) {
  if (is_over_) return;
  try {
    take(index_of(request, sample), answer);
  } catch (const std::exception& error) {
    // What a listener throws would end the session.
    give_up(500, error.what());
  }
}

void Generation::scored(gpu::RequestId /*request*/,
                        std::span<const gpu::TokenAlternatives> scores) {
  if (is_over_) return;
  try {
    const std::size_t index = to_score_.front();
    to_score_.pop_front();
    scoring_.reset();
    choices_[index].logprobs = logprobs_of(index, scores);
    end_choice(index);
    score_next();
  } catch (const std::exception& error) {
    give_up(500, error.what());
  }
}

/// An answer counts what was drawn since it was resumed; the statistics know the rest.
void Generation::add_earlier_counts(Choice& choice) {
  const auto& rungs = choice.statistics.rungs();
  for (std::size_t k = 0; k < std::min(rungs.size(), choice.answer->moves.size()); ++k)
    choice.answer->moves[k] = {rungs[k].proposed, rungs[k].accepted};
  const auto& edges = choice.statistics.edges();
  for (std::size_t k = 0; k < std::min(edges.size(), choice.answer->swaps.size()); ++k)
    choice.answer->swaps[k] = {edges[k].attempts, edges[k].accepted};
  choice.answer->decode_tokens = choice.statistics.decode_tokens();
}

void Generation::take(std::size_t index, const gpu::Answer& answer) {
  Choice& choice = choices_[index];
  counters_.add(answer);
  choice.answer = answer;
  if (choice.is_resumed) add_earlier_counts(choice);
  score_or_end(index);
}

void Generation::score_or_end(std::size_t index) {
  if (!asked_.logprobs) return end_choice(index);
  to_score_.push_back(index);
  if (!scoring_) score_next();
}

void Generation::score_next() {
  while (!to_score_.empty()) {
    const std::size_t index = to_score_.front();
    auto tokens = tokens_of(index);
    if (tokens.size() > 1) {
      scoring_ = session_->score(std::move(tokens), asked_.top_logprobs, *this);
      return;
    }
    // The first token of a text follows nothing: it has no probability.
    to_score_.pop_front();
    choices_[index].logprobs = logprobs_of(index, {});
    end_choice(index);
  }
}

void Generation::end_choice(std::size_t index) {
  --open_;
  if (asked_.stream) send_last_chunk(index);
  if (open_ == 0) finish();
}

void Generation::failed(gpu::RequestId /*request*/, std::size_t /*sample*/,
                        const std::exception_ptr& why) {
  if (is_over_) return;
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& error) {
    give_up(500, error.what());
  }
}

void Generation::open_stream() {
  is_streaming_ = true;
  exchange_->begin_stream(200, "text/event-stream");
  // The first comment: the client knows before the first pass that its request is taken.
  exchange_->write(": accepted\n\n");
  for (std::size_t index = 0; index < choices_.size(); ++index) {
    if (asked_.is_chat) {
      ordered_json choice{{"index", index},
                          {"delta", {{"role", "assistant"}, {"content", ""}}},
                          {"logprobs", nullptr},
                          {"finish_reason", nullptr}};
      send_chunk({std::move(choice)}, ordered_json::object());
    } else if (asked_.echo) {
      const auto& prompt = requests_[choices_[index].prompt].prompt;
      send_chunk({chunk_choice(index, model_.decode(prompt), nullptr)}, ordered_json::object());
    }
  }
}

void Generation::send_last_chunk(std::size_t index) {
  const Choice& choice = choices_[index];
  // A sampler of whole records hands over all its text now; a tokenwise one what is left.
  const std::string text = choice.answer ? choice.answer->text.substr(choice.streamed) : "";
  ordered_json last =
      chunk_choice(index, text, choice.answer ? finish_reason(*choice.answer) : "length");
  last["logprobs"] = choice.logprobs;
  // The figures come with the last choice: many clients look at the first choice of every chunk.
  ordered_json further = ordered_json::object();
  if (open_ == 0) further["tempera"] = figures();
  send_chunk({std::move(last)}, std::move(further));
}

void Generation::finish() {
  if (asked_.stream) {
    if (asked_.include_usage) send_chunk(ordered_json::array(), {{"usage", usage()}});
    leave_queue();
    exchange_->write("data: [DONE]\n\n");
    exchange_->end();
  } else {
    ordered_json body = frame(asked_.is_chat ? "chat.completion" : "text_completion");
    body["choices"] = ordered_json::array();
    for (std::size_t index = 0; index < choices_.size(); ++index)
      body["choices"].push_back(whole_choice(index));
    body["usage"] = usage();
    body["tempera"] = figures();
    leave_queue();
    exchange_->respond(json_response(body));
  }
  is_over_ = true;
  prompt_of_.clear();
}

ordered_json Generation::frame(const char* object) const {
  return {{"id", name_.id},
          {"object", object},
          {"created", name_.created},
          {"model", identity_.model},
          {"system_fingerprint", identity_.fingerprint}};
}

void Generation::send_chunk(ordered_json choices, ordered_json further) {
  ordered_json chunk = frame(asked_.is_chat ? "chat.completion.chunk" : "text_completion");
  chunk["choices"] = std::move(choices);
  chunk.update(further);
  exchange_->write("data: " + spelled(chunk) + "\n\n");
}

ordered_json Generation::chunk_choice(std::size_t index, const std::string& text,
                                      const char* reason) const {
  ordered_json choice{{"index", index}};
  if (asked_.is_chat) {
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
  if (asked_.is_chat)
    said["message"] = {{"role", "assistant"}, {"content", text_of(index)}};
  else
    said["text"] = text_of(index);
  said["logprobs"] = choice.logprobs;
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
  std::vector<std::string> words;
  if (asked_.echo) append_words(model_.text(), requests_[choice.prompt].prompt, words);
  if (choice.answer) append_words(model_.text(), choice.answer->tokens, words);
  return score_tokens(tokens_of(index), words, scores);
}

ordered_json Generation::score_tokens(std::span<const gpu::TokenId> tokens,
                                      std::span<const std::string> texts,
                                      std::span<const gpu::TokenAlternatives> scores) const {
  const std::size_t first = tokens.size() - texts.size();
  ordered_json words = ordered_json::array();
  ordered_json log_ps = ordered_json::array();
  ordered_json tops = ordered_json::array();
  ordered_json offsets = ordered_json::array();
  ordered_json content = ordered_json::array();
  std::size_t offset = 0;
  for (std::size_t t = first; t < tokens.size(); ++t) {
    const std::string& word = texts[t - first];
    const auto text = [&](gpu::TokenId token) {
      return token == tokens[t] ? word : model_.decode(std::span(&token, 1));
    };
    const gpu::TokenAlternatives* score = t == 0 ? nullptr : &scores[t - 1];
    if (asked_.is_chat) {
      ordered_json entry = token_of_chat(word, score ? score->log_p : 0.0);
      entry["top_logprobs"] = ordered_json::array();
      if (score)
        for (const auto& [token, log_p] : score->likeliest)
          entry["top_logprobs"].push_back(token_of_chat(text(token), log_p));
      content.push_back(std::move(entry));
      continue;
    }
    words.push_back(word);
    offsets.push_back(offset);
    offset += characters_in(word);
    if (!score) {
      log_ps.push_back(nullptr);
      tops.push_back(nullptr);
      continue;
    }
    log_ps.push_back(number(score->log_p));
    ordered_json top = ordered_json::object();
    for (const auto& [token, log_p] : score->likeliest) {
      const std::string alternative = text(token);
      // Two tokens may have one text; the likelier one comes first and keeps it.
      if (!top.contains(alternative)) top[alternative] = number(log_p);
    }
    if (!top.contains(word)) top[word] = number(score->log_p);
    tops.push_back(asked_.top_logprobs > 0 ? std::move(top) : ordered_json(nullptr));
  }
  if (asked_.is_chat) return {{"content", std::move(content)}};
  return {{"tokens", std::move(words)},
          {"token_logprobs", std::move(log_ps)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
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
                    {"schedule", settings.schedule == gpu::Schedule::adj ? "adj" : "deo"},
                    {"output_rung", settings.output}};
  if (gpu::sampler_named(settings.sampler, "sampler").takes_local_moves)
    used["restart_range"] =
        settings.restart_range == gpu::RestartRange::horizon ? "horizon" : "record";
  if (!settings.restart_weights.empty()) used["restart_weights"] = settings.restart_weights;
  if (settings.particles > 0) used["particles"] = settings.particles;
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
    for (const double log_p0 : answer.log_p0_of_records) records.push_back(number(log_p0));
    used["choices"].push_back({{"log_p0", number(answer.log_p0)},
                               {"log_p0_of_rungs", std::move(records)},
                               {"local_moves", rates(answer.moves)},
                               {"swaps", rates(answer.swaps)},
                               {"round_trips", choice.statistics.round_trips()},
                               {"decode_tokens", answer.decode_tokens}});
  }
  used["decode_tokens"] = decode_tokens;
  return used;
}

}  // namespace tempera::serve
