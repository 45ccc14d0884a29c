// Feed-forwards of experts: whom a router chooses, by which weights, in which files they are, and
// what of them is refused.
#include <cmath>
#include <limits>

#include "gpu/llm/transformer/architectures/qwen3_moe.hpp"
#include "gpu/llm/transformer/kernels/expert_rows.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/decoder_gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/model_files.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::experts_test {

namespace {

using nlohmann::json;

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Choice {
  std::vector<std::uint32_t> experts;
  std::vector<float> weights;

  friend bool operator==(const Choice&, const Choice&) = default;
};

/// What every form of every arithmetic chooses by these logits: the router is their column, and
/// the inputs are 1.
Choice choose(const ExpertChoice& choice, const std::vector<float>& logits) {
  const std::string bytes(reinterpret_cast<const char*>(logits.data()),
                          logits.size() * sizeof(float));
  const StoredTensor router{
      "router", "F32", {logits.size(), 1}, std::as_bytes(std::span<const char>(bytes)), "file"};
  const StoredTensor* parts[] = {&router};
  const auto packed = pack_matrices(parts, Arithmetic::float32);
  std::optional<Choice> result;
  for (const auto arithmetic : arithmetics) {
    ProductInputMemory inputs(arithmetic);
    inputs.ensure_size(1);
    if (rounds_to_bfloat16(arithmetic))
      *inputs.view().bfloat16 = to_bfloat16(1.0f);
    else
      *inputs.view().float32 = 1.0f;
    for (const Kernels* form : forms_of_the_kernels(arithmetic)) {
      DeviceMemory<float> room(packed.out);
      DeviceMemory<std::uint32_t> experts(choice.slots());
      DeviceMemory<float> weights(choice.slots());
      form->variants()->choose_experts(choice, packed.view(), inputs.view(), 1, room.data(),
                                       experts.data(), weights.data());
      const Choice chosen{experts.download(0, choice.slots()), weights.download(0, choice.slots())};
      if (!result) result = chosen;
      INFO(name_of(arithmetic) << " " << form->name());
      CHECK(chosen.experts == result->experts);
      if (!std::isnan(chosen.weights[0])) CHECK(chosen.weights == result->weights);
    }
  }
  return *result;
}

json fixture() {
  return json::parse(read_bytes(architecture_fixtures / "qwen3_moe" / "config.json"));
}

DecoderConfig read(const json& given) {
  const auto document = json::parse(given.dump());
  return Qwen3Moe::configuration(JsonObject(document, "config.json"));
}

const std::vector<TokenId> text{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};

std::vector<float> logits_of(const std::filesystem::path& path,
                             const Kernels& kernels = default_kernels()) {
  const auto model = Transformer::load(path, kernels);
  DeviceMemory<float> memory;
  model->logits_at_every_position(text, memory);
  return memory.download(0, text.size() * model->vocabulary_size());
}

/// The fixture's folder, of as many experts as the configuration says.
void write_folder(const ModelFolder& folder, const json& document) {
  folder.write("config.json", document.dump());
  folder.write("generation_config.json", "{}");
  write_safetensors(folder.path(), tensors_of<Qwen3Moe>(read(document)));
}

}  // namespace

TEST_CASE("a router chooses the largest logits, of equal ones the lower index",
          "[transformer][experts]") {
  const auto experts = [](const std::vector<float>& logits, std::size_t chosen) {
    return choose({logits.size(), chosen, false}, logits).experts;
  };
  using All = std::vector<std::uint32_t>;
  CHECK(experts({1, 3, 2, 0}, 2) == All{1, 2});
  CHECK(experts({1, 3, 2, 4}, 3) == All{1, 2, 3});
  CHECK(experts({2, 2, 2, 2}, 2) == All{0, 1});
  CHECK(experts({1, 2, 2}, 1) == All{1});
  CHECK(experts({1, 2, 3, 2, 2}, 3) == All{1, 2, 3});
  CHECK(experts({0, -0.0f, 0}, 2) == All{0, 1});
  CHECK(experts({-5, -3, -4}, 1) == All{1});
  CHECK(experts({7}, 1) == All{0});
  CHECK(experts({1, 2, 3}, 3) == All{0, 1, 2});
  // More outputs than a block has.
  std::vector<float> many(37, 1.0f);
  many[36] = many[17] = 2.0f;
  CHECK(experts(many, 3) == All{0, 17, 36});
}

