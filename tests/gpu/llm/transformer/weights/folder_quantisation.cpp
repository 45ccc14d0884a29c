#include "gpu/llm/transformer/weights/folder_quantisation.hpp"

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/bad_input.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/model_files.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu::folder_quantisation_test {

namespace {

namespace fs = std::filesystem;

const fs::path fixtures = fs::path(TEMPERA_SOURCE_DIR) / "tests/fixtures/quantised_folders";
const std::vector<std::uint64_t> shape{48, 96};

FolderQuantisation quantisation_of(const nlohmann::json& document) {
  return read_quantisation(JsonObject(document, "config.json")).value();
}
nlohmann::json config_of(const std::string& name) {
  return read_json_file(fixtures / name / "config.json");
}

/// The map "m" of a folder, by a config.json.
DequantisedMap dequantised(const fs::path& folder, const nlohmann::json& config) {
  const auto quantisation = quantisation_of(config);
  const TensorFiles files(folder);
  const auto map = quantised_map(files, quantisation, "m.weight", shape);
  return dequantised_map(map.value(), quantisation, "m.weight", shape);
}

struct Expected {
  std::string dtype;
  std::vector<std::byte> bytes;
};
Expected expected_of(const std::string& name) {
  const auto bytes = read_bytes(fixtures / name / "values.safetensors");
  const auto tensors = read_safetensors(std::as_bytes(std::span(bytes)), name);
  const auto& values = tensors.at("m.weight");
  return {values.dtype, {values.bytes.begin(), values.bytes.end()}};
}

/// A copy of a fixture in which `change` has changed a tensor's bytes.
fs::path changed(const test::TemporaryFolder& work, const std::string& name,
                 const std::string& tensor,
                 const std::function<void(std::span<char> bytes)>& change) {
  std::string bytes = read_bytes(fixtures / name / "model.safetensors");
  const auto tensors = read_safetensors(std::as_bytes(std::span(bytes)), name);
  const auto stored = tensors.at(tensor).bytes;
  const auto begin =
      static_cast<std::size_t>(reinterpret_cast<const char*>(stored.data()) - bytes.data());
  change(std::span(bytes).subspan(begin, stored.size()));
  write_file(work / "model.safetensors", bytes);
  return work / "";
}

}  // namespace

TEST_CASE("a quantised map is what the tool of its format dequantises it to, bit for bit",
          "[weights][quantised]") {
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(fixtures)) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename();
    INFO(name);
    const auto map = dequantised(entry.path(), config_of(name));
    const auto expected = expected_of(name);
    CHECK(map.tensor.dtype == expected.dtype);
    CHECK(map.tensor.shape == shape);
    CHECK((map.bytes == expected.bytes));
    ++folders;
  }
  CHECK(folders == 11);
}

TEST_CASE("every part of a quantised map has a say in its values", "[weights][quantised]") {
  const test::TemporaryFolder work;
  for (const auto& entry : fs::directory_iterator(fixtures)) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename();
    const auto expected = expected_of(name);
    const TensorFiles files(entry.path());
    for (const auto& [tensor, stored] : files.tensors()) {
      if (tensor.ends_with("shape") || tensor.ends_with("bias") || tensor.ends_with("g_idx"))
        continue;
      INFO(name << ", " << tensor);
      const auto folder = changed(work, name, tensor, [](std::span<char> bytes) {
        bytes[(bytes.size() / 2 & ~std::size_t{7}) + (bytes.size() > 2 ? 2 : 0)] ^= 0x40;
      });
      CHECK((dequantised(folder, config_of(name)).bytes != expected.bytes));
    }
  }
}

namespace {

/// A Qwen3 some of whose maps have the fixtures' shape: those of attention and of the feed-forward
/// that read `inputs` hidden values if that is what the shape reads, and otherwise those that
/// write them.
nlohmann::json configuration_of(std::uint64_t hidden) {
  auto document = nlohmann::json::parse(read_bytes(qwen3_fixtures / "untied_float32/config.json"));
  const bool reads_hidden = hidden == shape[1];
  document["hidden_size"] = hidden;
  document["intermediate_size"] = reads_hidden ? shape[0] : shape[1];
  document["num_attention_heads"] = reads_hidden ? 3U : 6U;
  document["num_key_value_heads"] = 3U;
  return document;
}

std::vector<float> logits_of(const fs::path& folder, Arithmetic arithmetic) {
  const std::vector<TokenId> text{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9};
  const auto model = Transformer::load(folder, default_kernels(arithmetic));
  DeviceMemory<float> memory;
  model->logits_at_every_position(text, memory);
  return memory.download(0, text.size() * model->vocabulary_size());
}

}  // namespace

