#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "gpu/core/engine/engine.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/session/answer_text.hpp"
#include "gpu/session/cache_admission.hpp"
#include "gpu/session/listener.hpp"
#include "gpu/session/saved_progress.hpp"
#include "gpu/session/shared_prompts.hpp"

namespace tempera::gpu {

/// A request that a session has taken, until its last sample has ended.
struct TakenRequest {
  RequestId id = 0;
  SampleRequest asked;
  Context context;
  Listener* listener = nullptr;
  std::optional<SavedProgress> saved;
  std::shared_ptr<SharedPrompts::Prompt> prompt;
  std::size_t begun = 0;  ///< samples that have begun
  std::size_t ended = 0;  ///< and that have ended
  bool is_cancelled = false;
};

/// One sample under way: its sampler's run and records, and what its listener has heard.
class SampleRun final : public Observer {
 public:
  SampleRun(std::shared_ptr<TakenRequest> request, std::size_t sample, Engine& engine,
            CacheAdmission& memory, std::size_t bytes, const TokenText* text);
  ~SampleRun() override { memory_.give_back(bytes_); }
  SampleRun(const SampleRun&) = delete;
  SampleRun& operator=(const SampleRun&) = delete;

  /// The sampler, from where the request says to its end. The coroutine holds the run.
  static Task draw(std::shared_ptr<SampleRun> run, RowLottery& rows);

  const TakenRequest& request() const { return *request_; }
  std::size_t sample() const { return sample_; }
  /// That its caches may come to need beside those of its prompt.
  std::size_t bytes() const { return bytes_; }
  /// Whether its tokens are told as they are drawn.
  bool is_tokenwise() const;
  /// Tells of the tokens that a tokenwise sampler has drawn since it was last asked. Returns
  /// whether a stop string has come, after which nothing more is to be drawn.
  bool tell_tokens();
  /// Tells how the run has ended. failure: what its coroutine threw, or nothing.
  /// @throw what the listener throws, or has thrown inside the coroutine
  void tell_end(const std::exception_ptr& failure);

  Engine::TaskId task = 0;

 private:
  void round_ended(const Progress& progress, std::span<const Event> events) override;
  Answer answer();
  void read(const Record& record);
  NotDrawn not_drawn() const;

  std::shared_ptr<TakenRequest> request_;
  std::size_t sample_;
  CacheAdmission& memory_;
  std::size_t bytes_;
  Chain run_;
  Progress progress_;
  const TokenText* language_;  // null: no answer has a text
  AnswerText text_;
  std::size_t told_ = 0;  // tokens of a tokenwise sampler
  std::vector<AcceptanceCounts> moves_;
  std::vector<AcceptanceCounts> swaps_;
  std::uint64_t decode_tokens_ = 0;
  bool has_listener_thrown_ = false;
};

}  // namespace tempera::gpu
