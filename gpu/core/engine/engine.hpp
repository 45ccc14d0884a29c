#pragma once

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gpu/core/engine/fair_queue.hpp"
#include "gpu/core/engine/memory_order.hpp"
#include "gpu/core/engine/pass_seconds.hpp"
#include "gpu/core/engine/task.hpp"
#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/model/cache_account.hpp"
#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// Which waiting requests a batch takes first. It changes no record (test: same bits), only how the
/// work is laid out.
enum class WorkOrder { first_come, last_come };

/// Seconds that an engine's run has spent in its parts.
struct EngineTimes {
  double forward = 0.0;  ///< the model's passes
  double draw = 0.0;     ///< tokens, from logits to scores
  double accept = 0.0;   ///< ratios of local moves and their decisions
  double swap = 0.0;     ///< sweeps
};

/// Seconds since some moment that is the same all through the process.
inline double seconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

/// Adds the time from its making to its end to a sum of seconds.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds), begin_(seconds_now()) {}
  ~Stopwatch() { seconds_ += seconds_now() - begin_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  double begin_;
};

/// Answers the requests of samplers: collects all that wait, runs them through the model in one
/// forward pass, draws the tokens and lets the samplers go on. A request carries its ladder and its
/// seed, so those of different prompts, ladders, seeds and samplers share a batch.
///
/// A sampler may ask ahead of time for what it may turn out not to need. Such requests take only
/// the rows of a batch that no other wants, and a sampler that ends while it waits takes its
/// request back. Neither changes the answer to any request
/// (tempera_prefetch.prefetch_changes_no_record).
///
/// If more wait than a batch holds, its rows are dealt to the samplers' shares in turn (FairQueue).
/// With a clock, clients have equal parts of the time (share_time).
///
/// If it has an account of caches (keep_within), a batch takes what the account has room for, once
/// idle caches are cut back (CacheAccount::make_room_of_idle). Where those whose turn it is do not
/// all fit, the batch is made by age: of each share in turn the oldest cache, for which those that
/// wait are cut back as MemoryOrder says. A share whose oldest has no room all the same waits. The
/// oldest of all has whatever it needs, so that each has its turn; it alone fails if it does not
/// fit. What this costs grows with the rows of the batch and the number of shares, and not with the
/// number of requests that wait.
///
/// A step is bounded: one pass, and so much work without a pass (pause). Whoever calls step() can
/// therefore end any sampler at any time.
///
/// Samplers come and go while it works: add, remove and step. What is added or removed changes no
/// bit of what the others draw, for a draw's word depends on its address alone. `run` adds samplers
/// and steps until they have ended: lab/ walks the loop that is shipped.
class Engine {
 public:
  /// Names a sampler that was added. No two of an engine have the same.
  using TaskId = std::uint64_t;
  /// Is told that a sampler has ended: with what it threw, or with nothing.
  using Ended = std::function<void(const std::exception_ptr&)>;

  /// The arguments must outlive the engine. Range: largest_batch >= 1.
  Engine(LanguageModel& model, RowLottery& rows, Lottery& lottery, std::size_t largest_batch = 64,
         WorkOrder order = WorkOrder::first_come)
      : model_(model),
        rows_(rows),
        lottery_(lottery),
        largest_batch_(largest_batch),
        fused_(model.fused_draw(rows, lottery)),
        order_(order) {}

  /// Says which tokens a cache lacks. It may be cut back while a request waits, so that this is
  /// asked when a pass is made.
  using Uncached = std::function<std::vector<TokenId>()>;

  /// What waits for the engine: a sampler, and the pass that it needs.
  class Request {
   public:
    void await_suspend(std::coroutine_handle<> waiting) {
      waiting_ = waiting;
      share_ = engine_.going_on_;
      engine_.wait(*this);
    }

    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

   protected:
    Request(Engine& engine, Cache& cache) : engine_(engine), cache_(cache) {}
    ~Request() {
      if (waiting_) engine_.take_back(*this);
    }
    bool is_computed() const { return cache_.length() >= reach_; }

    /// @throw what went wrong with this request alone
    void require_answer() const {
      if (failure_) std::rethrow_exception(failure_);
    }