TEST_CASE("a model some of whose maps are quantised has the logits of their values",
          "[weights][quantised]") {
  std::size_t maps = 0;
  std::vector<float> earlier;  // another map's, or in another arithmetic
  for (const auto& entry : fs::directory_iterator(fixtures)) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename();
    for (const std::uint64_t hidden : shape) {
      INFO(name << ", hidden size " << hidden);
      auto document = configuration_of(hidden);
      const auto plain =
          tensors_of<Qwen3>(Qwen3::configuration(JsonObject(document, "config.json")));
      const auto config = config_of(name);
      document["dtype"] = config["dtype"];
      // The logits of a folder in which the fixture's map, as `file` has it, is every map of its
      // shape.
      const auto logits = [&](const std::string& file, Arithmetic arithmetic) {
        nlohmann::json header;
        std::string data;
        const auto add = [&](const std::string& tensor, const std::string& dtype,
                             const auto& extents, std::string_view bytes) {
          header[tensor] = {{"dtype", dtype},
                            {"shape", extents},
                            {"data_offsets", {data.size(), data.size() + bytes.size()}}};
          data += bytes;
        };
        const std::string of_map = read_bytes(entry.path() / file);
        const auto parts = read_safetensors(std::as_bytes(std::span(of_map)), name);
        for (const auto& [tensor, made] : plain) {
          if (made.shape != shape || !tensor.ends_with("_proj.weight")) {
            add(tensor, "F32", made.shape, bytes_of_values(made.values));
            continue;
          }
          ++maps;
          const std::string map = tensor.substr(0, tensor.rfind('.'));
          for (const auto& [part, stored] : parts)
            add(map + part.substr(1), stored.dtype, stored.shape,
                {reinterpret_cast<const char*>(stored.bytes.data()), stored.bytes.size()});
        }
        const ModelFolder folder("untied_float32");
        folder.write("config.json", document.dump());
        folder.write("generation_config.json", "{}");
        folder.write("model.safetensors", safetensors_bytes(header.dump(), data));
        return logits_of(folder.path(), arithmetic);
      };
      for (const auto arithmetic : {Arithmetic::float32, Arithmetic::integer}) {
        document.erase("quantization_config");
        const auto of_values = logits("values.safetensors", arithmetic);
        document["quantization_config"] = config["quantization_config"];
        CHECK((logits("model.safetensors", arithmetic) == of_values));
        CHECK_FALSE((of_values == earlier));
        earlier = of_values;
      }
    }
  }
  // In three layers: the two maps that write hidden values, and the five that read them.
  CHECK(maps == 11 * 2 * 2 * 3 * (2 + 5));
}

