#include "tempera/score.hpp"

#include "api/sampling/model_parts.hpp"
#include "gpu/session/token_scores.hpp"

namespace tempera {

Scores score(const Model& model, std::span<const TokenId> tokens, std::span<const double> powers) {
  const gpu::OpenedModel& opened = model.parts().opened;
  if (tokens.size() > 1) opened.check_prompt(tokens.first(tokens.size() - 1), 1, "tokens");
  static constexpr double base = 1.0;
  auto scores =
      gpu::score_tokens(opened.model(), tokens, powers.empty() ? std::span(&base, 1) : powers);
  if (powers.empty()) scores.log_z.clear();
  return {std::move(scores.log_p), std::move(scores.log_z)};
}

}  // namespace tempera
