#include "serve/sessions/generation.hpp"

#include <algorithm>
#include <ctime>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/memory_reserve.hpp"
#include "gpu/core/model/no_room.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "serve/protocol/error_body.hpp"
#include "serve/protocol/fresh_id.hpp"
#include "serve/protocol/json_response.hpp"

namespace tempera::serve {
using nlohmann::ordered_json;

namespace {

/// True if it says that memory has run out, of the process or of the device.
bool is_missing_memory(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const gpu::NoRoom&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

GenerationName GenerationName::fresh(BodyForm form) {
  const char* prefix = form == BodyForm::completion ? "cmpl-"
                       : form == BodyForm::chat     ? "chatcmpl-"
                                                    : "resp_";
  return {fresh_id(prefix), static_cast<std::int64_t>(std::time(nullptr))};
}

Generation::Generation(const gpu::OpenedModel& model, const Identity& identity, Counters& counters,
                       ResolvedGeneration resolved, GenerationName name,
                       std::shared_ptr<Exchange> exchange, std::unique_ptr<QueueEntry> entry,
                       const gpu::Share& share)
    : model_(model),
      identity_(identity),
      counters_(counters),
      asked_(std::move(resolved.asked)),
      requests_(std::move(resolved.requests)),
      settings_(std::move(resolved.settings)),
      exchange_(std::move(exchange)),
      share_(share),
      name_(std::move(name)),
      entry_(std::move(entry)),
      is_of_client_(entry_ != nullptr) {
  for (gpu::SampleRequest& request : requests_) request.share = share_;
  for (std::size_t prompt = 0; prompt < requests_.size(); ++prompt)
    for (std::size_t n = 0; n < asked_.choices_of_a_prompt; ++n) {
      // Without stages no series by round is kept, which the server has no use for.
      choices_.push_back({.prompt = prompt,
                          .statistics = gpu::TemperingStatistics(
                              requests_[prompt].ladder,
                              {.stages = {}, .particles = requests_[prompt].plan.particles})});
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
  pilot_began_ = std::chrono::steady_clock::now();
  try {
    if (asked_.generates)
      for (std::size_t prompt = 0; prompt < requests_.size(); ++prompt) submit(prompt);
    for (const auto& request : requests_) {
      counters_.prompt_tokens += request.prompt.size();
      if (entry_) entry_->pay(request.prompt.size());
    }
    tell_facts();
    if (asked_.stream) open_stream();
    if (!asked_.generates)
      for (std::size_t index = 0; index < choices_.size(); ++index) score_or_end(index);
  } catch (const BadInput& error) {
    give_up(400, error.what());
  } catch (...) {
    give_up(std::current_exception());
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

void Generation::pay(Choice& choice, std::uint64_t tokens) {
  if (!entry_ || tokens <= choice.paid) return;
  entry_->pay(tokens - choice.paid);
  choice.paid = tokens;
}

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
  tell_facts();
  const std::string shown = identity_.without_paths(message);
  if (is_streaming_) {
    if (is_response())
      fail_response(shown);
    else
      exchange_->write(error_event(status, shown));
    exchange_->end();
  } else {
    exchange_->respond(status == 400 ? wrong_request(shown) : error_response(status, shown));
  }
}

void Generation::give_up(const std::exception_ptr& why) {
  if (is_missing_memory(why)) {
    const MemoryReserve::Use reserve(MemoryReserve::Purpose::answers);
    return give_up(503, no_memory);
  }
  try {
    std::rethrow_exception(why);
  } catch (const gpu::NotDrawn& error) {
    // This alone among the faults of an input is the client's: no client asks for it again.
    give_up(400, error.what());
  } catch (const std::exception& error) {
    give_up(500, error.what());
  }
}

std::size_t Generation::index_of(gpu::RequestId request, std::size_t sample) const {
  return prompt_of_.at(request) * asked_.choices_of_a_prompt + sample;
}

void Generation::round_ended(gpu::RequestId request, std::size_t sample,
                             const gpu::Progress& progress, std::span<const gpu::Event> events) {
  hear([&] { end_round(index_of(request, sample), progress, events); });
}

void Generation::end_round(std::size_t index, const gpu::Progress& progress,
                           std::span<const gpu::Event> events) {
  Choice& choice = choices_[index];
  ++choice.rounds;
  const std::uint64_t trips = choice.statistics.round_trips();
  choice.statistics.count(events);
  counters_.round_trips += choice.statistics.round_trips() - trips;
  pay(choice, choice.statistics.decode_tokens());
  if (asked_.estimate) {
    pilot_.round_ended(index, progress, events);
    return look_at_pilot();
  }
  if (asked_.audit) keep_for_audit(index, progress, events);
  if (keeper_ != nullptr)
    keeper_->round_ended(index,
                         {gpu::saved(progress, "the saved rounds"), choice.statistics.state()});
  if (!asked_.stream) return;
  // A comment: clients skip it, and it keeps the connection open.
  exchange_->write(": choice " + std::to_string(index) + ", stage " +
                   std::to_string(progress.stage + 1) + ", round " +
                   std::to_string(progress.round) + "\n\n");
  if (!asked_.round_events) return;
  send_chunk(ordered_json::array(), {{"tempera", round_figures(index, progress, events)}});
}

void Generation::tokens_drawn(gpu::RequestId request, std::size_t sample,
                              std::span<const gpu::TokenId> tokens, std::string_view text) {
  hear([&] {
    const std::size_t index = index_of(request, sample);
    choices_[index].drawn += tokens.size();
    pay(choices_[index], choices_[index].drawn);
    if (!asked_.stream || asked_.logprobs || text.empty()) return;
    choices_[index].streamed += text.size();
    tell_text(text);
    send_text(index, std::string(text));
  });
}

void Generation::sampler_ended(gpu::RequestId request, std::size_t sample,
                               const gpu::Progress& progress) {
  hear([&] {
    if (!asked_.log_z) return;
    const std::size_t index = index_of(request, sample);
    const gpu::Plan& plan = requests_[choices_[index].prompt].plan;
    const gpu::Record& record = gpu::answer_of(progress, plan);
    // Particles are weighed at the last power, and the records of a ladder have all of its powers.
    const std::size_t rung = progress.answer.value_or(plan.output);
    for (std::size_t t = 1; t <= record.length(); ++t) {
      const std::span<const double> of_powers = record.tokens().log_z(t);
      const std::size_t last = of_powers.size() - 1;
      choices_[index].log_z.push_back(of_powers[plan.particles > 0 ? last : std::min(rung, last)]);
    }
  });
}

void Generation::answered(gpu::RequestId request, std::size_t sample, const gpu::Answer& answer) {
  hear([&] { take(index_of(request, sample), answer); });
}

void Generation::scored(gpu::RequestId /*request*/,
                        std::span<const gpu::TokenAlternatives> scores) {
  hear([&] {
    const std::size_t index = to_score_.front();
    to_score_.pop_front();
    scoring_.reset();
    choices_[index].logprobs = logprobs_of(index, scores);
    end_choice(index);
    score_next();
  });
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
  pay(choice, answer.decode_tokens);
  if (asked_.estimate) {
    pilot_.answers[index].has_ended = true;
    return --open_ == 0 ? answer_estimate(false) : look_at_pilot();
  }
  choice.answer = answer;
  // A stop string ends the answer before its record.
  choice.log_z.resize(std::min(choice.log_z.size(), answer.tokens.size()));
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
      scoring_ = session_->score(std::move(tokens), asked_.top_logprobs, *this, share_);
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
  if (!is_over_) give_up(why);
}

void Generation::open_stream() {
  is_streaming_ = true;
  exchange_->begin_stream(200, "text/event-stream");
  // The first comment: the client knows before the first pass that its request is taken.
  exchange_->write(": accepted\n\n");
  if (is_response()) return open_response();
  for (std::size_t index = 0; index < choices_.size(); ++index) {
    if (is_chat()) {
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

void Generation::tell_facts() {
  AnswerFacts facts{name_.id};
  for (const auto& request : requests_) facts.prompt_tokens += request.prompt.size();
  for (const Choice& choice : choices_) {
    facts.answer_tokens += choice.answer ? choice.answer->tokens.size() : choice.drawn;
    facts.decode_tokens += choice.answer
                               ? choice.answer->decode_tokens
                               : std::max(choice.statistics.decode_tokens(), choice.drawn);
  }
  exchange_->tell(facts);
}

void Generation::tell_text(std::string_view text) {
  if (text.empty() || std::exchange(has_told_text_, true)) return;
  exchange_->tell_first_text();
}

void Generation::finish() {
  tell_facts();
  if (is_response()) {
    finish_response();
  } else if (asked_.stream) {
    if (asked_.include_usage) send_chunk(ordered_json::array(), {{"usage", usage()}});
    leave_queue();
    exchange_->write("data: [DONE]\n\n");
    exchange_->end();
  } else {
    HeldOrderedJson held = frame(is_chat() ? "chat.completion" : "text_completion");
    ordered_json& body = *held;
    body["choices"] = ordered_json::array();
    for (std::size_t index = 0; index < choices_.size(); ++index)
      body["choices"].push_back(whole_choice(index));
    body["usage"] = usage();
    body["tempera"] = figures();
    HttpResponse response = json_response(body);
    leave_queue();
    exchange_->respond(std::move(response));
  }
  is_over_ = true;
  prompt_of_.clear();
}

}  // namespace tempera::serve
