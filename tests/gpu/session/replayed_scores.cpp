// What `tempera score` prints, position by position and power by power, from the model's rows to 50
// digits.
#include <limits>

#include "gpu/core/model/table_model.hpp"
#include "gpu/session/token_scores.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/session/naive_run.hpp"

namespace tempera::gpu::replayed_scores_test {
namespace {

constexpr std::size_t vocabulary = 2500;

/// Another row for each prefix, its likeliest tokens in the second chunk.
std::vector<float> row_after(std::span<const TokenId> prefix) {
  naive::Limbs state{static_cast<std::uint32_t>(prefix.size()), 0, 0, 0};
  for (const TokenId token : prefix) {
    state[3] = token;
    state = naive::philox(state, 5);
  }
  std::vector<float> row;
  for (std::uint32_t v = 0; v < vocabulary; ++v) {
    state[3] = v;
    row.push_back(static_cast<float>(naive::philox(state, 5)[0] % 512U) / 64.0F);
    if (v > 2048) row.back() += 3.0F;
    if (v % 97 == 5) row.back() = -std::numeric_limits<float>::infinity();
  }
  return row;
}

}  // namespace

TEST_CASE("every position is scored after all tokens before it, at every power") {
  using Real = naive::Real;
  TableModel model(vocabulary, row_after);
  const std::vector<TokenId> tokens{4, 2400, 17, 2049};
  const std::vector<double> powers{0.5, 3.0};
  const TokenScores scores = score_tokens(model, tokens, powers);
  REQUIRE(scores.log_p.size() == tokens.size() - 1);
  REQUIRE(scores.log_z.size() == tokens.size() - 1);
  for (std::size_t t = 1; t < tokens.size(); ++t) {
    const auto row = row_after(std::span(tokens).first(t));
    Real sum = 0;
    std::vector<Real> powered(powers.size());
    for (const float logit : row) {
      if (std::isinf(logit)) continue;
      sum += exp(Real(logit));
      for (std::size_t k = 0; k < powers.size(); ++k)
        powered[k] += exp(Real(powers[k]) * Real(logit));
    }
    CAPTURE(t);
    // A logarithm is right to 2^-45, and there are at most 1 + α of them.
    CHECK(abs(Real(scores.log_p[t - 1]) - (Real(row[tokens[t]]) - log(sum))) < 2 * 0x1p-45);
    REQUIRE(scores.log_z[t - 1].size() == powers.size());
    for (std::size_t k = 0; k < powers.size(); ++k)
      CHECK(abs(Real(scores.log_z[t - 1][k]) - (log(powered[k]) - Real(powers[k]) * log(sum))) <
            4 * 0x1p-45);
  }
}

}  // namespace tempera::gpu::replayed_scores_test
