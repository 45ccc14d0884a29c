#include "gpu/engine/engine.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gpu/engine/negative_entropy.hpp"

namespace tempera::gpu {

void Engine::run(std::span<Task> samplers) {
  waiting_.clear();
  for (Task& sampler : samplers) sampler.start();
  do {
    for (const Task& sampler : samplers) sampler.rethrow();
    if (waiting_.empty()) break;
    if (before_batch_) before_batch_();
    answer_batch();
  } while (!waiting_.empty());
  for (const Task& sampler : samplers) sampler.rethrow();
}

void Engine::take_batch() {
  const auto size = static_cast<std::ptrdiff_t>(std::min(largest_batch_, waiting_.size()));
  if (order_ == WorkOrder::last_come) std::reverse(waiting_.begin(), waiting_.end());
  // What is asked ahead of time gets the rows that are left.
  std::stable_partition(waiting_.begin(), waiting_.end(),
                        [](const Request* request) { return request->is_needed(); });
  batch_.assign(waiting_.begin(), waiting_.begin() + size);
  waiting_.erase(waiting_.begin(), waiting_.begin() + size);
}

void Engine::take_back(Request* request) {
  std::erase(waiting_, request);
  std::replace(batch_.begin(), batch_.end(), request, static_cast<Request*>(nullptr));
}

void Engine::answer_batch() {
  take_batch();
  std::vector<Pass> passes;
  std::vector<RowDraw> draws;
  for (Request* request : batch_) {
    if (!request->draw_) continue;
    passes.push_back(request->pass(prefix_chunk_));
    draws.push_back(*request->draw_);
  }
  // Behind the rows that are drawn from: the logits that follow a prefix are not asked for.
  for (Request* request : batch_) {
    if (request->draw_ || request->is_computed()) continue;
    const bool is_shared =
        std::any_of(passes.begin() + static_cast<std::ptrdiff_t>(draws.size()), passes.end(),
                    [&](const Pass& pass) { return pass.cache == &request->cache_; });
    if (!is_shared) passes.push_back(request->pass(prefix_chunk_));
  }
  if (!passes.empty()) ++batches_;
  std::vector<ScoredToken> tokens;
  // Entropies are taken of the logits, which a step that draws behind its head does not leave.
  if (!draws.empty() && !entropy_ && model_.draws_behind_head(rows_, lottery_)) {
    const Stopwatch watch = time(&EngineTimes::forward);
    tokens = model_.next_tokens(passes, draws, rows_, lottery_, logits_);
  } else {
    if (!passes.empty()) {
      const Stopwatch watch = time(&EngineTimes::forward);
      model_.next_logits(passes, logits_);
    }
    if (!draws.empty()) {
      const Stopwatch watch = time(&EngineTimes::draw);
      tokens = rows_.draw(logits_, model_.vocabulary_size(), draws, lottery_);
      if (entropy_) {
        const auto entropies = negative_entropies(logits_, model_.vocabulary_size(), draws.size());
        for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i].negative_entropy = entropies[i];
      }
    }
  }
  if (!draws.empty()) {
    auto token = tokens.begin();
    for (Request* request : batch_)
      if (request->draw_) request->token_ = std::move(*token++);
    decode_tokens_ += draws.size();
  }
  // A prefix that is not all there waits on, before those who come now.
  const auto unfinished = [](const Request* request) {
    return !request->draw_ && !request->is_computed();
  };
  std::copy_if(batch_.begin(), batch_.end(), std::back_inserter(waiting_), unfinished);
  std::erase_if(batch_, unfinished);
  // A sampler that goes on may end others, and with them their requests.
  for (Request*& place : batch_)
    if (Request* request = std::exchange(place, nullptr))
      std::exchange(request->waiting_, {}).resume();
}

}  // namespace tempera::gpu
