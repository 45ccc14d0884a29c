// The second real model, if `tempera models get gemma3-270m --accept-licence` has put it.
#include <cmath>
#include <iostream>

#include "gpu/llm/models/named_model.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/token_scores.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

namespace {

/// A text, its tokens as llama.cpp has them, and log-probabilities of all but the first: those of
/// transformers 5.24.0 on what gguf 0.19 dequantises to float32, and those of ik_llama.cpp
/// (ik-llama-cpp-python 0.1.5), whose products have inputs of 8 bits.
struct Scored {
  std::string text;
  std::vector<TokenId> tokens;
  std::vector<double> of_transformers;
  std::vector<double> of_llama_cpp;
};

std::vector<Scored> scored() {
  return {{"The capital of France is Paris.",
           {2, 818, 5279, 529, 7001, 563, 9079, 236761},
           {-2.937451, -9.663129, -0.866002, -5.111862, -1.35208, -2.476863, -0.875128},
           {-2.92386, -9.77328, -0.85499, -4.96409, -1.3298, -2.33289, -0.88729}},
          {"def add(a, b):\n    return a + b\n",
           {2, 2063, 1138, 236769, 236746, 236764, 518, 1473, 107, 140, 2060, 496, 900, 518, 107},
           // without the first two
           {-0.907524, -1.130949, -0.143241, -0.544617, -0.058316, -0.291809, -0.069411, -0.966427,
            -0.077256, -0.27781, -0.002049, -1.768309},
           {-0.91252, -1.07353, -0.13521, -0.50064, -0.06956, -0.2534, -0.0655, -0.85066, -0.06824,
            -0.28173, -0.00181, -1.74619}}};
}

double sum_of(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum;
}

/// How far two evaluations in float32 of a log-probability may be apart: logits of at most 64, in
/// 18 layers of two blocks of 6 steps whose errors are independent, dot products of up to 2048
/// terms, twice over, one for each program, and a log-probability is the difference of two logits.
const double tolerance = 4.0 * std::sqrt(217.0) * std::sqrt(2048.0) * 0x1p-24 * 64.0;

}  // namespace

TEST_CASE("Gemma 3 270M's GGUF gives the log-probabilities of transformers and llama.cpp",
          "[gemma3-270m][unsanitized]") {
  if (!is_obtained(*find_named_model("gemma3-270m"))) {
    std::cout << "SKIPPED: gemma3-270m is not there: run tempera models get gemma3-270m "
                 "--accept-licence\n";
    return;
  }
  const auto model = OpenedModel::open("gemma3-270m");
  const std::vector<double> powers{1.0};
  for (const auto& each : scored()) {
    INFO(each.text);
    const auto tokens = model.encode(each.text, "text");
    REQUIRE(tokens == each.tokens);
    const auto log_p = score_tokens(model.model(), tokens, powers).log_p;
    const std::size_t before = log_p.size() - each.of_transformers.size();
    double from_llama_cpp = 0.0;
    for (std::size_t i = 0; i < each.of_transformers.size(); ++i) {
      CAPTURE(i, tolerance);
      CHECK(std::abs(log_p[before + i] - each.of_transformers[i]) <= tolerance);
      from_llama_cpp += std::abs(log_p[before + i] - each.of_llama_cpp[i]);
    }
    // Inputs of 8 bits moved a log-probability by 0.07 to 0.09 on average in SmolLM2, too.
    CHECK(from_llama_cpp / static_cast<double>(each.of_llama_cpp.size()) < 0.15);
  }
  // Past the window of 512 tokens, and characters that are several tokens.
  std::string foxes;
  for (int i = 0; i < 70; ++i) foxes += "The quick brown fox jumps over the lazy dog. ";
  foxes.pop_back();
  struct Sum {
    std::string text;
    std::size_t tokens;
    double of_transformers;
  };
  for (const auto& [text, count, of_transformers] :
       {Sum{"Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. 你好，世界！ \n\n  "
            "1234567 🙂",
            35, -197.064887},
        Sum{foxes, 701, -44.238426}}) {
    const auto tokens = model.encode(text, "text");
    REQUIRE(tokens.size() == count);
    const double sum = sum_of(score_tokens(model.model(), tokens, powers).log_p);
    CAPTURE(count, sum);
    CHECK(std::abs(sum - of_transformers) <= tolerance * static_cast<double>(count));
  }
}

}  // namespace tempera::gpu
