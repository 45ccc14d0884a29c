// Where a config.json or the metadata of a GGUF file are silent, and where they say what asks for
// nothing: what is meant is what transformers, and llama.cpp, take it for.
#include <functional>
#include <nlohmann/json.hpp>

#include "gpu/llm/transformer/architectures/gemma3.hpp"
#include "gpu/llm/transformer/architectures/gpt_oss.hpp"
#include "gpu/llm/transformer/architectures/granite.hpp"
#include "gpu/llm/transformer/architectures/llama.hpp"
#include "gpu/llm/transformer/architectures/ministral3.hpp"
#include "gpu/llm/transformer/architectures/mistral.hpp"
#include "gpu/llm/transformer/architectures/olmo2.hpp"
#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "gpu/llm/transformer/architectures/qwen2.hpp"
#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "gpu/llm/transformer/architectures/qwen3_moe.hpp"
#include "gpu/llm/transformer/architectures/rope_scaling.hpp"
#include "gpu/llm/transformer/architectures/smollm3.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/weights/gguf_bytes.hpp"

namespace tempera::gpu::silent_keys_test {

namespace {

using nlohmann::json;

/// Everything that is read of a configuration, or why it is refused.
struct Outcome {
  std::vector<double> read;
  std::string refused;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void add(Outcome& outcome, const DecoderConfig& config) {
  auto& all = outcome.read;
  for (const std::size_t size :
       {config.vocab_size, config.hidden_size, config.intermediate_size, config.num_hidden_layers,
        config.num_attention_heads, config.num_key_value_heads, config.head_dim,
        config.max_position_embeddings, static_cast<std::size_t>(config.tie_word_embeddings)})
    all.push_back(static_cast<double>(size));
  for (const double number : {config.rms_norm_eps, config.rope_theta, config.rope_magnitude,
                              config.local_rope_theta, config.attention_scale,
                              config.embedding_scale, config.residual_scale, config.logits_divisor})
    all.push_back(number);
  for (const auto& layer : config.layer_attention) {
    all.push_back(static_cast<double>(layer.window));
    all.push_back(static_cast<double>(layer.rotation));
  }
  if (config.experts) {
    for (const std::size_t size :
         {config.experts->experts, config.experts->chosen, config.experts->inner,
          config.experts->shared_inner, static_cast<std::size_t>(config.experts->renormalises)})
      all.push_back(static_cast<double>(size));
    for (const bool has : config.experts->layers) all.push_back(has ? 1.0 : 0.0);
    if (const auto& clamped = config.experts->clamped)
      all.insert(all.end(), {double{clamped->alpha}, double{clamped->limit}});
  }
  all.insert(all.end(), config.rope_factors.begin(), config.rope_factors.end());
  all.insert(all.end(), config.eos_token_ids.begin(), config.eos_token_ids.end());
}

void add(Outcome& outcome, const Qwen3_5Config& config) {
  add(outcome, static_cast<const DecoderConfig&>(config));
  for (const std::size_t size :
       {config.rotary_dim, config.linear_num_key_heads, config.linear_num_value_heads,
        config.linear_key_head_dim, config.linear_value_head_dim, config.linear_conv_kernel_dim})
    outcome.read.push_back(static_cast<double>(size));
  for (const bool attends : config.full_attention) outcome.read.push_back(attends ? 1.0 : 0.0);
}

template <class Read>
Outcome outcome_of(const Read& read) {
  Outcome outcome;
  try {
    add(outcome, read());
  } catch (const BadInput& fault) {
    outcome.refused = fault.what();
  }
  return outcome;
}

// ---- config.json

struct Family {
  std::string name;  // of defaults.json
  json base;         // a configuration that says every key, mostly not what is the default
  std::vector<DefaultValue> defaults;
  json default_theta;
  std::function<Outcome(const json&)> read;
};

template <class Model>
Family family_of(const std::string& name, const json& own, const json& default_theta = 10000.0) {
  json base{{"model_type", name},         {"vocab_size", 1000},
            {"hidden_size", 4096},        {"intermediate_size", 512},
            {"num_hidden_layers", 6},     {"num_attention_heads", 64},
            {"num_key_value_heads", 8},   {"head_dim", 32},
            {"hidden_act", "silu"},       {"max_position_embeddings", 777},
            {"rms_norm_eps", 0.0625},     {"rope_parameters", {{"rope_theta", 500.0}}},
            {"tie_word_embeddings", true}};
  base.update(own);
  return {name,
          base,
          {Model::defaults.begin(), Model::defaults.end()},
          default_theta,
          [](const json& given) {
            // A file's text has whole numbers without a sign.
            const auto document = json::parse(given.dump());
            return outcome_of(
                [&] { return Model::configuration(JsonObject(document, "config.json")); });
          }};
}

std::vector<Family> families() {
  const json factors{{"rope_type", "longrope"},
                     {"short_factor", std::vector<double>(32, 1.5)},
                     {"long_factor", std::vector<double>(32, 2.5)},
                     {"rope_theta", 500.0}};
  return {family_of<Llama>("llama", json::object()), family_of<Qwen2>("qwen2", json::object()),
          family_of<Qwen3>("qwen3", json::object()),
          family_of<Phi3>("phi3", {{"rope_parameters", factors},
                                   {"head_dim", 64},
                                   {"max_position_embeddings", 9000},
                                   {"original_max_position_embeddings", 512}}),
          family_of<Qwen3_5>("qwen3_5_text", {{"full_attention_interval", 3},
                                              {"linear_num_key_heads", 2},
                                              {"linear_num_value_heads", 48},
                                              {"linear_key_head_dim", 8},
                                              {"linear_value_head_dim", 16},
                                              {"linear_conv_kernel_dim", 3},
                                              {"partial_rotary_factor", 0.5}})};
}

/// Those and the families whose layers differ from theirs.
std::vector<Family> all_families() {
  auto all = families();
  for (auto& family :
       std::vector<Family>{family_of<Gemma3>("gemma3_text",
                                             {{"hidden_act", nullptr},
                                              {"hidden_activation", "gelu_pytorch_tanh"},
                                              {"query_pre_attn_scalar", 100},
                                              {"rope_parameters",
                                               {{"full_attention", {{"rope_theta", 500.0}}},
                                                {"sliding_attention", {{"rope_theta", 50.0}}}}},
                                              {"tie_word_embeddings", false}},
                                             {{"global", 1e6}, {"local", 1e4}}),
                           family_of<GptOss>("gpt_oss",
                                             {{"attention_bias", true},
                                              {"num_key_value_heads", 16},
                                              {"num_local_experts", 16},
                                              {"num_experts_per_tok", 3},
                                              {"swiglu_alpha", 1.5},
                                              {"swiglu_limit", 6.0}},
                                             150000.0),
                           family_of<Granite>("granite", {{"attention_multiplier", 0.5},
                                                          {"embedding_multiplier", 2.0},
                                                          {"logits_scaling", 3.0},
                                                          {"residual_multiplier", 0.25}}),
                           family_of<Mistral>("mistral", {{"num_key_value_heads", 16}}),
                           family_of<Ministral>("ministral", {{"num_key_value_heads", 16}}),
                           family_of<Ministral3>(
                               "ministral3", {{"num_key_value_heads", 16},
                                              {"rope_parameters",
                                               {{"rope_type", "yarn"},
                                                {"factor", 2.0},
                                                {"llama_4_scaling_beta", 0.1},
                                                {"original_max_position_embeddings", 1U << 20}}}}),
                           family_of<Olmo2>("olmo2", json::object()),
                           family_of<Olmo3>("olmo3", json::object(), 5e5),
                           family_of<Qwen3Moe>("qwen3_moe", {{"decoder_sparse_step", 2},
                                                             {"mlp_only_layers", {3}},
                                                             {"moe_intermediate_size", 96},
                                                             {"norm_topk_prob", true},
                                                             {"num_experts", 16},
                                                             {"num_experts_per_tok", 4}}),
                           family_of<SmolLM3>("smollm3",
                                              {{"no_rope_layer_interval", 3},
                                               {"num_key_value_heads", 16},
                                               {"tie_word_embeddings", false}},
                                              2e6)})
    all.push_back(std::move(family));
  return all;
}

/// Another value than the default, if the base of a family does not have one.
json other_value(const std::string& key) {
  const json others{{"head_dim", 96},
                    {"hidden_act", "gelu"},
                    {"attn_logit_softcapping", 50.0},
                    {"final_logit_softcapping", 30.0},
                    {"hidden_activation", "gelu"},
                    {"layer_types", json::array({"mystery"})},
                    {"no_rope_layers", json::array({0, 0, 0, 0, 0, 0})}};
  return others.contains(key) ? others[key] : json();
}

json without(json document, const std::string& key) {
  document.erase(key);
  return document;
}

json with(json document, const std::string& key, const json& value) {
  document[key] = value;
  return document;
}

}  // namespace

TEST_CASE("a key that config.json lacks means what transformers takes it for", "[config]") {
  const auto of_transformers = json::parse(read_bytes(architecture_fixtures / "defaults.json"));
  for (const Family& family : all_families()) {
    const auto& theirs = of_transformers.at(family.name);
    for (const auto& [key, text] : family.defaults) {
      INFO(family.name << " " << key);
      const json value = json::parse(text);
      // Older configurations of Qwen3.5 have these, which the class is no more named after.
      if (std::string(key) == "full_attention_interval")
        CHECK(value == 4);
      else if (theirs.at("attributes").contains(key))
        CHECK(theirs.at("attributes").at(key) == value);
      else
        CHECK(std::string(key) == "head_dim");
      const auto silent = family.read(without(family.base, key));
      CHECK(silent.refused == "");
      CHECK(silent == family.read(with(family.base, key, value)));
      // The window and what it depends on are below.
      if (std::string(key).find("window") != std::string::npos) continue;
      const auto other = value.is_boolean() ? json(!value.get<bool>()) : other_value(key);
      CHECK(silent != family.read(other.is_null() ? family.base : with(family.base, key, other)));
    }
    INFO(family.name);
    CHECK(theirs.at("default_theta") == family.default_theta);
    for (const char* key : {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
                            "num_attention_heads", "model_type"}) {
      // Those of Gemma 3 have defaults, which its first folders rely on.
      if (family.name == "gemma3_text" && std::string(key) != "model_type") continue;
      const auto refused = family.read(without(family.base, key)).refused;
      CHECK(refused.find("\"" + std::string(key) + "\" is missing") != std::string::npos);
    }
  }
}

TEST_CASE("null in config.json is not a default", "[config]") {
  for (const Family& family : all_families()) {
    INFO(family.name);
    const auto heads = family.read(with(family.base, "num_key_value_heads", 64));
    CHECK(family.read(with(family.base, "num_key_value_heads", nullptr)) == heads);
  }
}

TEST_CASE("the base of rotary positions is the first of three places that says it", "[config]") {
  for (const Family& family : families()) {
    INFO(family.name);
    if (family.name == "phi3") continue;  // its scaling has no such base
    const auto silent = without(family.base, "rope_parameters");
    const auto at = [&](double theta) {
      return family.read(with(silent, "rope_parameters", {{"rope_theta", theta}}));
    };
    CHECK(family.read(silent) == at(10000.0));
    CHECK(family.read(with(silent, "rope_parameters", {{"rope_type", "default"}})) == at(10000.0));
    CHECK(family.read(with(silent, "rope_scaling", json::object())) == at(10000.0));
    auto outside = with(silent, "rope_theta", 300.0);
    CHECK(family.read(outside) == at(300.0));
    CHECK(at(300.0) != at(10000.0));
    for (const char* place : {"rope_parameters", "rope_scaling"}) {
      INFO(place);
      CHECK(family.read(with(outside, place, {{"type", "default"}})) == at(300.0));
      CHECK(family.read(with(outside, place, {{"rope_theta", 300.0}})) == at(300.0));
      CHECK(family.read(with(silent, place, {{"rope_theta", 300.0}})) == at(300.0));
      CHECK(family.read(with(outside, place, {{"rope_theta", 301.0}}))
                .refused.find("\"rope_theta\" is given twice, and not the same") !=
            std::string::npos);
      CHECK(family.read(with(silent, place, {{"rope_type", "default"}, {"type", "yarn"}}))
                .refused.find("\"type\" are not the same") != std::string::npos);
    }
    // Both places, if they agree.
    auto both = with(with(outside, "rope_scaling", {{"type", "default"}}), "rope_parameters",
                     {{"rope_type", "default"}, {"rope_theta", 300.0}});
    CHECK(family.read(both) == at(300.0));
    both["rope_scaling"]["rope_theta"] = nullptr;
    CHECK(family.read(both) == at(300.0));
    both.erase("rope_theta");
    CHECK(family.read(both).refused.find("\"rope_parameters\" are not the same") !=
          std::string::npos);
  }
}

TEST_CASE("scalings of rotary positions by 1 are taken, and no others", "[config]") {
  for (const Family& family : families()) {
    const auto silent = without(without(family.base, "rope_parameters"), "head_dim");
    const auto plain = family.read(silent);
    REQUIRE(plain.refused == "");
    for (const char* place : {"rope_parameters", "rope_scaling"})
      for (const char* type : {"default", "none", "linear", "dynamic", "yarn", "llama3"}) {
        INFO(family.name << " " << place << " " << type);
        const auto scaled = [&](const json& more) {
          json rope{{"rope_type", type}, {"factor", 1.0}};
          rope.update(more);
          return family.read(with(silent, place, rope));
        };
        const auto is_refused = [&](const json& more) {
          return scaled(more).refused.find(place) != std::string::npos;
        };
        CHECK(scaled(json::object()) == plain);
        CHECK(scaled({{"factor", 1}, {"attention_factor", 1.0}}) == plain);
        CHECK(scaled({{"original_max_position_embeddings", 256},
                      {"beta_fast", 32},
                      {"beta_slow", 1},
                      {"low_freq_factor", 1.0},
                      {"high_freq_factor", 4.0}}) == plain);
        CHECK(is_refused({{"attention_factor", 1.5}}));
        CHECK(is_refused({{"beta", 1}}));
        CHECK(is_refused({{"full_attention", {{"rope_type", "llama3"}}}}));
        if (family.name == "llama" && std::string(type) == "llama3") continue;
        CHECK(is_refused({{"factor", 2.0}}));
      }
    for (const char* type : {"linear", "dynamic", "yarn", "longrope", "su", "mystery"}) {
      INFO(family.name << " " << type);
      const auto refused =
          family.read(with(silent, "rope_scaling", {{"type", type}, {"factor", 4.0}})).refused;
      CHECK(refused.find("rope_scaling") != std::string::npos);
    }
  }
}

TEST_CASE("a key that a scaling of YaRN lacks has transformers' default, or is missed",
          "[config]") {
  constexpr double theta = 500.0;
  constexpr std::size_t size = 64;
  const json said{
      {"rope_type", "yarn"},    {"factor", 4.0},    {"original_max_position_embeddings", 512},
      {"beta_fast", 16.0},      {"beta_slow", 2.0}, {"truncate", false},
      {"attention_factor", 1.5}};
  const auto read = [&](const json& scaling) {
    Outcome outcome;
    try {
      const auto document = json::parse(scaling.dump());
      const auto found = yarn_scaling(JsonObject(document, "rope_scaling"), theta, size);
      outcome.read = found.factors;
      outcome.read.push_back(found.magnitude);
    } catch (const BadInput& fault) {
      outcome.refused = fault.what();
    }
    return outcome;
  };
  const auto all = read(said);
  REQUIRE(all.refused.empty());
  // As in _compute_yarn_parameters of transformers. A key without a default must be there.
  const double magnitude = 0.1 * std::log(4.0) + 1.0;
  const std::map<std::string, json> defaults{
      {"factor", nullptr}, {"original_max_position_embeddings", nullptr},
      {"beta_fast", 32.0}, {"beta_slow", 1.0},
      {"truncate", true},  {"attention_factor", magnitude}};
  for (const auto& [key, otherwise] : defaults) {
    CAPTURE(key);
    const auto silent = read(without(said, key));
    if (otherwise.is_null()) {
      CHECK(silent.refused.find("\"" + key + "\"") != std::string::npos);
      continue;
    }
    CHECK(silent.refused.empty());
    CHECK(silent == read(with(said, key, otherwise)));
    CHECK(silent != all);
  }
  // One alone of the two shares of the magnitude says nothing.
  const auto unsaid = without(said, "attention_factor");
  for (const char* alone : {"mscale", "mscale_all_dim"})
    CHECK(read(with(unsaid, alone, 0.5)) == read(unsaid));
  const auto both = with(with(unsaid, "mscale", 2.0), "mscale_all_dim", 0.5);
  CHECK(read(both).read.back() ==
        (0.1 * 2.0 * std::log(4.0) + 1.0) / (0.1 * 0.5 * std::log(4.0) + 1.0));
  CHECK(read(with(both, "attention_factor", 1.5)).read.back() == 1.5);
}

TEST_CASE("windows that no text outgrows are taken, and no others", "[config]") {
  for (const Family& family : families()) {
    INFO(family.name);
    const bool is_switched = family.name == "qwen2" || family.name == "qwen3";
    const auto longest = family.name == "phi3" ? 512 : 777;
    const auto plain = family.read(family.base);
    const auto says = [&](const json& more) {
      auto document = family.base;
      document.update(more);
      return family.read(document);
    };
    const auto is_refused = [&](const json& more) { return !says(more).refused.empty(); };
    for (const json& window : {json(), json(0), json(longest), json(longest + 1)}) {
      CHECK(says({{"sliding_window", window}}) == plain);
      CHECK(says({{"sliding_window", window}, {"use_sliding_window", true}}) == plain);
    }
    CHECK(is_refused({{"sliding_window", longest - 1}}) == !is_switched);
    CHECK(is_refused({{"sliding_window", 1}, {"use_sliding_window", true}}) == !is_switched);
    CHECK(says({{"sliding_window", 1}, {"use_sliding_window", false}}) == plain);
    CHECK(is_refused({{"sliding_window", -1}}));
    if (!is_switched) continue;
    // The layers from max_window_layers on have the window: 28 of them are fewer than 6.
    const auto windowed = [&](const json& more) {
      json all{{"sliding_window", longest - 1}, {"use_sliding_window", true}};
      all.update(more);
      return says(all);
    };
    CHECK(windowed({{"max_window_layers", 6}}) == plain);
    CHECK(windowed({{"max_window_layers", 5}}).refused.find("\"sliding_window\"") !=
          std::string::npos);
    const auto deep = [&](std::size_t layers) {
      return !is_refused({{"num_hidden_layers", layers},
                          {"sliding_window", longest - 1},
                          {"use_sliding_window", true}});
    };
    CHECK(deep(28));
    CHECK_FALSE(deep(29));
    // Where it is silent, the window is of 4096 tokens.
    for (const std::size_t positions : {4096, 4097})
      CHECK(is_refused({{"max_position_embeddings", positions},
                        {"use_sliding_window", true},
                        {"max_window_layers", 0}}) == (positions == 4097));
    const json full(std::vector<std::string>(6, "full_attention"));
    auto sliding = full;
    sliding[5] = "sliding_attention";
    CHECK(windowed({{"max_window_layers", 0}, {"layer_types", full}}) == plain);
    CHECK(windowed({{"layer_types", sliding}}).refused.find("sliding_attention") !=
          std::string::npos);
    CHECK(says({{"sliding_window", longest}, {"layer_types", sliding}}) == plain);
  }
}

TEST_CASE("what asks for nothing in config.json is taken", "[config]") {
  const json neutral{{"add_cross_attention", false},
                     {"alibi", false},
                     {"attention_out_bias", false},
                     {"attn_logit_softcapping", 0.0},
                     {"clip_qkv", 0},
                     {"embedding_multiplier", 1.0},
                     {"final_logit_softcapping", 0},
                     {"first_k_dense_replace", 0},
                     {"is_causal", true},
                     {"lm_head_bias", false},
                     {"logit_scale", 1},
                     {"logits_scaling", 1.0},
                     {"mlp_bias", false},
                     {"mlp_only_layers", json::array()},
                     {"moe_intermediate_size", 0},
                     {"n_routed_experts", 0},
                     {"n_shared_experts", 0},
                     {"num_experts", 0},
                     {"num_experts_per_tok", 0},
                     {"num_local_experts", 0},
                     {"num_nextn_predict_layers", 0},
                     {"pruned_heads", json::object()},
                     {"qk_layernorm", false},
                     {"quantization", json::object()},
                     {"residual_multiplier", 1},
                     {"rope_interleaved", false},
                     {"rotary_pct", 1.0},
                     {"use_bias", false},
                     {"use_mrope", false},
                     {"use_parallel_residual", false},
                     {"use_qk_norm", false}};
  for (const Family& family : families()) {
    const auto plain = family.read(family.base);
    CHECK(family.read(with(family.base, "hidden_act", "swish")) == plain);
    for (const auto& [key, value] : neutral.items()) {
      INFO(family.name << " " << key);
      CHECK(family.read(with(family.base, key, value)) == plain);
      CHECK(family.read(with(family.base, key, nullptr)) == plain);
      const json other = value.is_boolean()                  ? json(!value.get<bool>())
                         : value.is_number() && value == 1.0 ? json(0.5)
                         : value.is_number()                 ? json(2)
                         : value.is_array()                  ? json::array({1})
                                                             : json{{"0", {1}}};
      CHECK(family.read(with(family.base, key, other)).refused.find("\"" + key + "\"") !=
            std::string::npos);
    }
  }
}

// ---- GGUF

namespace {

/// Metadata by key, so that a test may leave one out; and an embedding, which says the vocabulary.
class Metadata {
 public:
  explicit Metadata(std::string architecture) : architecture_(std::move(architecture)) {
    text("general.architecture", architecture_);
  }
  void text(const std::string& key, const std::string& value) {
    add(key, gguf_type::text, gguf_text(value));
  }
  void number(const std::string& key, std::uint32_t value) {
    add(architecture_ + "." + key, gguf_type::uint32, little_endian(value));
  }
  void real(const std::string& key, float value) {
    add(architecture_ + "." + key, gguf_type::float32, little_endian(value));
  }
  void truth(const std::string& key, bool value) {
    add(architecture_ + "." + key, gguf_type::boolean, std::string(1, value ? '\1' : '\0'));
  }
  void numbers(const std::string& key, const std::vector<std::uint32_t>& values) {
    std::string bytes =
        little_endian(gguf_type::uint32) + little_endian<std::uint64_t>(values.size());
    for (const auto value : values) bytes += little_endian(value);
    add(architecture_ + "." + key, gguf_type::array, bytes);
  }
  void texts(const std::string& key, const std::string& value) {
    text(architecture_ + "." + key, value);
  }
  void erase(const std::string& key) { entries_.erase(architecture_ + "." + key); }
  void tensor(const std::string& name, std::size_t size) { tensors_.emplace_back(name, size); }

