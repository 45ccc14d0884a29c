#include "lab/claims/functions_under_test.hpp"

#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/model/language_model.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/record.hpp"
#include "gpu/core/sampler/score_record.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/compiled_space.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/suffix_proposal.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"

namespace tempera::lab {

SuffixLaw suffix_law(const reference::RecordSpace& space, const reference::Power& power) {
  const auto q = std::make_shared<reference::SuffixProposal>(space, power);
  return [q](std::size_t r, std::size_t x, std::size_t y) { return (*q)(r, x, y); };
}

TokenLaw padded_token_law(const reference::RecordSpace& space, const reference::Power& power) {
  const auto q = std::make_shared<reference::SuffixProposal>(space, power);
  return [q](std::size_t y, std::size_t t) { return q->token(y, t); };
}

namespace {

/// The record of these tokens as production scores it.
gpu::Record scored(const reference::FiniteModel& model, std::size_t horizon, double power,
                   const std::vector<reference::Token>& tokens) {
  const FiniteLogits logits(model);
  const EnumerableModel production = logits.enumerable();
  const auto rows = gpu::make_device_row_lottery();
  const std::vector<gpu::TokenId> ids(tokens.begin(), tokens.end());
  return gpu::score_record(production.model, *rows, gpu::Ladder({power}), production.context,
                           horizon, ids);
}

}  // namespace

double cached_zeta(const reference::FiniteModel& model, std::size_t horizon, double power,
                   const std::vector<reference::Token>& tokens, std::size_t r) {
  return scored(model, horizon, power, tokens).sum_log_z(r, horizon, 0);
}

double cached_score(const reference::FiniteModel& model, std::size_t horizon,
                    const std::vector<reference::Token>& tokens) {
  return scored(model, horizon, 1.0, tokens).log_p0();
}

}  // namespace tempera::lab
