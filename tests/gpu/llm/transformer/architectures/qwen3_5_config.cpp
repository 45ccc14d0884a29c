// What config.json may say of a Qwen3.5 model, and folders in both of its forms.
#include <nlohmann/json.hpp>

#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/recurrent_model.hpp"

namespace tempera::gpu::qwen3_5_config_test {

namespace {

nlohmann::json fixture_json() {
  return nlohmann::json::parse(read_bytes(architecture_fixtures / "qwen3_5/config.json"));
}

Qwen3_5Config configuration_of(const nlohmann::json& json) {
  return Qwen3_5::configuration(JsonObject(json, "config.json"));
}

/// The fixture's model as a folder; prefix: what its names begin with.
void write_model(const ModelFolder& folder, const nlohmann::json& config,
                 const std::string& prefix) {
  FormulaTensors tensors;
  const Qwen3_5 model(configuration_of(fixture_json()), tensors,
                      default_kernels(Arithmetic::float32));
  std::map<std::string, FormulaTensors::Made> made;
  for (const auto& [name, tensor] : tensors.made()) {
    made[name.starts_with("model.") ? prefix + name.substr(6) : name] = tensor;
  }
  if (prefix != "model.") made["mtp.fc.weight"] = made["model.visual.bias"] = made.begin()->second;
  write_safetensors(folder.path(), made);
  folder.write("config.json", config.dump());
}

}  // namespace

TEST_CASE("a Qwen3.5 configuration is read as the model computes it", "[architecture][recurrent]") {
  auto json = fixture_json();
  const auto config = configuration_of(json);
  CHECK(config.rotary_dim == 8);
  CHECK(config.rope_theta == 1000.0);
  CHECK(config.full_attention == std::vector<bool>{false, false, true, false});
  CHECK(config.linear_num_value_heads == 4);
  CHECK(config.linear_value_head_dim == 20);
  CHECK(config.eos_token_ids == std::vector<std::uint32_t>{2});
  json.erase("layer_types");
  CHECK(configuration_of(json).full_attention == std::vector<bool>{false, false, false, true});
  json["full_attention_interval"] = 2U;
  CHECK(configuration_of(json).full_attention == std::vector<bool>{false, true, false, true});
  json["rope_parameters"].erase("partial_rotary_factor");
  CHECK(configuration_of(json).rotary_dim == 4);
  json["partial_rotary_factor"] = 1.0;
  CHECK(configuration_of(json).rotary_dim == 16);
}

TEST_CASE("a Qwen3.5 model with a part that is not computed here is refused by name",
          "[architecture][recurrent]") {
  const auto refused = [](const std::string& key, const nlohmann::json& value,
                          std::initializer_list<std::string> parts) {
    INFO(key << " " << value);
    auto json = fixture_json();
    json[nlohmann::json::json_pointer("/" + key)] = value;
    require_bad_input([&] { configuration_of(json); }, parts);
  };
  refused("model_type", "qwen3_next", {"config.json", "qwen3_next"});
  refused("attention_bias", true, {"config.json", "attention_bias"});
  refused("attn_output_gate", false, {"config.json", "attn_output_gate"});
  refused("hidden_act", "gelu", {"config.json", "hidden_act"});
  refused("rope_parameters/rope_type", "yarn", {"rope_parameters", "yarn"});
  refused("rope_parameters/factor", 4.0, {"rope_parameters", "factor"});
  refused("rope_scaling/rope_type", "yarn", {"config.json", "rope_scaling"});
  refused("partial_rotary_factor", 0.25, {"config.json", "given twice"});
  refused("rope_parameters/partial_rotary_factor", 2.0, {"config.json", "32 of 16"});
  refused("rope_parameters/partial_rotary_factor", 0.2, {"config.json", "3 of 16"});
  refused("layer_types/1", "sliding_attention", {"config.json", "sliding_attention"});
  refused("layer_types/4", "full_attention", {"config.json", "layer_types", "5 layers"});
  refused("layer_types", {"full_attention", "full_attention", "full_attention", "full_attention"},
          {"config.json", "recurrent"});
  refused("linear_num_key_heads", 3, {"config.json", "linear_num_key_heads"});
  refused("linear_conv_kernel_dim", 1, {"config.json", "linear_conv_kernel_dim"});
  refused("linear_conv_kernel_dim", 9, {"config.json", "linear_conv_kernel_dim"});
  refused("head_dim", 12, {"config.json", "head_dim"});
  refused("quantization_config/bits", 4, {"config.json", "quantization_config"});
}

TEST_CASE("a folder of the text model and one that sees images have the same logits",
          "[architecture][recurrent]") {
  const ModelFolder folder("untied_float32");
  const auto text = recurrent::text_of(70);
  const auto inner = fixture_json();
  write_model(folder, inner, "model.");
  const auto model = Transformer::load(folder.path());
  CHECK(model->remark().empty());
  const auto rows = recurrent::every_row(*model, text);
  const nlohmann::json outer{{"model_type", "qwen3_5"},
                             {"text_config", inner},
                             {"vision_config", {{"depth", 2}}},
                             {"tie_word_embeddings", false}};
  write_model(folder, outer, "model.language_model.");
  const auto seeing = Transformer::load(folder.path());
  CHECK(seeing->remark().find("images are not seen") != std::string::npos);
  CHECK(recurrent::every_row(*seeing, text) == rows);
  // What the text model alone would not use is an error there.
  folder.write("config.json", inner.dump());
  require_bad_input([&] { Transformer::load(folder.path()); }, {"model.embed_tokens.weight"});
  folder.edit_json("config.json", [&](auto& json) {
    json = outer;
    json["tie_word_embeddings"] = true;
  });
  require_bad_input([&] { Transformer::load(folder.path()); },
                    {"config.json", "tie_word_embeddings", "given twice"});
}

}  // namespace tempera::gpu::qwen3_5_config_test