  const std::string& architecture() const { return architecture_; }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, entry] : entries_) {
      if (key.starts_with(architecture_ + "."))
        keys.push_back(key.substr(architecture_.size() + 1));
    }
    return keys;
  }
  GgufBytes file() const {
    GgufBytes file;
    for (const auto& [key, entry] : entries_) file.add(key, entry.first, entry.second);
    file.add_tensor("token_embd.weight", {2, 1000}, 0, 0);
    file.data = std::string(8000, '\0');
    for (const auto& [name, size] : tensors_) {
      file.data.resize((file.data.size() + 31) / 32 * 32);
      file.add_tensor(name, {size}, 0, file.data.size());
      const std::vector<float> values(size, 1.5f);
      file.data.append(reinterpret_cast<const char*>(values.data()), size * sizeof(float));
    }
    return file;
  }

 private:
  void add(const std::string& key, std::uint32_t type, const std::string& value) {
    entries_[key] = {type, value};
  }

  std::string architecture_;
  std::map<std::string, std::pair<std::uint32_t, std::string>> entries_;
  std::vector<std::pair<std::string, std::size_t>> tensors_;
};

Outcome outcome_of(const Metadata& metadata) {
  const ModelFolder folder("untied_float32");
  folder.write("m.gguf", metadata.file().bytes());
  return outcome_of([&]() -> Qwen3_5Config {
    const GgufFile file(folder.path() / "m.gguf");
    if (metadata.architecture() == "qwen35") return Qwen3_5::configuration(file);
    Qwen3_5Config config;
    auto& dense = static_cast<DecoderConfig&>(config);
    if (metadata.architecture() == "llama") dense = Llama::configuration(file);
    if (metadata.architecture() == "qwen2") dense = Qwen2::configuration(file);
    if (metadata.architecture() == "qwen3") dense = Qwen3::configuration(file);
    if (metadata.architecture() == "phi3") dense = Phi3::configuration(file);
    return config;
  });
}

