// What Hugging Face transformers computed for a case of tests/fixtures/architectures/, and how far
// other evaluations may be from it.
#pragma once

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gpu/llm/transformer/architectures/decoder_config.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu {

inline const std::filesystem::path architecture_fixtures =
    std::filesystem::path(TEMPERA_SOURCE_DIR) / "tests/fixtures/architectures";

using LogitsByPosition = std::vector<std::vector<float>>;

/// What transformers computed for one case.
struct ExpectedLogits {
  std::vector<TokenId> tokens;
  std::vector<float> logits;  // [tokens, vocabulary]: at every position of the text

  explicit ExpectedLogits(const std::string& name) {
    const auto text = nlohmann::json::parse(read_bytes(architecture_fixtures / name / "text.json"));
    tokens = text["tokens"].get<std::vector<TokenId>>();
    const auto bytes = read_bytes(architecture_fixtures / name / "logits.bin");
    logits.resize(bytes.size() / sizeof(float));
    std::memcpy(logits.data(), bytes.data(), bytes.size());
  }

  /// How many positions are compared: every one of the text.
  std::size_t positions() const { return tokens.size(); }

  /// How far two float32 evaluations of the same model may be apart.
  ///
  /// As for the golden fixtures of Qwen3 (qwen3_golden.cpp): u = 2^-24; a sum of n terms errs by
  /// n·u of the product of its vectors' norms, n being the longest here, attention's sum over the
  /// text; each of a layer's two blocks is a chain of at most 4 such steps, and the attention's
  /// begins with a rotation, whose angles transformers computes in float32: position · frequency
  /// errs by no more than length · 2u, which is one more such step twice over. A division by the
  /// root of a mean cannot magnify what these norms see.
  double tolerance(const DecoderConfig& config) const {
    const double steps = 6.0 * 2.0 * static_cast<double>(config.num_hidden_layers) + 1.0;
    return 2.0 * steps * static_cast<double>(tokens.size()) * 0x1p-24 * largest();
  }
  /// The same of bfloat16's rounding, in root mean square: see qwen3_golden.cpp.
  double bfloat16_tolerance(const DecoderConfig& config) const {
    const double steps = 6.0 * 2.0 * static_cast<double>(config.num_hidden_layers) + 1.0;
    return std::sqrt(2.0 * steps / 3.0) * 0x1p-8 * root_mean_square(logits);
  }
  double largest() const {
    double result = 0.0;
    for (const float logit : logits) result = std::max(result, std::abs(double{logit}));
    return result;
  }
  /// The largest difference of rows from these, and the root of their mean square.
  struct Distance {
    double largest = 0.0;
    double mean = 0.0;
  };
  Distance distance(const LogitsByPosition& rows) const {
    std::vector<float> differences;
    const std::size_t vocabulary = logits.size() / tokens.size();
    Distance result;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const float difference = std::abs(logits[i] - rows[i / vocabulary][i % vocabulary]);
      differences.push_back(difference);
      // A NaN is larger than nothing.
      result.largest = std::isnan(difference)
                           ? INFINITY
                           : std::max(result.largest, static_cast<double>(difference));
    }
    result.mean = root_mean_square(differences);
    return result;
  }

 private:
  static double root_mean_square(const std::vector<float>& values) {
    double squares = 0.0;
    for (const float value : values) squares += double{value} * double{value};
    return std::sqrt(squares / static_cast<double>(values.size()));
  }
};

}  // namespace tempera::gpu