    ScoredToken token_;
    std::vector<double> log_z_;        ///< of all powers of `draw_`, if is_normalized_
    std::exception_ptr failure_;       ///< why there is no answer
    std::size_t reach_ = 0;            ///< the length that the cache is to have
    std::span<const TokenId> prefix_;  ///< to be in the cache, if no token is asked for
    Uncached uncached_;                ///< what the cache lacks before the token that is asked for
    std::optional<RowDraw> draw_;      ///< if the row that follows is asked for
    bool is_normalized_ = false;       ///< whether its log z is asked for, and not a token
    const bool* is_needed_ = nullptr;  ///< none: it is
    bool is_measured_ = false;         ///< whether the token's negative entropy is asked for

   private:
    friend class Engine;
    bool is_needed() const { return is_needed_ == nullptr || *is_needed_; }
    /// The tokens that are to be computed.
    std::size_t missing() const { return reach_ > cache_.length() ? reach_ - cache_.length() : 0; }
    /// True if a pass of chunk_ tokens leaves nothing to compute.
    bool is_last() const { return missing() <= chunk_; }
    /// The next tokens to compute.
    Pass pass() {
      if (draw_) tokens_ = uncached_();
      const auto rest =
          draw_ ? std::span<const TokenId>(tokens_) : prefix_.subspan(cache_.length());
      return {&cache_, rest.first(std::min(chunk_, rest.size()))};
    }
    Engine& engine_;
    Cache& cache_;
    std::vector<TokenId> tokens_;      ///< of the pass under way
    std::size_t length_ = 0;           ///< of the cache before it
    std::size_t chunk_ = 0;            ///< the most tokens of it that the pass computes
    bool is_drawn_ = false;            ///< whether its row is there after it
    std::size_t bytes_ = 0;            ///< that the batch takes for it
    std::coroutine_handle<> waiting_;  ///< until the answer is there
    Share share_;
    FairQueue<Request>* queue_ = nullptr;  ///< in which it waits; none while it is in the batch
    FairQueue<Request>::Place place_;
    MemoryOrder<Request>::Place memory_place_;
  };

  /// Asks for the token that follows: awaited by a sampler, answered with the token, ℓ_t, and ζ_t
  /// of all rungs.
  class NextToken : public Request {
   public:
    NextToken(Engine& engine, Cache& cache, std::size_t length, Uncached uncached,
              const RowDraw& draw, const bool* is_needed, bool is_measured)
        : Request(engine, cache) {
      reach_ = length;
      uncached_ = std::move(uncached);
      draw_ = draw;
      is_needed_ = is_needed;
      is_measured_ = is_measured;
    }
    bool await_ready() const { return false; }
    ScoredToken await_resume() {
      require_answer();
      return std::move(token_);
    }
  };

  /// Asks for log z_α of the row that follows: awaited by a sampler, answered with one for each
  /// power.
  class LogNormalizers : public Request {
   public:
    LogNormalizers(Engine& engine, Cache& cache, std::size_t length, Uncached uncached,
                   std::span<const double> powers)
        : Request(engine, cache) {
      reach_ = length;
      uncached_ = std::move(uncached);
      draw_ = RowDraw{powers, 0, {}};
      is_normalized_ = true;
    }
    bool await_ready() const { return false; }
    std::vector<double> await_resume() {
      require_answer();
      return std::move(log_z_);
    }
  };

  /// Asks for a prefix to be computed into its cache. Those who ask for the same cache share one
  /// pass; one whose cache holds the prefix already does not wait.
  class Prefix : public Request {
   public:
    Prefix(Engine& engine, Cache& cache, std::span<const TokenId> prefix) : Request(engine, cache) {
      prefix_ = prefix;
      reach_ = prefix.size();
    }
    bool await_ready() const { return is_computed(); }
    void await_resume() const { require_answer(); }
  };

  /// Waits for the next step if samplers have done enough in this one: awaited.
  class Pause {
   public:
    Pause(Engine& engine, std::size_t work) : engine_(engine) { engine_.work_ += work; }
    ~Pause() {
      if (waiting_) engine_.paused_.erase(place_);
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    bool await_ready() const { return !engine_.has_done_enough(); }
    void await_suspend(std::coroutine_handle<> waiting) {
      waiting_ = waiting;
      share_ = engine_.going_on_;
      step_ = engine_.steps_;
      place_ = engine_.paused_.insert(engine_.paused_.end(), this);
    }
    void await_resume() const {}

   private:
    friend class Engine;
    Engine& engine_;
    std::coroutine_handle<> waiting_;
    Share share_;
    std::uint64_t step_ = 0;  ///< in which it began
    std::list<Pause*>::iterator place_;
  };