/// The same but for the path, which differs from call to call.
bool is_refused(const Outcome& outcome, const std::string& key) {
  return outcome.refused.find(key) != std::string::npos;
}

constexpr std::array architectures{"llama", "qwen2", "qwen3", "phi3", "qwen35"};

/// Every key that is read, and of those with a default another value than that.
Metadata all_said(const std::string& architecture) {
  Metadata said(architecture);
  for (const auto& [key, value] :
       std::map<std::string, std::uint32_t>{{"block_count", 6},
                                            {"context_length", 777},
                                            {"embedding_length", 256},
                                            {"feed_forward_length", 512},
                                            {"attention.head_count", 8},
                                            {"attention.head_count_kv", 2},
                                            {"attention.key_length", 32},
                                            {"attention.value_length", 32},
                                            {"vocab_size", 1000}})
    said.number(key, value);
  said.number("rope.dimension_count", architecture == "qwen35" ? 16 : 32);
  said.real("attention.layer_norm_rms_epsilon", 0.0625f);
  said.real("rope.freq_base", 500.0f);
  if (architecture == "phi3") {
    said.number("rope.scaling.original_context_length", 512);
    said.real("rope.scaling.attn_factor", 1.25f);
    said.tensor("rope_factors_short.weight", 16);
    said.tensor("rope_factors_long.weight", 16);
  }
  if (architecture == "qwen35") {
    for (const auto& [key, value] :
         std::map<std::string, std::uint32_t>{{"ssm.conv_kernel", 3},
                                              {"ssm.state_size", 8},
                                              {"ssm.group_count", 2},
                                              {"ssm.time_step_rank", 4},
                                              {"ssm.inner_size", 64},
                                              {"full_attention_interval", 3}})
      said.number(key, value);
  }
  return said;
}

}  // namespace