TEST_CASE("the weights of experts are a softmax over all of them, or over the chosen ones",
          "[transformer][experts]") {
  const std::vector<float> logits{0.5f, -1.25f, 2.0f, 1.0f, 0.25f};
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(double{logit});
  const auto share = [&](std::size_t expert) { return std::exp(double{logits[expert]}) / sum; };
  // The exponential errs by less than 1 ulp, 2^-23 at most, and so do few sums and a division.
  const double error = 8 * 0x1p-23;
  const auto all = choose({5, 2, false}, logits);
  CHECK(all.weights[0] == Approx(share(2)).epsilon(error));
  CHECK(all.weights[1] == Approx(share(3)).epsilon(error));
  const auto chosen = choose({5, 2, true}, logits);
  CHECK(chosen.weights[0] == Approx(share(2) / (share(2) + share(3))).epsilon(error));
  CHECK(chosen.weights[0] + chosen.weights[1] == Approx(1.0).epsilon(error));
  // A shared expert comes last, by a logit of its own, which takes no part in the softmax.
  std::vector<float> with_shared = logits;
  with_shared.resize(17, 0.0f);
  with_shared[16] = 9.0f;
  const auto shared = choose({5, 2, true, 16}, with_shared);
  CHECK(shared.experts == std::vector<std::uint32_t>{2, 3, 5});
  CHECK(shared.weights[0] == chosen.weights[0]);
  CHECK(shared.weights[2] == Approx(1.0 / (1.0 + std::exp(-9.0))).epsilon(error));
}

TEST_CASE("a NaN of a router is an error of the model, not a choice", "[transformer][experts]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool renormalises : {false, true}) {
    for (const auto& logits : std::vector<std::vector<float>>{
             {1, nan, 2}, {nan, 1, 2}, {nan, nan, nan}, {1, infinity, 2}}) {
      // Weights are finite, so the NaN is put among the logits.
      const ExpertChoice choice{3, 2, renormalises};
      std::vector<float> padded_logits = logits;
      padded_logits.resize(lanes, 0.0f);
      DeviceMemory<float> weights(2);
      DeviceMemory<std::uint32_t> experts(2);
      const ChooseExperts kernel{choice, padded_logits.data(), lanes, experts.data(),
                                 weights.data()};
      kernel(0);
      const auto chosen = experts.download(0, 2);
      CHECK(chosen[0] < chosen[1]);
      CHECK(chosen[1] < 3);
      const auto shares = weights.download(0, 2);
      CHECK((std::isnan(shares[0]) || std::isnan(shares[1])));
    }
  }
}

TEST_CASE("a configuration of experts is read, or refused by its key", "[config][experts]") {
  const auto config = read(fixture());
  REQUIRE(config.experts);
  CHECK(config.experts->experts == 6);
  CHECK(config.experts->chosen == 2);
  CHECK(config.experts->inner == 24);
  CHECK_FALSE(config.experts->renormalises);
  CHECK(config.experts->layers == std::vector<bool>{true, false, true});
  // Qwen's own folders call them num_experts.
  auto document = fixture();
  document.erase("num_local_experts");
  document["num_experts"] = 6;
  document["decoder_sparse_step"] = 3;
  document["mlp_only_layers"] = json::array();
  CHECK(read(document).experts->layers == std::vector<bool>{false, false, true});
  document["num_local_experts"] = 5;
  require_bad_input([&] { read(document); }, {"config.json", "num_local_experts", "not the same"});

  const auto refused = [](const std::string& key, const json& value) {
    INFO(key << " " << value);
    auto wrong = fixture();
    wrong[key] = value;
    require_bad_input([&] { read(wrong); }, {"config.json", key});
  };
  refused("num_local_experts", 0);
  refused("num_local_experts", 100000);
  refused("num_experts_per_tok", 0);
  refused("num_experts_per_tok", 7);
  refused("moe_intermediate_size", 0);
  refused("decoder_sparse_step", 0);
  refused("mlp_only_layers", {3});
  refused("mlp_only_layers", {-1});
  refused("mlp_only_layers", 1);
  refused("norm_topk_prob", "yes");
  refused("shared_expert_intermediate_size", 24);
  refused("n_shared_experts", 1);
  for (const char* key : {"num_local_experts", "moe_intermediate_size"}) {
    auto wrong = fixture();
    wrong.erase(key);
    require_bad_input(
        [&] { read(wrong); },
        {"config.json", key == std::string("num_local_experts") ? "num_experts" : key, "missing"});
  }
  // Its window is one of all layers.
  document = fixture();
  document["sliding_window"] = 512;
  document["max_window_layers"] = 3;
  CHECK_NOTHROW(read(document));
  document["use_sliding_window"] = true;
  require_bad_input([&] { read(document); }, {"config.json", "sliding_window"});
}

