#include "gpu/llm/transformer/architectures/model_config.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace tempera::gpu {

namespace {

constexpr const char* window_key = "sliding_window";

/// What says nothing of how logits come about.
constexpr std::array keys_of_no_logits{
    // names, versions, types of the stored weights
    "_commit_hash", "_from_model_config", "_name_or_path", "architectures", "auto_map", "dtype",
    "is_llama_config", "tokenizer_class", "torch_dtype", "transformers.js_config",
    "transformers_version", "unsloth_fixed", "unsloth_version",
    // numbers of tokens, and those that end a text
    "bos_token_id", "decoder_start_token_id", "eos_token_id", "forced_bos_token_id",
    "forced_eos_token_id", "pad_token_id", "prefix", "sep_token_id",
    // training
    "attention_dropout", "classifier_dropout", "embd_pdrop", "finetuning_task",
    "gradient_checkpointing", "id2label", "initializer_range", "label2id", "neftune_noise_alpha",
    "problem_type", "resid_pdrop", "task_specific_params", "tf_legacy_loss",
    // how others run the same sums
    "_attn_implementation", "_attn_implementation_autoset", "_attn_implementation_internal",
    "_flash_attn_2_enabled", "attn_implementation", "chunk_size_feed_forward", "is_decoder",
    "pretraining_tp", "torchscript", "use_bfloat16", "use_cache",
    // what others give back
    "output_attentions", "output_hidden_states", "output_scores", "return_dict",
    "return_dict_in_generate",
    // the defaults of older versions' generation
    "bad_words_ids", "begin_suppress_tokens", "diversity_penalty", "do_sample", "early_stopping",
    "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty", "length_penalty",
    "max_length", "max_sequence_length", "min_length", "no_repeat_ngram_size", "num_beam_groups",
    "num_beams", "num_return_sequences", "remove_invalid_values", "repetition_penalty",
    "suppress_tokens", "temperature", "top_k", "top_p", "typical_p"};

/// A key that asks for nothing at these values, and for another model at any other.
struct NeutralValues {
  const char* key;
  const char* json;  // a list of them
};
constexpr std::array neutral_values{NeutralValues{"add_cross_attention", "[false]"},
                                    NeutralValues{"alibi", "[false]"},
                                    NeutralValues{"attention_out_bias", "[false]"},
                                    NeutralValues{"attn_logit_softcapping", "[0]"},
                                    NeutralValues{"clip_qkv", "[0]"},
                                    NeutralValues{"embedding_multiplier", "[1]"},
                                    NeutralValues{"final_logit_softcapping", "[0]"},
                                    NeutralValues{"first_k_dense_replace", "[0]"},
                                    NeutralValues{"full_attn_mod", "[1]"},
                                    NeutralValues{"interpolate_factor", "[1]"},
                                    NeutralValues{"is_causal", "[true]"},
                                    NeutralValues{"is_encoder_decoder", "[false]"},
                                    NeutralValues{"lm_head_bias", "[false]"},
                                    NeutralValues{"logit_scale", "[1]"},
                                    NeutralValues{"logits_scaling", "[1]"},
                                    NeutralValues{"mlp_bias", "[false]"},
                                    NeutralValues{"mlp_only_layers", "[[]]"},
                                    NeutralValues{"moe_intermediate_size", "[0]"},
                                    NeutralValues{"mtp_num_hidden_layers", "[0]"},
                                    NeutralValues{"n_routed_experts", "[0]"},
                                    NeutralValues{"n_shared_experts", "[0]"},
                                    NeutralValues{"num_experts", "[0]"},
                                    NeutralValues{"num_experts_per_tok", "[0]"},
                                    NeutralValues{"num_local_experts", "[0]"},
                                    NeutralValues{"num_nextn_predict_layers", "[0]"},
                                    NeutralValues{"pruned_heads", "[{}]"},
                                    NeutralValues{"qk_layernorm", "[false]"},
                                    NeutralValues{"quantization", "[{}]"},
                                    NeutralValues{"residual_multiplier", "[1]"},
                                    NeutralValues{"rope_interleaved", "[false]"},
                                    NeutralValues{"rotary_pct", "[1]"},
                                    NeutralValues{"tie_encoder_decoder", "[false]"},
                                    NeutralValues{"use_bias", "[false]"},
                                    NeutralValues{"use_mrope", "[false]"},
                                    NeutralValues{"use_parallel_residual", "[false]"},
                                    NeutralValues{"use_qk_norm", "[false]"}};

template <class List, class Element>
bool is_in(const List& list, const Element& element) {
  return std::find(list.begin(), list.end(), element) != list.end();
}

/// The type of the rotary positions, under its key or the oldest one, which is `type`; longrope
/// was once called "su".
std::string rope_type(const JsonObject& rope) {
  std::string type = "default";
  bool is_said = false;
  for (const char* key : {"rope_type", "type"}) {
    if (!rope.has(key)) continue;
    std::string said = rope.text(key);
    if (said == "su") said = "longrope";
    if (is_said && said != type) {
      throw BadInput(rope.where(), "\"rope_type\" and \"type\" are not the same",
                     "remove one of the two");
    }
    type = said;
    is_said = true;
  }
  return type;
}

void require_type(const JsonObject& rope, const std::string& type,
                  std::initializer_list<std::string_view> scalings) {
  if (std::find(scalings.begin(), scalings.end(), type) != scalings.end()) return;
  std::string names = "\"default\"";
  for (const auto scaling : scalings) names += " or " + in_quotes(scaling);
  throw BadInput(rope.where(),
                 in_quotes(rope.has("rope_type") ? "rope_type" : "type") + " is " + in_quotes(type),
                 "only " + names + " is supported; choose a model that has it");
}

bool is_one(const JsonObject& rope, const std::string& key) {
  return rope.finite_number(key) == 1.0;
}

/// Whether rotary positions are unscaled, either by their type or by a factor of 1. `mrope_section`
/// and `mrope_interleaved` tell apart the axes of images, which agree at every position of a text.
/// @throw BadInput for a key that may scale them all the same
bool is_unscaled(const JsonObject& rope, const std::string& type) {
  const bool is_default = type == "default" || type == "none";
  constexpr std::array<std::string_view, 4> by_factor{"linear", "dynamic", "yarn", "llama3"};
  if (!is_default) {
    if (std::find(by_factor.begin(), by_factor.end(), type) == by_factor.end()) return false;
    if (!rope.has("factor") || !is_one(rope, "factor")) return false;
    if (rope.has("attention_factor") && !is_one(rope, "attention_factor")) return false;
  }
  for (const auto& key : rope.keys()) {
    constexpr std::array<std::string_view, 14> without_effect{"rope_type",
                                                              "type",
                                                              "rope_theta",
                                                              "partial_rotary_factor",
                                                              "original_max_position_embeddings",
                                                              "beta_fast",
                                                              "beta_slow",
                                                              "finetuned",
                                                              "high_freq_factor",
                                                              "low_freq_factor",
                                                              "mrope_interleaved",
                                                              "mrope_section",
                                                              "mscale",
                                                              "mscale_all_dim"};
    if (!rope.has(key) || is_in(without_effect, key)) continue;
    if ((key == "factor" || key == "attention_factor") && is_one(rope, key)) continue;
    throw BadInput(rope.where(),
                   in_quotes(key) + " may scale rotary positions of the type " + in_quotes(type) +
                       ", which are not scaled",
                   "remove it, or use the config.json that belongs to these weights");
  }
  return true;
}

/// Reads a number from the description of rotary positions or from outside it; both must agree.
std::optional<double> positive_inside_or_outside(const std::string& key, const JsonObject& config,
                                                 const JsonObject* rope) {
  std::optional<double> number;
  if (config.has(key)) number = config.positive_number(key);
  if (rope == nullptr || !rope->has(key)) return number;
  const double inner = rope->positive_number(key);
  if (number && *number != inner) {
    throw BadInput(config.where(), in_quotes(key) + " is given twice, and not the same",
                   "remove one of the two");
  }
  return inner;
}

/// The base of rotary positions.
double theta_of(const JsonObject& config, const JsonObject* rope, double usual) {
  return positive_inside_or_outside("rope_theta", config, rope).value_or(usual);
}

/// The description with its type under one name and with its base, so that two can be compared.
nlohmann::json in_one_spelling(const JsonObject& config, const JsonObject& rope,
                               double usual_theta) {
  nlohmann::json result;
  for (const auto& key : rope.keys())
    if (rope.has(key)) result[key] = rope.at(key);
  result.erase("type");
  result["rope_type"] = rope_type(rope);
  result["rope_theta"] = theta_of(config, &rope, usual_theta);
  return result;
}

}  // namespace

