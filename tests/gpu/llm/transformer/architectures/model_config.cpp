// What a config.json may say of the decoders beside what is read: published and saved ones pass,
// and whatever might change logits without being computed is refused by its name.
#include <nlohmann/json.hpp>

#include "gpu/llm/transformer/architectures/llama.hpp"
#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "gpu/llm/transformer/architectures/qwen2.hpp"
#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu::model_config_test {

namespace {

nlohmann::json json_of(const std::string& fixture, const std::string& file = "config.json") {
  return nlohmann::json::parse(read_bytes(architecture_fixtures / fixture / file));
}

/// The configuration that the architecture of its model_type reads, as far as all have it.
DecoderConfig configuration_of(const nlohmann::json& document) {
  const JsonObject json(document, "config.json");
  const auto type = json.text("model_type");
  if (type == "llama") return Llama::configuration(json);
  if (type == "qwen2") return Qwen2::configuration(json);
  if (type == "qwen3") return Qwen3::configuration(json);
  if (type == "phi3") return Phi3::configuration(json);
  if (type == "qwen3_5") return Qwen3_5::outer_configuration(json);
  return Qwen3_5::configuration(json);
}

bool are_same(const DecoderConfig& one, const DecoderConfig& other) {
  const auto members = [](const DecoderConfig& config) {
    return std::tie(config.vocab_size, config.hidden_size, config.intermediate_size,
                    config.num_hidden_layers, config.num_attention_heads,
                    config.num_key_value_heads, config.head_dim, config.max_position_embeddings,
                    config.rms_norm_eps, config.rope_theta, config.rope_factors,
                    config.rope_magnitude, config.tie_word_embeddings, config.eos_token_ids);
  };
  return members(one) == members(other);
}

const std::vector<std::string> all_fixtures{"llama_tied", "llama3_scaled", "qwen2",  "qwen3",
                                            "phi3_short", "phi3_long",     "qwen3_5"};

/// A folder of a fixture's config.json, changed, without weights.
void refused_config(const std::string& fixture, const std::function<void(nlohmann::json&)>& edit,
                    std::initializer_list<std::string> parts) {
  const ModelFolder folder("untied_float32");
  folder.write("config.json", read_bytes(architecture_fixtures / fixture / "config.json"));
  folder.edit_json("config.json", edit);
  require_bad_input([&] { Transformer::load(folder.path()); }, parts);
}

}  // namespace

// What the published files of these models say beside the sizes of the fixture.
TEST_CASE("what published configurations say of nothing that changes logits is passed over",
          "[config]") {
  const std::vector<std::pair<std::string, const char*>> published{
      {"llama_tied", R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
        "attention_dropout": 0.0, "bos_token_id": 1, "initializer_range": 0.0416, "pad_token_id": 2,
        "is_llama_config": true, "mlp_bias": false, "pretraining_tp": 1, "rope_interleaved": false,
        "rope_scaling": null, "torch_dtype": "bfloat16", "transformers_version": "4.42.3",
        "transformers.js_config": {"kv_cache_dtype": {"fp16": "float16", "q4f16": "float16"}},
        "use_cache": true})"},                                            // SmolLM2
      {"llama3_scaled", R"({"_name_or_path": "/weights/step_600", "use_cache": false,
        "attention_dropout": 0.0, "mlp_bias": false, "pretraining_tp": 1, "pad_token_id": 0,
        "_attn_implementation_autoset": true, "unsloth_fixed": true})"},  // Tulu 3, Llama 3.2
      {"qwen2", R"({"max_window_layers": 28, "sliding_window": 131072, "use_sliding_window": false,
        "use_mrope": false, "initializer_range": 0.02, "attention_dropout": 0.0})"},  // Qwen2.5, R1
      {"qwen3", R"({"max_window_layers": 28, "sliding_window": null, "attention_bias": false,
        "use_sliding_window": false, "torch_dtype": "bfloat16", "rope_scaling": null})"},
      {"phi3_short", R"({"_name_or_path": "Phi-3.5-mini-instruct", "embd_pdrop": 0.0,
        "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"}, "resid_pdrop": 0.0,
        "attention_bias": false, "sliding_window": 262144})"},
      {"qwen3_5", R"({"attn_output_gate": true, "full_attention_interval": 4,
        "mamba_ssm_dtype": "float32", "mlp_only_layers": [], "mtp_num_hidden_layers": 1,
        "mtp_use_dedicated_embeddings": false, "output_gate_type": "swish"})"}};
  for (const auto& [fixture, said] : published) {
    INFO(fixture);
    auto json = json_of(fixture);
    json.update(nlohmann::json::parse(said));
    CHECK(are_same(configuration_of(json), configuration_of(json_of(fixture))));
  }
  auto text = json_of("qwen3_5");
  nlohmann::json outer = nlohmann::json::parse(
      R"({"architectures": ["Qwen3_5ForConditionalGeneration"], "image_token_id": 4,
        "language_model_only": false, "model_type": "qwen3_5", "tie_word_embeddings": false,
        "transformers_version": "4.57.0.dev0", "video_token_id": 5, "vision_config": {"depth": 12},
        "vision_end_token_id": 6, "vision_start_token_id": 7})");
  outer["text_config"] = text;
  CHECK(are_same(configuration_of(outer), configuration_of(text)));
}