TEST_CASE("experts have the same bits from a tensor each and from one for a layer",
          "[architecture][experts]") {
  const ModelFolder each("untied_float32");
  const ModelFolder stacked("untied_float32");
  write_folder(each, fixture());
  stacked.write("config.json", fixture().dump());
  stacked.write("generation_config.json", "{}");
  // Later versions of transformers hold them so: gate and up of an expert follow one another.
  std::map<std::string, FormulaTensors::Made> tensors;
  for (const auto& [name, made] : tensors_of<Qwen3Moe>(read(fixture()))) {
    const auto expert = expert_tensor(name);
    if (!expert) {
      tensors[name] = made;
      continue;
    }
    const bool is_down = expert->part == "down_proj";
    auto& stack = tensors[expert->prefix + (is_down ? "down_proj" : "gate_up_proj")];
    const std::size_t rows = made.shape[0] * (is_down ? 1 : 2);
    stack.shape = {6, rows, made.shape[1]};
    stack.values.resize(6 * rows * made.shape[1]);
    const std::size_t row = expert->number * rows + (expert->part == "up_proj" ? made.shape[0] : 0);
    std::copy(made.values.begin(), made.values.end(),
              stack.values.begin() + static_cast<std::ptrdiff_t>(row * made.shape[1]));
  }
  write_safetensors(stacked.path(), tensors);
  CHECK((logits_of(each.path()) == logits_of(stacked.path())));
  auto& wrong = tensors.at("model.layers.0.mlp.experts.down_proj");
  wrong.shape = {5, wrong.shape[1], wrong.shape[2]};
  wrong.values.resize(5 * wrong.shape[1] * wrong.shape[2]);
  write_safetensors(stacked.path(), tensors);
  require_bad_input([&] { logits_of(stacked.path()); },
                    {"model.layers.0.mlp.experts.down_proj", "[5, 40, 24]", "[6, 40, 24]"});
}

TEST_CASE("a folder that lacks an expert, or has one too many, is refused by its tensor",
          "[architecture][experts]") {
  const ModelFolder folder("untied_float32");
  write_folder(folder, fixture());
  CHECK_NOTHROW(logits_of(folder.path()));
  folder.edit_json("config.json", [](auto& config) { config["num_local_experts"] = 7; });
  require_bad_input([&] { logits_of(folder.path()); },
                    {"model.layers.0.mlp.gate.weight", "[6, 40]", "[7, 40]"});
  write_folder(folder, fixture());
  folder.edit_json("config.json", [](auto& config) { config["mlp_only_layers"] = {1, 2}; });
  require_bad_input([&] { logits_of(folder.path()); },
                    {"model.layers.2.mlp.gate_proj.weight", "missing"});
  auto tensors = tensors_of<Qwen3Moe>(read(fixture()));
  auto without = tensors;
  without.erase("model.layers.2.mlp.experts.5.up_proj.weight");
  folder.write("config.json", fixture().dump());
  write_safetensors(folder.path(), without);
  require_bad_input([&] { logits_of(folder.path()); },
                    {"model.layers.2.mlp.experts.5.up_proj.weight", "missing"});
  tensors["model.layers.2.mlp.experts.6.up_proj.weight"] =
      tensors["model.layers.2.mlp.experts.5.up_proj.weight"];
  write_safetensors(folder.path(), tensors);
  require_bad_input([&] { logits_of(folder.path()); },
                    {"model.layers.2.mlp.experts.6.up_proj.weight", "would use"});
}

