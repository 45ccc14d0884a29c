// The same model from a folder of safetensors and from GGUF, and what either must refuse.
#include <cstring>

#include "gpu/llm/models/opened_model.hpp"
#include "gpu/llm/transformer/architectures/gemma3.hpp"
#include "gpu/llm/transformer/architectures/gpt_oss.hpp"
#include "gpu/llm/transformer/architectures/granite.hpp"
#include "gpu/llm/transformer/architectures/llama.hpp"
#include "gpu/llm/transformer/architectures/olmo2.hpp"
#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "gpu/llm/transformer/architectures/qwen2.hpp"
#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/architectures/qwen3_moe.hpp"
#include "gpu/llm/transformer/architectures/smollm3.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/decoder_gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/weights/quantised_bytes.hpp"

namespace tempera::gpu::formats_test {

namespace {

const auto& fixtures = architecture_fixtures;

const std::vector<TokenId> text{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};

std::vector<float> logits_of(Transformer& transformer) {
  DeviceMemory<float> memory;
  transformer.logits_at_every_position(text, memory);
  return memory.download(0, text.size() * transformer.vocabulary_size());
}

LogitsByPosition rows_of(Transformer& transformer, const std::vector<TokenId>& tokens) {
  DeviceMemory<float> memory;
  transformer.logits_at_every_position(tokens, memory);
  const std::size_t vocabulary = transformer.vocabulary_size();
  LogitsByPosition rows;
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    rows.push_back(memory.download(row * vocabulary, vocabulary));
  }
  return rows;
}

/// The hash of every bit of a model's logits.
std::uint64_t hash_of(const std::vector<float>& logits) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const float logit : logits) {
    std::uint32_t word = 0;
    std::memcpy(&word, &logit, sizeof word);
    hash = (hash ^ word) * 0x100000001B3ULL;
  }
  return hash;
}

/// A fixture's config.json, or one that llama.cpp can have, too: SmolLM3 leaves out the rotation of
/// every fourth layer, and Gemma 3 has a window in all but every sixth.
nlohmann::json document_of(const std::string& fixture) {
  const auto read = [](const char* name) {
    return read_json_file(fixtures / name / "config.json");
  };
  if (fixture == "smollm3_of_four") {
    auto document = read("smollm3");
    document["num_hidden_layers"] = 4;
    document.erase("layer_types");
    document["no_rope_layer_interval"] = 4;
    document.erase("no_rope_layers");
    return document;
  }
  if (fixture == "qwen3_moe_of_gguf") {
    auto document = read("qwen3_moe");
    document["mlp_only_layers"] = nlohmann::json::array();
    document["norm_topk_prob"] = true;
    return document;
  }
  if (fixture == "gpt_oss_of_gguf") {
    auto document = read("gpt_oss");
    document["rope_parameters"].erase("truncate");
    document["swiglu_alpha"] = 1.702;
    document["swiglu_limit"] = 7.0;
    return document;
  }
  if (fixture == "gemma3_of_gguf") {
    auto document = read("gemma3");
    document["num_hidden_layers"] = 7;
    document["sliding_window"] = 7;
    document["query_pre_attn_scalar"] = 16;
    document.erase("layer_types");
    return document;
  }
  return read(fixture.c_str());
}

/// The configuration of a fixture.
template <class Model>
DecoderConfig config_of(const std::string& fixture) {
  // A file's text has whole numbers without a sign.
  const auto document = nlohmann::json::parse(document_of(fixture).dump());
  return Model::configuration(JsonObject(document, "config.json"));
}

/// The general.architecture of a model's files.
template <class Model>
std::string gguf_architecture() {
  if constexpr (requires { Model::gguf_architecture; }) {
    return Model::gguf_architecture;
  } else {
    return Model::model_type;
  }
}

std::vector<float> in_gguf_order(const std::string& name, const FormulaTensors::Made& made,
                                 bool pairs_neighbours, std::size_t head_dim) {
  const bool is_rotated = name.ends_with("q_proj.weight") || name.ends_with("k_proj.weight");
  return pairs_neighbours && is_rotated
             ? neighbours_from_halves(made.values, made.shape[1], head_dim)
             : made.values;
}

