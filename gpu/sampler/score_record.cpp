#include "gpu/sampler/score_record.hpp"

namespace tempera::gpu {

Record score_record(LanguageModel& model, RowLottery& rows, const Ladder& ladder,
                    const Context& context, std::size_t horizon, std::span<const TokenId> tokens) {
  Record record(context, model.empty_cache());
  record.raise_horizon(horizon);
  DeviceMemory<float> logits;
  for (const TokenId token : tokens) {
    const std::vector<TokenId> uncached = record.uncached_tokens();
    const Pass pass{&record.cache(), uncached};
    model.next_logits(std::span(&pass, 1), logits);
    const RowToken given{ladder.powers(), token};
    record.append(rows.score(logits, model.vocabulary_size(), std::span(&given, 1)).front());
  }
  return record;
}

}  // namespace tempera::gpu
