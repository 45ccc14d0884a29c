#include "gpu/engine/engine.hpp"

#include <algorithm>

namespace tempera::gpu {

void Engine::run(std::span<Task> samplers) {
  waiting_.clear();
  for (Task& sampler : samplers) sampler.start();
  do {
    for (const Task& sampler : samplers) sampler.rethrow();
    if (!waiting_.empty()) answer_batch();
  } while (!waiting_.empty());
  for (const Task& sampler : samplers) sampler.rethrow();
}

std::vector<Engine::Request*> Engine::take_batch() {
  const auto size = static_cast<std::ptrdiff_t>(std::min(largest_batch_, waiting_.size()));
  if (order_ == WorkOrder::last_come) std::reverse(waiting_.begin(), waiting_.end());
  std::vector<Request*> batch(waiting_.begin(), waiting_.begin() + size);
  waiting_.erase(waiting_.begin(), waiting_.begin() + size);
  return batch;
}

void Engine::answer_batch() {
  const std::vector<Request*> batch = take_batch();
  std::vector<Pass> passes;
  std::vector<RowDraw> draws;
  for (Request* request : batch) {
    if (!request->draw_) continue;
    passes.push_back(request->pass());
    draws.push_back(*request->draw_);
  }
  // Behind the rows that are drawn from: the logits that follow a prefix are not asked for.
  for (Request* request : batch) {
    if (request->draw_ || request->is_computed()) continue;
    const bool is_shared =
        std::any_of(passes.begin() + static_cast<std::ptrdiff_t>(draws.size()), passes.end(),
                    [&](const Pass& pass) { return pass.cache == &request->cache_; });
    if (!is_shared) passes.push_back(request->pass());
  }
  if (!passes.empty()) ++batches_;
  if (draws.empty()) {
    if (!passes.empty()) model_.next_logits(passes, logits_);
  } else {
    std::vector<ScoredToken> tokens = model_.next_tokens(passes, draws, rows_, lottery_, logits_);
    auto token = tokens.begin();
    for (Request* request : batch)
      if (request->draw_) request->token_ = std::move(*token++);
    decode_tokens_ += draws.size();
  }
  for (Request* request : batch) request->waiting_.resume();
}

}  // namespace tempera::gpu
