// Fuzzing of what says how a transformer is computed: config.json and the metadata of a GGUF file,
// of models whose weights are there, so that whatever is not refused is computed.
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "gpu/llm/transformer/architectures/llama.hpp"
#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "gpu/llm/transformer/architectures/qwen2.hpp"
#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "tests/gpu/fuzz.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/qwen3_5_gguf.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu {
namespace {

using nlohmann::json;
using MadeTensors = std::map<std::string, FormulaTensors::Made>;

/// Loads the model and computes a few tokens of it.
void compute(const std::filesystem::path& model) {
  const auto transformer = Transformer::load(model);
  DeviceMemory<float> logits;
  const std::vector<TokenId> tokens(std::min<std::size_t>(3, transformer->max_position()), 1);
  if (!tokens.empty() && transformer->vocabulary_size() > 1)
    transformer->logits_at_every_position(tokens, logits);
}

template <class Config, class Model>
MadeTensors made_tensors(const json& document) {
  const Config config = Model::configuration(JsonObject(document, "config.json"));
  FormulaTensors tensors;
  const Model model(config, tensors, default_kernels(Arithmetic::float32));
  return tensors.made();
}

struct FuzzedArchitecture {
  const char* fixture;
  MadeTensors (*tensors)(const json& config);
};

const std::vector<FuzzedArchitecture> fuzzed_architectures{
    {"llama_tied", made_tensors<DecoderConfig, Llama>},
    {"llama3_scaled", made_tensors<DecoderConfig, Llama>},
    {"phi3_short", made_tensors<DecoderConfig, Phi3>},
    {"phi3_long", made_tensors<DecoderConfig, Phi3>},
    {"qwen2", made_tensors<DecoderConfig, Qwen2>},
    {"qwen3", made_tensors<DecoderConfig, Qwen3>},
    {"qwen3_5", made_tensors<Qwen3_5Config, Qwen3_5>}};

/// A value of a GGUF file's metadata, of the type that spells it; nothing for null.
/// @throw BadInput for what GGUF has no type for
void add_value(GgufBytes& file, const std::string& key, const json& value) {
  constexpr std::uint32_t uint64 = 10, int64 = 11;
  if (value.is_null()) return;
  if (value.is_boolean())
    return file.add(key, gguf_type::boolean, std::string(1, value.get<bool>() ? '\1' : '\0'));
  if (value.is_string()) return file.add_text(key, value.get<std::string>());
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number >> 32 != 0) return file.add(key, uint64, little_endian(number));
    return file.add(key, gguf_type::uint32, little_endian(static_cast<std::uint32_t>(number)));
  }
  if (value.is_number_integer())
    return file.add(key, int64, little_endian(value.get<std::int64_t>()));
  if (value.is_number_float())
    return file.add(key, gguf_type::float32,
                    little_endian(static_cast<float>(value.get<double>())));
  std::vector<std::uint8_t> booleans;
  if (value.is_array())
    for (const json& entry : value)
      if (entry.is_boolean()) booleans.push_back(entry.get<bool>() ? 1 : 0);
  if (value.is_object() || booleans.size() != value.size())
    throw BadInput(key, "is of no type that the file could have", "give another");
  file.add_numbers(key, gguf_type::boolean, booleans);
}

/// The values of a small file's metadata, as JSON, and its tensors.
struct FuzzedFile {
  json values;
  GgufBytes tensors;
};

