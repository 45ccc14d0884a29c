// Reads configurations of Gemma 3, Mistral, SmolLM3, OLMo 3 and Granite as their folders write
// them, and refuses the rest.
#include <cmath>

#include "gpu/llm/transformer/architectures/gemma3.hpp"
#include "gpu/llm/transformer/architectures/granite.hpp"
#include "gpu/llm/transformer/architectures/ministral3.hpp"
#include "gpu/llm/transformer/architectures/mistral.hpp"
#include "gpu/llm/transformer/architectures/olmo2.hpp"
#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "gpu/llm/transformer/architectures/smollm3.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/decoder_gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"

namespace tempera::gpu::variant_configs_test {

namespace {

using nlohmann::json;
using Rotation = LayerAttention::Rotation;

json fixture(const std::string& name) {
  return json::parse(read_bytes(architecture_fixtures / name / "config.json"));
}

template <class Model>
DecoderConfig read(const json& given) {
  const auto document = json::parse(given.dump());
  return Model::configuration(JsonObject(document, "config.json"));
}

DecoderConfig read_outer(const json& given) {
  const auto document = json::parse(given.dump());
  return Gemma3::outer_configuration(JsonObject(document, "config.json"));
}

template <class Model>
void refused(const std::string& name, const std::string& key, const json& value) {
  INFO(name << " " << key);
  auto document = fixture(name);
  document[key] = value;
  require_bad_input([&] { read<Model>(document); }, {"config.json", key});
}

}  // namespace

TEST_CASE("Gemma 3's embeddings are scaled as their type rounds the root", "[config][variant]") {
  auto document = fixture("gemma3");
  document["hidden_size"] = 640;
  CHECK(read<Gemma3>(document).embedding_scale == static_cast<double>(std::sqrt(640.0f)));
  document["dtype"] = "bfloat16";
  CHECK(read<Gemma3>(document).embedding_scale == 25.25);
  document.erase("dtype");
  document["torch_dtype"] = "bfloat16";
  CHECK(read<Gemma3>(document).embedding_scale == 25.25);
  refused<Gemma3>("gemma3", "dtype", "float16");
}

TEST_CASE("Gemma 3 says its layers and bases in two spellings", "[config][variant]") {
  // Google's folders say it so.
  json document{{"model_type", "gemma3_text"},
                {"hidden_size", 640},
                {"intermediate_size", 2048},
                {"num_hidden_layers", 7},
                {"num_attention_heads", 4},
                {"num_key_value_heads", 1},
                {"max_position_embeddings", 32768},
                {"rope_theta", 1000000.0},
                {"rope_local_base_freq", 10000.0},
                {"rope_scaling", nullptr},
                {"sliding_window", 512},
                {"_sliding_window_pattern", 6},
                {"query_pre_attn_scalar", 256},
                {"cache_implementation", "hybrid"},
                {"torch_dtype", "bfloat16"},
                {"vocab_size", 262144}};
  const auto config = read<Gemma3>(document);
  CHECK(config.rope_theta == 1e6);
  CHECK(config.local_rope_theta == 1e4);
  CHECK(config.rope_factors.empty());
  CHECK(config.stored_vocabulary == 0);
  CHECK(config.tie_word_embeddings);
  REQUIRE(config.layer_attention.size() == 7);
  for (std::size_t layer = 0; layer < 7; ++layer) {
    INFO(layer);
    const bool slides = layer != 5;
    CHECK(config.layer_attention[layer].window == (slides ? 512 : 0));
    CHECK(config.layer_attention[layer].rotation == (slides ? Rotation::local : Rotation::usual));
  }
  document["rope_scaling"] = {{"factor", 8.0}, {"rope_type", "linear"}};
  CHECK(read<Gemma3>(document).rope_factors == std::vector<double>(128, 8.0));
  CHECK(read<Gemma3>(document).local_rope_theta == 1e4);
  document["rope_scaling"] = {{"factor", 8.0}, {"rope_type", "dynamic"}};
  require_bad_input([&] { read<Gemma3>(document); }, {"config.json", "dynamic"});
  refused<Gemma3>("gemma3", "final_logit_softcapping", 30.0);
  refused<Gemma3>("gemma3", "attn_logit_softcapping", 50.0);
  refused<Gemma3>("gemma3", "use_bidirectional_attention", true);
  refused<Gemma3>("gemma3", "hidden_activation", "gelu");
  refused<Gemma3>("gemma3", "layer_types", {"full_attention"});
  refused<Gemma3>("gemma3", "vocab_size", 300000);
}

TEST_CASE("of a Gemma 3 that sees images the text model and the tokens of texts are computed",
          "[config][variant]") {
  auto text = fixture("gemma3");
  text["vocab_size"] = 262208;
  text.erase("dtype");
  json document{{"model_type", "gemma3"},
                {"torch_dtype", "bfloat16"},
                {"eos_token_id", {1, 106}},
                {"mm_tokens_per_image", 256},
                {"vision_config", {{"hidden_size", 1152}}},
                {"text_config", text}};
  document["text_config"].erase("eos_token_id");
  const auto config = read_outer(document);
  CHECK(config.vocab_size == 262144);
  CHECK(config.stored_vocabulary == 262208);
  CHECK(config.eos_token_ids == std::vector<std::uint32_t>{1, 106});
  CHECK(config.embedding_scale == 6.3125);  // sqrt(40) in bfloat16
  CHECK(config.remark.find("images are not seen") != std::string::npos);
  CHECK(config.remark.find("the first 262144 tokens alone") != std::string::npos);
  // The text's own keys come before those of both models.
  document["text_config"]["eos_token_id"] = 7;
  document["text_config"]["dtype"] = "float32";
  const auto own = read_outer(document);
  CHECK(own.eos_token_ids == std::vector<std::uint32_t>{7});
  CHECK(own.embedding_scale != config.embedding_scale);
  document["audio_config"] = {{"depth", 2}};
  require_bad_input([&] { read_outer(document); }, {"config.json", "audio_config"});
}

TEST_CASE("logits of the first tokens are those of the whole embedding", "[config][variant]") {
  auto config = read<Gemma3>(fixture("gemma3"));
  const std::vector<TokenId> text{3, 1, 4, 1, 5, 9, 2, 6};
  const auto logits = [&] {
    FormulaTensors tensors;
    Transformer model(std::make_unique<Gemma3>(config, tensors, default_kernels()));
    DeviceMemory<float> memory;
    model.logits_at_every_position(text, memory);
    return memory.download(0, text.size() * config.vocab_size);
  };
  const auto whole = logits();
  config.stored_vocabulary = 61;
  config.vocab_size = 45;
  const auto part = logits();
  for (std::size_t row = 0; row < text.size(); ++row)
    for (std::size_t token = 0; token < 45; ++token)
      CHECK(part[row * 45 + token] == whole[row * 61 + token]);
}

TEST_CASE("windows that no text outgrows are none, and others are those of their layers",
          "[config][variant]") {
  auto document = fixture("mistral");
  for (const json& window : {json(nullptr), json(0), json(1024), json(4096)}) {
    document["sliding_window"] = window;
    CHECK(read<Mistral>(document).layer_attention.empty());
  }
  document["sliding_window"] = 1023;
  REQUIRE(read<Mistral>(document).layer_attention.size() == 2);
  CHECK(read<Mistral>(document).layer_attention[0].window == 1023);
  CHECK(read<Mistral>(document).layer_attention[1].window == 1023);
  refused<Mistral>("mistral", "layer_types", {"full_attention", "full_attention"});
  refused<Mistral>("mistral", "sliding_window", -1);
  refused<Ministral>("ministral", "layer_types", {"full_attention", "chunked_attention"});
  const auto ministral = read<Ministral>(fixture("ministral"));
  CHECK(ministral.layer_attention[0].window == 0);
  CHECK(ministral.layer_attention[1].window == 129);
}

TEST_CASE("Ministral 3 holds the texts before its queries grow, and says so", "[config][variant]") {
  const auto config = read<Ministral3>(fixture("ministral3"));
  CHECK(config.max_position_embeddings == 420);
  CHECK(config.remark.find("at most 420 tokens") != std::string::npos);
  CHECK(config.rope_magnitude == 1.0);
  auto document = fixture("ministral3");
  document["rope_parameters"]["llama_4_scaling_beta"] = 0;
  CHECK(read<Ministral3>(document).max_position_embeddings == 1024);
  CHECK(read<Ministral3>(document).remark.empty());
  document["rope_parameters"]["llama_4_scaling_beta"] = 0.1;
  document["rope_parameters"]["original_max_position_embeddings"] = 1024;
  CHECK(read<Ministral3>(document).remark.empty());
  for (const char* key : {"llama_4_scaling_beta", "original_max_position_embeddings", "factor"}) {
    auto wrong = fixture("ministral3");
    wrong["rope_parameters"].erase(key);
    require_bad_input([&] { read<Ministral3>(wrong); }, {"config.json", key});
  }
  document.erase("rope_parameters");
  require_bad_input([&] { read<Ministral3>(document); }, {"config.json", "rope_parameters"});
  // Its text model in a folder that sees images.
  json outer{{"model_type", "mistral3"},
             {"tie_word_embeddings", true},
             {"image_token_index", 10},
             {"vision_config", {{"depth", 2}}},
             {"text_config", fixture("ministral3")}};
  outer["text_config"].erase("tie_word_embeddings");
  const auto read_whole = [&] {
    const auto whole = json::parse(outer.dump());
    return Ministral3::outer_configuration(JsonObject(whole, "config.json"));
  };
  CHECK(read_whole().tie_word_embeddings);
  CHECK(read_whole().remark.find("images are not seen; texts") != std::string::npos);
  outer["text_config"]["model_type"] = "mistral";
  require_bad_input(read_whole, {"config.json", "model_type", "ministral3"});
}

TEST_CASE("SmolLM3 numbers the layers that rotate", "[config][variant]") {
  auto document = fixture("smollm3");
  document["num_hidden_layers"] = 4;
  document.erase("layer_types");
  const auto rotations = [&] {
    std::string all;
    for (const auto& layer : read<SmolLM3>(document).layer_attention)
      all += layer.rotation == Rotation::none ? '0' : '1';
    return all;
  };
  document["no_rope_layers"] = {1, 0, 0, 1};
  CHECK(rotations() == "1001");
  document.erase("no_rope_layers");
  document["no_rope_layer_interval"] = 3;
  CHECK(rotations() == "1101");
  document.erase("no_rope_layer_interval");
  CHECK(rotations() == "1110");
  refused<SmolLM3>("smollm3", "no_rope_layers", {1, 0, 1});
  refused<SmolLM3>("smollm3", "attention_bias", true);
}

TEST_CASE("YaRN's factors are those of transformers, and its keys are read or refused",
          "[config][variant]") {
  const auto config = read<Olmo3>(fixture("olmo3"));
  REQUIRE(config.rope_factors.size() == 5);
  CHECK(config.rope_magnitude == 1.25);
  // Ten elements, base 1000, 256 positions: 16 turns at index 10 ln(256 / 32π) / (2 ln 1000), which
  // is 0.67, and one at 2.68; the ramp goes from 0 to 3.
  const std::vector<double> ramp{0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, 1.0};
  for (std::size_t d = 0; d < 5; ++d)
    CHECK(config.rope_factors[d] == Approx(1.0 / (ramp[d] / 4.0 + 1.0 - ramp[d])).epsilon(0x1p-48));
  auto document = fixture("olmo3");
  document["rope_parameters"]["full_attention"].erase("attention_factor");
  CHECK(read<Olmo3>(document).rope_magnitude == Approx(0.1 * std::log(4.0) + 1.0));
  document["rope_parameters"]["full_attention"]["attn_factor"] = 0.9;
  require_bad_input([&] { read<Olmo3>(document); }, {"config.json", "attn_factor"});
  refused<Olmo3>("olmo3", "attention_bias", true);
}

TEST_CASE("Granite's factors and Phi-4-mini's rotation are numbers that can be meant",
          "[config][variant]") {
  for (const char* key :
       {"attention_multiplier", "embedding_multiplier", "residual_multiplier", "logits_scaling"})
    for (const json& value : {json(0), json(-1.5), json("1")})
      refused<Granite>("granite", key, value);
  const auto phi = read<Phi3>(fixture("phi3_partial"));
  CHECK(phi.rotary_dim == 12);
  CHECK(phi.rope_factors.size() == 6);
  auto document = fixture("phi3_partial");
  for (const double share : {0.01, 1.5, 0.7}) {  // 0, 24 and 11 of 16
    document["rope_parameters"]["partial_rotary_factor"] = share;
    require_bad_input([&] { read<Phi3>(document); }, {"config.json", "elements of a head"});
  }
}

}  // namespace tempera::gpu::variant_configs_test
