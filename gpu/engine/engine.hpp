#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/engine/task.hpp"
#include "gpu/lottery/row_lottery.hpp"
#include "gpu/model/language_model.hpp"
#include "gpu/sampler/record.hpp"

namespace tempera::gpu {

/// Which waiting requests a batch takes first. It changes no record (test: same bits), only how the
/// work is laid out.
enum class WorkOrder { first_come, last_come };

/// Answers the requests of samplers: collects all that wait, runs them through the model in one
/// forward pass, draws the tokens and lets the samplers go on.
class Engine {
 public:
  /// The arguments must outlive the engine. Range: largest_batch >= 1.
  Engine(LanguageModel& model, RowLottery& rows, Lottery& lottery, std::size_t largest_batch = 64,
         WorkOrder order = WorkOrder::first_come)
      : model_(model),
        rows_(rows),
        lottery_(lottery),
        largest_batch_(largest_batch),
        order_(order) {}

  /// A request for the next token of a record at a rung: awaited by a sampler, answered in a batch.
  class NextToken {
   public:
    NextToken(Engine& engine, Record& record, const RowDraw& draw)
        : engine_(engine), record_(record), draw_(draw) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) {
      waiting_ = waiting;
      engine_.waiting_.push_back(this);
    }
    ScoredToken await_resume() { return std::move(token_); }

   private:
    friend class Engine;
    Engine& engine_;
    Record& record_;
    RowDraw draw_;
    ScoredToken token_;
    std::coroutine_handle<> waiting_;
  };

  NextToken next_token(Record& record, const RowDraw& draw) { return {*this, record, draw}; }
  std::size_t draw(std::span<const std::uint64_t> tickets, const DrawAddress& address) {
    return lottery_.draw(tickets, address);
  }
  /// Starts the samplers and answers their requests until all have ended.
  /// @throw whatever a sampler, the model or the lottery throws; then the run is over
  void run(std::span<Task> samplers);

  LanguageModel& model() { return model_; }
  /// Tokens drawn so far: the paper's decode tokens.
  std::uint64_t decode_tokens() const { return decode_tokens_; }
  /// Forward passes so far.
  std::uint64_t batches() const { return batches_; }

 private:
  void answer_batch();

  LanguageModel& model_;
  RowLottery& rows_;
  Lottery& lottery_;
  std::size_t largest_batch_;
  WorkOrder order_;
  std::vector<NextToken*> waiting_;
  DeviceMemory<float> logits_;
  std::uint64_t decode_tokens_ = 0;
  std::uint64_t batches_ = 0;
};

/// The record of these tokens, computed from the prompt on and scored as the sampler scores what it
/// draws: what a run that is resumed, or an enumeration that starts somewhere, begins with.
/// @throw std::domain_error if a token has probability zero
/// @throw std::logic_error if a token follows a terminal one or the horizon
Record score_record(LanguageModel& model, RowLottery& rows, const Context& context,
                    std::size_t horizon, std::span<const TokenId> tokens);

}  // namespace tempera::gpu