template <class Model>
void add_float32_tensors(GgufBytes& file, const DecoderConfig& config) {
  for (const auto& [name, made] : with_stacked_experts(tensors_of<Model>(config))) {
    auto values = in_gguf_order(name, made, Model::gguf_pairs_neighbours, config.head_dim);
    // As convert_hf_to_gguf.py writes them.
    if (config.norms_are_differences && made.shape.size() == 1)
      for (float& w : values) w += 1.0f;
    add_gguf_tensor(file, gguf_name(name, gguf_architecture<Model>()), made.shape, 0,
                    bytes_of_values(values));
  }
}

/// The bits of a model's logits read from a folder and from a GGUF file.
template <class Model>
void require_same_logits(const std::string& fixture,
                         const std::function<void(GgufBytes&)>& add = {},
                         std::optional<RopeFactors> factors = std::nullopt) {
  INFO(fixture);
  auto config = config_of<Model>(fixture);
  // GGUF has it as a float32.
  const ModelFolder folder("untied_float32");
  folder.write("config.json", document_of(fixture).dump());
  folder.edit_json("config.json", [&](auto& json) {
    config.rms_norm_eps = static_cast<double>(static_cast<float>(config.rms_norm_eps));
    json["rms_norm_eps"] = config.rms_norm_eps;
  });
  folder.write("generation_config.json", "{}");
  write_safetensors(folder.path(), tensors_of<Model>(config));
  auto gguf = gguf_of<Model>(config, gguf_architecture<Model>());
  if (add) add(gguf);
  add_float32_tensors<Model>(gguf, config);
  folder.write("model.gguf", gguf.bytes());
  for (const auto arithmetic : arithmetics) {
    const auto& kernels = default_kernels(arithmetic);
    const auto from_folder = Transformer::load(folder.path(), kernels, factors);
    const auto from_gguf = Transformer::load(folder.path() / "model.gguf", kernels, factors);
    CHECK(from_folder->rope_factors() == from_gguf->rope_factors());
    if (factors) {
      CHECK(from_folder->rope_factors() == factors);
      const auto short_ones = Transformer::load(folder.path(), kernels);
      CHECK(short_ones->rope_factors() == RopeFactors::of_short_texts);
      CHECK_FALSE((logits_of(*from_folder) == logits_of(*short_ones)));
      CHECK(from_folder->max_position() > short_ones->max_position());
      const auto opened = OpenedModel::open(folder.path(), {}, arithmetic);
      const std::vector<TokenId> prompt(short_ones->max_position(), 3);
      require_bad_input([&] { opened.check_prompt(prompt, 1, "prompt"); },
                        {"prompt: ", "positions of the model", "--rope-factors long"});
      CHECK_NOTHROW(OpenedModel::open(folder.path(), {}, arithmetic, factors)
                        .check_prompt(prompt, 1, "prompt"));
    } else if (!from_folder->rope_factors()) {
      for (const auto& path : {folder.path(), folder.path() / "model.gguf"})
        require_bad_input(
            [&] { Transformer::load(path, kernels, RopeFactors::of_long_texts); },
            {path.string(), "has one set of rotary factors, and its long ones were asked for"});
    }
    CHECK((logits_of(*from_folder) == logits_of(*from_gguf)));
    CHECK(from_gguf->max_position() == from_folder->max_position());
    CHECK(from_gguf->remark() == from_folder->remark());
    CHECK(from_gguf->named_ends().size() == 1);
    CHECK(from_gguf->named_ends()[0] == 2);
  }
}

void add_factors(GgufBytes& file, const std::string& name, const std::vector<double>& factors) {
  const std::vector<float> values(factors.begin(), factors.end());
  add_gguf_tensor(file, name, {values.size()}, 0, bytes_of_values(values));
}

}  // namespace

TEST_CASE("a model has the same bits from a folder and from GGUF", "[architecture][gguf]") {
  require_same_logits<Llama>("llama_tied");
  require_same_logits<Qwen2>("qwen2");
  require_same_logits<Qwen3>("qwen3");
  const auto phi3 = config_of<Phi3>("phi3_short");
  const auto longrope = [&](const std::vector<double>& of_short,
                            const std::vector<double>& of_long) {
    return [=](GgufBytes& file) {
      file.add("phi3.rope.scaling.original_context_length", gguf_type::uint32,
               little_endian(std::uint32_t{512}));
      file.add("phi3.rope.scaling.attn_factor", gguf_type::float64,
               little_endian(phi3.rope_magnitude));
      file.add("phi3.attention.sliding_window", gguf_type::uint32,
               little_endian(std::uint32_t{262144}));
      add_factors(file, "rope_factors_short.weight", of_short);
      add_factors(file, "rope_factors_long.weight", of_long);
    };
  };
  const std::vector<double> others(5, 2.0);
  require_same_logits<Phi3>("phi3_short", longrope(phi3.rope_factors, others));
  const auto document = read_json_file(fixtures / "phi3_short" / "config.json");
  const auto of_long =
      Phi3::configuration(JsonObject(document, "config.json"), RopeFactors::of_long_texts);
  require_same_logits<Phi3>("phi3_short", longrope(others, of_long.rope_factors),
                            RopeFactors::of_long_texts);
}