std::string read_model_type(const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  const auto document = read_json_file(file);
  return JsonObject(document, file.string()).text("model_type");
}

void require_text(const JsonObject& config, const std::string& key, const std::string& only) {
  const auto text = config.text(key);
  if (text != only) {
    throw BadInput(config.where(), in_quotes(key) + " is " + in_quotes(text),
                   "only " + in_quotes(only) + " is supported; choose a model that has it");
  }
}

void require_false(const JsonObject& config, const std::string& key) {
  if (config.boolean_or(key, false)) {
    throw BadInput(config.where(), in_quotes(key) + " is true",
                   "only false is supported; choose a model without it");
  }
}

void require_known_keys(const JsonObject& config, std::span<const std::string_view> read,
                        std::initializer_list<std::string_view> others) {
  for (const auto& key : config.keys()) {
    if (!config.has(key) || is_in(read, key) || is_in(others, key) ||
        is_in(keys_of_no_logits, key)) {
      continue;
    }
    const auto neutral = std::find_if(neutral_values.begin(), neutral_values.end(),
                                      [&](const NeutralValues& each) { return each.key == key; });
    if (neutral == neutral_values.end()) {
      throw BadInput(
          config.where(), in_quotes(key) + " may ask for a part that is not computed here",
          "choose a model without it, or remove the key if its logits do not depend on it");
    }
    if (!is_in(nlohmann::json::parse(neutral->json), config.at(key))) {
      const std::string values = neutral->json;
      throw BadInput(config.where(),
                     in_quotes(key) + " is not " + values.substr(1, values.size() - 2),
                     "only that is supported; choose a model that has it");
    }
  }
}

