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

void Engine::answer_batch() {
  const std::size_t size = std::min(largest_batch_, waiting_.size());
  if (order_ == WorkOrder::last_come) std::reverse(waiting_.begin(), waiting_.end());
  const std::vector<NextToken*> batch(waiting_.begin(),
                                      waiting_.begin() + static_cast<std::ptrdiff_t>(size));
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(size));

  std::vector<Pass> passes;
  std::vector<RowDraw> draws;
  for (NextToken* request : batch) {
    passes.push_back({&request->record_.cache(), request->record_.history()});
    draws.push_back(request->draw_);
  }
  model_.next_logits(passes, logits_);
  std::vector<ScoredToken> tokens = rows_.draw(logits_, model_.vocabulary_size(), draws, lottery_);
  decode_tokens_ += size;
  ++batches_;
  for (std::size_t i = 0; i < size; ++i) batch[i]->token_ = std::move(tokens[i]);
  for (NextToken* request : batch) request->waiting_.resume();
}

Record score_record(LanguageModel& model, RowLottery& rows, const Context& context,
                    std::size_t horizon, std::span<const TokenId> tokens) {
  Record record(context, model.empty_cache());
  record.raise_horizon(horizon);
  DeviceMemory<float> logits;
  for (const TokenId token : tokens) {
    const Pass pass{&record.cache(), record.history()};
    model.next_logits(std::span(&pass, 1), logits);
    record.append(rows.score(logits, model.vocabulary_size(), std::span(&token, 1)).front());
  }
  return record;
}

}  // namespace tempera::gpu