TEST_CASE("what transformers saves of itself is passed over", "[config]") {
  // What version 4 could save of every model besides.
  const auto of_version_4 = nlohmann::json::parse(R"({"_name_or_path": "", "add_cross_attention":
    false, "architectures": null, "bad_words_ids": null, "begin_suppress_tokens": null,
    "chunk_size_feed_forward": 0, "cross_attention_hidden_size": null, "decoder_start_token_id":
    null, "diversity_penalty": 0.0, "do_sample": false, "early_stopping": false,
    "encoder_no_repeat_ngram_size": 0, "exponential_decay_length_penalty": null,
    "finetuning_task": null, "forced_bos_token_id": null, "forced_eos_token_id": null, "id2label":
    {"0": "LABEL_0"}, "is_decoder": false, "is_encoder_decoder": false, "label2id": {"LABEL_0": 0},
    "length_penalty": 1.0, "max_length": 20, "min_length": 0, "no_repeat_ngram_size": 0,
    "num_beam_groups": 1, "num_beams": 1, "num_return_sequences": 1, "output_attentions": false,
    "output_hidden_states": false, "output_scores": false, "prefix": null, "problem_type": null,
    "pruned_heads": {}, "remove_invalid_values": false, "repetition_penalty": 1.0, "return_dict":
    true, "return_dict_in_generate": false, "sep_token_id": null, "suppress_tokens": null,
    "task_specific_params": null, "temperature": 1.0, "tf_legacy_loss": false,
    "tie_encoder_decoder": false, "tokenizer_class": null, "top_k": 50, "top_p": 1.0, "torch_dtype":
    null, "torchscript": false, "typical_p": 1.0, "use_bfloat16": false})");
  for (const auto& fixture : all_fixtures) {
    INFO(fixture);
    auto json = json_of(fixture, "every_attribute.json");
    CHECK(are_same(configuration_of(json), configuration_of(json_of(fixture))));
    json.update(of_version_4);
    CHECK(are_same(configuration_of(json), configuration_of(json_of(fixture))));
  }
}

TEST_CASE("a key of config.json that may change logits is refused by its name", "[config]") {
  for (const auto& fixture : all_fixtures) {
    for (const auto& [key, value] :
         std::map<std::string, nlohmann::json>{{"attn_logit_softcapping", 30.0},
                                               {"final_logit_softcapping", 30.0},
                                               {"logits_scaling", 8.0},
                                               {"is_causal", false},
                                               {"add_cross_attention", true},
                                               {"pruned_heads", {{"0", {1}}}},
                                               {"num_experts", 4},
                                               {"dflash_config", {{"block_size", 8}}},
                                               {"quantization", {{"bits", 4}}},
                                               {"use_mrope", true},
                                               {"lm_head_bias", true},
                                               {"mlp_only_layers", {1}}}) {
      INFO(fixture << " " << key);
      auto json = json_of(fixture);
      json[key] = value;
      require_bad_input([&, document = json] { configuration_of(document); },
                        {"config.json: \"" + key + "\"", "; "});
      json[key] = nullptr;
      CHECK_NOTHROW(configuration_of(json));
    }
  }
  // What another architecture reads is no key of this one.
  const auto refused = [](const std::string& fixture, const std::string& key,
                          const nlohmann::json& value) {
    INFO(fixture << " " << key);
    auto json = json_of(fixture);
    json[key] = value;
    require_bad_input([&] { configuration_of(json); }, {"config.json: \"" + key + "\""});
  };
  refused("llama_tied", "sliding_window", 1023U);
  refused("qwen2", "attention_bias", true);
  refused("qwen3", "original_max_position_embeddings", 512);
  refused("phi3_short", "linear_num_key_heads", 2);
  refused("qwen3_5", "output_gate_type", "sigmoid");
  auto outer = nlohmann::json{{"model_type", "qwen3_5"}, {"text_config", json_of("qwen3_5")}};
  outer["audio_config"] = {{"depth", 2}};
  require_bad_input([&] { configuration_of(outer); }, {"config.json: \"audio_config\""});
}