TEST_CASE("what a configuration of quantisation asks for is computed or refused by name",
          "[weights][quantised]") {
  const auto refused = [](const std::string& name, const std::string& pointer,
                          const nlohmann::json& value,
                          const std::initializer_list<std::string> parts) {
    INFO(name << " " << pointer << " " << value.dump());
    auto config = config_of(name);
    config[nlohmann::json::json_pointer(pointer)] = value;
    require_bad_input([&] { quantisation_of(config); }, parts);
  };
  const std::string in = "/quantization_config/";
  refused("fp8", in + "quant_method", "bitsandbytes", {"config.json", "\"bitsandbytes\"", "GGUF"});
  refused("fp8", in + "quant_method", nullptr, {"no \"quant_method\""});
  refused("fp8", in + "activation_scheme", "static", {"\"activation_scheme\"", "static"});
  refused("fp8", in + "fmt", "e5m2", {"\"fmt\""});
  refused("fp8", in + "weight_block_size", nullptr, {"\"weight_block_size\""});
  refused("fp8", in + "weight_block_size", {16U}, {"not a pair"});
  refused("fp8", in + "weight_block_size", {0U, 16U}, {"\"weight_block_size\""});
  refused("fp8", in + "another", 1, {"another"});
  refused("fp8", "/dtype", "int8", {"\"dtype\"", "bfloat16"});
  refused("awq", in + "bits", 3, {"\"bits\""});
  refused("awq", in + "version", "marlin", {"\"version\""});
  refused("awq", in + "zero_point", false, {"\"zero_point\""});
  refused("awq", in + "group_size", 0U, {"\"group_size\""});
  refused("gptq", in + "bits", 2, {"\"bits\""});
  refused("gptq", in + "checkpoint_format", "marlin", {"\"checkpoint_format\""});
  refused("gptq", in + "dynamic", {{"-:lm_head", 1}}, {"\"dynamic\""});
  refused("w4a16", in + "format", "nvfp4-pack-quantized", {"\"format\""});
  refused("w4a16", in + "kv_cache_scheme", {{"num_bits", 8}}, {"\"kv_cache_scheme\""});
  refused("w4a16", in + "transform_config", {{"a", 8}}, {"\"transform_config\""});
  refused("w4a16", in + "sparsity_config", {{"format", "dense"}}, {"\"sparsity_config\""});
  refused("w4a16", in + "config_groups/group_1", nlohmann::json::object(), {"\"config_groups\""});
  const std::string group = in + "config_groups/group_0/";
  refused("w4a16", group + "input_activations", {{"num_bits", 8}}, {"\"input_activations\""});
  refused("w4a16", group + "weights/num_bits", 3, {"\"num_bits\""});
  refused("w4a16", group + "weights/actorder", "group", {"\"actorder\""});
  refused("w4a16", group + "weights/strategy", "block", {"\"strategy\""});
  refused("w4a16", group + "weights/dynamic", true, {"\"dynamic\""});
  CHECK_FALSE(read_quantisation(JsonObject(nlohmann::json::object(), "config.json")).has_value());
  // Zero points one less than they are meant.
  auto second = config_of("gptq");
  second["quantization_config"]["checkpoint_format"] = "gptq_v2";
  CHECK((dequantised(fixtures / "gptq", second).bytes != expected_of("gptq").bytes));
}

TEST_CASE("a quantised map that is damaged is refused by its tensor", "[weights][quantised]") {
  const test::TemporaryFolder work;
  const auto refused = [&](const std::string& name, const std::string& tensor,
                           const std::string& bytes,
                           const std::initializer_list<std::string> parts) {
    INFO(name << ", " << tensor);
    const auto folder = changed(work, name, tensor, [&](std::span<char> stored) {
      std::copy(bytes.begin(), bytes.end(), stored.begin());
    });
    require_bad_input([&] { dequantised(folder, config_of(name)); }, parts);
  };
  const std::string zeros(4, '\0');
  refused("fp8", "m.weight_scale_inv", zeros, {"m.weight_scale_inv", "element 0", "above 0"});
  refused("fp8", "m.weight_scale_inv", "\xC0\x7F", {"element 0", "not a finite number"});
  refused("awq", "m.scales", {"\x00\x7C", 2}, {"m.scales", "not a finite number"});
  refused("gptq", "m.g_idx", {"\x03\0\0\0", 4}, {"m.g_idx", "element 0", "one of the 3 groups"});
  refused("gptq", "m.qzeros", "\xFF\xFF\xFF\xFF", {"m.qzeros", "zero point", "gptq_v2"});
  refused("w4a16", "m.weight_shape", {"\x31\0\0\0\0\0\0\0", 8}, {"m.weight_shape", "shape"});
  // Another group asks for other shapes.
  auto config = config_of("awq");
  config["quantization_config"]["group_size"] = 48U;
  require_bad_input([&] { dequantised(fixtures / "awq", config); }, {"m.qzeros", "has shape"});
  config["quantization_config"]["group_size"] = 36U;
  require_bad_input([&] { dequantised(fixtures / "awq", config); }, {"not a multiple of 36"});
  require_bad_input([&] { dequantised(fixtures / "awq", config_of("gptq")); }, {"m.qweight"});
  const TensorFiles files(fixtures / "gptq");
  CHECK(is_bias_of_zeros(files, "m.bias"));
  CHECK_FALSE(is_bias_of_zeros(files, "m.qzeros"));
  const TensorFiles others(changed(work, "gptq", "m.bias", [](auto bytes) { bytes.back() = 1; }));
  CHECK_FALSE(is_bias_of_zeros(others, "m.bias"));
}

}  // namespace tempera::gpu::folder_quantisation_test