TEST_CASE("a key that a GGUF file lacks means what llama.cpp takes it for", "[gguf]") {
  // llama.cpp's, as far as they do not depend on other keys.
  const std::map<std::string, std::uint32_t> numbers{{"attention.head_count_kv", 8},
                                                     {"attention.key_length", 32},
                                                     {"attention.value_length", 32},
                                                     {"rope.dimension_count", 32},
                                                     {"full_attention_interval", 4},
                                                     {"vocab_size", 1000},
                                                     {"rope.scaling.original_context_length", 777}};
  for (const std::string architecture : architectures) {
    const auto said = all_said(architecture);
    const auto all = outcome_of(said);
    REQUIRE(all.refused == "");
    for (const auto& key : said.keys()) {
      INFO(architecture << " " << key);
      auto silent = said;
      silent.erase(key);
      const auto outcome = outcome_of(silent);
      auto written = said;
      if (key == "rope.freq_base") {
        written.real(key, 10000.0f);
      } else if (numbers.contains(key) &&
                 !(architecture == "qwen35" && key == "rope.dimension_count")) {
        written.number(key, numbers.at(key));
      } else {
        CHECK(is_refused(outcome, architecture + "." + key));
        continue;
      }
      CHECK(outcome.refused == "");
      CHECK(outcome == outcome_of(written));
    }
    // Shares of the width that are no whole number of the head's size.
    auto wide = said;
    wide.number("attention.key_length", 64);
    wide.number("attention.value_length", 64);
    if (architecture == std::string("qwen35") || architecture == std::string("phi3")) continue;
    wide.number("rope.dimension_count", 64);
    CHECK(outcome_of(wide).refused.empty());
    CHECK(outcome_of(wide) != all);
    auto silent = wide;
    silent.erase("rope.dimension_count");
    CHECK(outcome_of(silent) == outcome_of(wide));
    silent = wide;
    silent.erase("attention.value_length");
    CHECK(is_refused(outcome_of(silent), "attention.value_length"));
    silent.erase("attention.key_length");
    CHECK(is_refused(outcome_of(silent), "rope.dimension_count"));
    silent.erase("rope.dimension_count");
    CHECK(outcome_of(silent) == all);
  }
}

