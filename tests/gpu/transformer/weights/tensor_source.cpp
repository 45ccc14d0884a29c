#include "gpu/transformer/weights/tensor_source.hpp"

#include <cmath>

#include "gpu/transformer/random_transformer.hpp"
#include "tests/gpu/transformer/architectures/model_folder.hpp"

namespace tempera::gpu {

namespace {

const std::string query = "model.layers.2.self_attn.q_proj.weight";
const std::string final_norm = "model.norm.weight";

void put(std::string& data, const nlohmann::json& header, const std::string& tensor,
         std::size_t element, float value) {
  const auto begin = header[tensor]["data_offsets"][0].get<std::size_t>();
  std::memcpy(data.data() + begin + element * sizeof value, &value, sizeof value);
}

}  // namespace

TEST_CASE("weights that config.json does not describe are refused by their tensor", "[weights]") {
  const ModelFolder folder("untied_float32");
  const auto load = [&] { Transformer::load(folder.path()); };
  SECTION("a tensor is missing") {
    folder.edit_tensors([](auto& header, std::string&) {
      header["renamed"] = header[query];
      header.erase(query);
    });
    require_bad_input(load, {"model.safetensors", query, "missing"});
  }
  SECTION("a tensor has another shape") {
    folder.edit_json("config.json", [](auto& config) { config["num_attention_heads"] = 8; });
    require_bad_input(load, {"q_proj", "[64, 32]", "[128, 32]", "config.json"});
  }
  SECTION("a tensor has another rank") {
    folder.edit_tensors([](auto& header, std::string&) { header[query]["shape"] = {2048}; });
    require_bad_input(load, {query, "[2048]", "[64, 32]"});
  }
  SECTION("a tensor has a dtype that is not computed with") {
    folder.edit_tensors([](auto& header, std::string&) { header[query]["dtype"] = "I32"; });
    require_bad_input(load, {query, "I32", "F32 or BF16"});
  }
  SECTION("fewer layers than the file has") {
    folder.edit_json("config.json", [](auto& config) {
      config["num_hidden_layers"] = 2;
      config.erase("layer_types");
    });
    require_bad_input(load, {"model.layers.2.", "would use"});
  }
  SECTION("a bias that the architecture does not add") {
    folder.edit_tensors([](auto& header, std::string& data) {
      header["model.layers.0.self_attn.q_proj.bias"] = {
          {"dtype", "F32"}, {"shape", {64}}, {"data_offsets", {data.size(), data.size() + 256}}};
      data += std::string(256, '\0');
    });
    require_bad_input(load, {"q_proj.bias", "would use"});
  }
  SECTION("a weight is NaN") {
    folder.edit_tensors([](auto& header, std::string& data) { put(data, header, query, 77, NAN); });
    require_bad_input(load, {query, "element 77", "NaN"});
  }
  SECTION("a norm weight is infinite") {
    folder.edit_tensors(
        [](auto& header, std::string& data) { put(data, header, final_norm, 3, INFINITY); });
    require_bad_input(load, {final_norm, "element 3", "infinite"});
  }
  SECTION("the file is truncated") {
    std::filesystem::resize_file(folder.path() / "model.safetensors", 100000);
    require_bad_input(load, {"model.safetensors", "tensor", "truncated"});
  }
}

TEST_CASE("a tied model may carry the head that it does not use", "[weights]") {
  const ModelFolder folder("untied_float32");
  folder.edit_json("config.json", [](auto& config) { config["tie_word_embeddings"] = true; });
  CHECK_NOTHROW(Transformer::load(folder.path()));
}

TEST_CASE("parts of different dtype are stacked without loss", "[weights]") {
  // Queries in bfloat16 beside keys and values in float32: the values of the file, in float32.
  const std::string bytes("\x80\x3F\x40\xC0\0\0\x80\x3E\0\0\x20\x41", 12);
  const auto span = std::as_bytes(std::span<const char>(bytes));
  const StoredTensor half{"half", "BF16", {1, 2}, span.first(4), "file"};
  const StoredTensor full{"full", "F32", {1, 2}, span.subspan(4), "file"};
  const StoredTensor* parts[] = {&half, &full};
  const auto packed = pack_matrices(parts);
  CHECK(packed.out == 2 * lanes);
  CHECK(packed.in == 2);
  const auto& weights = std::get<DeviceMemory<float>>(packed.weights);
  const auto values = weights.download(0, weights.size());
  CHECK(values.at(0) == 1.0f);
  CHECK(values.at(lanes) == -3.0f);
  CHECK(values.at(1) == 0.0f);
  CHECK(values.at(2 * lanes) == 0.25f);
  CHECK(values.at(3 * lanes) == 10.0f);
}

TEST_CASE("random weights depend on their seed and on nothing else", "[weights]") {
  Qwen3Config config;
  config.vocab_size = 3;
  config.hidden_size = 8;
  config.intermediate_size = 8;
  config.num_hidden_layers = 1;
  config.num_attention_heads = 2;
  config.num_key_value_heads = 1;
  config.head_dim = 4;
  config.max_position_embeddings = 16;
  const auto row = [&](std::uint64_t seed) {
    const auto transformer = random_qwen3(config, seed);
    DeviceMemory<float> rows;
    transformer->logits_at_every_position(std::vector<TokenId>{0, 1, 2, 2, 1}, rows);
    return rows.download(0, rows.size());
  };
  CHECK(row(1) == row(1));
  CHECK(row(1) != row(2));
  config.num_key_value_heads = 3;
  require_bad_input([&] { row(1); }, {"num_key_value_heads"});
}

}  // namespace tempera::gpu
