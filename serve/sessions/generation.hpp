#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/held_json.hpp"
#include "gpu/core/statistics/tempering_statistics.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/saved_progress.hpp"
#include "gpu/session/session.hpp"
#include "gpu/session/token_alternatives.hpp"
#include "runs/run_estimate.hpp"
#include "serve/http/exchange.hpp"
#include "serve/sessions/counters.hpp"
#include "serve/sessions/resolved_generation.hpp"

namespace tempera::serve {

/// What is kept of a choice after a round, so that another process can go on with it.
struct KeptChoice {
  gpu::SavedProgress progress;
  nlohmann::json statistics;  ///< what was counted up to there: TemperingStatistics::state
};

/// Hears of each round of a generation that is to survive its process.
class ChoiceKeeper {
 public:
  virtual ~ChoiceKeeper() = default;
  virtual void round_ended(std::size_t choice, KeptChoice kept) = 0;
};

/// How an answer names its request.
struct GenerationName {
  std::string id;
  std::int64_t created = 0;  ///< seconds since 1970

  /// One that nobody has had, and now.
  static GenerationName fresh(BodyForm form);
};

/// One request for completions on its way: submits a request to the session for each prompt, hears
/// what becomes of its choices, and writes the answer in the protocol's form. But for its
/// making, all of it belongs to the session's thread.
class Generation final : public gpu::Listener, public std::enable_shared_from_this<Generation> {
 public:
  /// The answer by 503 to whoever finds no memory.
  static constexpr const char* no_memory =
      "the server has no memory for this request now; ask for less, or try again later";

  Generation(const gpu::OpenedModel& model, const Identity& identity, Counters& counters,
             ResolvedGeneration resolved, GenerationName name, std::shared_ptr<Exchange> exchange,
             std::unique_ptr<QueueEntry> entry = nullptr, const gpu::Share& share = {});

  std::size_t choices() const { return choices_.size(); }
  /// Before begin(): goes on with these choices, and tells `keeper`, which outlives this object, of
  /// every round.
  void keep(std::map<std::size_t, KeptChoice> begun, ChoiceKeeper& keeper);
  /// Submits all. A request that the session refuses is answered by 400.
  void begin(gpu::Session& session);
  /// The client has left: nothing more is drawn for it.
  void leave(gpu::Session& session);
  /// What is drawn no longer counts: it is wrong, the server ends, its model has failed, or the
  /// time is over. The client that still waits is told so.
  void give_up(unsigned status, const std::string& message);
  /// The same for an exception: by 503 if memory has run out, and else by 500.
  void give_up(const std::exception_ptr& why);
  bool is_over() const { return is_over_; }
  std::chrono::steady_clock::time_point begun_at() const { return begun_at_; }

  void round_ended(gpu::RequestId request, std::size_t sample, const gpu::Progress& progress,
                   std::span<const gpu::Event> events) override;
  void tokens_drawn(gpu::RequestId request, std::size_t sample,
                    std::span<const gpu::TokenId> tokens, std::string_view text) override;
  void sampler_ended(gpu::RequestId request, std::size_t sample,
                     const gpu::Progress& progress) override;
  void answered(gpu::RequestId request, std::size_t sample, const gpu::Answer& answer) override;
  void scored(gpu::RequestId request, std::span<const gpu::TokenAlternatives> scores) override;
  void failed(gpu::RequestId request, std::size_t sample, const std::exception_ptr& why) override;

 private:
  struct Choice {
    std::size_t prompt = 0;
    std::size_t streamed = 0;  ///< bytes of its text that were sent
    std::size_t rounds = 0;    ///< extensions and rounds that have ended
    std::uint64_t drawn = 0;   ///< tokens that were handed over as they were drawn
    std::uint64_t paid = 0;    ///< tokens that its client has paid for
    gpu::TemperingStatistics statistics;
    bool is_resumed = false;  ///< whether an earlier process has begun it
    std::optional<gpu::Answer> answer = std::nullopt;
    HeldOrderedJson logprobs = {};  ///< once its tokens are scored
    /// log Σ_v p0(v | x_<t)^α of each token, α being the power of the answer, if that was asked
    /// for.
    std::vector<double> log_z = {};
    std::vector<std::string> events = {};  ///< lines for an audit, if that was asked for
  };

