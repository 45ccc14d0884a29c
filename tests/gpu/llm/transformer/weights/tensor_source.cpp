#include "gpu/llm/transformer/weights/tensor_source.hpp"

#include <cmath>

#include "base/error.hpp"
#include "gpu/core/lottery/lottery.hpp"
#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/default_kernels.hpp"
#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu {

namespace {

const std::string query = "model.layers.2.self_attn.q_proj.weight";
const std::string final_norm = "model.norm.weight";

void put(std::string& data, const nlohmann::json& header, const std::string& tensor,
         std::size_t element, float value) {
  const auto begin = header[tensor]["data_offsets"][0].get<std::size_t>();
  std::memcpy(data.data() + begin + element * sizeof value, &value, sizeof value);
}

/// Bytes of this file that the process has in memory, as the system says.
std::size_t resident_bytes_of(const std::string& file) {
  std::ifstream maps("/proc/self/smaps");
  std::size_t kilobytes = 0;
  bool is_file = false;
  for (std::string line; std::getline(maps, line);) {
    // A mapping's first line begins with its addresses and ends with its file.
    if (line.find('-') < line.find(' ')) is_file = line.ends_with(" " + file);
    if (is_file && line.starts_with("Rss:")) kilobytes += std::stoul(line.substr(4));
  }
  return 1024 * kilobytes;
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
  const auto packed = pack_matrices(parts, Arithmetic::float32);
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

TEST_CASE("what has been packed of a folder is in memory no more", "[weights]") {
  constexpr std::size_t out = 512, in = 2048, bytes = out * in * sizeof(float);
  const ModelFolder folder("untied_float32");
  const std::string file = std::filesystem::canonical(folder.path()) / "model.safetensors";
  const nlohmann::json header{
      {"map", {{"dtype", "F32"}, {"shape", {out, in}}, {"data_offsets", {0, bytes}}}}};
  folder.write("model.safetensors", safetensors_bytes(header.dump(), std::string(bytes, '\x3C')));
  const TensorFiles files(folder.path());
  FolderTensors tensors(files);
  const PackedMatrix packed = tensors.matrix("map", out, in, Arithmetic::float32);
  CHECK(packed.out == out);
  CHECK(resident_bytes_of(file) < bytes / 4);
  // What is read and not given back is seen.
  std::size_t sum = 0;
  for (const std::byte byte : files.tensors().at("map").bytes)
    sum += std::to_integer<unsigned>(byte);
  CHECK(sum == bytes * 0x3CU);
  CHECK(resident_bytes_of(file) >= bytes);
}

TEST_CASE("a step's work is that of layers and head, the embedding's only where it is the head",
          "[weights]") {
  const ModelFolder folder("untied_float32");
  nlohmann::json config;
  folder.edit_json("config.json", [&](const auto& json) { config = json; });
  const auto size = [&](const char* key) { return config[key].get<std::uint64_t>(); };
  const std::uint64_t hidden = size("hidden_size");
  const std::uint64_t query = size("num_attention_heads") * size("head_dim");
  const std::uint64_t key_value = size("num_key_value_heads") * size("head_dim");
  const std::uint64_t layer =
      hidden * (2 * query + 2 * key_value) + 3 * hidden * size("intermediate_size");
  // The head's 50 outputs are padded to 64.
  const std::uint64_t weights = size("num_hidden_layers") * layer + 64 * hidden;
  for (const bool tied : {false, true}) {
    folder.edit_json("config.json", [&](auto& json) { json["tie_word_embeddings"] = tied; });
    for (const auto arithmetic : {Arithmetic::float32, Arithmetic::tensor_core}) {
      const MatrixWork work =
          Transformer::load(folder.path(), default_kernels(arithmetic))->step_work();
      CHECK(work.multiply_adds == weights);
      CHECK(work.bytes == (arithmetic == Arithmetic::float32 ? 4 : 2) * weights);
    }
  }
}

TEST_CASE("quantised weights are read in the bytes that they are stored in", "[weights]") {
  // 16 outputs of 64 inputs: of each two blocks of 32 bytes and a scale; and where they begin.
  const std::string bytes(16 * 2 * (32 + 2), '\0');
  const StoredTensor tensor{
      "w", "Q8_0", {16, 64}, std::as_bytes(std::span<const char>(bytes)), "file"};
  const StoredTensor* parts[] = {&tensor};
  const MatrixWork work = work_of(pack_matrices(parts, Arithmetic::float32));
  CHECK(work.multiply_adds == 16 * 64);
  CHECK(work.bytes == bytes.size() + 8);
}

TEST_CASE("weights for the tensor core are where a warp's registers want them", "[weights]") {
  // 17 outputs and 18 inputs after 3 outputs: two tiles of two steps, most of them filled up.
  constexpr std::size_t in = 18;
  std::vector<float> first(3 * in);
  std::vector<float> second(17 * in);
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = static_cast<float>(i) + 1.0f;
  for (std::size_t i = 0; i < second.size(); ++i) second[i] = -static_cast<float>(i) - 0.5f;
  const auto bytes_of = [](const std::vector<float>& values) {
    return std::as_bytes(std::span<const float>(values));
  };
  const StoredTensor tensors[] = {{"one", "F32", {3, in}, bytes_of(first), "file"},
                                  {"two", "F32", {17, in}, bytes_of(second), "file"}};
  const StoredTensor* parts[] = {&tensors[0], &tensors[1]};
  const auto packed = pack_matrices(parts, Arithmetic::tensor_core);
  CHECK(packed.in == in);
  CHECK(packed.out == 48);
  const auto& words = std::get<DeviceMemory<std::uint32_t>>(packed.weights);
  REQUIRE(words.size() == std::size_t{3} * 2 * 32 * 4);
  const auto fragments = words.download(0, words.size());
  const auto weight = [&](std::size_t output, std::size_t input) {
    const bool is_first = output < 16;
    const std::size_t row = is_first ? output : output - 16;
    const auto& values = is_first ? first : second;
    if (input >= in || row * in + input >= values.size()) return std::uint16_t{0};
    return to_bfloat16(values[row * in + input]);
  };
  for (std::size_t tile = 0; tile < 3; ++tile) {
    for (std::size_t step = 0; step < 2; ++step) {
      for (std::size_t lane = 0; lane < 32; ++lane) {
        const std::size_t g = lane / 4;
        const std::size_t t = lane % 4;
        const std::uint32_t* word = &fragments[((tile * 2 + step) * 32 + lane) * 4];
        const auto pair = [&](std::size_t output, std::size_t input) {
          const std::uint32_t low = weight(tile * 16 + output, step * 16 + input);
          const std::uint32_t high = weight(tile * 16 + output, step * 16 + input + 1);
          return low | high << 16;
        };
        CHECK(word[0] == pair(g, 2 * t));
        CHECK(word[1] == pair(g + 8, 2 * t));
        CHECK(word[2] == pair(g, 2 * t + 8));
        CHECK(word[3] == pair(g + 8, 2 * t + 8));
      }
    }
  }
}

TEST_CASE("a weight that bfloat16 cannot hold is refused but under float32", "[weights]") {
  const ModelFolder folder("untied_float32");
  folder.edit_tensors(
      [](auto& header, std::string& data) { put(data, header, query, 77, 3.4e38f); });
  CHECK_NOTHROW(Transformer::load(folder.path()));
  for (const auto arithmetic :
       {Arithmetic::tensor_core, Arithmetic::tensor_core_ampere, Arithmetic::bfloat16_pairs}) {
    require_bad_input([&] { Transformer::load(folder.path(), default_kernels(arithmetic)); },
                      {query, "element 77", "too large for bfloat16", "float32"});
  }
}

TEST_CASE("what overflows within a pass ends its record in one line, under every arithmetic",
          "[weights]") {
  const ModelFolder folder("untied_float32");
  folder.edit_tensors([](auto& header, std::string& data) {
    // One of two gates of opposite signs is open: what it lets through is about 1e42.
    for (std::size_t i = 0; i < 64; ++i) {
      put(data, header, "model.layers.0.mlp.gate_proj.weight", i, i < 32 ? 1e21f : -1e21f);
      put(data, header, "model.layers.0.mlp.up_proj.weight", i, 1e21f);
    }
  });
  for (const auto arithmetic : arithmetics) {
    CAPTURE(name_of(arithmetic));
    const auto model = Transformer::load(folder.path(), default_kernels(arithmetic));
    const std::vector<TokenId> tokens{1, 2, 3};
    const auto cache = model->empty_cache();
    const Pass pass{cache.get(), tokens};
    DeviceMemory<float> logits;
    model->next_logits(std::span(&pass, 1), logits);
    PhiloxLottery lottery;
    const std::vector<double> powers{1.0};
    const RowDraw draw{powers, 0, {1, {0, 0, 0, 0, 0, Purpose::extension_token}}};
    const auto rows = make_device_row_lottery();
    CHECK_THROWS_AS(rows->draw(logits, model->vocabulary_size(), std::span(&draw, 1), lottery),
                    ModelError);
  }
}

TEST_CASE("random weights depend on their seed and on nothing else", "[weights]") {
  DecoderConfig config;
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