  /// To be awaited by a sampler after each piece of work that may come without a pass, so that no
  /// step lasts long whatever a sampler does. work: in moves, swaps or records looked at. It
  /// changes no bit.
  Pause pause(std::size_t work) { return {*this, work}; }
  /// Returns whether the next pause waits for the next step.
  bool has_done_enough() const { return work_ > most_work_of_a_step; }
  /// Returns how many rows the next batch will have left, as far as that is known: more requests
  /// ahead of time would only wait.
  std::size_t free_rows() const {
    const std::size_t wanted = needed_.size() + ahead_.size() + to_go_on_;
    return wanted < largest_batch_ ? largest_batch_ - wanted : 0;
  }
  std::size_t largest_batch() const { return largest_batch_; }

  /// The token that follows a text of `length` tokens: what `cache` holds and then `uncached()`. No
  /// two that wait may share a cache; the powers of `draw` must not change before it is answered.
  /// is_needed: looked at when a batch is made; while it is false the request is one ahead of time.
  /// is_measured: whether the token comes with its negative entropy.
  NextToken next_token(Cache& cache, std::size_t length, Uncached uncached, const RowDraw& draw,
                       const bool* is_needed = nullptr, bool is_measured = false) {
    return {*this, cache, length, std::move(uncached), draw, is_needed, is_measured};
  }
  /// Computes what `cache`, which holds the beginning of `prefix`, does not hold of it: a prompt,
  /// once for all records that begin with it. The prefix must not change before it is answered.
  Prefix compute(Cache& cache, std::span<const TokenId> prefix) { return {*this, cache, prefix}; }
  /// Index i wins with probability tickets[i] / Σ tickets.
  /// @throw ModelError if no ticket was sold
  std::size_t draw(std::span<const std::uint64_t> tickets, const Draw& draw) {
    return lottery_.draw(tickets, draw);
  }
  /// Evaluates the word of a draw again: Lottery::redraw_conditioned.
  std::size_t redraw_conditioned(std::span<const std::uint64_t> tickets, std::size_t possible,
                                 const Draw& draw) {
    return lottery_.redraw_conditioned(tickets, possible, draw);
  }
  /// log z_α, `eq:theory-token-normalizer`, after a text of `length` tokens (as for next_token) and
  /// for every power: a row of the batch. The powers must not change before it is answered.
  LogNormalizers log_normalizers(Cache& cache, std::size_t length, Uncached uncached,
                                 std::span<const double> powers) {
    return {*this, cache, length, std::move(uncached), powers};
  }
  /// Computes a prefix in passes of at most this many tokens, so that long prompts do not hold up
  /// those who draw beside them. It changes no bit. Range: tokens >= 1.
  void compute_prefixes_by(std::size_t tokens) { prefix_chunk_ = tokens; }
  /// Makes batches of what the account has room for. It must be that of the caches of all requests,
  /// and outlive the engine.
  void keep_within(CacheAccount& account) { account_ = &account; }
  /// Gives clients equal parts of the time that passes take by this clock, in seconds, and not of
  /// their rows alone. Where each token has its price, a pass for a client who asks for few then
  /// computes no more for another, whether those are rows, prompts or what was cut back.
  void share_time(std::function<double()> clock) { clock_ = std::move(clock); }

  /// Takes a sampler, at any time: it starts with the next step. `ended` is called from the step in
  /// which it ends, after all of its coroutine is gone. @pre the task has not started
  TaskId add(Task sampler, Ended ended = {}, const Share& share = {});
  /// Takes a sampler away, at any time. It and its requests are gone when this returns; if a
  /// sampler calls this while the engine lets it go on, they are gone before the next pass. `ended`
  /// is not called. One that has ended, or is unknown, is ignored.
  void remove(TaskId sampler);
  /// Starts what was added, makes one forward pass for those that wait, and lets the samplers go
  /// on. Returns whether any sampler waits or is to start. A row that allows no draw (NaN,
  /// +infinity or no token: ModelError), or that alone finds no memory (NoRoom), fails its own
  /// request. A pass that runs out of memory in its middle (std::bad_alloc) fails those of its
  /// batch.
  /// @throw whatever `ended`, the model or the lottery throws else. If the model did before it
  /// wrote to a cache, the next step makes that pass again: no request is lost
  bool step();

