// Small models written as files, so that a test opens them as a run does: the fixtures' families as
// folders, and two of them as GGUF files of every type of weights.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/architectures/llama.hpp"
#include "tests/gpu/llm/transformer/architectures/decoder_gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/qwen3_5_gguf.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/weights/quantised_bytes.hpp"

namespace tempera::gpu {

/// The model of a case of tests/fixtures/architectures/ as a folder in Hugging Face form.
template <class Model>
void write_fixture_folder(const std::filesystem::path& folder, const std::string& fixture) {
  std::filesystem::create_directory(folder);
  const auto config = architecture_fixtures / fixture / "config.json";
  std::filesystem::copy_file(config, folder / "config.json");
  const auto document = read_json_file(config);
  FormulaTensors tensors;
  const Model model(Model::configuration(JsonObject(document, config.string())), tensors,
                    default_kernels());
  write_safetensors(folder, tensors.made());
}

/// A type of weights in GGUF, and the exponent that the float16s of its blocks get here: weights
/// then be around 1/16, so that 256 of them times inputs of size 1 give results of size 1. Larger
/// ones would drive every softmax and every gate to its end, where a wrong bit is lost.
struct WeightType {
  const char* dtype;
  std::uint32_t number;
  std::uint32_t exponent;  // 0: of numbers without blocks
};
inline constexpr std::array weight_types{
    WeightType{"F32", 0, 0},   WeightType{"F16", 1, 11},    WeightType{"BF16", 30, 0},
    WeightType{"Q8_0", 8, 5},  WeightType{"Q4_0", 2, 9},    WeightType{"Q4_1", 3, 8},
    WeightType{"Q4_K", 12, 3}, WeightType{"Q6_K", 14, 1},   WeightType{"Q5_0", 6, 8},
    WeightType{"Q5_1", 7, 7},  WeightType{"Q5_K", 13, 2},   WeightType{"Q2_K", 10, 6},
    WeightType{"Q3_K", 11, 5}, WeightType{"IQ4_NL", 20, 5}, WeightType{"IQ4_XS", 23, 1}};

/// A matrix as a file stores it, and the values that its bytes mean.
struct StoredMatrix {
  std::string bytes;
  std::vector<float> values;
};

inline StoredMatrix stored_matrix(const WeightType& type, const std::string& name,
                                  const std::vector<std::uint64_t>& shape) {
  StoredMatrix matrix;
  if (type.exponent == 0) {
    matrix.values = formula_values(name, shape);
    if (type.number == 0) return {bytes_of_values(matrix.values), matrix.values};
    for (float& value : matrix.values) {
      const std::uint16_t bits = to_bfloat16(value);
      matrix.bytes += little_endian(bits);
      value = from_bfloat16(bits);
    }
    return matrix;
  }
  const QuantisedType& quantised = quantised_type(type.dtype);
  const auto block = *stored_block(type.dtype);
  auto bytes = quantised_bytes(quantised, shape[0] * shape[1],
                               static_cast<std::uint32_t>(shape[0] + name.size()));
  for (std::size_t begin = 0; begin < bytes.size(); begin += block.bytes) {
    for (const auto scale : quantised.scales) {
      auto& upper = bytes[begin + scale + 1];
      upper = (upper & std::byte{0x83}) | static_cast<std::byte>(type.exponent << 2);
    }
  }
  matrix.bytes.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  matrix.values = dequantised(quantised, bytes);
  return matrix;
}

/// A file, and that of the same values in float32.
struct GgufPair {
  GgufBytes stored;
  GgufBytes in_float32;

  void add(const std::string& name, const std::vector<std::uint64_t>& shape,
           const WeightType& type) {
    const auto matrix = stored_matrix(type, name, shape);
    add_gguf_tensor(stored, name, shape, type.number, matrix.bytes);
    add_gguf_tensor(in_float32, name, shape, 0, bytes_of_values(matrix.values));
  }
  void add_values(const std::string& name, const FormulaTensors::Made& made) {
    for (GgufBytes* file : {&stored, &in_float32})
      add_gguf_tensor(*file, name, made.shape, 0, bytes_of_values(made.values));
  }
};

/// Which type each matrix of a file has, the first matrix's number being 0.
using TypeOf = std::function<WeightType(std::size_t matrix)>;

inline void set_sizes(DecoderConfig& config) {
  config.vocab_size = 61;
  config.hidden_size = 256;
  config.intermediate_size = 256;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 64;
  config.max_position_embeddings = 512;
}

/// A `vocabulary` of 259 tokens or more has a tokenizer, too.
inline GgufPair llama_gguf(const TypeOf& type_of, std::size_t vocabulary = 61) {
  DecoderConfig config;
  set_sizes(config);
  config.vocab_size = vocabulary;
  GgufPair files{gguf_of<Llama>(config, "llama"), gguf_of<Llama>(config, "llama")};
  if (vocabulary >= 259) {
    add_byte_tokenizer(files.stored, vocabulary);
    add_byte_tokenizer(files.in_float32, vocabulary);
  }
  std::size_t matrices = 0;
  for (const auto& [name, made] : tensors_of<Llama>(config)) {
    const auto gguf = gguf_name(name, "llama");
    if (made.shape.size() == 2)
      files.add(gguf, made.shape, type_of(matrices++));
    else
      files.add_values(gguf, made);
  }
  return files;
}

/// Its recurrent layer has four value heads of 64, two to a key head: a block of 256 inputs of
/// out_proj holds all four, one of 32 is within one.
inline GgufPair qwen35_gguf(const TypeOf& type_of) {
  Qwen3_5Config config;
  set_sizes(config);
  config.rotary_dim = 16;
  config.full_attention = {false, true};
  config.linear_num_key_heads = 2;
  config.linear_num_value_heads = 4;
  config.linear_key_head_dim = 16;
  config.linear_value_head_dim = 64;
  config.linear_conv_kernel_dim = 4;
  GgufPair files{qwen35::metadata_of(config), qwen35::metadata_of(config)};
  std::size_t matrices = 0;
  for (const auto& [name, made] : qwen35::tensors_of(config)) {
    const auto gguf = gguf_name(name, "qwen35");
    if (made.shape.size() == 2)
      files.add(gguf, made.shape, type_of(matrices++));
    else
      files.add_values(gguf, qwen35::converted(name, made, config));
  }
  return files;
}

inline void write_file(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace tempera::gpu
