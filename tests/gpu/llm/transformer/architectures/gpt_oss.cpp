// gpt-oss: what its configurations say, how folders and GGUF files hold its experts, and what of
// both is refused.
#include "gpu/llm/transformer/architectures/gpt_oss.hpp"

#include <cmath>

#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/decoder_gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::gpt_oss_test {

namespace {

using nlohmann::json;
using Tensors = std::map<std::string, FormulaTensors::Made>;

const std::vector<TokenId> text{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};
constexpr std::size_t experts = 5;

/// A model whose maps have whole blocks of MXFP4.
json small_config() {
  auto document = json::parse(read_bytes(architecture_fixtures / "gpt_oss" / "config.json"));
  document["hidden_size"] = 64;
  document["intermediate_size"] = 96;
  document["num_hidden_layers"] = 2;
  return document;
}

DecoderConfig read(const json& given) {
  const auto document = json::parse(given.dump());
  return GptOss::configuration(JsonObject(document, "config.json"));
}

std::vector<float> logits_of(const std::filesystem::path& path,
                             const Kernels& kernels = default_kernels()) {
  const auto model = Transformer::load(path, kernels);
  DeviceMemory<float> memory;
  model->logits_at_every_position(text, memory);
  return memory.download(0, text.size() * model->vocabulary_size());
}

/// A folder's tensors, in any dtypes.
struct FolderBytes {
  json header;
  std::string data;

