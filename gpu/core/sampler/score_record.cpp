#include "gpu/core/sampler/score_record.hpp"

#include <utility>

#include "gpu/core/engine/negative_entropy.hpp"

namespace tempera::gpu {

Record score_record(LanguageModel& model, RowLottery& rows, const Ladder& ladder,
                    const Context& context, std::size_t horizon, std::span<const TokenId> tokens,
                    bool measure_entropy, std::unique_ptr<Cache> cache) {
  Record record(context, cache ? std::move(cache) : model.empty_cache());
  record.raise_horizon(horizon);
  DeviceMemory<float> logits;
  for (const TokenId token : tokens) {
    if (!record.open()) throw ImpossibleToken("a token follows the end of its record");
    const std::vector<TokenId> uncached = record.uncached_tokens();
    const Pass pass{&record.cache(), uncached};
    model.next_logits(std::span(&pass, 1), logits);
    const RowToken given{ladder.powers(), token};
    ScoredToken scored = rows.score(logits, model.vocabulary_size(), std::span(&given, 1)).front();
    if (measure_entropy)
      scored.negative_entropy = negative_entropies(logits, model.vocabulary_size(), 1).front();
    record.append(scored);
  }
  return record;
}

}  // namespace tempera::gpu