TEST_CASE("experts of a GGUF file are the values that their types mean, and its keys are checked",
          "[architecture][gguf][experts][quantised]") {
  DecoderConfig config;
  set_sizes(config);
  config.experts = {5, 2, 256, true, 0, {true, true}};
  const auto metadata = [&](const std::function<void(GgufBytes&, const std::string&)>& change) {
    auto file = gguf_of<Qwen3Moe>(config, "qwen3moe");
    for (const auto& [key, value] :
         std::map<std::string, std::uint32_t>{{"qwen3moe.expert_count", 5},
                                              {"qwen3moe.expert_used_count", 2},
                                              {"qwen3moe.expert_feed_forward_length", 256}}) {
      if (change)
        change(file, key);
      else
        file.add(key, gguf_type::uint32, little_endian(value));
    }
    return file;
  };
  GgufPair files{metadata({}), metadata({})};
  std::size_t matrices = 0;
  for (const auto& [name, made] : with_stacked_experts(tensors_of<Qwen3Moe>(config))) {
    const auto gguf = gguf_name(name, "qwen3moe");
    if (made.shape.size() == 1 || gguf.ends_with("ffn_gate_inp.weight")) {
      files.add_values(gguf, made);
      continue;
    }
    const auto& type = weight_types[3 + matrices++ % (weight_types.size() - 3)];
    if (made.shape.size() == 2) {
      files.add(gguf, made.shape, type);
      continue;
    }
    const auto matrix = stored_matrix(type, gguf, {made.shape[0] * made.shape[1], made.shape[2]});
    add_gguf_tensor(files.stored, gguf, made.shape, type.number, matrix.bytes);
    add_gguf_tensor(files.in_float32, gguf, made.shape, 0, bytes_of_values(matrix.values));
  }
  const ModelFolder folder("untied_float32");
  folder.write("stored.gguf", files.stored.bytes());
  folder.write("float32.gguf", files.in_float32.bytes());
  for (const auto arithmetic : arithmetics) {
    const auto& kernels = default_kernels(arithmetic);
    const auto logits = logits_of(folder.path() / "stored.gguf", kernels);
    CHECK((logits == logits_of(folder.path() / "float32.gguf", kernels)));
    CHECK(logits[0] != logits[1]);
  }

  const auto refused = [&](const std::string& wrong_key, std::optional<std::uint32_t> value,
                           std::initializer_list<std::string> parts) {
    auto file = metadata([&](GgufBytes& bytes, const std::string& key) {
      const std::uint32_t right =
          key.ends_with("count") ? key.ends_with("used_count") ? 2 : 5 : 256;
      if (key != wrong_key)
        bytes.add(key, gguf_type::uint32, little_endian(right));
      else if (value)
        bytes.add(key, gguf_type::uint32, little_endian(*value));
    });
    for (const auto& [name, made] : with_stacked_experts(tensors_of<Qwen3Moe>(config)))
      add_gguf_tensor(file, gguf_name(name, "qwen3moe"), made.shape, 0,
                      bytes_of_values(made.values));
    folder.write("model.gguf", file.bytes());
    INFO(wrong_key);
    require_bad_input([&] { Transformer::load(folder.path() / "model.gguf"); }, parts);
  };
  refused("qwen3moe.expert_count", 0, {"model.gguf", "qwen3moe.expert_count"});
  refused("qwen3moe.expert_count", std::nullopt, {"model.gguf", "qwen3moe.expert_count"});
  refused("qwen3moe.expert_count", 4, {"blk.0.ffn_gate_inp.weight", "[5, 256]", "[4, 256]"});
  refused("qwen3moe.expert_used_count", 6, {"model.gguf", "qwen3moe.expert_used_count"});
  // As in llama.cpp: a share of feed_forward_length, which is 256, for each that is used.
  refused("qwen3moe.expert_feed_forward_length", std::nullopt,
          {"blk.0.ffn_gate_exps.weight", "[5, 256, 256]", "[5, 128, 256]"});
  config.intermediate_size = 255;
  refused("qwen3moe.expert_feed_forward_length", std::nullopt,
          {"qwen3moe.expert_feed_forward_length", "missing", "2 experts do not divide"});
}

