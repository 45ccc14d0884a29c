#include "gpu/transformer/architectures/model_config.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace tempera::gpu {

namespace {

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

/// What asks for nothing at this value, and for another model at any other.
struct NeutralValue {
  const char* key;
  const char* json;
};
constexpr std::array neutral_values{NeutralValue{"add_cross_attention", "false"},
                                    NeutralValue{"is_causal", "true"},
                                    NeutralValue{"is_encoder_decoder", "false"},
                                    NeutralValue{"lm_head_bias", "false"},
                                    NeutralValue{"mlp_bias", "false"},
                                    NeutralValue{"mlp_only_layers", "[]"},
                                    NeutralValue{"pruned_heads", "{}"},
                                    NeutralValue{"rope_interleaved", "false"},
                                    NeutralValue{"tie_encoder_decoder", "false"},
                                    NeutralValue{"use_mrope", "false"}};

template <class List>
bool is_in(const List& list, const std::string& key) {
  return std::find(list.begin(), list.end(), key) != list.end();
}

/// The type of the rotary positions, under its key or the oldest one, which is `type`.
std::string rope_type(const JsonObject& rope, std::initializer_list<std::string_view> scalings) {
  std::string type = "default";
  for (const char* key : {"rope_type", "type"}) {
    if (!rope.has(key)) continue;
    type = rope.text(key);
    if (type != "default" && std::find(scalings.begin(), scalings.end(), type) == scalings.end()) {
      std::string names = "\"default\"";
      for (const auto scaling : scalings) names += " or " + in_quotes(scaling);
      throw BadInput(rope.where(), in_quotes(key) + " is " + in_quotes(type),
                     "only " + names + " is supported; choose a model that has it");
    }
  }
  return type;
}

void require_whole_rotation(const JsonObject& config) {
  const std::string key = "partial_rotary_factor";
  if (config.has(key) && config.finite_number(key) != 1.0) {
    throw BadInput(config.where(), in_quotes(key) + " is not 1",
                   "only heads that are rotated whole are supported; choose another model");
  }
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
                                      [&](const NeutralValue& value) { return value.key == key; });
    if (neutral == neutral_values.end()) {
      throw BadInput(
          config.where(), in_quotes(key) + " may ask for a part that is not computed here",
          "choose a model without it, or remove the key if its logits do not depend on it");
    }
    if (config.at(key) != nlohmann::json::parse(neutral->json)) {
      throw BadInput(config.where(), in_quotes(key) + " is not " + neutral->json,
                     "only that is supported; choose a model that has it");
    }
  }
}

void require_unquantised(const JsonObject& config) {
  if (config.has("quantization_config")) {
    throw BadInput(config.where(), "\"quantization_config\" is set",
                   "only F32, BF16 and F16 weights are supported; choose the unquantised model");
  }
}

void require_full_attention(const JsonObject& config) {
  require_false(config, "use_sliding_window");
  if (!config.has("layer_types")) return;
  for (const auto& type : config.array("layer_types")) {
    if (type != "full_attention") {
      throw BadInput(
          config.where(), "\"layer_types\" names " + in_quotes(type.dump(-1, ' ', true)),
          "only \"full_attention\" is supported; choose a model without sliding windows");
    }
  }
}

RopeParameters read_rope(const JsonObject& config,
                         std::initializer_list<std::string_view> scalings) {
  require_whole_rotation(config);
  RopeParameters result{0.0, "default", std::nullopt};
  const auto take = [&](const JsonObject& rope) {
    require_whole_rotation(rope);
    const auto type = rope_type(rope, scalings);
    if (type == "default") return;
    if (result.scaling) {
      throw BadInput(config.where(), "\"rope_scaling\" and \"rope_parameters\" both scale",
                     "remove the first of the two");
    }
    result.type = type;
    result.scaling = rope;
  };
  if (config.has("rope_scaling")) take(config.object("rope_scaling"));
  if (config.has("rope_parameters")) {
    const auto rope = config.object("rope_parameters");
    take(rope);
    result.theta = rope.positive_number("rope_theta");
  } else {
    result.theta = config.positive_number("rope_theta");
  }
  return result;
}

double read_rope_theta(const JsonObject& config) { return read_rope(config, {}).theta; }

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