TEST_CASE("a family's own parts have the same bits from a folder and from GGUF",
          "[architecture][gguf]") {
  const auto number = [](GgufBytes& file, const char* key, std::uint32_t value) {
    file.add(key, gguf_type::uint32, little_endian(value));
  };
  const auto real = [](GgufBytes& file, const char* key, float value) {
    file.add(key, gguf_type::float32, little_endian(value));
  };
  require_same_logits<SmolLM3>("smollm3_of_four");
  require_same_logits<Olmo2>("olmo2");
  require_same_logits<Qwen3Moe>("qwen3_moe_of_gguf", [&](GgufBytes& file) {
    number(file, "qwen3moe.expert_count", 6);
    number(file, "qwen3moe.expert_used_count", 2);
    number(file, "qwen3moe.expert_feed_forward_length", 24);
  });
  require_same_logits<GptOss>("gpt_oss_of_gguf", [&](GgufBytes& file) {
    number(file, "gpt-oss.attention.sliding_window", 37);
    number(file, "gpt-oss.expert_count", 5);
    number(file, "gpt-oss.expert_used_count", 2);
    number(file, "gpt-oss.expert_feed_forward_length", 56);
    file.add_text("gpt-oss.rope.scaling.type", "yarn");
    real(file, "gpt-oss.rope.scaling.factor", 4.0f);
    number(file, "gpt-oss.rope.scaling.original_context_length", 256);
    real(file, "gpt-oss.rope.scaling.yarn_beta_fast", 16.0f);
  });
  require_same_logits<Granite>("granite", [&](GgufBytes& file) {
    real(file, "granite.attention.scale", 0.5f);
    real(file, "granite.embedding_scale", 3.0f);
    real(file, "granite.residual_scale", 0.375f);
    real(file, "granite.logit_scale", 1.5f);
  });
  require_same_logits<Gemma3>("gemma3_of_gguf", [&](GgufBytes& file) {
    number(file, "gemma3.attention.sliding_window", 7);
    real(file, "gemma3.rope.freq_base_swa", 100.0f);
    file.add_text("gemma3.rope.scaling.type", "linear");
    real(file, "gemma3.rope.scaling.factor", 4.0f);
  });
}

TEST_CASE("Llama's scaled frequencies come from the tensor of factors in GGUF",
          "[architecture][gguf]") {
  auto config = config_of<Llama>("llama3_scaled");
  REQUIRE(config.rope_factors.size() == 8);
  auto gguf = gguf_of<Llama>(config, "llama");
  add_factors(gguf, "rope_freqs.weight", config.rope_factors);
  add_float32_tensors<Llama>(gguf, config);
  const ModelFolder folder("untied_float32");
  folder.write("model.gguf", gguf.bytes());
  const auto read = Llama::configuration(GgufFile(folder.path() / "model.gguf"));
  for (std::size_t d = 0; d < 8; ++d) {
    CHECK(read.rope_factors[d] == static_cast<double>(static_cast<float>(config.rope_factors[d])));
  }
  CHECK_FALSE(read.tie_word_embeddings);
  // The same model with the factors and the epsilon that the file has room for, bit for bit.
  config.rms_norm_eps = read.rms_norm_eps;
  config.rope_factors = read.rope_factors;
  for (const auto arithmetic : arithmetics) {
    const auto& kernels = default_kernels(arithmetic);
    FormulaTensors tensors;
    Transformer same(std::make_unique<Llama>(config, tensors, kernels));
    CHECK(
        (logits_of(*Transformer::load(folder.path() / "model.gguf", kernels)) == logits_of(same)));
  }
  // And that of transformers, which a file without the factors is not.
  const ExpectedLogits expected("llama3_scaled");
  const auto distance = [&](const std::string& file) {
    return expected.distance(rows_of(*Transformer::load(folder.path() / file), expected.tokens))
        .largest;
  };
  const double tolerance = expected.tolerance(config);
  CHECK(distance("model.gguf") <= tolerance);
  auto without = gguf_of<Llama>(config, "llama");
  add_float32_tensors<Llama>(without, config);
  folder.write("without.gguf", without.bytes());
  CHECK(distance("without.gguf") > 10.0 * tolerance);
}

