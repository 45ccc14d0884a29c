#include "gpu/llm/transformer/architectures/gpt_oss.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/llm/transformer/architectures/qwen3_moe.hpp"
#include "gpu/llm/transformer/architectures/rope_scaling.hpp"

namespace tempera::gpu {

namespace {

constexpr double theta_of_gpt_oss = 150000.0;
constexpr std::size_t window_period = 2;
/// The rotary positions of GptOssConfig where a configuration describes none.
constexpr const char* usual_rope =
    R"({"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
        "truncate": false, "original_max_position_embeddings": 4096})";

/// Refuses a key that says another number than the one that is computed with; transformers reads
/// only the latter.
void require_same(const JsonObject& json, const char* key, double number, const char* as) {
  if (!json.has(key) || json.finite_number(key) == number) return;
  throw BadInput(json.where(), in_quotes(key) + " and " + in_quotes(as) + " are not the same",
                 "remove one of the two");
}

void require_biases(const JsonObject& json) {
  if (json.boolean("attention_bias")) return;
  throw BadInput(json.where(), "\"attention_bias\" is false",
                 "only true is supported; choose a model with it");
}

/// The gate of the published models, which a GGUF file says nothing of.
constexpr ClampedGate usual_gate{1.702F, 7.0F};

double positive_scaling(const GgufMetadata& metadata, const std::string& key, double otherwise) {
  if (!metadata.has(key)) return otherwise;
  const double value = metadata.finite_number(key);
  if (value > 0.0) return value;
  throw BadInput(metadata.where(key), "is not above 0", "convert the model again");
}

void require_scaling(const GgufMetadata& metadata, const std::string& key, double only) {
  if (!metadata.has(key) || metadata.finite_number(key) == only) return;
  throw BadInput(metadata.where(key), "asks for a part that is not computed here",
                 "choose a model without it");
}

void read_yarn(const GgufMetadata& metadata, DecoderConfig& config) {
  const auto key = [&](const char* name) {
    return key_of(metadata, std::string("rope.scaling.") + name);
  };
  require_scaling(metadata, key("yarn_ext_factor"), 1.0);
  require_scaling(metadata, key("yarn_log_multiplier"), 0.0);
  const double factor = positive_scaling(metadata, key("factor"), 1.0);
  if (factor == 1.0) return;
  if (!metadata.has(key("type")) || metadata.text(key("type")) != "yarn") {
    throw BadInput(metadata.where(key("type")), "is not \"yarn\", and positions are scaled",
                   "convert the model again, or choose another");
  }
  const std::string length = key("original_context_length");
  const std::size_t original = metadata.has(length)
                                   ? metadata.whole_number(length, 1, largest_position)
                                   : config.max_position_embeddings;
  auto scaling = yarn_scaling({factor, static_cast<double>(original),
                               positive_scaling(metadata, key("yarn_beta_fast"), 32.0),
                               positive_scaling(metadata, key("yarn_beta_slow"), 1.0)},
                              config.rope_theta, config.head_dim, metadata.file());
  config.rope_factors = std::move(scaling.factors);
  config.rope_magnitude = scaling.magnitude;
}

}  // namespace

DecoderConfig GptOss::configuration(const JsonObject& given) {
  auto document = with_defaults(given, defaults);
  if (!given.has("rope_parameters") && !given.has("rope_scaling"))
    document["rope_scaling"] = nlohmann::json::parse(usual_rope);
  const JsonObject json(document, given.where());
  require_text(json, "model_type", model_type);
  require_biases(json);
  auto config = read_decoder_config(
      json, {"attention_bias", "experts_per_token", "initial_context_length", "num_experts",
             "num_experts_per_tok", "num_local_experts", "swiglu_alpha", "swiglu_limit",
             // what training adds to its loss, and what others give back
             "output_router_logits", "router_aux_loss_coef"});
  const auto rope = read_rope(json, {"yarn"}, theta_of_gpt_oss);
  set_rope(config, rope);
  if (rope.scaling) {
    const char* const original = "original_max_position_embeddings";
    require_same(json, "initial_context_length", rope.scaling->positive_number(original), original);
  }
  set_windows(config,
              read_sliding_layers(json, config.num_hidden_layers,
                                  all_but_every(window_period, config.num_hidden_layers)),
              read_window(json));
  ExpertsConfig experts;
  experts.experts = read_expert_number(json);
  experts.chosen = json.whole_number("num_experts_per_tok", 1, experts.experts);
  require_same(json, "experts_per_token", static_cast<double>(experts.chosen),
               "num_experts_per_tok");
  experts.inner = config.intermediate_size;
  experts.renormalises = true;
  experts.layers.assign(config.num_hidden_layers, true);
  experts.clamped = {static_cast<float>(json.positive_number("swiglu_alpha")),
                     static_cast<float>(json.positive_number("swiglu_limit"))};
  config.experts = std::move(experts);
  return config;
}

DecoderConfig GptOss::configuration(const GgufFile& file) {
  const auto& metadata = file.metadata();
  auto config = read_decoder_config(
      file, {"attention.sliding_window", "attention.sliding_window_pattern", "expert_count",
             "expert_feed_forward_length", "expert_used_count", "rope.scaling.factor"});
  read_yarn(metadata, config);
  const std::string window = key_of(metadata, "attention.sliding_window");
  set_windows(config, read_sliding_layers(metadata, config.num_hidden_layers, window_period),
              metadata.whole_number(window, 0, UINT32_MAX));
  config.experts = read_experts(file, config);
  config.experts->clamped = usual_gate;
  return config;
}

}  // namespace tempera::gpu
