#include "gpu/session/token_scores.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "gpu/core/model/table_model.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

using namespace tempera;
using Tokens = std::vector<gpu::TokenId>;

namespace {

const std::vector<double> powers{1.0, 2.0, 0.5};

}  // namespace

// log_of_grains errs by less than 2^-45, the logarithm of the expected value by less.
TEST_CASE("equal logits over four tokens have log p0 = -log 4 and log z = (1 - alpha) log 4") {
  gpu::TableModel model(4, [](std::span<const gpu::TokenId>) {
    return std::vector<float>{2.5F, 2.5F, 2.5F, 2.5F};
  });
  const auto scores = gpu::score_tokens(model, Tokens{0, 3, 1}, powers);
  REQUIRE(scores.log_p.size() == 2);
  REQUIRE(scores.log_z.size() == 2);
  for (std::size_t t = 0; t < 2; ++t) {
    CHECK(std::abs(scores.log_p[t] + std::log(4.0)) < 0x1p-44);
    REQUIRE(scores.log_z[t].size() == 3);
    for (std::size_t j = 0; j < 3; ++j)
      CHECK(std::abs(scores.log_z[t][j] - (1.0 - powers[j]) * std::log(4.0)) < 0x1p-43);
  }
}

TEST_CASE("position t is scored after the tokens before it") {
  // After a prefix of n tokens, token 1 is e^n times as likely as token 0.
  gpu::TableModel model(2, [](std::span<const gpu::TokenId> prefix) {
    return std::vector<float>{0.0F, static_cast<float>(prefix.size())};
  });
  const auto scores = gpu::score_tokens(model, Tokens{1, 0, 1, 0}, powers);
  for (int t = 1; t < 4; ++t) {
    const double log_total = std::log1p(std::exp(static_cast<double>(t)));
    const double logit = t == 2 ? 2.0 : 0.0;
    CHECK(std::abs(scores.log_p[static_cast<std::size_t>(t - 1)] - (logit - log_total)) < 0x1p-43);
    const double at_2 = std::log1p(std::exp(2.0 * t)) - 2.0 * log_total;
    CHECK(std::abs(scores.log_z[static_cast<std::size_t>(t - 1)][1] - at_2) < 0x1p-43);
  }
}

TEST_CASE("what cannot be scored is refused") {
  const float never = -std::numeric_limits<float>::infinity();
  gpu::TableModel model(3, [never](std::span<const gpu::TokenId>) {
    return std::vector<float>{0.0F, 0.0F, never};
  });
  const auto refuse = [&](const Tokens& tokens, const std::vector<double>& at,
                          const std::string& message) {
    tempera::require_bad_input([&] { gpu::score_tokens(model, tokens, at); }, {message});
  };
  refuse({}, {1.0}, "tokens: 0 given");
  refuse({1}, {1.0}, "tokens: 1 given");
  refuse({1, 3}, {1.0}, "tokens, number 2: 3 is outside the vocabulary");
  refuse({1, 0, 2}, {1.0}, "tokens, number 3: 2 has probability zero");
  refuse({1, 0}, {1.0, 0.0}, "powers");
  refuse({1, 0}, {-1.0}, "powers");
  refuse({1, 0}, {std::nan("")}, "powers");
  refuse({1, 0}, {std::numeric_limits<double>::infinity()}, "powers");
  gpu::TableModel broken(2, [](std::span<const gpu::TokenId>) {
    return std::vector<float>{std::numeric_limits<float>::quiet_NaN(), 0.0F};
  });
  CHECK_THROWS_AS(gpu::score_tokens(broken, Tokens{1, 1}, powers), ModelError);
}