TEST_CASE("longrope without its magnitude is refused if it is not 1", "[gguf]") {
  auto said = all_said("phi3");
  said.erase("rope.scaling.attn_factor");
  for (const std::uint32_t original : {776U, 777U, 778U}) {
    said.number("rope.scaling.original_context_length", original);
    const auto outcome = outcome_of(said);
    CHECK(is_refused(outcome, "phi3.rope.scaling.attn_factor") == (original == 776));
    CHECK(outcome.refused.empty() == (original != 776));
  }
}

TEST_CASE("what asks for nothing in a GGUF file is taken", "[gguf]") {
  using Say = std::function<void(Metadata&, const std::string& key)>;
  struct Neutral {
    std::string key;
    std::vector<Say> taken;
    std::vector<Say> refused;
  };
  const auto number = [](std::uint32_t value) -> Say {
    return [=](Metadata& metadata, const std::string& key) { metadata.number(key, value); };
  };
  const auto real = [](float value) -> Say {
    return [=](Metadata& metadata, const std::string& key) { metadata.real(key, value); };
  };
  const auto truth = [](bool value) -> Say {
    return [=](Metadata& metadata, const std::string& key) { metadata.truth(key, value); };
  };
  const auto text = [](const std::string& value) -> Say {
    return [=](Metadata& metadata, const std::string& key) { metadata.texts(key, value); };
  };
  const auto numbers = [](const std::vector<std::uint32_t>& values) -> Say {
    return [=](Metadata& metadata, const std::string& key) { metadata.numbers(key, values); };
  };
  const auto scaled = [](const std::string& type, float factor) -> Say {
    return [=](Metadata& metadata, const std::string& key) {
      metadata.texts(key, type);
      metadata.real("rope.scaling.factor", factor);
    };
  };
  const float usual = 1.0f / std::sqrt(32.0f);
  const std::vector<Neutral> all{
      {"attention.causal", {truth(true)}, {truth(false)}},
      {"attention.clamp_kqv", {real(0)}, {real(8)}},
      {"attention.max_alibi_bias", {real(0)}, {real(8)}},
      {"attention.scale", {real(0), real(usual)}, {real(usual * 1.001f), real(1), text("1")}},
      {"attention.sliding_window", {number(0), number(777), number(1U << 31)}, {number(511)}},
      {"attn_logit_softcapping", {real(0)}, {real(30)}},
      {"final_logit_softcapping", {real(0)}, {real(30)}},
      {"embedding_scale", {real(0), real(1)}, {real(12), real(-1)}},
      {"residual_scale", {real(0), real(1)}, {real(0.5f)}},
      {"logit_scale", {real(0), real(1)}, {real(0.5f)}},
      {"expert_count", {number(0)}, {number(1), number(8), text("0")}},
      {"expert_used_count", {number(0)}, {number(2), numbers({0})}},
      {"expert_shared_count", {number(0)}, {number(1)}},
      {"expert_group_count", {number(0)}, {number(1)}},
      {"expert_group_used_count", {number(0)}, {number(1)}},
      {"expert_feed_forward_length", {number(0)}, {number(1)}},
      {"expert_shared_feed_forward_length", {number(0)}, {number(1)}},
      {"expert_gating_func", {number(0)}, {number(2)}},
      {"expert_weights_norm", {truth(false)}, {truth(true)}},
      {"expert_weights_scale", {real(0), real(1)}, {real(2.5f)}},
      {"leading_dense_block_count", {number(0)}, {number(1)}},
      {"n_deepstack_layers", {number(0)}, {number(3)}},
      {"nextn_predict_layers", {number(0)}, {}},
      {"pooling_type", {number(0), number(3)}, {}},
      {"rope.scale_linear", {real(0), real(1)}, {real(4)}},
      {"rope.scaling.factor", {real(0), real(1), number(1)}, {real(4), real(-1), text("1")}},
      {"rope.scaling.finetuned", {truth(true), truth(false)}, {}},
      {"rope.scaling.type",
       {text("none"), text("linear"), text("yarn"), scaled("none", 4), scaled("linear", 1),
        scaled("yarn", 1)},
       {text("mystery"), text(""), number(0), scaled("linear", 4), scaled("yarn", 4)}},
      {"rope.scaling.alpha", {real(0)}, {real(1000)}},
      {"rope.scaling.yarn_attn_factor", {real(1)}, {real(1.5f)}},
      {"rope.scaling.yarn_beta_fast", {real(32)}, {}},
      {"swin_norm", {truth(false)}, {truth(true)}},
      {"use_parallel_residual", {truth(false)}, {truth(true)}},
      {"attention.head_count",
       {numbers({8, 8, 8, 8, 8, 8})},
       {numbers({8, 8, 8, 8, 8}), numbers({8, 8, 8, 8, 8, 4}), numbers({4, 8, 8, 8, 8, 8}),
        numbers({})}},
      {"attention.head_count_kv", {numbers({2, 2, 2, 2, 2, 2})}, {numbers({2, 2, 2, 2, 2, 8})}},
      {"feed_forward_length",
       {numbers({512, 512, 512, 512, 512, 512})},
       {numbers({512, 512, 512, 512, 512, 0})}},
      {"something.else", {}, {number(0), number(1)}}};
  for (const std::string architecture : architectures) {
    const auto said = all_said(architecture);
    const auto plain = outcome_of(said);
    for (const auto& [key, taken, refused] : all) {
      INFO(architecture << " " << key);
      for (const auto& say : taken) {
        auto more = said;
        say(more, key);
        const auto outcome = outcome_of(more);
        CHECK(outcome.refused == "");
        CHECK(outcome == plain);
      }
      for (const auto& say : refused) {
        auto more = said;
        say(more, key);
        // A scaling is refused by its factor.
        const auto outcome = outcome_of(more);
        const bool by_factor = is_refused(outcome, architecture + ".rope.scaling.factor");
        CHECK((is_refused(outcome, architecture + "." + key) ||
               (key == "rope.scaling.type" && by_factor)));
      }
    }
    if (architecture == std::string("phi3")) {
      auto more = said;
      more.texts("rope.scaling.type", "longrope");
      CHECK(outcome_of(more) == plain);
      continue;
    }
    for (const auto& [key, value] : {std::pair{"rope.scaling.original_context_length", 64.0f},
                                     {"rope.scaling.attn_factor", 1.0f}}) {
      auto more = said;
      more.real(key, value);
      CHECK(outcome_of(more) == plain);
    }
    auto more = said;
    more.real("rope.scaling.attn_factor", 1.5f);
    CHECK(is_refused(outcome_of(more), "rope.scaling.attn_factor"));
    more = said;
    more.texts("rope.scaling.type", "longrope");
    CHECK(is_refused(outcome_of(more), "rope.scaling.type"));
    more = said;
    more.text("general.type", "model");
    CHECK(outcome_of(more) == plain);
    more.text("general.type", "adapter");
    CHECK(is_refused(outcome_of(more), "general.type"));
  }
}

