// The real model of the examples, if `tempera models get smollm2` has put it.
#include <cmath>
#include <cstring>
#include <iostream>

#include "gpu/llm/models/named_model.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/token_scores.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

TEST_CASE("SmolLM2's GGUF gives the log-probabilities of Hugging Face transformers",
          "[smollm2][unsanitized]") {
  if (!is_obtained(*find_named_model("smollm2"))) {
    std::cout << "SKIPPED: smollm2 is not there: run tempera models get smollm2\n";
    return;
  }
  const auto model = OpenedModel::open("smollm2");
  const auto tokens = model.encode("The capital of France is Paris.", "text");
  REQUIRE(tokens == std::vector<TokenId>{504, 3575, 282, 4649, 314, 7042, 30});
  CHECK(model.terminal() == std::vector<TokenId>{0, 2});  // <|endoftext|> too
  const std::vector<double> powers{1.0};
  const auto scores = score_tokens(model.model(), tokens, powers);
  // transformers 5.23.0, which dequantises the same file to float32 and computes in it.
  const std::vector<double> expected{-11.539295, -0.337616, -2.438665,
                                     -0.450951,  -0.258081, -0.380136};
  REQUIRE(scores.log_p.size() == expected.size());
  // Logits of at most 32 here, in 30 layers of two blocks of 4 steps whose errors are independent:
  // sqrt(241) · sqrt(1536) · 2^-24 · 32 for dot products of up to 1536 terms, twice over, one for
  // each program, and a log-probability is the difference of two of them.
  const double tolerance = 4.0 * std::sqrt(241.0) * std::sqrt(1536.0) * 0x1p-24 * 32.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i, tolerance);
    CHECK(std::abs(scores.log_p[i] - expected[i]) <= tolerance);
  }
}

TEST_CASE("SmolLM2's packed weights give the bits that their rounded values gave", "[smollm2]") {
  if (!is_obtained(*find_named_model("smollm2"))) {
    std::cout << "SKIPPED: smollm2 is not there: run tempera models get smollm2\n";
    return;
  }
  const auto model = OpenedModel::open("smollm2", {}, Arithmetic::tensor_core);
  const std::vector<TokenId> tokens{504,  3575, 282, 4649, 314, 7042, 30, 378,
                                    7042, 314,  260, 2240, 282, 4649, 30};
  const std::vector<double> powers{1.0};
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const double log_p : score_tokens(model.model(), tokens, powers).log_p) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &log_p, sizeof bits);
    hash = (hash ^ bits) * 0x100000001B3ULL;
  }
  // Recorded when `tensor-core` still packed fragments of rounded weights.
  CHECK(hash == 0xECA59A00BF646838ULL);
}

}  // namespace tempera::gpu