void require_unquantised(const JsonObject& config) {
  if (config.has("quantization_config")) {
    throw BadInput(config.where(), "\"quantization_config\" is set",
                   "choose the unquantised model, or a GGUF file of it");
  }
}

std::size_t read_window(const JsonObject& config, std::size_t least) {
  return config.has(window_key) ? config.whole_number(window_key, least, UINT32_MAX) : 0;
}

namespace {

void require_type_of_each_layer(const JsonObject& config, std::size_t types, std::size_t layers) {
  if (types == layers) return;
  throw BadInput(config.where(),
                 "\"layer_types\" has " + std::to_string(types) + " types for " +
                     std::to_string(layers) + " layers",
                 "use the config.json that belongs to these weights");
}

}  // namespace

void require_full_attention(const JsonObject& config, std::size_t longest, bool is_switched) {
  const std::size_t window = read_window(config);
  const bool is_narrow = window != 0 && window < longest;
  const auto refuse = [&](const std::string& fault) {
    throw BadInput(config.where(), fault,
                   "only full attention is supported; choose a model without sliding windows");
  };
  const std::string narrow = in_quotes(window_key) + " is " + std::to_string(window) +
                             ", shorter than the longest text of " + std::to_string(longest) +
                             " tokens";
  const bool is_used = config.boolean_or("use_sliding_window", !is_switched);
  if (!config.has("layer_types")) {
    const std::string first = "max_window_layers";
    // The layers before this one attend to the whole text.
    const bool is_beyond =
        config.has(first) && config.whole_number(first, 0, UINT32_MAX) >=
                                 config.whole_number("num_hidden_layers", 1, UINT32_MAX);
    if (is_used && is_narrow && !(is_switched && is_beyond)) refuse(narrow);
    return;
  }
  if (is_used && is_narrow && !is_switched) refuse(narrow);
  const auto& types = config.array("layer_types");
  require_type_of_each_layer(config, types.size(),
                             config.whole_number("num_hidden_layers", 1, UINT32_MAX));
  for (const auto& type : types) {
    if (type == "full_attention") continue;
    if (type != "sliding_attention" || window < longest)
      refuse("\"layer_types\" names " + in_quotes(type.dump(-1, ' ', true)));
  }
}