TEST_CASE("quantised weights of a GGUF file are the values that they dequantise to",
          "[architecture][gguf][quantised]") {
  auto config = config_of<Llama>("llama_tied");
  config.hidden_size = 256;
  config.intermediate_size = 512;
  config.num_attention_heads = 4;
  config.head_dim = 64;
  config.tie_word_embeddings = false;
  const std::map<std::string, std::string> types{
      {"q_proj", "Q4_K"},    {"k_proj", "Q6_K"},       {"v_proj", "Q8_0"},
      {"o_proj", "F16"},     {"gate_proj", "Q4_0"},    {"up_proj", "Q4_1"},
      {"down_proj", "Q6_K"}, {"embed_tokens", "Q8_0"}, {"lm_head", "Q4_K"}};
  auto quantised = gguf_of<Llama>(config, "llama");
  auto plain = quantised;
  std::uint32_t seed = 0;
  for (const auto& [name, made] : tensors_of<Llama>(config)) {
    const auto gguf = gguf_name(name, "llama");
    std::string dtype;
    for (const auto& [part, type] : types) {
      if (name.find(part) != std::string::npos) dtype = type;
    }
    if (dtype.empty()) {
      for (auto* file : {&quantised, &plain}) {
        add_gguf_tensor(*file, gguf, made.shape, 0, bytes_of_values(made.values));
      }
      continue;
    }
    const auto& type = quantised_type(dtype);
    const auto bytes = quantised_bytes(type, made.values.size(), ++seed);
    add_gguf_tensor(quantised, gguf, made.shape, type.number,
                    {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    add_gguf_tensor(plain, gguf, made.shape, 0, bytes_of_values(dequantised(type, bytes)));
  }
  const ModelFolder folder("untied_float32");
  folder.write("quantised.gguf", quantised.bytes());
  folder.write("plain.gguf", plain.bytes());
  for (const auto arithmetic : arithmetics) {
    const auto& kernels = default_kernels(arithmetic);
    const auto logits = logits_of(*Transformer::load(folder.path() / "quantised.gguf", kernels));
    CHECK((logits == logits_of(*Transformer::load(folder.path() / "plain.gguf", kernels))));
    CHECK(logits[0] != logits[1]);
    // Recorded when `tensor-core` still packed fragments of rounded weights.
    if (arithmetic == Arithmetic::float32) CHECK(hash_of(logits) == 0x318B9F6B980FDF25ULL);
    if (arithmetic == Arithmetic::tensor_core) CHECK(hash_of(logits) == 0x72DC303973986C1CULL);
  }
}

TEST_CASE("tensors have llama.cpp's names in GGUF", "[gguf]") {
  const auto name = [](const std::string& of) { return gguf_name(of, "llama"); };
  CHECK(name("model.embed_tokens.weight") == "token_embd.weight");
  CHECK(name("model.norm.weight") == "output_norm.weight");
  CHECK(name("lm_head.weight") == "output.weight");
  CHECK(name("model.layers.12.self_attn.qkv_proj.weight") == "blk.12.attn_qkv.weight");
  CHECK(name("model.layers.0.self_attn.q_proj.bias") == "blk.0.attn_q.bias");
  CHECK(name("model.layers.3.self_attn.o_proj.weight") == "blk.3.attn_output.weight");
  CHECK(name("model.layers.3.self_attn.k_norm.weight") == "blk.3.attn_k_norm.weight");
  CHECK(name("model.layers.3.mlp.gate_up_proj.weight") == "blk.3.ffn_up.weight");
  CHECK(name("model.layers.3.mlp.gate_proj.weight") == "blk.3.ffn_gate.weight");
  CHECK(name("model.layers.3.mlp.down_proj.weight") == "blk.3.ffn_down.weight");
  CHECK(name("model.layers.3.input_layernorm.weight") == "blk.3.attn_norm.weight");
  CHECK(name("model.layers.3.post_attention_layernorm.weight") == "blk.3.ffn_norm.weight");
  CHECK(name("model.layers.3.linear_attn.out_proj.weight").empty());
  CHECK(name("model.layers.3.mlp.gate.weight") == "blk.3.ffn_gate_inp.weight");
  CHECK(name("model.layers.3.mlp.experts.17.gate_proj.weight") == "blk.3.ffn_gate_exps.weight");
  CHECK(name("model.layers.3.mlp.experts.0.up_proj.weight") == "blk.3.ffn_up_exps.weight");
  CHECK(name("model.layers.3.mlp.experts.5.down_proj.weight") == "blk.3.ffn_down_exps.weight");
  const auto of_qwen35 = [](const std::string& of) {
    return gguf_name("model.layers.7." + of, "qwen35");
  };
  CHECK(of_qwen35("self_attn.q_proj.weight") == "blk.7.attn_q.weight");
  CHECK(of_qwen35("post_attention_layernorm.weight") == "blk.7.post_attention_norm.weight");
  CHECK(of_qwen35("linear_attn.A_log") == "blk.7.ssm_a");
  CHECK(of_qwen35("linear_attn.dt_bias") == "blk.7.ssm_dt.bias");
  CHECK(of_qwen35("linear_attn.in_proj_z.weight") == "blk.7.attn_gate.weight");
  for (const char* unknown :
       {"", "model.layers", "model.layers.", "model.layers.3", "model.layers.3.weight",
        "model.layers.3.mlp.experts.weight", "model.layers.3.mlp.experts.3.weight",
        "model.layers.3.mlp.experts.a.up_proj.weight",
        "model.layers.3.mlp.experts.3a.up_proj.weight"}) {
    CHECK(name(unknown).empty());
    CHECK(gguf_name(unknown, "qwen35").empty());
  }
}

TEST_CASE("a part of a GGUF file that is not computed is refused by its name",
          "[architecture][gguf]") {
  const auto config = config_of<Llama>("llama_tied");
  const ModelFolder folder("untied_float32");
  const auto refused = [&](const std::function<void(GgufBytes&)>& add,
                           std::initializer_list<std::string> parts) {
    auto file = gguf_of<Llama>(config, "llama");
    add(file);
    add_float32_tensors<Llama>(file, config);
    folder.write("model.gguf", file.bytes());
    require_bad_input([&] { Transformer::load(folder.path() / "model.gguf"); }, parts);
  };
  const auto one = little_endian(std::uint32_t{1});
  refused([&](auto& file) { file.add("llama.expert_count", gguf_type::uint32, one); },
          {"model.gguf", "llama.expert_count", "not computed"});
  refused([&](auto& file) { file.add_text("llama.rope.scaling.type", "longrope"); },
          {"model.gguf", "llama.rope.scaling.type"});
  refused(
      [&](auto& file) {
        add_factors(file, "rope_freqs.weight", {1.0, 2.0});
      },
      {"model.gguf", "rope_freqs.weight", "[2]", "[8]"});
  refused([&](auto& file) { add_factors(file, "rope_freqs.weight", std::vector<double>(8)); },
          {"model.gguf", "rope_freqs.weight", "above 0"});
  refused([&](auto& file) { add_factors(file, "blk.0.attn_q.bias", std::vector<double>(64)); },
          {"model.gguf", "blk.0.attn_q.bias", "would use"});
  // An architecture, and a tensor, that nobody knows; one that is missing.
  auto other = gguf_of<Llama>(config, "mamba");
  folder.write("model.gguf", other.bytes());
  require_bad_input([&] { Transformer::load(folder.path() / "model.gguf"); },
                    {"model.gguf", "general.architecture", "mamba", "computed here: \"llama\""});
  auto without = gguf_of<Llama>(config, "llama");
  for (const auto& [name, made] : tensors_of<Llama>(config)) {
    if (name.find("1.mlp.up_proj") != std::string::npos) continue;
    add_gguf_tensor(without, gguf_name(name, "llama"), made.shape, 0, bytes_of_values(made.values));
  }
  folder.write("model.gguf", without.bytes());
  require_bad_input([&] { Transformer::load(folder.path() / "model.gguf"); },
                    {"model.gguf", "blk.1.ffn_up.weight", "missing"});
}

}  // namespace tempera::gpu::formats_test