FuzzedFile llama_file() {
  const json document = read_json_file(architecture_fixtures / "llama_tied" / "config.json");
  const auto config = Llama::configuration(JsonObject(document, "config.json"));
  FuzzedFile file;
  file.values = {{"general.architecture", "llama"},
                 {"tokenizer.ggml.eos_token_id", 2U},
                 {"llama.block_count", config.num_hidden_layers},
                 {"llama.context_length", 1024U},
                 {"llama.embedding_length", config.hidden_size},
                 {"llama.feed_forward_length", config.intermediate_size},
                 {"llama.attention.head_count", config.num_attention_heads},
                 {"llama.attention.head_count_kv", config.num_key_value_heads},
                 {"llama.attention.key_length", config.head_dim},
                 {"llama.attention.value_length", config.head_dim},
                 {"llama.rope.dimension_count", config.head_dim},
                 {"llama.vocab_size", config.vocab_size},
                 {"llama.attention.layer_norm_rms_epsilon", config.rms_norm_eps},
                 {"llama.rope.freq_base", config.rope_theta}};
  for (const auto& [name, made] : made_tensors<DecoderConfig, Llama>(document))
    add_gguf_tensor(file.tensors, gguf_name(name, "llama"), made.shape, 0,
                    bytes_of_values(made.values));
  return file;
}

FuzzedFile qwen35_file() {
  const json document = read_json_file(architecture_fixtures / "qwen3_5" / "config.json");
  const auto config = Qwen3_5::configuration(JsonObject(document, "config.json"));
  FuzzedFile file;
  json recurrent = json::array();
  for (const bool full : config.full_attention) recurrent.push_back(!full);
  file.values = {
      {"general.architecture", "qwen35"},
      {"tokenizer.ggml.eos_token_id", 2U},
      {"qwen35.block_count", config.num_hidden_layers},
      {"qwen35.context_length", config.max_position_embeddings},
      {"qwen35.embedding_length", config.hidden_size},
      {"qwen35.feed_forward_length", config.intermediate_size},
      {"qwen35.attention.head_count", config.num_attention_heads},
      {"qwen35.attention.head_count_kv", config.num_key_value_heads},
      {"qwen35.attention.key_length", config.head_dim},
      {"qwen35.attention.value_length", config.head_dim},
      {"qwen35.rope.dimension_count", config.rotary_dim},
      {"qwen35.ssm.conv_kernel", config.linear_conv_kernel_dim},
      {"qwen35.ssm.state_size", config.linear_key_head_dim},
      {"qwen35.ssm.group_count", config.linear_num_key_heads},
      {"qwen35.ssm.time_step_rank", config.linear_num_value_heads},
      {"qwen35.ssm.inner_size", config.linear_num_value_heads * config.linear_value_head_dim},
      {"qwen35.attention.layer_norm_rms_epsilon", config.rms_norm_eps},
      {"qwen35.rope.freq_base", config.rope_theta},
      {"qwen35.attention.recurrent_layers", recurrent}};
  for (const auto& [name, made] : qwen35::tensors_of(config)) {
    const auto stored = qwen35::converted(name, made, config);
    add_gguf_tensor(file.tensors, gguf_name(name, "qwen35"), stored.shape, 0,
                    bytes_of_values(stored.values));
  }
  return file;
}

}  // namespace

TEST_CASE("every architecture's config.json is read or refused, and its model computed",
          "[fuzz][architecture]") {
  for (const auto& [fixture, tensors] : fuzzed_architectures) {
    const std::string bytes = read_bytes(architecture_fixtures / fixture / "config.json");
    const ModelFolder folder("untied_float32");
    folder.write("generation_config.json", "{}");
    write_safetensors(folder.path(), tensors(json::parse(bytes)));
    fuzz(
        fixture, {bytes},
        [&](const std::string& config) {
          folder.write("config.json", config);
          compute(folder.path());
        },
        0.3);
  }
}

TEST_CASE("every GGUF file's architecture is read or refused, and its model computed",
          "[fuzz][architecture]") {
  const ModelFolder folder("untied_float32");
  for (const FuzzedFile& file : {llama_file(), qwen35_file()})
    fuzz(file.values["general.architecture"].get<std::string>().c_str(), {file.values.dump()},
         [&](const std::string& values) {
           const json mutated = parse_json(values, "values");
           if (!mutated.is_object()) throw BadInput("values", "are not an object", "give one");
           GgufBytes bytes = file.tensors;
           for (const auto& [key, value] : mutated.items()) add_value(bytes, key, value);
           folder.write("model.gguf", bytes.bytes());
           compute(folder.path() / "model.gguf");
         });
}

}  // namespace tempera::gpu
