#include "gpu/llm/transformer/architectures/llama.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

namespace {

/// Llama 3.1's factors of the rotary frequencies. With the wavelength w = 2π / frequency and the
/// length L of the texts before the scaling: 1 if w < L / high, `factor` if w > L / low, and
/// between them 1 / ((1 − s) / factor + s), s = (L / w − low) / (high − low).
std::vector<double> llama3_factors(const JsonObject& scaling, const DecoderConfig& config) {
  const double factor = scaling.positive_number("factor");
  const double low = scaling.positive_number("low_freq_factor");
  const double high = scaling.positive_number("high_freq_factor");
  const double length = scaling.positive_number("original_max_position_embeddings");
  if (!(high > low)) {
    throw BadInput(scaling.where(), "\"high_freq_factor\" is not above \"low_freq_factor\"",
                   "use the config.json that belongs to these weights");
  }
  std::vector<double> factors;
  const std::size_t half = config.head_dim / 2;
  for (std::size_t d = 0; d < half; ++d) {
    const double wavelength =
        2.0 * M_PI *
        std::pow(config.rope_theta, static_cast<double>(d) / static_cast<double>(half));
    const double s = (length / wavelength - low) / (high - low);
    factors.push_back(wavelength < length / high  ? 1.0
                      : wavelength > length / low ? factor
                                                  : 1.0 / ((1.0 - s) / factor + s));
  }
  return factors;
}

}  // namespace

DecoderConfig Llama::configuration(const JsonObject& given) {
  const auto document = with_defaults(given, defaults);
  const JsonObject json(document, given.where());
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  auto config = read_decoder_config(json, {"attention_bias"});
  require_full_attention(json, config.max_position_embeddings, false);
  const auto rope = read_rope(json, {"llama3"});
  config.rope_theta = rope.theta;
  if (rope.type == "llama3") {
    rope.scaling->only({"rope_type", "type", "rope_theta", "factor", "low_freq_factor",
                        "high_freq_factor", "original_max_position_embeddings"});
    config.rope_factors = llama3_factors(*rope.scaling, config);
  }
  return config;
}

DecoderConfig Llama::configuration(const GgufFile& file) {
  auto config = read_decoder_config(file, {});
  config.rope_factors = read_rope_factors(file, "rope_freqs.weight", config.head_dim);
  return config;
}

}  // namespace tempera::gpu
