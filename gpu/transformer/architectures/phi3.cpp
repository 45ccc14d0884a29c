#include "gpu/transformer/architectures/phi3.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "gpu/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

namespace {

/// Longrope's magnitude if nothing else says it: sqrt(1 + ln(stretch) / ln(original)) for texts
/// `stretch` times as long as the original ones, at least 1.
double longrope_magnitude(std::size_t longest, std::size_t original) {
  if (longest <= original) return 1.0;
  const auto length = static_cast<double>(original);
  return std::sqrt(1.0 + std::log(static_cast<double>(longest) / length) / std::log(length));
}

void choose(RopeFactors which, std::size_t original, std::vector<double> of_short_texts,
            std::vector<double> of_long_texts, DecoderConfig& config) {
  const bool is_short = which == RopeFactors::of_short_texts;
  config.rope_choice = which;
  config.rope_factors = is_short ? std::move(of_short_texts) : std::move(of_long_texts);
  if (is_short) {
    config.max_position_embeddings = std::min(config.max_position_embeddings, original);
  }
  config.remark = "longrope with its " + std::string(name_of(which)) +
                  " factors at every position, for texts of at most " +
                  std::to_string(config.max_position_embeddings) + " tokens";
}

/// A window that no text outgrows leaves nothing out.
void require_wide_window(std::uint64_t window, const DecoderConfig& config,
                         const std::string& where) {
  if (window < config.max_position_embeddings) {
    throw BadInput(where,
                   "its sliding window of " + std::to_string(window) +
                       " tokens is shorter than the longest text of " +
                       std::to_string(config.max_position_embeddings),
                   "only full attention is supported; choose a model without sliding windows");
  }
}

std::vector<double> factors_of(const JsonObject& scaling, const std::string& key,
                               const DecoderConfig& config) {
  auto factors = scaling.positive_numbers(key);
  if (factors.size() != config.head_dim / 2) {
    throw BadInput(scaling.where(),
                   "\"" + key + "\" has " + std::to_string(factors.size()) + " factors, not " +
                       std::to_string(config.head_dim / 2) + ", one for each rotary frequency",
                   "use the config.json that belongs to these weights");
  }
  return factors;
}

}  // namespace

DecoderConfig Phi3::configuration(const JsonObject& json, RopeFactors factors) {
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  require_full_attention(json);
  auto config = read_decoder_config(
      json, {"attention_bias", "original_max_position_embeddings", "sliding_window"});
  const auto rope = read_rope(json, {"longrope", "su"});  // "su" is its older name
  config.rope_theta = rope.theta;
  if (rope.scaling) {
    const auto& scaling = *rope.scaling;
    scaling.only({"rope_type", "type", "rope_theta", "long_factor", "short_factor",
                  "attention_factor", "original_max_position_embeddings", "partial_rotary_factor"});
    const std::string key = "original_max_position_embeddings";
    const std::size_t original =
        (json.has(key) ? json : scaling).whole_number(key, 2, largest_position);
    config.rope_magnitude = scaling.has("attention_factor")
                                ? scaling.positive_number("attention_factor")
                                : longrope_magnitude(config.max_position_embeddings, original);
    choose(factors, original, factors_of(scaling, "short_factor", config),
           factors_of(scaling, "long_factor", config), config);
  }
  if (json.has("sliding_window")) {
    require_wide_window(json.whole_number("sliding_window", 1, UINT32_MAX), config, json.where());
  }
  return config;
}

DecoderConfig Phi3::configuration(const GgufFile& file, RopeFactors factors) {
  auto config = read_decoder_config(file, {"rope.scaling.original_context_length",
                                           "rope.scaling.attn_factor", "attention.sliding_window"});
  const auto& metadata = file.metadata();
  auto of_short_texts = read_rope_factors(file, std::string(gguf_factors[0]), config.head_dim);
  auto of_long_texts = read_rope_factors(file, std::string(gguf_factors[1]), config.head_dim);
  const std::string magnitude = "phi3.rope.scaling.attn_factor";
  if (!of_short_texts.empty() || !of_long_texts.empty() || metadata.has(magnitude)) {
    if (of_short_texts.empty() || of_long_texts.empty()) {
      throw BadInput(metadata.file(), "has not both sets of factors of longrope",
                     "convert the model again");
    }
    const std::size_t original =
        metadata.whole_number("phi3.rope.scaling.original_context_length", 2, largest_position);
    config.rope_magnitude = metadata.has(magnitude)
                                ? metadata.finite_number(magnitude)
                                : longrope_magnitude(config.max_position_embeddings, original);
    choose(factors, original, std::move(of_short_texts), std::move(of_long_texts), config);
  }
  const std::string window = "phi3.attention.sliding_window";
  if (metadata.has(window)) {
    require_wide_window(metadata.whole_number(window, 1, UINT32_MAX), config,
                        metadata.where(window));
  }
  return config;
}

}  // namespace tempera::gpu