  void add(const std::string& name, const char* dtype, const json& shape,
           const std::string& bytes) {
    header[name] = {{"dtype", dtype},
                    {"shape", shape},
                    {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data += bytes;
  }
  void write(const ModelFolder& folder, const json& document) const {
    folder.write("config.json", document.dump());
    folder.write("generation_config.json", "{}");
    folder.write("model.safetensors", safetensors_bytes(header.dump(), data));
  }
};

/// Adds all tensors but those of experts.
FolderBytes without_experts(const Tensors& tensors) {
  FolderBytes bytes;
  for (const auto& [name, made] : tensors)
    if (!expert_tensor(name)) bytes.add(name, "F32", made.shape, bytes_of_values(made.values));
  return bytes;
}

/// One of the four stacks of a layer, and output `o` of it: an expert's part and its output.
struct Stack {
  std::string prefix;
  bool is_down;

  std::string name() const { return prefix + (is_down ? "down_proj" : "gate_up_proj"); }
  std::size_t outputs() const { return is_down ? 64 : 192; }
  std::size_t inputs() const { return is_down ? 96 : 64; }
  std::string tensor(std::size_t expert, std::size_t o, const char* ending) const {
    const char* const part = is_down ? "down_proj" : o % 2 == 0 ? "gate_proj" : "up_proj";
    return prefix + std::to_string(expert) + "." + part + "." + ending;
  }
  std::size_t row(std::size_t o) const { return is_down ? o : o / 2; }
};

std::vector<Stack> stacks() {
  std::vector<Stack> result;
  for (const char* layer : {"0", "1"})
    for (const bool is_down : {false, true})
      result.push_back({std::string("model.layers.") + layer + ".mlp.experts.", is_down});
  return result;
}

void add_biases(FolderBytes& bytes, const Tensors& tensors) {
  for (const auto& stack : stacks()) {
    std::vector<float> values;
    for (std::size_t expert = 0; expert < experts; ++expert)
      for (std::size_t o = 0; o < stack.outputs(); ++o)
        values.push_back(tensors.at(stack.tensor(expert, o, "bias")).values[stack.row(o)]);
    bytes.add(stack.name() + "_bias", "F32", {experts, stack.outputs()}, bytes_of_values(values));
  }
}

/// Adds the stacks as transformers writes them: [experts, inputs, outputs].
FolderBytes in_columns(const Tensors& tensors, bool has_biases = true) {
  auto bytes = without_experts(tensors);
  if (has_biases) add_biases(bytes, tensors);
  for (const auto& stack : stacks()) {
    std::vector<float> values;
    for (std::size_t expert = 0; expert < experts; ++expert)
      for (std::size_t i = 0; i < stack.inputs(); ++i)
        for (std::size_t o = 0; o < stack.outputs(); ++o)
          values.push_back(tensors.at(stack.tensor(expert, o, "weight"))
                               .values[stack.row(o) * stack.inputs() + i]);
    bytes.add(stack.name(), "F32", {experts, stack.inputs(), stack.outputs()},
              bytes_of_values(values));
  }
  return bytes;
}

/// The published form; the tensors' values become those of the bytes.
FolderBytes in_mxfp4(Tensors& tensors) {
  constexpr float values_of_quants[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  std::uint64_t state = 7;
  const auto random = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<unsigned>(state >> 56);
  };
  std::map<std::string, std::pair<std::string, std::string>> made;
  for (const auto& stack : stacks()) {
    auto& [quants, powers] = made[stack.name()];
    for (std::size_t expert = 0; expert < experts; ++expert) {
      for (std::size_t o = 0; o < stack.outputs(); ++o) {
        auto& values = tensors.at(stack.tensor(expert, o, "weight")).values;
        for (std::size_t b = 0; b < stack.inputs() / 32; ++b) {
          const unsigned scale = 120 + random() % 4;
          powers += static_cast<char>(scale);
          for (std::size_t pair = 0; pair < 16; ++pair) {
            const unsigned byte = random();
            quants += static_cast<char>(byte);
            for (const unsigned i : {0U, 1U}) {
              const unsigned quant = byte >> (4 * i) & 15U;
              const float size =
                  std::ldexp(values_of_quants[quant % 8], static_cast<int>(scale) - 127);
              values[stack.row(o) * stack.inputs() + b * 32 + 2 * pair + i] =
                  quant < 8 ? size : -size;
            }
          }
        }
      }
    }
  }
  auto bytes = without_experts(tensors);
  add_biases(bytes, tensors);
  for (const auto& stack : stacks()) {
    const auto& [quants, powers] = made[stack.name()];
    const std::size_t across = stack.inputs() / 32;
    bytes.add(stack.name() + "_blocks", "U8", {experts, stack.outputs(), across, 16}, quants);
    bytes.add(stack.name() + "_scales", "U8", {experts, stack.outputs(), across}, powers);
  }
  return bytes;
}

json quantised_config() {
  auto document = small_config();
  document["quantization_config"] = {
      {"quant_method", "mxfp4"},
      {"modules_to_not_convert", {"model.layers.*.self_attn", "lm_head"}}};
  return document;
}

constexpr const char* scales_name = "model.layers.1.mlp.experts.down_proj_scales";

}  // namespace

TEST_CASE("the configuration of gpt-oss-20b is read as it is published", "[config][experts]") {
  json types = json::array();
  for (int layer = 0; layer < 24; ++layer)
    types.push_back(layer % 2 == 0 ? "sliding_attention" : "full_attention");
  const json published{{"architectures", {"GptOssForCausalLM"}},
                       {"attention_bias", true},
                       {"attention_dropout", 0.0},
                       {"eos_token_id", 200002},
                       {"experts_per_token", 4},
                       {"head_dim", 64},
                       {"hidden_act", "silu"},
                       {"hidden_size", 2880},
                       {"initial_context_length", 4096},
                       {"initializer_range", 0.02},
                       {"intermediate_size", 2880},
                       {"layer_types", types},
                       {"max_position_embeddings", 131072},
                       {"model_type", "gpt_oss"},
                       {"num_attention_heads", 64},
                       {"num_experts_per_tok", 4},
                       {"num_hidden_layers", 24},
                       {"num_key_value_heads", 8},
                       {"num_local_experts", 32},
                       {"output_router_logits", false},
                       {"pad_token_id", 199999},
                       {"quantization_config",
                        {{"modules_to_not_convert",
                          {"model.layers.*.self_attn", "model.layers.*.mlp.router",
                           "model.embed_tokens", "lm_head"}},
                         {"quant_method", "mxfp4"}}},
                       {"rms_norm_eps", 1e-05},
                       {"rope_scaling",
                        {{"beta_fast", 32.0},
                         {"beta_slow", 1.0},
                         {"factor", 32.0},
                         {"original_max_position_embeddings", 4096},
                         {"rope_type", "yarn"},
                         {"truncate", false}}},
                       {"rope_theta", 150000},
                       {"router_aux_loss_coef", 0.9},
                       {"sliding_window", 128},
                       {"swiglu_limit", 7.0},
                       {"tie_word_embeddings", false},
                       {"use_cache", true},
                       {"vocab_size", 201088}};
  const auto config = read(published);
  REQUIRE(config.experts);
  CHECK(config.experts->experts == 32);
  CHECK(config.experts->chosen == 4);
  CHECK(config.experts->inner == 2880);
  CHECK(config.experts->renormalises);
  REQUIRE(config.experts->clamped);
  CHECK(config.experts->clamped->alpha == 1.702f);
  CHECK(config.experts->clamped->limit == 7.0f);
  REQUIRE(config.layer_attention.size() == 24);
  CHECK(config.layer_attention[0].window == 128);
  CHECK(config.layer_attention[1].window == 0);
  CHECK(config.rope_theta == 150000.0);
  CHECK(config.rope_magnitude == Approx(0.1 * std::log(32.0) + 1.0).epsilon(1e-15));
  // The ramp is from 8.09 to 17.4.
  REQUIRE(config.rope_factors.size() == 32);
  CHECK(config.rope_factors[8] == 1.0);
  CHECK(config.rope_factors[9] > 1.0);
  CHECK(config.rope_factors[17] < 32.0);
  CHECK(config.rope_factors[18] == 32.0);
  CHECK(config.eos_token_ids == std::vector<std::uint32_t>{200002});

  const auto refused = [&](const std::string& key, const json& value) {
    INFO(key << " " << value);
    auto wrong = published;
    wrong[key] = value;
    require_bad_input([&] { read(wrong); }, {"config.json", key});
  };
  refused("attention_bias", false);
  refused("experts_per_token", 2);
  refused("initial_context_length", 8192);
  refused("hidden_act", "gelu");
  refused("num_experts_per_tok", 33);
  refused("num_local_experts", 0);
  refused("swiglu_limit", 0.0);
  refused("swiglu_alpha", -1.0);
  refused("n_shared_experts", 1);
  refused("layer_types", {"full_attention"});
  refused("quantization_config", {{"quant_method", "mxfp8"}});
  refused("quantization_config", {{"quant_method", "mxfp4"}, {"bits", 4}});
  auto other = published;
  other["rope_scaling"]["rope_type"] = "llama3";
  require_bad_input([&] { read(other); }, {"config.json", "rope_type", "yarn"});
}

TEST_CASE("gpt-oss has the same bits from tensors of experts, from columns and from MXFP4",
          "[architecture][experts][quantised]") {
  auto tensors = tensors_of<GptOss>(read(small_config()));
  const ModelFolder each("untied_float32");
  const ModelFolder together("untied_float32");
  each.write("config.json", small_config().dump());
  each.write("generation_config.json", "{}");
  write_safetensors(each.path(), tensors);
  in_columns(tensors).write(together, small_config());
  CHECK((logits_of(each.path()) == logits_of(together.path())));

  const auto published = in_mxfp4(tensors);
  published.write(together, quantised_config());
  write_safetensors(each.path(), tensors);
  for (const auto arithmetic : arithmetics) {
    const auto& kernels = default_kernels(arithmetic);
    INFO(name_of(arithmetic));
    const auto logits = logits_of(together.path(), kernels);
    CHECK((logits == logits_of(each.path(), kernels)));
    CHECK(logits[0] != logits[1]);
  }
}

TEST_CASE("a folder of gpt-oss that does not fit is refused by its tensor",
          "[architecture][experts][quantised]") {
  auto tensors = tensors_of<GptOss>(read(small_config()));
  const auto good = in_mxfp4(tensors);
  const ModelFolder folder("untied_float32");
  const auto refused = [&](const FolderBytes& bytes, const json& document,
                           std::initializer_list<std::string> parts) {
    bytes.write(folder, document);
    require_bad_input([&] { logits_of(folder.path()); }, parts);
  };
  auto wrong = good;
  const auto begin = good.header[scales_name]["data_offsets"][0].get<std::size_t>();
  wrong.data[begin + 3 * 64 * 3 + 5] = '\xFF';
  refused(wrong, quantised_config(), {scales_name, "element 581 is NaN"});
  wrong = good;
  wrong.header[scales_name]["shape"] = {experts, 32, 6};
  refused(wrong, quantised_config(), {scales_name, "[5, 32, 6]", "[5, 64, 3]"});
  wrong = good;
  wrong.header[scales_name]["dtype"] = "I8";
  refused(wrong, quantised_config(), {scales_name, "dtype I8", "U8"});
  auto document = quantised_config();
  document["num_local_experts"] = 4;
  refused(good, document, {"model.layers.0.mlp.router.weight", "[5, 64]", "[4, 64]"});
  document = quantised_config();
  document["intermediate_size"] = 80;
  refused(good, document, {"gate_up_proj_blocks", "[5, 192, 2, 16]", "[5, 160, 2, 16]"});
  // A tensor that is left over.
  wrong = good;
  wrong.add("model.layers.0.mlp.experts.gate_up_proj", "F32", {1}, std::string(4, '\0'));
  refused(wrong, quantised_config(), {"mlp.experts.gate_up_proj\"", "would use"});
  refused(in_columns(tensors, false), small_config(),
          {"model.layers.0.mlp.experts.gate_up_proj_bias", "missing"});
  // Maps of 40 inputs have no whole blocks.
  document = json::parse(read_bytes(architecture_fixtures / "gpt_oss" / "config.json"));
  wrong = without_experts(tensors_of<GptOss>(read(document)));
  wrong.add("model.layers.0.mlp.experts.gate_up_proj_blocks", "U8", {1}, "x");
  refused(wrong, document, {"gate_up_proj_blocks", "40 inputs are not a multiple of 32"});
}

TEST_CASE("a scale of MXFP4 that is NaN is refused in a GGUF file, too", "[gguf][quantised]") {
  std::vector<std::byte> bytes(2 * 17, std::byte{120});
  const StoredTensor map{"blk.0.ffn_up_exps.weight", "MXFP4", {2, 32}, bytes, "model.gguf"};
  const StoredTensor* const maps[] = {&map};
  for (const auto arithmetic : arithmetics) {
    bytes[17] = std::byte{120};
    CHECK_NOTHROW(pack_matrices(maps, arithmetic));
    bytes[17] = std::byte{0xFF};
    require_bad_input([&] { pack_matrices(maps, arithmetic); },
                      {"model.gguf", "blk.0.ffn_up_exps.weight", "element 32 is NaN"});
  }
}

TEST_CASE("a sink far above every score leaves nothing of the values", "[transformer][experts]") {
  const auto config =
      read(json::parse(read_bytes(architecture_fixtures / "gpt_oss_all" / "config.json")));
  const auto logits = [&](const FormulaTensors::Edit& edit, const Kernels& kernels) {
    FormulaTensors tensors(edit);
    Transformer model(std::make_unique<GptOss>(config, tensors, kernels));
    DeviceMemory<float> memory;
    model.logits_at_every_position(text, memory);
    return memory.download(0, text.size() * model.vocabulary_size());
  };
  const auto fill = [](const char* part, float value) -> FormulaTensors::Edit {
    return [=](const std::string& name, auto& values) {
      if (name.ends_with(part)) std::fill(values.begin(), values.end(), value);
    };
  };
  for (const auto arithmetic : arithmetics) {
    const auto& kernels = default_kernels(arithmetic);
    INFO(name_of(arithmetic));
    const auto none = logits(fill("o_proj.weight", 0.0f), kernels);
    CHECK((logits(fill("sinks", 1e30f), kernels) == none));
    // Far below every score it weighs nothing, however far.
    const auto all = logits(fill("sinks", -200.0f), kernels);
    CHECK((logits(fill("sinks", -1e30f), kernels) == all));
    CHECK_FALSE((logits(fill("sinks", 0.0f), kernels) == all));
  }
}

TEST_CASE("gate and up of a GGUF file's experts may be one tensor",
          "[architecture][gguf][experts]") {
  auto document = small_config();
  document["rope_parameters"].erase("truncate");
  document["swiglu_alpha"] = 1.702;
  document["swiglu_limit"] = 7.0;
  const auto config = read(document);
  const auto file_of = [&](bool fuses, const std::function<void(GgufBytes&)>& change = {}) {
    auto file = gguf_of<GptOss>(config, "gpt-oss");
    for (const auto& [key, value] :
         std::map<std::string, std::uint32_t>{{"attention.sliding_window", 37},
                                              {"expert_count", experts},
                                              {"expert_used_count", 2},
                                              {"expert_feed_forward_length", 96},
                                              {"rope.scaling.original_context_length", 256}})
      file.add("gpt-oss." + key, gguf_type::uint32, little_endian(value));
    file.add_text("gpt-oss.rope.scaling.type", "yarn");
    file.add("gpt-oss.rope.scaling.factor", gguf_type::float32, little_endian(4.0f));
    if (change) change(file);
    const auto stacked = with_stacked_experts(tensors_of<GptOss>(config));
    for (const auto& [name, made] : stacked) {
      const auto gguf = gguf_name(name, "gpt-oss");
      REQUIRE_FALSE(gguf.empty());
      auto shape = made.shape;
      auto values = made.values;
      if (fuses && gguf.find("ffn_up_exps") != std::string::npos) continue;
      if (fuses && gguf.find("ffn_gate_exps") != std::string::npos) {
        auto up = name;
        up.replace(up.find("gate_proj"), 9, "up_proj");
        const auto& other = stacked.at(up).values;
        const auto size = static_cast<std::ptrdiff_t>(values.size() / experts);
        values.clear();
        for (std::ptrdiff_t expert = 0; expert < std::ptrdiff_t{experts}; ++expert)
          for (const auto* part : {&made.values, &other})
            values.insert(values.end(), part->begin() + expert * size,
                          part->begin() + (expert + 1) * size);
        shape[1] *= 2;
        auto fused = gguf;
        fused.replace(fused.find("ffn_gate_exps"), 13, "ffn_gate_up_exps");
        add_gguf_tensor(file, fused, shape, 0, bytes_of_values(values));
        continue;
      }
      add_gguf_tensor(file, gguf, shape, 0, bytes_of_values(values));
    }
    return file;
  };
  const ModelFolder folder("untied_float32");
  folder.write("model.gguf", file_of(false).bytes());
  const auto logits = logits_of(folder.path() / "model.gguf");
  folder.write("model.gguf", file_of(true).bytes());
  CHECK((logits_of(folder.path() / "model.gguf") == logits));

  const auto refused = [&](const std::function<void(GgufBytes&)>& change,
                           std::initializer_list<std::string> parts) {
    folder.write("model.gguf", file_of(false, change).bytes());
    require_bad_input([&] { logits_of(folder.path() / "model.gguf"); }, parts);
  };
  const auto real = [](const char* key, float value) {
    return [=](GgufBytes& file) { file.add(key, gguf_type::float32, little_endian(value)); };
  };
  refused(real("gpt-oss.rope.scaling.yarn_ext_factor", 0.5f), {"model.gguf", "yarn_ext_factor"});
  refused(real("gpt-oss.rope.scaling.yarn_log_multiplier", 0.1f), {"yarn_log_multiplier"});
  refused(real("gpt-oss.rope.scaling.yarn_beta_slow", -1.0f), {"yarn_beta_slow", "above 0"});
  refused(real("gpt-oss.rope.scaling.attn_factor", 2.0f), {"attn_factor"});
  refused(real("gpt-oss.expert_weights_scale", 2.5f), {"expert_weights_scale"});
}

}  // namespace tempera::gpu::gpt_oss_test