std::vector<bool> read_sliding_layers(const JsonObject& config, std::size_t layers,
                                      std::vector<bool> otherwise) {
  const std::string key = "layer_types";
  if (!config.has(key)) return otherwise;
  const auto types = config.texts(key);
  require_type_of_each_layer(config, types.size(), layers);
  std::vector<bool> sliding;
  for (const auto& type : types) {
    if (type != "full_attention" && type != "sliding_attention") {
      throw BadInput(config.where(), in_quotes(key) + " names " + in_quotes(type),
                     "only full and sliding attention are supported; choose another model");
    }
    sliding.push_back(type == "sliding_attention");
  }
  return sliding;
}

RopeParameters read_partial_rope(const JsonObject& config,
                                 std::initializer_list<std::string_view> scalings,
                                 double usual_rotation, double usual_theta) {
  std::optional<JsonObject> rope;
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (!config.has(key) || config.object(key).keys().empty()) continue;
    const auto read = config.object(key);
    if (rope &&
        in_one_spelling(config, *rope, usual_theta) != in_one_spelling(config, read, usual_theta)) {
      throw BadInput(config.where(), "\"rope_scaling\" and \"rope_parameters\" are not the same",
                     "remove one of the two");
    }
    rope = read;
  }
  const JsonObject* const inner = rope ? &*rope : nullptr;
  RopeParameters result{theta_of(config, inner, usual_theta), "default", std::nullopt,
                        usual_rotation};
  if (const auto rotation = positive_inside_or_outside("partial_rotary_factor", config, inner))
    result.rotation = *rotation;
  if (!rope) return result;
  const auto type = rope_type(*rope);
  if (is_unscaled(*rope, type)) return result;
  require_type(*rope, type, scalings);
  result.type = type;
  result.scaling = rope;
  return result;
}

RopeParameters read_rope(const JsonObject& config, std::initializer_list<std::string_view> scalings,
                         double usual_theta) {
  auto result = read_partial_rope(config, scalings, 1.0, usual_theta);
  if (result.rotation != 1.0) {
    throw BadInput(config.where(), "\"partial_rotary_factor\" is not 1",
                   "only heads that are rotated whole are supported; choose another model");
  }
  return result;
}

nlohmann::json rope_of_layers(const JsonObject& config, const std::string& type) {
  auto result = nlohmann::json::object();
  for (const char* key : {"rope_theta", "rope_scaling", "rope_parameters"})
    if (config.has(key)) result[key] = config.at(key);
  const std::string key = "rope_parameters";
  if (!config.has(key)) return result;
  const auto all = config.object(key);
  if (!all.has("full_attention") && !all.has("sliding_attention")) return result;
  all.only({"full_attention", "sliding_attention"});
  result.erase(key);
  if (all.has(type)) result[key] = all.at(type);
  return result;
}

double read_rope_theta(const JsonObject& config) { return read_rope(config, {}).theta; }

nlohmann::json with_defaults(const JsonObject& config, std::span<const DefaultValue> defaults) {
  auto result = nlohmann::json::object();
  for (const auto& key : config.keys())
    result[key] = config.has(key) ? config.at(key) : nlohmann::json();
  for (const auto& [key, json] : defaults)
    if (!result.contains(key)) result[key] = nlohmann::json::parse(json);
  return result;
}

std::vector<std::uint32_t> read_named_ends(const JsonObject& config, std::size_t vocabulary_size) {
  const std::string key = "eos_token_id";
  std::vector<std::uint32_t> ids;
  if (!config.has(key)) return ids;
  const auto append = [&](const nlohmann::json& id) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= vocabulary_size) {
      throw BadInput(config.where(), in_quotes(key) + " is not a token below vocab_size",
                     "give the number of a token, or a list of them");
    }
    ids.push_back(id.get<std::uint32_t>());
  };
  const auto& value = config.at(key);
  if (value.is_array()) {
    std::for_each(value.begin(), value.end(), append);
  } else {
    append(value);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace tempera::gpu
