#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gpu/engine/task.hpp"
#include "gpu/lottery/row_lottery.hpp"
#include "gpu/model/language_model.hpp"

namespace tempera::gpu {

/// Which waiting requests a batch takes first. It changes no record (test: same bits), only how the
/// work is laid out.
enum class WorkOrder { first_come, last_come };

/// Answers the requests of samplers: collects all that wait, runs them through the model in one
/// forward pass, draws the tokens and lets the samplers go on. A request carries its ladder and its
/// seed, so those of different prompts, ladders, seeds and samplers share a batch.
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

  /// What waits for the engine: a sampler, and the pass that it needs.
  class Request {
   public:
    Request(Engine& engine, const Pass& pass, std::optional<RowDraw> draw = {})
        : engine_(engine), pass_(pass), draw_(draw) {}
    void await_suspend(std::coroutine_handle<> waiting) {
      waiting_ = waiting;
      engine_.waiting_.push_back(this);
    }

   protected:
    bool is_computed() const { return pass_.cache->length() >= pass_.tokens.size(); }
    ScoredToken answer() { return std::move(token_); }

   private:
    friend class Engine;
    Engine& engine_;
    Pass pass_;
    std::optional<RowDraw> draw_;  ///< where a token is asked for
    ScoredToken token_;
    std::coroutine_handle<> waiting_;
  };

  /// Asks for the token that follows: awaited by a sampler, answered with the token, ℓ_t, and ζ_t
  /// of all rungs.
  class NextToken : public Request {
   public:
    NextToken(Engine& engine, const Pass& pass, const RowDraw& draw)
        : Request(engine, pass, draw) {}
    bool await_ready() const { return false; }
    ScoredToken await_resume() { return answer(); }
  };

  /// Asks for a prefix to be computed into its cache. Those who ask for the same cache share one
  /// pass; one whose cache holds the prefix already does not wait.
  class Prefix : public Request {
   public:
    Prefix(Engine& engine, const Pass& pass) : Request(engine, pass) {}
    bool await_ready() const { return is_computed(); }
    void await_resume() const {}
  };

  /// The token that follows `tokens`, of which `cache` holds the first ones. What the request
  /// points to must not change before it is answered, and no two that wait may share a cache.
  NextToken next_token(Cache& cache, std::span<const TokenId> tokens, const RowDraw& draw) {
    return {*this, {&cache, tokens}, draw};
  }
  /// Computes the tokens that `cache` does not hold yet: a prompt, once for all that begin with it.
  Prefix compute(Cache& cache, std::span<const TokenId> tokens) {
    return {*this, {&cache, tokens}};
  }
  /// Index i wins with probability tickets[i] / Σ tickets.
  /// @throw std::domain_error if no ticket was sold
  std::size_t draw(std::span<const std::uint64_t> tickets, const Draw& draw) {
    return lottery_.draw(tickets, draw);
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
  std::vector<Request*> take_batch();

  LanguageModel& model_;
  RowLottery& rows_;
  Lottery& lottery_;
  std::size_t largest_batch_;
  WorkOrder order_;
  std::vector<Request*> waiting_;
  DeviceMemory<float> logits_;
  std::uint64_t decode_tokens_ = 0;
  std::uint64_t batches_ = 0;
};

}  // namespace tempera::gpu
