#include "gpu/core/engine/engine.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <set>
#include <utility>

#include "base/memory_reserve.hpp"
#include "gpu/core/engine/negative_entropy.hpp"
#include "gpu/core/model/no_room.hpp"

namespace tempera::gpu {
namespace {

/// The largest part c for which Σ min(c, wanted_i) <= all. A share that wants less than c leaves
/// the rest to the others.
std::size_t largest_part(std::size_t all, std::vector<std::size_t> wanted) {
  std::sort(wanted.begin(), wanted.end());
  std::size_t others = wanted.size();
  for (const std::size_t each : wanted) {
    if (each * others > all) return all / others;
    all -= each;
    --others;
  }
  return wanted.back();
}

}  // namespace

void Engine::run(std::span<Task> samplers) {
  std::vector<TaskId> added;
  std::size_t open = samplers.size();
  std::exception_ptr failure;
  const auto ended = [&](const std::exception_ptr& thrown) {
    --open;
    if (!failure) failure = thrown;
  };
  // On every way out: what is left of them refers to this frame.
  const auto remove_all = [&](const void*) {
    for (const TaskId sampler : added) remove(sampler);
  };
  const std::unique_ptr<const void, decltype(remove_all)> left(this, remove_all);
  for (Task& sampler : samplers) added.push_back(add(std::move(sampler), ended));
  while (open > 0 && !failure) step();
  if (failure) std::rethrow_exception(failure);
}

Engine::TaskId Engine::add(Task sampler, Ended ended, const Share& share) {
  added_.emplace(next_task_, Added{std::move(sampler), std::move(ended), share});
  return next_task_++;
}

void Engine::remove(TaskId sampler) {
  if (is_going_on_)
    removed_.push_back(sampler);  // it may be the one that calls
  else
    added_.erase(sampler);
}

bool Engine::step() {
  is_going_on_ = true;
  resume_paused();
  start_added();
  is_going_on_ = false;
  end_what_is_over();
  if (!needed_.empty() || !ahead_.empty()) {
    try {
      answer_batch_or_each();
    } catch (...) {
      wait_again();
      throw;
    }
    is_going_on_ = true;
    let_go_on();
    is_going_on_ = false;
    end_what_is_over();
  }
  return is_anyone_waiting() || (!added_.empty() && !added_.rbegin()->second.is_started);
}

void Engine::start_added() {
  // A sampler that starts may add others, which have greater numbers.
  for (auto& [id, added] : added_) {
    if (std::exchange(added.is_started, true)) continue;
    going_on_ = added.share;
    added.sampler.start();
  }
}

/// Begins a step's work, with those who have waited for it.
void Engine::resume_paused() {
  work_ = 0;
  ++steps_;
  while (!paused_.empty() && paused_.front()->step_ < steps_) {
    Pause& pause = *paused_.front();
    paused_.pop_front();
    going_on_ = pause.share_;
    std::exchange(pause.waiting_, {}).resume();
  }
}

/// Ends what was removed, and tells of what has ended.
void Engine::end_what_is_over() {
  for (const TaskId id : std::exchange(removed_, {})) added_.erase(id);
  for (auto next = added_.begin(); next != added_.end();) {
    const auto added = next++;
    if (!added->second.is_started || !added->second.sampler.done()) continue;
    const std::exception_ptr failure = added->second.sampler.failure();
    const Ended ended = std::move(added->second.ended);
    added_.erase(added);
    if (ended) ended(failure);
    next = added_.begin();
  }
}

void Engine::wait(Request& request) {
  enqueue(request);
  if (account_ == nullptr) return;
  request.cache_.begin_wait();
  request.memory_place_ = {
      request.share_, {request.queue_ == &ahead_, request.cache_.number_in_account(), waits_++}};
  memory_order_.join(request.memory_place_, &request, request.cache_.holds_own());
}

void Engine::enqueue(Request& request) {
  FairQueue<Request>& queue = request.is_needed() ? needed_ : ahead_;
  request.place_ = queue.push(request.share_, &request);
  request.queue_ = &queue;
}

void Engine::take_batch() {
  // What was asked ahead of time may have come to its turn since.
  std::vector<Request*> become_needed;
  ahead_.for_each([&](Request* request) {
    if (request->is_needed()) become_needed.push_back(request);
  });
  for (Request* request : become_needed) {
    ahead_.leave(request->place_);
    memory_order_.leave(request->memory_place_);
    wait(*request);
  }
  batch_.clear();
  std::size_t most = largest_batch_;
  if (const auto shares = needed_.shares(); clock_ && shares.count > 1)
    most = pass_seconds_.tokens(shares.count, shares.least, most);
  if (!take_in_turn(most)) take_by_age(most);
  for (const Request* request : batch_) memory_order_.leave(request->memory_place_);
  deal_tokens();
}

/// Says how many tokens the pass computes for each request of the batch.
void Engine::deal_tokens() {
  for (Request* request : batch_) request->chunk_ = prefix_chunk_;
  if (!clock_ || batch_.empty()) return;
  const bool is_one_client = std::all_of(batch_.begin(), batch_.end(), [&](const Request* other) {
    return other->share_.client == batch_.front()->share_.client;
  });
  struct Asked {
    std::vector<Request*> requests;
    std::vector<std::size_t> tokens;
    std::size_t sum = 0;
  };
  std::map<std::uint64_t, Asked> shares;
  std::set<const Cache*> prefixes;
  for (Request* request : batch_) {
    Asked& asked = shares[is_one_client ? request->share_.request : request->share_.client];
    // Those who ask for one prefix share its pass.
    const bool is_computed = !request->draw_ && !prefixes.insert(&request->cache_).second;
    const std::size_t tokens =
        is_computed ? 0 : std::clamp<std::size_t>(request->missing(), 1, prefix_chunk_);
    asked.requests.push_back(request);
    asked.tokens.push_back(tokens);
    asked.sum += tokens;
  }
  std::erase_if(shares, [](const auto& share) { return share.second.sum == 0; });
  if (shares.size() < 2) return;
  std::vector<std::size_t> sums;
  for (const auto& [number, asked] : shares) sums.push_back(asked.sum);
  const std::size_t least = *std::min_element(sums.begin(), sums.end());
  const std::size_t all = std::accumulate(sums.begin(), sums.end(), std::size_t{0});
  const std::size_t part =
      largest_part(pass_seconds_.tokens(shares.size(), least, all), std::move(sums));
  for (auto& [number, asked] : shares) {
    const std::size_t chunk =
        std::max<std::size_t>(1, largest_part(std::min(part, asked.sum), asked.tokens));
    for (Request* request : asked.requests) request->chunk_ = chunk;
  }
}

/// Learns what a pass has taken.
void Engine::note_pass(std::span<const Pass> passes, double began) {
  std::size_t tokens = 0;
  for (const Pass& pass : passes) tokens += std::max<std::size_t>(1, pass.tokens.size());
  if (tokens > 0) pass_seconds_.note(tokens, clock_() - began);
}

void Engine::take_back(Request& request) {
  if (request.queue_ == nullptr) {
    std::replace(batch_.begin(), batch_.end(), &request, static_cast<Request*>(nullptr));
    return;
  }
  request.queue_->leave(request.place_);
  memory_order_.leave(request.memory_place_);
}

/// The bits of the passes, then of the draws, whatever else is in the batch.
std::vector<ScoredToken> Engine::drawn_tokens(std::span<Pass> passes,
                                              std::span<const RowDraw> draws, bool is_measured,
                                              bool are_logits_left) {
  if (!passes.empty()) ++batches_;
  // A pass that finds no memory ends its requests, and leaves the reserve to these books.
  const MemoryReserve::Use none(MemoryReserve::Purpose::none);
  // A fused draw leaves no logits.
  if (fused_ && !draws.empty() && !is_measured && !are_logits_left) {
    const Stopwatch watch = time(&EngineTimes::forward);
    return fused_->next_tokens(passes, draws, logits_);
  }
  if (!passes.empty()) {
    const Stopwatch watch = time(&EngineTimes::forward);
    model_.next_logits(passes, logits_);
  }
  if (draws.empty()) return {};
  const Stopwatch watch = time(&EngineTimes::draw);
  std::vector<ScoredToken> tokens =
      draw_by_rules(rows_, logits_, model_.vocabulary_size(), draws, lottery_);
  if (is_measured) {
    const auto entropies = negative_entropies(logits_, model_.vocabulary_size(), draws.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i].negative_entropy = entropies[i];
  }
  return tokens;
}

/// Answers those that ask for log z, whose logits are rows first_row, first_row + 1, …
void Engine::normalize(std::span<Request* const> asking, std::size_t first_row) {
  if (asking.empty()) return;
  const Stopwatch watch = time(&EngineTimes::draw);
  std::vector<double> powers;
  for (const Request* request : asking)
    powers.insert(powers.end(), request->draw_->powers.begin(), request->draw_->powers.end());
  const std::size_t rows = first_row + asking.size();
  const auto log_z = rows_.log_normalizers(logits_, model_.vocabulary_size(), rows, powers);
  auto own = log_z.begin() + static_cast<std::ptrdiff_t>(first_row * powers.size());
  for (Request* request : asking) {
    const auto count = static_cast<std::ptrdiff_t>(request->draw_->powers.size());
    request->log_z_.assign(own, own + count);
    own += static_cast<std::ptrdiff_t>(powers.size()) + count;
  }
}

void Engine::answer_batch() {
  take_batch();
  std::vector<Pass> passes;
  std::vector<RowDraw> draws;
  std::vector<Request*> normalized;
  bool is_measured = false;
  for (Request* request : batch_) {
    request->length_ = request->cache_.length();
    request->is_drawn_ = request->draw_ && !request->failure_ && request->is_last();
    if (!request->is_drawn_) continue;
    if (request->is_normalized_) {
      normalized.push_back(request);
      continue;
    }
    passes.push_back(request->pass());
    draws.push_back(*request->draw_);
    is_measured = is_measured || request->is_measured_;
  }
  for (Request* request : normalized) passes.push_back(request->pass());
  const auto rows = static_cast<std::ptrdiff_t>(passes.size());
  // After the rows that are asked for: the logits that follow a prefix are not.
  for (Request* request : batch_) {
    if (request->is_drawn_ || request->failure_) continue;
    if (!request->draw_ && request->is_computed()) continue;
    const bool is_shared = std::any_of(passes.begin() + rows, passes.end(), [&](const Pass& pass) {
      return pass.cache == &request->cache_;
    });
    if (!is_shared) passes.push_back(request->pass());
  }
  const double began = clock_ ? clock_() : 0.0;
  std::vector<ScoredToken> tokens = drawn_tokens(passes, draws, is_measured, !normalized.empty());
  normalize(normalized, draws.size());
  if (clock_) note_pass(passes, began);
  auto token = tokens.begin();
  for (Request* request : batch_) {
    if (request->draw_ && !request->failure_) count_recomputed(*request);
    if (!request->is_drawn_ || request->is_normalized_) continue;
    request->token_ = std::move(*token++);
    if (!request->is_measured_) request->token_.negative_entropy = 0.0;
  }
  decode_tokens_ += draws.size();
}

/// Answers a batch; if that fails for some of its requests, those alone go without an answer.
void Engine::answer_batch_or_each() {
  try {
    answer_batch();
  } catch (const ModelError&) {
    answer_one_by_one();
  } catch (const NoRoom&) {
    if (account_ != nullptr) account_->end_at_held();
    answer_one_by_one();
  } catch (const std::bad_alloc&) {
    fail_batch();
  }
}

/// Answers the requests of a batch in which some row cannot be drawn from, or finds no memory, each
/// alone: it has the bits that it has in any batch, and only those that cannot be answered fail.
void Engine::answer_one_by_one() {
  for (Request* request : batch_) {
    // What the batch has computed is in the cache, and is not computed again.
    const bool is_computed = request->cache_.length() > request->length_ || request->is_computed();
    if (request->failure_ || (!request->is_drawn_ && is_computed)) continue;
    const bool is_drawn = request->is_drawn_;
    try {
      try {
        answer_alone(*request, is_drawn);
      } catch (const NoRoom&) {
        if (account_ == nullptr) throw;
        // It has all the memory there is.
        const Cache& own = request->cache_;
        account_->make_room(std::numeric_limits<std::size_t>::max(),
                            [&](const Cache& cache) { return &cache == &own; });
        answer_alone(*request, is_drawn);
      }
    } catch (const ModelError&) {
      request->failure_ = std::current_exception();
    } catch (const NoRoom&) {
      request->failure_ = std::current_exception();
    } catch (const std::bad_alloc&) {
      request->failure_ = std::current_exception();
    }
  }
}

void Engine::answer_alone(Request& request, bool is_drawn) {
  request.chunk_ = prefix_chunk_;
  for (bool is_last = false; !is_last;) {
    // Another's want of memory may have cut its cache far back since the batch was made.
    is_last = !is_drawn || request.is_last();
    request.is_drawn_ = is_drawn && is_last;
    auto passes = std::array{request.pass()};
    const bool is_token = request.is_drawn_ && !request.is_normalized_;
    const auto draws = is_token ? std::span(&*request.draw_, 1) : std::span<RowDraw>();
    auto tokens = drawn_tokens(passes, draws, request.is_measured_, false);
    if (request.is_drawn_ && !is_token) normalize(std::array{&request}, 0);
    if (request.draw_) count_recomputed(request);
    if (!tokens.empty()) request.token_ = std::move(tokens.front());
    decode_tokens_ += tokens.size();
  }
}

/// Fails the requests of a batch whose pass ran out of memory in its middle: a recurrent state may
/// have been written halfway, so that none of them can be asked for again.
void Engine::fail_batch() {
  for (Request* request : batch_) request->failure_ = std::current_exception();
}

/// Puts the requests of a batch whose pass was not made back, for the step that follows. One whose
/// cache was written all the same fails: to compute its tokens again would be wrong.
void Engine::wait_again() {
  std::vector<Request*> written;
  for (Request* request : std::exchange(batch_, {})) {
    if (request->cache_.length() == request->length_) {
      wait(*request);
    } else {
      request->failure_ = std::current_exception();
      written.push_back(request);
    }
  }
  batch_ = std::move(written);
  is_going_on_ = true;
  let_go_on();
  is_going_on_ = false;
  end_what_is_over();
}

void Engine::let_go_on() {
  // A prefix that is not all there waits on, before those who come now.
  const auto unfinished = [](const Request* request) {
    const bool is_answered = request->draw_ ? request->is_drawn_ : request->is_computed();
    return !is_answered && !request->failure_;
  };
  for (Request* request : batch_)
    if (unfinished(request)) wait(*request);
  std::erase_if(batch_, unfinished);
  to_go_on_ = batch_.size();
  // A sampler that goes on may end others, and with them their requests.
  for (Request*& slot : batch_) {
    --to_go_on_;
    Request* const request = std::exchange(slot, nullptr);
    if (request == nullptr) continue;
    going_on_ = request->share_;
    std::exchange(request->waiting_, {}).resume();
  }
}

}  // namespace tempera::gpu
