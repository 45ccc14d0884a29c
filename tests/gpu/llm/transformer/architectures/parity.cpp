// Every architecture against Hugging Face transformers in float32, on texts past the first page,
// the first split and every switch-over of the rotary frequencies; and what a defect would do.
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

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
#include "gpu/llm/transformer/architectures/qwen3_moe.hpp"
#include "gpu/llm/transformer/architectures/rope_scaling.hpp"
#include "gpu/llm/transformer/architectures/smollm3.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"
#include "tests/gpu/llm/transformer/architectures/parity_table.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu::parity_test {

namespace {

/// An architecture, and how its configuration is read.
struct Case {
  std::string name;
  std::function<DecoderConfig(const JsonObject&)> configuration;
  std::function<std::unique_ptr<Architecture>(const DecoderConfig&, TensorSource&, const Kernels&)>
      make;

  DecoderConfig config() const {
    const auto file = architecture_fixtures / name / "config.json";
    const auto document = read_json_file(file);
    return configuration(JsonObject(document, file.string()));
  }
  LogitsByPosition rows(const DecoderConfig& config, const FormulaTensors::Edit& edit,
                        const std::vector<TokenId>& tokens,
                        const Kernels& kernels = default_kernels(Arithmetic::float32)) const {
    FormulaTensors tensors(edit);
    Transformer transformer(make(config, tensors, kernels));
    DeviceMemory<float> memory;
    transformer.logits_at_every_position(tokens, memory);
    LogitsByPosition result;
    for (std::size_t row = 0; row < tokens.size(); ++row) {
      result.push_back(memory.download(row * config.vocab_size, config.vocab_size));
    }
    return result;
  }
};

template <class Model>
Case case_of(const std::string& name) {
  return {name, [](const JsonObject& json) { return Model::configuration(json); },
          [](const DecoderConfig& config, TensorSource& tensors, const Kernels& kernels) {
            return std::make_unique<Model>(config, tensors, kernels);
          }};
}

Case long_phi3() {
  auto result = case_of<Phi3>("phi3_long");
  result.configuration = [](const JsonObject& json) {
    return Phi3::configuration(json, RopeFactors::of_long_texts);
  };
  return result;
}

/// Where a router chooses, a rounding may turn a choice, and no tolerance of sums bounds that.
const std::set<std::string> families_that_choose{"gpt_oss", "qwen3_moe"};

std::vector<Case> cases() {
  return {case_of<Llama>("llama_tied"),      case_of<Llama>("llama3_scaled"),
          case_of<Qwen2>("qwen2"),           case_of<Qwen3>("qwen3"),
          case_of<Phi3>("phi3_short"),       long_phi3(),
          case_of<Phi3>("phi3_partial"),     case_of<Gemma3>("gemma3"),
          case_of<Mistral>("mistral"),       case_of<Ministral>("ministral"),
          case_of<SmolLM3>("smollm3"),       case_of<Olmo2>("olmo2"),
          case_of<Olmo3>("olmo3"),           case_of<Granite>("granite"),
          case_of<Qwen3Moe>("qwen3_moe"),    case_of<Qwen3Moe>("qwen3_moe_all"),
          case_of<Ministral3>("ministral3"), case_of<GptOss>("gpt_oss"),
          case_of<GptOss>("gpt_oss_all")};
}

/// What a wrong program would compute: the right one with another configuration or other weights.
struct Defect {
  std::string what;
  std::function<void(DecoderConfig&)> configuration;
  FormulaTensors::Edit weights;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Every tensor whose name holds `one` gets the values of the tensor of the same name with `other`.
FormulaTensors::Edit take_other(const std::string& one, const std::string& other,
                                std::uint64_t inputs) {
  return [=](const std::string& name, std::vector<float>& values) {
    const auto at = name.find(one);
    if (at == std::string::npos) return;
    auto instead = name;
    instead.replace(at, one.size(), other);
    values = inputs == 0 || name.ends_with(".bias")
                 ? formula_values(instead, {values.size()})
                 : formula_values(instead, {values.size() / inputs, inputs});
  };
}

FormulaTensors::Edit zero(const std::string& part) {
  return [=](const std::string& name, std::vector<float>& values) {
    if (contains(name, part)) std::fill(values.begin(), values.end(), 0.0f);
  };
}

/// Element r of the first `rows` rows of a matrix, in heads, comes from that of a GGUF file that
/// nobody has put back in order.
FormulaTensors::Edit rows_not_put_back(const std::string& part, std::size_t inputs,
                                       std::size_t rows, std::size_t head_dim) {
  return [=](const std::string& name, std::vector<float>& values) {
    if (!contains(name, part)) return;
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(rows * inputs);
    const auto permuted =
        neighbours_from_halves(std::vector<float>(values.begin(), end), inputs, head_dim);
    std::copy(permuted.begin(), permuted.end(), values.begin());
  };
}

using Rotation = LayerAttention::Rotation;

/// Every layer's attention changed.
std::function<void(DecoderConfig&)> each_layer(const std::function<void(LayerAttention&)>& change) {
  return [=](DecoderConfig& config) {
    for (auto& layer : config.layer_attention) change(layer);
  };
}

/// Those of gpt-oss, besides windows and the choice of experts.
std::vector<Defect> defects_of_gpt_oss() {
  std::vector<Defect> defects{
      {"no sinks",
       {},
       [](const std::string& tensor, auto& values) {
         if (contains(tensor, "sinks")) std::fill(values.begin(), values.end(), -60.0f);
       }},
      {"the sinks of other heads",
       {},
       [](const std::string& tensor, auto& values) {
         if (contains(tensor, "sinks")) std::reverse(values.begin(), values.end());
       }},
      {"gates not clamped", [](auto& c) { c.experts->clamped->limit = 100.0f; }, {}},
      {"another alpha", [](auto& c) { c.experts->clamped->alpha = 1.0f; }, {}},
      {"a ramp between whole indices",
       [](auto& c) {
         c.rope_factors =
             yarn_scaling({4.0, 256.0, 16.0, 1.0, true}, c.rope_theta, c.head_dim, "").factors;
       },
       {}},
      {"magnitude left out", [](auto& c) { c.rope_magnitude = 1.0; }, {}},
      {"the other layers slide",
       [](auto& c) { std::swap(c.layer_attention[0], c.layer_attention[1]); },
       {}}};
  for (const char* part :
       {"q_proj", "k_proj", "v_proj", "o_proj", "router", "gate_proj", "up_proj", "down_proj"}) {
    const std::string bias = std::string(part) + ".bias";
    defects.push_back({"no " + bias, {}, zero(bias)});
  }
  return defects;
}

/// Defects of a family's own parts.
std::vector<Defect> defects_of_variant(const std::string& name) {
  const Defect wider{"a window of one token more",
                     each_layer([](auto& layer) { layer.window += layer.window == 0 ? 0 : 1; }),
                     {}};
  const Defect narrower{"a window of one token less",
                        each_layer([](auto& layer) { layer.window -= layer.window == 0 ? 0 : 1; }),
                        {}};
  const Defect none{"no window", each_layer([](auto& layer) { layer.window = 0; }), {}};
  const auto norms_after_exchanged =
      Defect{"norms after the blocks exchanged", {}, take_other("post_feed", "post_att", 0)};
  if (name == "gemma3") {
    return {wider,
            narrower,
            none,
            norms_after_exchanged,
            {"the windows' base is the other", [](auto& c) { c.local_rope_theta = 1000.0; }, {}},
            {"all layers rotate alike",
             each_layer([](auto& layer) { layer.rotation = Rotation::usual; }),
             {}},
            {"scaling left out", [](auto& c) { c.rope_factors.clear(); }, {}},
            {"norms without 1", [](auto& c) { c.norms_are_differences = false; }, {}},
            {"embeddings not scaled", [](auto& c) { c.embedding_scale = 1.0; }, {}},
            {"scores scaled by the head", [](auto& c) { c.attention_scale = 0.0; }, {}},
            {"the feed-forward's norms exchanged", {}, take_other("pre_feed", "post_feed", 0)}};
  }
  if (name == "mistral") return {wider, narrower, none};
  if (name == "ministral3")
    return {{"factors left out", [](auto& c) { c.rope_factors.clear(); }, {}},
            {"YaRN's usual magnitude",
             [](auto& c) { c.rope_magnitude = 0.1 * std::log(4.0) + 1.0; },
             {}}};
  if (name == "ministral") {
    return {wider,
            narrower,
            none,
            {"the other layers slide",
             [](auto& c) { std::swap(c.layer_attention[0], c.layer_attention[1]); },
             {}}};
  }
  if (name == "smollm3") {
    return {
        {"all layers rotate", [](auto& c) { c.layer_attention.clear(); }, {}},
        {"no layer rotates", each_layer([](auto& layer) { layer.rotation = Rotation::none; }), {}},
        {"the other layers rotate",
         [](auto& c) {
           std::rotate(c.layer_attention.begin(), c.layer_attention.begin() + 1,
                       c.layer_attention.end());
         },
         {}}};
  }
  if (name == "olmo2" || name == "olmo3") {
    std::vector<Defect> defects{
        norms_after_exchanged,
        {"no norm of queries",
         {},
         [](const std::string& tensor, auto& values) {
           if (contains(tensor, "q_norm")) std::fill(values.begin(), values.end(), 1.0f);
         }},
        {"the keys' norm is the queries'", {}, take_other("k_norm", "q_norm", 0)}};
    if (name == "olmo2") return defects;
    for (const auto& each : {wider, narrower, none}) defects.push_back(each);
    defects.push_back({"layers that slide scaled as well",
                       each_layer([](auto& layer) { layer.rotation = Rotation::usual; }),
                       {}});
    defects.push_back({"factors left out", [](auto& c) { c.rope_factors.clear(); }, {}});
    defects.push_back({"magnitude left out", [](auto& c) { c.rope_magnitude = 1.0; }, {}});
    return defects;
  }
  if (name == "granite") {
    return {{"embeddings not multiplied", [](auto& c) { c.embedding_scale = 1.0; }, {}},
            {"scores scaled by the head", [](auto& c) { c.attention_scale = 0.0; }, {}},
            {"blocks not multiplied", [](auto& c) { c.residual_scale = 1.0; }, {}},
            {"logits not divided", [](auto& c) { c.logits_divisor = 1.0; }, {}}};
  }
  const bool is_gpt_oss = name.starts_with("gpt_oss");
  if (name.starts_with("qwen3_moe") || is_gpt_oss) {
    const std::string router = is_gpt_oss ? "mlp.router." : "mlp.gate.";
    const int inner = is_gpt_oss ? 56 : 24;
    std::vector<Defect> defects{
        {"one expert fewer", [](auto& c) { --c.experts->chosen; }, {}},
        {"the router's logits belong to the next expert",
         {},
         [=](const std::string& tensor, auto& values) {
           if (contains(tensor, router + "weight"))
             std::rotate(values.begin(), values.begin() + 40, values.end());
         }},
        {"an expert is another",
         {},
         [=](const std::string& tensor, auto& values) {
           for (const auto& [part, inputs] : {std::pair{"gate", 40}, {"up", 40}, {"down", inner}})
             if (contains(tensor, part))
               take_other("experts.1.", "experts.0.", static_cast<std::uint64_t>(inputs))(tensor,
                                                                                          values);
         }},
        {"no router", {}, zero(router)}};
    if (is_gpt_oss) {
      for (const auto& each : {wider, narrower, none}) defects.push_back(each);
      for (const auto& each : defects_of_gpt_oss()) defects.push_back(each);
    }
    if (name == "qwen3_moe_all") return defects;
    defects.push_back({"one expert more", [](auto& c) { ++c.experts->chosen; }, {}});
    defects.push_back({"weights divided by another sum",
                       [](auto& c) { c.experts->renormalises = !c.experts->renormalises; },
                       {}});
    defects.push_back(
        {"the least of the experts", {}, [=](const std::string& tensor, auto& values) {
           if (contains(tensor, router))
             for (float& value : values) value = -value;
         }});
    if (is_gpt_oss) return defects;
    defects.push_back({"experts in other layers",
                       [](auto& c) {
                         c.experts->layers = {false, true, true};
                       },
                       {}});
    return defects;
  }
  return {};
}

std::vector<Defect> defects_of(const std::string& name, const DecoderConfig& config) {
  // It is there for the arithmetics that round to bfloat16.
  if (name == "gpt_oss_all") return {};
  const std::size_t hidden = config.hidden_size;
  const std::size_t query = config.num_attention_heads * config.head_dim;
  const std::size_t key_value = config.num_key_value_heads * config.head_dim;
  const bool is_fused = name.starts_with("phi3");
  std::vector<Defect> defects{
      {"another rotary base", [](auto& c) { c.rope_theta *= 1.25; }, {}},
      {"norms without epsilon", [](auto& c) { c.rms_norm_eps = 1e-9; }, {}},
      {"norms of a layer exchanged", {}, take_other("post_attention", "input", 0)},
      {"a norm's weight left out",
       {},
       [](const std::string& tensor, auto& values) {
         if (tensor == "model.norm.weight") std::fill(values.begin(), values.end(), 1.0f);
       }},
      {"no feed-forward", {}, zero("down_proj")},
      {"no attention", {}, zero("o_proj")},
      {"one layer fewer",
       {},
       [](const std::string& tensor, auto& values) {
         if (contains(tensor, "layers.1") && (contains(tensor, "down") || contains(tensor, "o_p")))
           std::fill(values.begin(), values.end(), 0.0f);
       }},
      {"heads share keys otherwise", [](auto& c) { c.num_key_value_heads = 1; }, {}},
  };
  if (is_fused) {
    defects.pop_back();  // its fused tensor would have another shape
    defects.push_back({"queries as neighbours",
                       {},
                       rows_not_put_back("qkv_proj", hidden, query, config.head_dim)});
    defects.push_back({"gate and up exchanged", {}, [](const std::string& tensor, auto& values) {
                         if (contains(tensor, "gate_up"))
                           std::rotate(
                               values.begin(),
                               values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                               values.end());
                       }});
    defects.push_back(
        {"queries, keys and values in another order",
         {},
         [=](const std::string& tensor, auto& values) {
           if (contains(tensor, "qkv_proj"))
             std::rotate(values.begin() + static_cast<std::ptrdiff_t>(query * hidden),
                         values.begin() + static_cast<std::ptrdiff_t>((query + key_value) * hidden),
                         values.end());
         }});
    defects.push_back({"factors left out", [](auto& c) { c.rope_factors.clear(); }, {}});
    defects.push_back({"magnitude left out", [](auto& c) { c.rope_magnitude = 1.0; }, {}});
    if (name == "phi3_partial") {
      defects.push_back({"less of a head rotates",
                         [](auto& c) {
                           c.rotary_dim = 10;
                           c.rope_factors.pop_back();
                         },
                         {}});
      defects.push_back({"heads rotated whole",
                         [](auto& c) {
                           c.rotary_dim = 0;
                           c.rope_factors.resize(8, 1.75);
                         },
                         {}});
      return defects;
    }
    defects.push_back({"the other factors",
                       [=](auto& c) {
                         const auto folder = name == "phi3_short" ? "phi3_long" : "phi3_short";
                         const auto document =
                             read_json_file(architecture_fixtures / folder / "config.json");
                         c.rope_factors =
                             Phi3::configuration(JsonObject(document, "config.json"),
                                                 name == "phi3_short" ? RopeFactors::of_long_texts
                                                                      : RopeFactors::of_short_texts)
                                 .rope_factors;
                       },
                       {}});
  } else {
    defects.push_back({"queries as neighbours",
                       {},
                       rows_not_put_back("q_proj.w", hidden, query, config.head_dim)});
    defects.push_back({"keys as neighbours",
                       {},
                       rows_not_put_back("k_proj.w", hidden, key_value, config.head_dim)});
    defects.push_back({"gate and up exchanged", {}, [=](const std::string& tensor, auto& values) {
                         take_other("gate_proj", "up_proj", hidden)(tensor, values);
                         if (contains(tensor, "mlp.up_proj")) {
                           auto other = tensor;
                           other.replace(other.find("up_proj"), 7, "gate_proj");
                           values = formula_values(other, {values.size() / hidden, hidden});
                         }
                       }});
    defects.push_back({"values are keys", {}, take_other("v_proj.w", "k_proj.w", hidden)});
  }
  if (!config.tie_word_embeddings) {
    defects.push_back(
        {"a head tied to the embedding", [](auto& c) { c.tie_word_embeddings = true; }, {}});
  } else {
    defects.push_back({"a head of its own", [](auto& c) { c.tie_word_embeddings = false; }, {}});
  }
  if (name == "llama3_scaled") {
    defects.push_back({"scaling left out", [](auto& c) { c.rope_factors.clear(); }, {}});
    defects.push_back({"no frequency between the bounds",
                       [](auto& c) {
                         for (auto& factor : c.rope_factors) factor = factor > 4.0 ? 8.0 : 1.0;
                       },
                       {}});
    defects.push_back(
        {"every frequency scaled",
         [](auto& c) { std::fill(c.rope_factors.begin(), c.rope_factors.end(), 8.0); },
         {}});
  }
  if (name == "qwen2") {
    defects.push_back({"no bias of queries", {}, zero("q_proj.bias")});
    defects.push_back({"no bias of keys", {}, zero("k_proj.bias")});
    defects.push_back({"no bias of values", {}, zero("v_proj.bias")});
  }
  for (const auto& each : defects_of_variant(name)) defects.push_back(each);
  if (name == "qwen3") {
    defects.push_back({"the keys' norm is the queries'", {}, take_other("k_norm", "q_norm", 0)});
  }
  return defects;
}

}  // namespace

TEST_CASE("every architecture has the logits of Hugging Face transformers to float32 rounding",
          "[transformer][parity]") {
  for (const auto& each : cases()) {
    const ExpectedLogits expected(each.name);
    const auto config = each.config();
    REQUIRE(expected.positions() >= 400);
    REQUIRE(expected.logits.size() == expected.positions() * config.vocab_size);
    const double distance = expected.distance(each.rows(config, {}, expected.tokens)).largest;
    const double tolerance = expected.tolerance(config);
    INFO(each.name << ": distance " << distance << ", tolerance " << tolerance);
    CHECK(distance <= tolerance);
    ParityRow row{each.name, Arithmetic::float32, distance, tolerance};
    for (const auto& defect : defects_of(each.name, config)) {
      auto wrong = config;
      if (defect.configuration) defect.configuration(wrong);
      const auto rows = each.rows(wrong, defect.weights, expected.tokens);
      INFO(defect.what);
      const double of_defect = expected.distance(rows).largest;
      CHECK(of_defect > 10.0 * tolerance);
      row.nearest_defect = std::min(row.nearest_defect, of_defect);
    }
    write_parity(row, expected);
  }
}

TEST_CASE("in bfloat16, and in whole numbers, every architecture has those logits to that rounding",
          "[transformer][parity][tensor-core][bfloat16-pairs][integer]") {
  const auto arithmetic = GENERATE(Arithmetic::tensor_core, Arithmetic::tensor_core_ampere,
                                   Arithmetic::tensor_core_8_bit_pages, Arithmetic::bfloat16_pairs,
                                   Arithmetic::integer);
  for (const auto& each : cases()) {
    const ExpectedLogits expected(each.name);
    const auto config = each.config();
    const bool is_whole = arithmetic == Arithmetic::integer;
    if (!is_whole && families_that_choose.contains(each.name)) continue;
    const auto rows = each.rows(config, {}, expected.tokens, default_kernels(arithmetic));
    const double distance = expected.distance(rows).mean;
    const double tolerance = expected.bfloat16_tolerance(config);
    INFO(each.name << ": distance " << distance << ", tolerance " << tolerance);
    CHECK(distance <= tolerance);
    // It is another arithmetic. Whole numbers are some fifteen times nearer than bfloat16.
    CHECK(distance > (is_whole ? 0.002 : 0.02) * tolerance);
    write_parity({each.name, arithmetic, distance, tolerance}, expected);
  }
}

}  // namespace tempera::gpu::parity_test
