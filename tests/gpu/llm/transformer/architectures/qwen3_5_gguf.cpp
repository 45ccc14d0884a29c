// A Qwen3.5 model from a GGUF file: the bits of its folder, Hugging Face's logits, what a
// conversion that is not undone would do, and what is refused.
#include "tests/gpu/llm/transformer/architectures/qwen3_5_gguf.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/weights/quantised_bytes.hpp"

namespace tempera::gpu::qwen35::qwen3_5_gguf_test {

namespace {

const std::filesystem::path of_converter =
    std::filesystem::path(TEMPERA_SOURCE_DIR) / "tests/fixtures/gguf/qwen3_5";

Qwen3_5Config config_of(const std::filesystem::path& folder) {
  const auto document = read_json_file(folder / "config.json");
  return Qwen3_5::configuration(JsonObject(document, "config.json"));
}

/// The epsilon that a GGUF file has.
Qwen3_5Config with_float32_epsilon(Qwen3_5Config config) {
  config.rms_norm_eps = static_cast<double>(static_cast<float>(config.rms_norm_eps));
  return config;
}

std::vector<TokenId> text_of(std::size_t length, std::size_t vocabulary) {
  std::vector<TokenId> text;
  for (std::size_t i = 0; i < length; ++i) {
    text.push_back(static_cast<TokenId>((i * i + 5 * i + i / 9) % vocabulary));
  }
  return text;
}

std::vector<Floats> logits_of_file(const std::filesystem::path& file,
                                   const std::vector<TokenId>& text, Arithmetic arithmetic) {
  return logits_of(*Transformer::load(file, default_kernels(arithmetic)), text);
}

std::vector<Floats> logits_of_tensors(const Qwen3_5Config& config, const FormulaTensors::Edit& edit,
                                      const std::vector<TokenId>& text, Arithmetic arithmetic) {
  FormulaTensors tensors(edit);
  Transformer transformer(std::make_unique<Qwen3_5>(config, tensors, default_kernels(arithmetic)));
  return logits_of(transformer, text);
}

/// The elements of a tensor of a file, in the file's order.
Floats elements_of(const GgufFile& file, const std::string& name) {
  const auto& tensor = file.tensors().at(name);
  Floats values(tensor.bytes.size() / stored_block(tensor.dtype)->bytes *
                stored_block(tensor.dtype)->elements);
  dequantise(tensor.dtype, tensor.bytes, values);
  return values;
}

/// Writes a file of these bytes, and gives the bits of its logits.
std::vector<Floats> written(const ModelFolder& folder, const GgufBytes& file,
                            const std::vector<TokenId>& text, Arithmetic arithmetic) {
  folder.write("model.gguf", file.bytes());
  return logits_of_file(folder.path() / "model.gguf", text, arithmetic);
}

}  // namespace

TEST_CASE("a Qwen3.5 file as the converter writes it has the bits of its folder",
          "[architecture][recurrent][gguf]") {
  const auto config = with_float32_epsilon(config_of(of_converter));
  REQUIRE(config.linear_num_value_heads == 3 * config.linear_num_key_heads);
  const auto text = text_of(150, config.vocab_size);
  const GgufFile file(of_converter / "float32.gguf");
  const auto read = Qwen3_5::configuration(file);
  CHECK(read.full_attention == std::vector<bool>{false, true});
  CHECK(read.rotary_dim == config.rotary_dim);
  CHECK(read.linear_value_head_dim == config.linear_value_head_dim);
  CHECK(read.tiled_outputs.empty());
  CHECK(read.remark.empty());
  // Its rates are an exponential of the converter's, no more than 3 units in the last place from
  // ours: numpy says 2.52 of its own.
  const auto stored = elements_of(file, "blk.0.ssm_a");
  const auto logarithms = formula_values("model.layers.0.linear_attn.A_log", {6});
  Floats rates(6);
  for (std::size_t head = 0; head < 6; ++head) {
    rates[head] = -stored[head % 3 * 2 + head / 3];
    const double exact = exponential(double{logarithms[head]});
    CHECK(std::abs(double{rates[head]} - exact) <=
          3.5 * 0x1p-24 * std::exp2(std::ilogb(exact)) * 2);
  }
  // The folder's model, whose rates are those of the file.
  auto with_rates = config;
  with_rates.stores_factors = true;
  const auto edit = [&](const std::string& name, Floats& values) {
    if (name.ends_with("A_log")) {
      for (std::size_t head = 0; head < 6; ++head) values[head] = -rates[head];
    } else if (name.ends_with("norm.weight") && !name.ends_with("linear_attn.norm.weight")) {
      for (float& w : values) w += 1.0f;
    }
  };
  for (const auto arithmetic : arithmetics) {
    const auto logits = logits_of_file(of_converter / "float32.gguf", text, arithmetic);
    CHECK((logits == logits_of_tensors(with_rates, edit, text, arithmetic)));
    CHECK(logits[0] != logits[1]);
  }
  // And the folder's own rates. A decay exp(-rate · step) moves by x e^-x times a relative error
  // of the rate, x = rate · step, so by at most 1 / e of it: 3 units of a rate are less than 2 more
  // roundings of a decay, of which the tolerance has several a layer.
  ExpectedLogits folder("qwen3_5");
  folder.tokens = text;
  folder.logits.clear();
  for (const auto& row : logits_of_tensors(config, {}, text, Arithmetic::float32)) {
    folder.logits.insert(folder.logits.end(), row.begin(), row.end());
  }
  const auto from_file = logits_of_file(of_converter / "float32.gguf", text, Arithmetic::float32);
  CHECK(folder.distance(from_file).largest <= folder.tolerance(config));
}

TEST_CASE("quantised weights of a Qwen3.5 file are the values that they dequantise to",
          "[architecture][recurrent][gguf][quantised]") {
  const GgufFile quantised(of_converter / "q8_0.gguf");
  const auto config = Qwen3_5::configuration(quantised);
  CHECK(config.tiled_outputs.empty());  // a head is a whole block
  auto plain = metadata_of(config);
  for (const auto& [name, tensor] : quantised.tensors()) {
    add_gguf_tensor(plain, name, tensor.shape, 0, bytes_of_values(elements_of(quantised, name)));
  }
  CHECK(quantised.tensors().at("blk.0.ssm_out.weight").dtype == "Q8_0");
  const auto text = text_of(80, config.vocab_size);
  const ModelFolder folder("untied_float32");
  for (const auto arithmetic : arithmetics) {
    CHECK((logits_of_file(of_converter / "q8_0.gguf", text, arithmetic) ==
           written(folder, plain, text, arithmetic)));
  }
}

// Blocks of 256 inputs hold those of several heads, and cannot be put in order: the product then
// runs in the file's order. So does that of a model that has a key head of its own for each value
// head, in that order, and weights in float32. With 4 heads on 2
// the map of heads to places is its own inverse; with 6 on 2 it is not.
TEST_CASE("a map whose blocks hold several heads is summed in the order of its file",
          "[architecture][recurrent][gguf][quantised]") {
  const auto [heads, head_dim] = GENERATE(std::pair(4, 64), std::pair(6, 128));
  CAPTURE(heads);
  auto config = with_float32_epsilon(config_of(of_converter));
  config.linear_num_value_heads = static_cast<std::size_t>(heads);
  config.linear_value_head_dim = static_cast<std::size_t>(head_dim);
  REQUIRE(config.linear_num_key_heads == 2);
  const std::size_t answers = config.linear_num_value_heads * config.linear_value_head_dim;
  const std::size_t hidden = config.hidden_size;
  const std::size_t key_dim = config.linear_key_head_dim;
  auto own_keys = config;
  own_keys.linear_num_key_heads = config.linear_num_value_heads;
  const std::string output = "blk.0.ssm_out.weight";
  const auto& type = quantised_type("Q6_K");
  const auto blocks = quantised_bytes(type, hidden * answers, 7);
  auto file = metadata_of(config);
  auto other = metadata_of(own_keys);
  for (const auto& [name, made] : tensors_of(config)) {
    const auto gguf = gguf_name(name, "qwen35");
    if (gguf == output) {
      add_gguf_tensor(file, gguf, made.shape, type.number,
                      {reinterpret_cast<const char*>(blocks.data()), blocks.size()});
      add_gguf_tensor(other, gguf, made.shape, 0, bytes_of_values(dequantised(type, blocks)));
      continue;
    }
    auto stored = converted(name, made, config);
    add_gguf_tensor(file, gguf, stored.shape, 0, bytes_of_values(stored.values));
    if (name.find("in_proj_qkv") != std::string::npos || name.find("conv1d") != std::string::npos) {
      // The key head of each of the file's value heads: 0 and 1 again and again, queries and keys.
      const std::size_t row = stored.shape[1];
      const auto part = [&](std::size_t begin, std::size_t rows) {
        return Floats(stored.values.begin() + static_cast<std::ptrdiff_t>(begin * row),
                      stored.values.begin() + static_cast<std::ptrdiff_t>((begin + rows) * row));
      };
      Floats rows;
      for (const std::size_t begin : {std::size_t{0}, 2 * key_dim})
        for (std::size_t head = 0; head < config.linear_num_value_heads; head += 2) {
          const auto both = part(begin, 2 * key_dim);
          rows.insert(rows.end(), both.begin(), both.end());
        }
      const auto values = part(4 * key_dim, answers);
      rows.insert(rows.end(), values.begin(), values.end());
      stored.values = rows;
      stored.shape[0] += 2 * (config.linear_num_value_heads - 2) * key_dim;
    }
    add_gguf_tensor(other, gguf, stored.shape, 0, bytes_of_values(stored.values));
  }
  const ModelFolder folder("untied_float32");
  folder.write("file.gguf", file.bytes());
  CHECK(Qwen3_5::configuration(GgufFile(folder.path() / "file.gguf")).tiled_outputs ==
        std::set<std::size_t>{0});
  const auto text = text_of(100, config.vocab_size);
  for (const auto arithmetic : arithmetics) {
    CHECK((written(folder, file, text, arithmetic) == written(folder, other, text, arithmetic)));
  }
  // What the readable form of the kernels makes of it too.
  for (const Kernels* kernels : forms_of_the_kernels()) {
    if (kernels->arithmetic() != Arithmetic::float32) continue;
    CHECK((logits_of(*Transformer::load(folder.path() / "file.gguf", *kernels), text) ==
           logits_of_file(folder.path() / "file.gguf", text, Arithmetic::float32)));
  }
}

TEST_CASE("a Qwen3.5 file has Hugging Face's logits, and none of a conversion that is not undone",
          "[architecture][recurrent][gguf][parity]") {
  const ExpectedLogits expected("qwen3_5");
  const auto config = with_float32_epsilon(config_of(architecture_fixtures / "qwen3_5"));
  const auto tensors = tensors_of(config);
  const ModelFolder folder("untied_float32");
  const auto rows_with = [&](const Undone& undone) {
    auto file = metadata_of(config);
    add_tensors(file, config, tensors, undone);
    return written(folder, file, expected.tokens, Arithmetic::float32);
  };
  const auto rows = rows_with({});
  const double tolerance = expected.tolerance(config);
  CHECK(expected.distance(rows).largest <= tolerance);
  CHECK((rows == logits_of_tensors(config, {}, expected.tokens, Arithmetic::float32)));
  // A_log as it is, below 0 here, is another rate.
  const std::vector<Undone> defects{
      {"all"},   {"in_proj_qkv"}, {"in_proj_z"}, {"in_proj_b"}, {"in_proj_a"}, {"conv1d"},
      {"A_log"}, {"dt_bias"},     {"out_proj"},  {"", 0.0f},    {"", 2.0f},    {"", 1.0f, true}};
  for (const Undone& defect : defects) {
    INFO(defect.heads_of << " " << defect.norm << " " << defect.rate);
    CHECK(expected.distance(rows_with(defect)).largest > 10.0 * tolerance);
  }
}

TEST_CASE("blocks that predict further tokens are left out of a Qwen3.5 file",
          "[architecture][recurrent][gguf]") {
  const auto config = with_float32_epsilon(config_of(of_converter));
  const auto tensors = tensors_of(config);
  const auto text = text_of(20, config.vocab_size);
  const ModelFolder folder("untied_float32");
  auto file = metadata_of(config);
  add_tensors(file, config, tensors);
  const auto rows = written(folder, file, text, Arithmetic::float32);
  const auto with_block = [&](const std::string& without, std::uint32_t predicting) {
    auto more = config;
    more.num_hidden_layers += 1;
    more.full_attention.push_back(true);
    auto result = metadata_of(more, without);
    result.add("qwen35.nextn_predict_layers", gguf_type::uint32, little_endian(predicting));
    result.add("qwen35.full_attention_interval", gguf_type::uint32,
               little_endian(std::uint32_t{2}));
    add_tensors(result, config, tensors);
    add_gguf_tensor(result, "blk.2.nextn.enorm.weight", {32}, 0, bytes_of_values(Floats(32)));
    return result;
  };
  CHECK(written(folder, with_block("none", 1), text, Arithmetic::float32) == rows);
  CHECK(Transformer::load(folder.path() / "model.gguf")->remark() ==
        "the heads that predict several tokens are left out");
  // The interval alone says the same here.
  CHECK(written(folder, with_block("recurrent_layers", 1), text, Arithmetic::float32) == rows);
  folder.write("model.gguf", with_block("none", 0).bytes());
  require_bad_input([&] { Transformer::load(folder.path() / "model.gguf"); },
                    {"model.gguf", "blk.2.", "is missing"});
  folder.write("model.gguf", with_block("none", 3).bytes());
  require_bad_input([&] { Transformer::load(folder.path() / "model.gguf"); },
                    {"model.gguf", "nextn_predict_layers", "from 0 to 2"});
}

TEST_CASE("a part of a Qwen3.5 file that is not computed here is refused by its name",
          "[architecture][recurrent][gguf]") {
  const auto config = with_float32_epsilon(config_of(of_converter));
  const auto tensors = tensors_of(config);
  const ModelFolder folder("untied_float32");
  const auto refused = [&](const Qwen3_5Config& stated, const std::string& without,
                           const std::function<void(GgufBytes&)>& add,
                           std::initializer_list<std::string> parts) {
    auto file = metadata_of(stated, without);
    if (add) add(file);
    add_tensors(file, config, tensors);
    folder.write("model.gguf", file.bytes());
    require_bad_input([&] { Transformer::load(folder.path() / "model.gguf"); }, parts);
  };
  const auto number = [](const std::string& key, std::uint32_t value) {
    return [=](GgufBytes& file) {
      file.add("qwen35." + key, gguf_type::uint32, little_endian(value));
    };
  };
  for (const char* key : {"rope.dimension_count", "ssm.conv_kernel", "ssm.state_size",
                          "ssm.group_count", "ssm.time_step_rank", "ssm.inner_size"}) {
    refused(config, key, {}, {"model.gguf", key, "is missing"});
  }
  refused(config, "rope.dimension_count", number("rope.dimension_count", 7),
          {"rope.dimension_count", "rotates 7 of 16"});
  refused(config, "ssm.group_count", number("ssm.group_count", 4),
          {"ssm.group_count", "does not divide"});
  refused(config, "ssm.inner_size", number("ssm.inner_size", 100),
          {"ssm.inner_size", "is not a multiple of the 6 heads"});
  refused(config, "none", number("expert_count", 4), {"qwen35.expert_count", "not computed here"});
  const auto sections = [](std::vector<std::int32_t> shares) {
    return [=](GgufBytes& file) {
      file.add_numbers("qwen35.rope.dimension_sections", gguf_type::int32, shares);
    };
  };
  refused(config, "none", sections({2, 1, 1}), {"rope.dimension_sections", "three axes"});
  refused(config, "none", sections({1, 1, 1, 1}), {"rope.dimension_sections", "three axes"});
  auto stated = config;
  stated.full_attention = {false};
  refused(stated, "none", {}, {"recurrent_layers", "1 truth values for 2 blocks"});
  stated.full_attention = {true, true};
  refused(stated, "none", {}, {"model.gguf", "no layer is recurrent"});
  stated.full_attention = {false, false};
  refused(stated, "none", {}, {"model.gguf", "blk.1.attn_qkv.weight", "is missing"});
  refused(config, "recurrent_layers",
          [](GgufBytes& file) {
            file.add_numbers("qwen35.attention.recurrent_layers", gguf_type::int32,
                             std::vector<std::int32_t>{1, 0});
          },
          {"recurrent_layers", "an array of truth values"});
  // A_log where its negated exponential belongs; heads of another size.
  auto grows = metadata_of(config);
  auto edited = tensors;
  for (float& a : edited.at("model.layers.0.linear_attn.A_log").values) a = -a;
  add_tensors(grows, config, edited, {"", 1.0f, true});
  folder.write("model.gguf", grows.bytes());
  require_bad_input([&] { Transformer::load(folder.path() / "model.gguf"); },
                    {"model.gguf", "blk.0.ssm_a", "above 0"});
  require_bad_input(
      [&] {
        Transformer::load(of_converter / "float32.gguf", default_kernels(Arithmetic::float32),
                          RopeFactors::of_long_texts);
      },
      {"float32.gguf", "has one set of rotary factors"});
  GgufBytes next;
  next.add_text("general.architecture", "qwen3next");
  folder.write("model.gguf", next.bytes());
  require_bad_input([&] { Transformer::load(folder.path() / "model.gguf"); },
                    {"model.gguf", "qwen3next", "\"qwen3\", ", "\"qwen35\""});
}

}  // namespace tempera::gpu::qwen35::qwen3_5_gguf_test
