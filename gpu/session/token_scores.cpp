#include "gpu/session/token_scores.hpp"

#include <limits>

#include "base/error.hpp"
#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "gpu/device/device.hpp"

namespace tempera::gpu {

TokenScores score_tokens(LanguageModel& model, std::span<const TokenId> tokens,
                         std::span<const double> powers, const std::function<void()>& before_pass) {
  if (tokens.size() < 2)
    throw BadInput("tokens", std::to_string(tokens.size()) + " given",
                   "give at least two: the first is the prompt, the others are scored");
  for (std::size_t t = 0; t < tokens.size(); ++t)
    if (tokens[t] >= model.vocabulary_size())
      throw BadInput("tokens, number " + std::to_string(t + 1),
                     std::to_string(tokens[t]) + " is outside the vocabulary",
                     "use numbers below " + std::to_string(model.vocabulary_size()));
  for (const double power : powers) require_power(power, "powers");
  const CurrentDevice here(model.device());
  const auto rows = make_device_row_lottery();
  const auto cache = model.empty_cache();
  DeviceMemory<float> logits;
  TokenScores scores;
  for (std::size_t t = 1; t < tokens.size(); ++t) {
    if (before_pass) before_pass();
    const Pass pass{cache.get(), tokens.first(t).subspan(cache->length())};
    model.next_logits(std::span(&pass, 1), logits);
    if (logits.download(tokens[t], 1).front() == -std::numeric_limits<float>::infinity())
      throw BadInput("tokens, number " + std::to_string(t + 1),
                     std::to_string(tokens[t]) + " has probability zero after those before it",
                     "score a sequence that the model can produce");
    const RowToken token{powers, tokens[t]};
    scores.log_p.push_back(
        rows->score(logits, model.vocabulary_size(), std::span(&token, 1)).front().log_p);
    scores.log_z.push_back(rows->log_normalizers(logits, model.vocabulary_size(), 1, powers));
  }
  return scores;
}

}  // namespace tempera::gpu