TEST_CASE("a part of a configuration that is not computed is refused by its name", "[config]") {
  struct Case {
    const char* fixture;
    const char* key;
    nlohmann::json value;
  };
  const nlohmann::json yarn{{"rope_type", "yarn"}, {"factor", 4.0}, {"rope_theta", 1e4}};
  for (const Case& each :
       std::vector<Case>{{"llama_tied", "hidden_act", "gelu"},
                         {"llama_tied", "attention_bias", true},
                         {"llama_tied", "mlp_bias", true},
                         {"llama_tied", "rope_interleaved", true},
                         {"llama_tied", "partial_rotary_factor", 0.5},
                         {"llama_tied", "quantization_config", {{"bits", 4}}},
                         {"llama_tied", "rope_parameters", yarn},
                         {"llama_tied", "layer_types", {"sliding_attention", "full_attention"}},
                         {"llama_tied", "rope_scaling", {{"type", "linear"}, {"factor", 2.0}}},
                         {"olmo2", "layer_types", {"sliding_attention", "full_attention"}},
                         {"olmo2", "sliding_window", 64},
                         {"granite", "sliding_window", 64},
                         {"qwen2", "rope_scaling", {{"type", "yarn"}, {"factor", 4.0}}},
                         {"qwen2", "hidden_act", "relu"},
                         {"qwen3", "attention_bias", true},
                         {"phi3_short", "attention_bias", true},
                         {"phi3_short", "sliding_window", 511},
                         {"phi3_short", "partial_rotary_factor", 0.75},
                         {"phi3_short", "rope_parameters", yarn},
                         {"phi3_short", "original_max_position_embeddings", 0}}) {
    INFO(each.fixture << " " << each.key << ": " << each.value.dump());
    refused_config(each.fixture, [&](auto& json) { json[each.key] = each.value; },
                   {"config.json", each.key});
  }
  // Keys within the scaling, which might change it.
  refused_config("llama3_scaled", [](auto& json) { json["rope_parameters"]["beta"] = 1; },
                 {"rope_parameters", "beta"});
  refused_config("llama3_scaled", [](auto& json) { json["rope_parameters"].erase("factor"); },
                 {"rope_parameters", "factor"});
  refused_config("llama3_scaled",
                 [](auto& json) { json["rope_parameters"]["low_freq_factor"] = 4.0; },
                 {"rope_parameters", "low_freq_factor"});
  refused_config("phi3_short",
                 [](auto& json) { json["rope_parameters"]["short_factor"].push_back(1.0); },
                 {"rope_parameters", "short_factor", "6 factors, not 5"});
}

TEST_CASE("layer_types names each layer once, whatever the family", "[config]") {
  for (const auto& folder : std::filesystem::directory_iterator(architecture_fixtures)) {
    if (!folder.is_directory()) continue;
    const std::string fixture = folder.path().filename();
    const auto written =
        nlohmann::json::parse(read_bytes(architecture_fixtures / fixture / "config.json"));
    const std::size_t layers = written.at("num_hidden_layers").get<std::size_t>();
    for (const std::size_t types : {std::size_t{0}, layers - 1, layers + 1}) {
      INFO(fixture << ": " << types << " types for " << layers << " layers");
      const nlohmann::json all_full(types, "full_attention");
      refused_config(fixture, [&](auto& json) { json["layer_types"] = all_full; },
                     {"config.json", "layer_types"});
    }
  }
}

TEST_CASE("the older spelling of scaled rotary positions means the same", "[config]") {
  const auto config = [](const std::string& fixture, const auto& edit) {
    auto json = nlohmann::json::parse(read_bytes(architecture_fixtures / fixture / "config.json"));
    edit(json);
    return json;
  };
  const auto older = [](nlohmann::json& json) {
    auto rope = json["rope_parameters"];
    json.erase("rope_parameters");
    json["rope_theta"] = rope["rope_theta"];
    rope.erase("rope_theta");
    rope["type"] = rope["rope_type"];
    rope.erase("rope_type");
    json["rope_scaling"] = rope;
  };
  const auto llama = config("llama3_scaled", older);
  CHECK(Llama::configuration(JsonObject(llama, "config.json")).rope_factors ==
        configuration_of(json_of("llama3_scaled")).rope_factors);
  const auto phi3 = config("phi3_short", older);
  const auto read = Phi3::configuration(JsonObject(phi3, "config.json"));
  const auto newer = configuration_of(json_of("phi3_short"));
  CHECK(read.rope_factors == newer.rope_factors);
  CHECK(read.rope_magnitude == newer.rope_magnitude);
  CHECK(read.max_position_embeddings == 512);
  CHECK(read.remark == newer.remark);
  CHECK(read.remark.find("short factors") != std::string::npos);
}

}  // namespace tempera::gpu::model_config_test