  std::size_t index_of(gpu::RequestId request, std::size_t sample) const;
  /// Does what a call of the session asks for. What a listener throws would end the session, so it
  /// ends this generation instead.
  template <class Work>
  void hear(const Work& work) {
    if (is_over_) return;
    try {
      work();
    } catch (...) {
      give_up(std::current_exception());
    }
  }
  void end_round(std::size_t index, const gpu::Progress& progress,
                 std::span<const gpu::Event> events);
  void open_stream();
  void submit(std::size_t prompt);
  static void add_earlier_counts(Choice& choice);
  /// The choice has taken so many tokens: its client pays for those that are new.
  void pay(Choice& choice, std::uint64_t tokens);
  void take(std::size_t index, const gpu::Answer& answer);
  /// A choice has its text: scores it if that was asked for, and else ends it.
  void score_or_end(std::size_t index);
  void score_next();
  void end_choice(std::size_t index);
  void finish();
  void cancel_all();
  /// A pilot ends when its time is over, or with the last choice.
  void look_at_pilot();
  void answer_estimate(bool is_cut);
  /// The answer is about to be sent, or nobody waits for it: others may take its place.
  void leave_queue();
  /// Text of a choice that was drawn, as a part of its stream.
  void send_text(std::size_t index, const std::string& text);
  /// One event of a stream, with the fields that all chunks share.
  void send_chunk(nlohmann::ordered_json choices, const nlohmann::ordered_json& further);
  /// The event that ends a choice; that of the last one has the figures of all.
  void send_last_chunk(std::size_t index);
  /// Tells the server's own records what the answer has taken so far, ...
  void tell_facts();
  /// ... and that some of its text is about to be sent.
  void tell_text(std::string_view text);
  /// The same three for a response, whose events have names and numbers.
  void open_response();
  void send_event(const std::string& name, const nlohmann::ordered_json& fields);
  void end_response_text();
  void finish_response();
  void fail_response(const std::string& message);
  /// Those of the text's tokens once they are scored; until then an empty list.
  nlohmann::ordered_json response_logprobs() const;
  nlohmann::ordered_json response_part(const std::string& text) const;
  nlohmann::ordered_json response_message(const char* status, bool has_text) const;
  /// The "response" object. status: "in_progress", "completed", "incomplete" or "failed".
  nlohmann::ordered_json response_body(const char* status) const;
  bool is_response() const { return asked_.form == BodyForm::response; }
  bool is_chat() const { return asked_.form == BodyForm::chat; }
  nlohmann::ordered_json frame(const char* object) const;
  nlohmann::ordered_json chunk_choice(std::size_t index, const std::string& text,
                                      const char* finish_reason) const;
  nlohmann::ordered_json whole_choice(std::size_t index) const;
  nlohmann::ordered_json usage() const;
  /// What a round has left: the "tempera" object of a round's event.
  nlohmann::ordered_json round_figures(std::size_t index, const gpu::Progress& progress,
                                       std::span<const gpu::Event> events) const;
  /// What the answer depends on and what it took: the "tempera" object.
  nlohmann::ordered_json figures() const;
  /// Keeps what an audit needs of a round.
  void keep_for_audit(std::size_t index, const gpu::Progress& progress,
                      std::span<const gpu::Event> events);
  /// The record that `tempera audit` reads. Null if an earlier process has begun a choice.
  nlohmann::ordered_json audit() const;
  /// Prompt and answer.
  std::vector<gpu::TokenId> tokens_of(std::size_t index) const;
  nlohmann::ordered_json logprobs_of(std::size_t index,
                                     std::span<const gpu::TokenAlternatives> scores) const;
  std::string text_of(std::size_t index) const;

  const gpu::OpenedModel& model_;
  const Identity& identity_;
  Counters& counters_;
  const GenerationRequest asked_;
  std::vector<gpu::SampleRequest> requests_;
  const std::vector<gpu::SamplerSettings> settings_;
  const std::shared_ptr<Exchange> exchange_;
  const gpu::Share share_;
  const GenerationName name_;
  std::unique_ptr<QueueEntry> entry_;  ///< null for what no client waits for
  const bool is_of_client_;            ///< and not of a batch
  const std::chrono::steady_clock::time_point begun_at_ = std::chrono::steady_clock::now();

  gpu::Session* session_ = nullptr;
  std::map<gpu::RequestId, std::size_t> prompt_of_;  ///< by the session's number
  std::vector<Choice> choices_;
  std::map<std::size_t, KeptChoice> begun_;  ///< by choice, in an earlier process
  ChoiceKeeper* keeper_ = nullptr;
  gpu::PilotTally pilot_;                                ///< of a request for an estimate
  std::chrono::steady_clock::time_point pilot_began_{};  ///< when the session took its choices
  std::size_t open_ = 0;                                 ///< choices that have not ended
  /// Choices whose tokens are to be scored. The session has only the first of them, so that a
  /// request of many prompts takes turns with others.
  std::deque<std::size_t> to_score_;
  std::optional<gpu::RequestId> scoring_;  ///< the session's number of the first
  bool is_streaming_ = false;
  bool has_told_text_ = false;
  std::size_t events_sent_ = 0;  ///< of a response
  bool is_over_ = false;
};

}  // namespace tempera::serve
