#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/architectures/qwen3_folder.hpp"

namespace tempera::gpu {

namespace {

DecoderConfig read_with(const std::function<void(nlohmann::json&)>& edit) {
  const ModelFolder folder("untied_float32");
  folder.edit_json("config.json", edit);
  return read_qwen3_config(folder.path());
}

}  // namespace

TEST_CASE("config.json is read in both spellings of the rotary positions", "[config]") {
  const auto newer = read_qwen3_config(qwen3_fixtures / "untied_float32");
  CHECK(newer.vocab_size == 50);
  CHECK(newer.hidden_size == 32);
  CHECK(newer.intermediate_size == 48);
  CHECK(newer.num_hidden_layers == 3);
  CHECK(newer.num_attention_heads == 4);
  CHECK(newer.num_key_value_heads == 2);
  CHECK(newer.head_dim == 16);
  CHECK(newer.max_position_embeddings == 64);
  CHECK(newer.rms_norm_eps == 1e-6);
  CHECK(newer.rope_theta == 1000.0);
  CHECK_FALSE(newer.tie_word_embeddings);
  CHECK(newer.eos_token_ids == std::vector<std::uint32_t>{3, 49});
  const auto older = read_qwen3_config(qwen3_fixtures / "tied_bfloat16_sharded");
  CHECK(older.rope_theta == 1000.0);
  CHECK(older.tie_word_embeddings);
}

TEST_CASE("what config.json leaves out has the architecture's meaning", "[config]") {
  CHECK(read_with([](auto& config) { config.erase("head_dim"); }).head_dim == 128);
  CHECK(read_with([](auto& config) {
          config["rope_scaling"] = {{"rope_type", "default"}, {"rope_theta", 1000.0}};
          config["sliding_window"] = 4096;
          config["use_sliding_window"] = false;
        }).rope_theta == 1000.0);
}

TEST_CASE("a configuration that the architecture does not compute is refused by its key",
          "[config]") {
  struct Case {
    const char* key;
    nlohmann::json value;
  };
  for (const auto& [key, value] :
       std::vector<Case>{{"model_type", "qwen2"},
                         {"model_type", 3},
                         {"hidden_act", "gelu"},
                         {"attention_bias", true},
                         {"attention_bias", "no"},
                         {"layer_types", {"full_attention", "chunked_attention", "full_attention"}},
                         {"layer_types", "full_attention"},
                         {"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}}},
                         {"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}},
                         {"rope_scaling", 2},
                         {"rope_parameters", {{"rope_type", "llama3"}, {"rope_theta", 1e4}}},
                         {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", -1}}},
                         {"quantization_config", {{"bits", 4}}},
                         {"vocab_size", 0},
                         {"vocab_size", 262145},
                         {"vocab_size", -5},
                         {"vocab_size", 1.5},
                         {"hidden_size", "32"},
                         {"hidden_size", nullptr},
                         {"num_hidden_layers", 1000000},
                         {"num_key_value_heads", 3},
                         {"num_key_value_heads", 8},
                         {"head_dim", 15},
                         {"max_position_embeddings", 1e30},
                         {"rms_norm_eps", 0.0},
                         {"tie_word_embeddings", 1},
                         {"eos_token_id", 50},
                         {"eos_token_id", {1, -1}},
                         {"eos_token_id", "</s>"}}) {
    INFO(key << ": " << value.dump());
    require_bad_input([&] { read_with([&](auto& config) { config[key] = value; }); },
                      {"config.json", key});
  }
}

TEST_CASE("a config.json that is not one JSON object is refused", "[config]") {
  const ModelFolder folder("untied_float32");
  const auto read = [&] { Transformer::load(folder.path()); };
  for (const char* text : {"", "[]", "{", "{}x", "{\"model_type\": \"\xFF\"}", "nul", "1e999"}) {
    INFO(text);
    folder.write("config.json", text);
    require_bad_input(read, {"config.json"});
  }
  folder.write("config.json", R"({"model_type": "qwen3", "model_type": "qwen3"})");
  require_bad_input(read, {"config.json", "model_type", "twice"});
  folder.write("config.json", std::string(100000, '['));
  require_bad_input(read, {"config.json", "nested"});
  std::filesystem::remove(folder.path() / "config.json");
  require_bad_input(read, {"config.json", "cannot be read"});
  std::filesystem::create_directory(folder.path() / "config.json");
  require_bad_input(read, {"config.json", "cannot be read"});
}

}  // namespace tempera::gpu
