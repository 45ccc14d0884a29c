#include "gpu/llm/transformer/architectures/phi3.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

namespace {

/// Has the first `elements` of a head rotate.
/// @throw BadInput naming `where` unless there are as many, an even number of them
void rotate_in_part(std::size_t elements, const std::string& where, DecoderConfig& config) {
  if (elements < 2 || elements > config.head_dim || elements % 2 != 0) {
    throw BadInput(where,
                   "has " + std::to_string(elements) + " elements of a head rotate, of " +
                       std::to_string(config.head_dim),
                   "use the configuration that belongs to these weights");
  }
  config.rotary_dim = elements == config.head_dim ? 0 : elements;
}

/// Longrope's magnitude if nothing else says it: sqrt(1 + ln(stretch) / ln(original)) for texts
/// `stretch` times as long as the original ones, at least 1.
double longrope_magnitude(double stretch, std::size_t original) {
  if (stretch <= 1.0) return 1.0;
  return std::sqrt(1.0 + std::log(stretch) / std::log(static_cast<double>(original)));
}

double stretch_of(const DecoderConfig& config, std::size_t original) {
  return static_cast<double>(config.max_position_embeddings) / static_cast<double>(original);
}

double read_magnitude(const JsonObject& scaling, const DecoderConfig& config,
                      std::size_t original) {
  if (scaling.has("attention_factor")) return scaling.positive_number("attention_factor");
  return longrope_magnitude(
      scaling.has("factor") ? scaling.positive_number("factor") : stretch_of(config, original),
      original);
}

/// Reads the longest text of the factors for short texts. As in transformers, the key outside the
/// scaling counts; a second one inside it must agree.
std::size_t read_original(const JsonObject& json, const JsonObject& scaling) {
  const std::string key = "original_max_position_embeddings";
  const std::size_t original = json.whole_number(key, 2, largest_position);
  if (scaling.has(key) && scaling.whole_number(key, 2, largest_position) != original) {
    throw BadInput(scaling.where(),
                   in_quotes(key) + " is not the " + std::to_string(original) +
                       " of the key of that name outside it",
                   "give both alike; where the outer one is left out it is 4096");
  }
  return original;
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

std::vector<double> factors_of(const JsonObject& scaling, const std::string& key,
                               const DecoderConfig& config) {
  auto factors = scaling.positive_numbers(key);
  if (factors.size() != rotated_elements(config) / 2) {
    throw BadInput(scaling.where(),
                   "\"" + key + "\" has " + std::to_string(factors.size()) + " factors, not " +
                       std::to_string(rotated_elements(config) / 2) +
                       ", one for each rotary frequency",
                   "use the config.json that belongs to these weights");
  }
  return factors;
}

}  // namespace

DecoderConfig Phi3::configuration(const JsonObject& given, RopeFactors factors) {
  const auto document = with_defaults(given, defaults);
  const JsonObject json(document, given.where());
  require_text(json, "model_type", model_type);
  require_false(json, "attention_bias");
  auto config = read_decoder_config(json, {"attention_bias", "original_max_position_embeddings"});
  const auto rope = read_partial_rope(json, {"longrope"}, 1.0);
  config.rope_theta = rope.theta;
  // As transformers rounds it, down.
  rotate_in_part(static_cast<std::size_t>(static_cast<double>(config.head_dim) * rope.rotation),
                 json.where(), config);
  if (rope.scaling) {
    const auto& scaling = *rope.scaling;
    scaling.only({"rope_type", "type", "rope_theta", "long_factor", "short_factor", "factor",
                  "attention_factor", "original_max_position_embeddings", "partial_rotary_factor"});
    const std::size_t original = read_original(json, scaling);
    config.rope_magnitude = read_magnitude(scaling, config, original);
    choose(factors, original, factors_of(scaling, "short_factor", config),
           factors_of(scaling, "long_factor", config), config);
  }
  require_full_attention(json, config.max_position_embeddings, false);
  return config;
}

DecoderConfig Phi3::configuration(const GgufFile& file, RopeFactors factors) {
  auto config =
      read_decoder_config(file, {"rope.dimension_count", "rope.scaling.original_context_length",
                                 "rope.scaling.attn_factor", "attention.sliding_window"});
  const auto& metadata = file.metadata();
  const std::string rotated = "phi3.rope.dimension_count";
  if (metadata.has(rotated)) {
    rotate_in_part(metadata.whole_number(rotated, 1, largest_head), metadata.where(rotated),
                   config);
  }
  const std::size_t elements = rotated_elements(config);
  auto of_short_texts = read_rope_factors(file, std::string(gguf_factors[0]), elements);
  auto of_long_texts = read_rope_factors(file, std::string(gguf_factors[1]), elements);
  const std::string magnitude = "phi3.rope.scaling.attn_factor";
  const bool has_magnitude = metadata.has(magnitude);
  if (has_magnitude) config.rope_magnitude = metadata.finite_number(magnitude);
  if (!of_short_texts.empty() || !of_long_texts.empty()) {
    if (of_short_texts.empty() || of_long_texts.empty()) {
      throw BadInput(metadata.file(), "has not both sets of factors of longrope",
                     "convert the model again");
    }
    const std::string longest = "phi3.rope.scaling.original_context_length";
    const std::size_t original = metadata.has(longest)
                                     ? metadata.whole_number(longest, 2, largest_position)
                                     : config.max_position_embeddings;
    // llama.cpp takes 1 for it, which the model was not trained with.
    if (!has_magnitude && longrope_magnitude(stretch_of(config, original), original) != 1.0) {
      throw BadInput(metadata.where(magnitude),
                     "is missing, and the texts of the model are longer than the original ones",
                     "convert the model again, with a newer converter");
    }
    choose(factors, original, std::move(of_short_texts), std::move(of_long_texts), config);
  }
  require_full_attention(metadata, config.max_position_embeddings);
  return config;
}

}  // namespace tempera::gpu