  /// Adds these samplers and makes steps until they have ended. They are moved from. If one throws,
  /// the others are removed after the step in which it did.
  /// @throw what the first of them to end with an exception threw, and whatever step() throws
  void run(std::span<Task> samplers);

  LanguageModel& model() { return model_; }
  /// Tokens drawn so far: the paper's decode tokens, and those drawn ahead of time and wasted.
  std::uint64_t decode_tokens() const { return decode_tokens_; }
  /// Forward passes so far.
  std::uint64_t batches() const { return batches_; }
  /// Tokens computed for draws beyond one for each: what was cut back, and computed again.
  std::uint64_t tokens_recomputed() const { return tokens_recomputed_; }
  const EngineTimes& times() const { return times_; }
  /// Adds the time until its end to a part.
  Stopwatch time(double EngineTimes::*part) { return Stopwatch(times_.*part); }

 private:
  struct Added {
    Task sampler;
    Ended ended;
    Share share;
    bool is_started = false;
  };

  void answer_batch();
  void answer_batch_or_each();
  void answer_one_by_one();
  void answer_alone(Request& request, bool is_drawn);
  /// Counts what the pass of a draw has computed again.
  void count_recomputed(const Request& request) {
    const std::size_t tokens = request.tokens_.size();
    tokens_recomputed_ += tokens > 0 && request.is_drawn_ ? tokens - 1 : tokens;
  }
  void fail_batch();
  void wait_again();
  std::vector<ScoredToken> drawn_tokens(std::span<Pass> passes, std::span<const RowDraw> draws,
                                        bool is_measured, bool are_logits_left);
  void normalize(std::span<Request* const> asking, std::size_t first_row);
  void let_go_on();
  void take_batch();
  void deal_tokens();
  void note_pass(std::span<const Pass> passes, double began);
  void enqueue(Request& request);
  // batch_room.cpp: who of those that wait has memory.
  bool take_in_turn(std::size_t most);
  void take_by_age(std::size_t most);
  bool has_room(Request& request);
  bool fits(Request& request);
  bool is_prefix_of_batch(const Request& request) const;
  bool finds_room(Request& request, bool is_first, std::vector<Request*>& aside);
  void give_way(Request& request, std::vector<Request*>& aside);
  void start_added();
  void end_what_is_over();
  void wait(Request& request);
  void take_back(Request& request);
  void resume_paused();
  bool is_anyone_waiting() const { return !needed_.empty() || !ahead_.empty() || !paused_.empty(); }

  LanguageModel& model_;
  RowLottery& rows_;
  Lottery& lottery_;
  std::size_t largest_batch_;
  std::unique_ptr<FusedDraw> fused_;  ///< the shorter way, if the model has one
  WorkOrder order_;
  CacheAccount* account_ = nullptr;    ///< null: there is room for all
  std::size_t batch_bytes_ = 0;        ///< that the batch which is being made comes to take
  MemoryOrder<Request> memory_order_;  ///< of those that wait, if there is an account
  std::uint64_t waits_ = 0;
  FairQueue<Request> needed_;    ///< those that wait
  FairQueue<Request> ahead_;     ///< those that wait and were asked ahead of time
  std::vector<Request*> batch_;  ///< those that are being answered
  std::size_t to_go_on_ = 0;     ///< of the batch, those that are answered and not yet resumed
  Share going_on_;               ///< of the sampler that is being resumed
  std::list<Pause*> paused_;
  std::uint64_t steps_ = 0;
  std::function<double()> clock_;  ///< none: clients have equal parts of the rows
  PassSeconds pass_seconds_;
  /// Some milliseconds of a core: a move without a pass, or a swap, takes about a microsecond.
  static constexpr std::size_t most_work_of_a_step = 4096;
  std::size_t work_ = 0;  ///< of the step, as pause() counts
  DeviceMemory<float> logits_;
  std::uint64_t decode_tokens_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t tokens_recomputed_ = 0;
  EngineTimes times_;
  std::size_t prefix_chunk_ = 512;
  TaskId next_task_ = 0;
  bool is_going_on_ = false;     ///< whether samplers are being resumed
  std::vector<TaskId> removed_;  ///< while samplers were being resumed
  /// Last, so that what the samplers hold is given back to an engine that is whole.
  std::map<TaskId, Added> added_;
};

}  // namespace tempera::gpu