TEST_CASE("a pattern of windows has a truth for each layer, no fewer and no more", "[gguf]") {
  const ModelFolder folder("untied_float32");
  const std::string key = "gemma3.attention.sliding_window_pattern";
  constexpr std::size_t layers = 4;
  for (std::uint64_t truths = 0; truths <= 2 * layers; ++truths) {
    CAPTURE(truths);
    std::vector<bool> said;
    std::string value = little_endian(gguf_type::boolean) + little_endian(truths);
    for (std::uint64_t i = 0; i < truths; ++i) {
      said.push_back(i % 3 == 1);
      value += said.back() ? '\1' : '\0';
    }
    GgufBytes bytes;
    bytes.add_text("general.architecture", "gemma3");
    bytes.add(key, gguf_type::array, value);
    folder.write("m.gguf", bytes.bytes());
    const GgufFile file(folder.path() / "m.gguf");
    const auto read = [&] { return read_sliding_layers(file.metadata(), layers, 2); };
    if (truths == layers)
      CHECK(read() == said);
    else
      require_bad_input(read, {key, std::to_string(truths) + " truth values for 4 layers"});
  }
}

TEST_CASE("sizes are taken up to their limits, and no further", "[config][gguf]") {
  struct Limits {
    const char* key;
    const char* gguf;
    std::uint64_t least;
    std::uint64_t greatest;
  };
  const std::vector<Limits> limits{
      {"vocab_size", nullptr, 1, std::uint64_t{1} << 18},
      {"hidden_size", "embedding_length", 1, std::uint64_t{1} << 17},
      {"intermediate_size", "feed_forward_length", 1, std::uint64_t{1} << 17},
      {"num_hidden_layers", "block_count", 1, 1024},
      {"num_attention_heads", "attention.head_count", 1, 1024},
      {"head_dim", "attention.key_length", 16, 1024},
      {"max_position_embeddings", "context_length", 1, std::uint64_t{1} << 24}};
  for (const Family& family : families())
    for (const auto& [key, gguf, least, greatest] : limits) {
      INFO(family.name << " " << key);
      if (family.name == "phi3" && std::string(key) == "head_dim") continue;  // one factor for each
      const auto base = with(family.base, "num_key_value_heads", nullptr);
      for (const auto value : {least, greatest})
        CHECK(family.read(with(base, key, value)).refused == "");
      for (const auto value : {std::uint64_t{0}, greatest + 1})
        CHECK(family.read(with(base, key, value)).refused.find("\"" + std::string(key) + "\"") !=
              std::string::npos);
    }
  for (const std::string architecture : architectures)
    for (const auto& [key, gguf, least, greatest] : limits) {
      if (gguf == nullptr || (architecture == "phi3" && std::string(key) == "head_dim")) continue;
      INFO(architecture << " " << gguf);
      auto said = all_said(architecture);
      for (const char* other : {"attention.head_count_kv", "feed_forward_length"})
        if (std::string(other) != gguf) said.number(other, 1);
      const auto at = [&](std::uint64_t value) {
        auto more = said;
        more.number(gguf, static_cast<std::uint32_t>(value));
        if (std::string(key) == "head_dim") {
          more.number("attention.value_length", static_cast<std::uint32_t>(value));
          if (architecture != "qwen35")
            more.number("rope.dimension_count", static_cast<std::uint32_t>(value));
        }
        return outcome_of(more);
      };
      for (const auto value : {least, greatest}) CHECK(at(value).refused == "");
      for (const auto value : {std::uint64_t{0}, greatest + 1})
        CHECK(is_refused(at(value), architecture + "." + gguf));
    }
}

}  // namespace tempera::gpu::silent_keys_test