TEST_CASE("a folder of FP8 has the logits of the values that its numbers and scales mean",
          "[architecture][experts][quantised]") {
  constexpr std::size_t block_outputs = 16, block_inputs = 8;
  const auto e4m3 = [](unsigned byte) {
    const unsigned exponent = byte >> 3 & 15U, fraction = byte & 7U;
    const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                     : std::ldexp(8.0f + static_cast<float>(fraction),
                                                  static_cast<int>(exponent) - 10);
    return byte >= 128 ? -size : size;
  };
  json header;
  std::string data;
  const auto add = [&](const std::string& name, const char* dtype, const json& shape,
                       const std::string& bytes) {
    header[name] = {{"dtype", dtype},
                    {"shape", shape},
                    {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data += bytes;
  };
  auto plain = tensors_of<Qwen3Moe>(read(fixture()));
  for (auto& [name, made] : plain) {
    if (name.find("proj.weight") == std::string::npos) {
      add(name, "F32", made.shape, bytes_of_values(made.values));
      continue;
    }
    const std::size_t in = made.shape[1];
    const std::size_t across = (in + block_inputs - 1) / block_inputs;
    const std::size_t down = (made.shape[0] + block_outputs - 1) / block_outputs;
    std::vector<float> scales;
    // Powers of two, so that a product is a bfloat16, to which it is rounded.
    for (std::size_t i = 0; i < down * across; ++i)
      scales.push_back(std::ldexp(1.0f, -3 - static_cast<int>(i * 7 % 4)));
    std::string bytes;
    for (std::size_t i = 0; i < made.values.size(); ++i) {
      const auto byte = static_cast<unsigned>(std::abs(made.values[i]) * 1e6f) % 72U +
                        (made.values[i] < 0.0f ? 128U : 0U);
      bytes += static_cast<char>(byte);
      made.values[i] = e4m3(byte) * scales[i / in / block_outputs * across + i % in / block_inputs];
    }
    add(name, "F8_E4M3", made.shape, bytes);
    add(name + "_scale_inv", "F32", {down, across}, bytes_of_values(scales));
  }
  const ModelFolder quantised("untied_float32");
  const ModelFolder float32("untied_float32");
  auto document = fixture();
  document["dtype"] = "bfloat16";
  float32.write("config.json", document.dump());
  float32.write("generation_config.json", "{}");
  write_safetensors(float32.path(), plain);
  document["quantization_config"] = {{"quant_method", "fp8"},
                                     {"activation_scheme", "dynamic"},
                                     {"weight_block_size", {block_outputs, block_inputs}}};
  quantised.write("config.json", document.dump());
  quantised.write("generation_config.json", "{}");
  quantised.write("model.safetensors", safetensors_bytes(header.dump(), data));
  for (const auto arithmetic : arithmetics) {
    INFO(name_of(arithmetic));
    const auto logits = logits_of(quantised.path(), default_kernels(arithmetic));
    CHECK((logits == logits_of(float32.path(), default_kernels(arithmetic))));
    CHECK(logits[0] != logits[1]);
  }
  // One scale that is another is seen.
  const auto begin =
      header["model.layers.2.mlp.experts.3.down_proj.weight_scale_inv"]["data_offsets"][0]
          .get<std::size_t>();
  data.replace(begin, sizeof(float), bytes_of_values({1.0f}));
  quantised.write("model.safetensors", safetensors_bytes(header.dump(), data));
  CHECK_FALSE((logits_of(quantised.path()) == logits_of(float32.path())));
}

TEST_CASE("a step's work is that of the experts that a token goes through", "[experts]") {
  const ModelFolder folder("untied_float32");
  auto document = fixture();
  const auto work = [&](std::size_t chosen) {
    document["num_experts_per_tok"] = chosen;
    write_folder(folder, document);
    return Transformer::load(folder.path())->step_work();
  };
  // Two layers; an expert's three maps between 40 and 24, padded to 48 and 32.
  const std::uint64_t of_an_expert = 2 * 32 * 40 + 48 * 24;
  const auto one = work(1);
  CHECK(work(2).multiply_adds - one.multiply_adds == 2 * of_an_expert);
  CHECK(work(6).bytes - one.bytes == 4 * 5 * 2 * of_an_expert);
}

}  // namespace tempera::gpu::experts_test
