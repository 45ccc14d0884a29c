// Every tensor that a model's files lack, hold besides, or hold damaged; through the loader.
#include <algorithm>
#include <set>

#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "gpu/llm/transformer/architectures/qwen2.hpp"
#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/session/token_alternatives.hpp"
#include "gpu/session/token_scores.hpp"
#include "tests/gpu/llm/transformer/architectures/model_files.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu::stored_tensors_test {

namespace {

namespace fs = std::filesystem;

const std::vector<TokenId> text{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};

/// read_bytes takes its time for large files.
bool is_made_of(const fs::path& file, const std::string& bytes) {
  const MappedFile mapped(file);
  return std::string_view(reinterpret_cast<const char*>(mapped.bytes().data()),
                          mapped.bytes().size()) == bytes;
}

struct Opened {
  std::vector<double> log_p;
  std::string refused;
  std::string said;

  bool has_packed() const { return said.find("keeps packed weights in") != std::string::npos; }
};

Opened opened(const fs::path& model, const fs::path& packed = {},
              Arithmetic arithmetic = Arithmetic::float32) {
  Opened result;
  const auto say = [&](const std::string& line) { result.said += line + '\n'; };
  try {
    const auto open = OpenedModel::open(model.string(), {}, arithmetic, std::nullopt,
                                        {.folder = packed, .program = "this", .say = say});
    result.log_p = score_tokens(open.model(), text, std::vector<double>{1.0}).log_p;
  } catch (const BadInput& fault) {
    result.refused = fault.what();
  } catch (const ModelError& fault) {
    result.refused = fault.what();
  }
  return result;
}

template <class Model>
nlohmann::json json_of(const std::string& fixture) {
  auto json = nlohmann::json::parse(read_bytes(architecture_fixtures / fixture / "config.json"));
  json["tie_word_embeddings"] = false;
  json["vocab_size"] = 300U;
  return json;
}

using Tensors = std::map<std::string, FormulaTensors::Made>;

/// Tensors that an architecture may have and this one does not use.
std::vector<std::string> others_of(const Tensors& tensors) {
  std::vector<std::string> others{"model.layers.2.input_layernorm.weight",
                                  "lm_head.bias",
                                  "model.embed_tokens.bias",
                                  "model.layers.0.self_attn.q_proj.bias",
                                  "model.layers.1.self_attn.o_proj.bias",
                                  "model.layers.1.self_attn.qkv_proj.bias",
                                  "model.layers.0.self_attn.q_norm.weight",
                                  "model.layers.1.mlp.down_proj.bias",
                                  "model.layers.0.self_attn.q_proj.weight_scale",
                                  "model.layers.0.self_attn.q_proj.lora_A.weight",
                                  "model.layers.0.self_attn.sinks",
                                  "model.layers.0.block_sparse_moe.gate.weight",
                                  "mm_projector.weight",
                                  "x"};
  std::erase_if(others, [&](const auto& name) { return tensors.contains(name); });
  return others;
}

template <class Model>
void require_every_tensor(const std::string& fixture) {
  INFO(fixture);
  const auto json = json_of<Model>(fixture);
  FormulaTensors made;
  const Model model(Model::configuration(JsonObject(json, "config.json")), made, default_kernels());
  const ModelFolder folder("untied_float32");
  folder.write("config.json", json.dump());
  folder.write("generation_config.json", "{}");
  const auto load = [&](const Tensors& tensors) {
    write_safetensors(folder.path(), tensors);
    return opened(folder.path());
  };
  const auto whole = load(made.made());
  REQUIRE(whole.refused == "");
  for (const auto& [name, tensor] : made.made()) {
    INFO(name);
    auto tensors = made.made();
    tensors.erase(name);
    CHECK(load(tensors).refused.find("tensor \"" + name + "\": is missing") != std::string::npos);
    // Each is used.
    tensors = made.made();
    for (float& value : tensors[name].values) value += 0.5f;
    CHECK(load(tensors).log_p != whole.log_p);
    // And each has one shape.
    tensors = made.made();
    tensors[name].shape.insert(tensors[name].shape.begin(), 1);
    CHECK(load(tensors).refused.find("tensor \"" + name + "\": has shape") != std::string::npos);
  }
  for (const auto& name : others_of(made.made())) {
    INFO(name);
    auto tensors = made.made();
    tensors[name] = tensors.begin()->second;
    CHECK(load(tensors).refused.find("tensor \"" + name + "\": is not one that the model") !=
          std::string::npos);
  }
  // What older exporters stored of what is computed.
  auto tensors = made.made();
  tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = tensors.begin()->second;
  const auto with_frequencies = load(tensors);
  if (fixture != "qwen3_5") CHECK(with_frequencies.log_p == whole.log_p);
}

/// A model as a GGUF file, some of its tensors changed or left out.
template <class Model>
std::string gguf_with(const DecoderConfig& config, const Tensors& tensors,
                      const std::function<void(GgufBytes&)>& edit = {}) {
  auto file = gguf_of<Model>(config, Model::model_type);
  add_byte_tokenizer(file, config.vocab_size);
  if (edit) edit(file);
  for (const auto& [name, tensor] : tensors) {
    const auto gguf = gguf_name(name, Model::model_type);
    add_gguf_tensor(file, gguf.empty() ? name : gguf, tensor.shape, 0,
                    bytes_of_values(tensor.values));
  }
  return file.bytes();
}

template <class Model>
void require_every_gguf_tensor(const std::string& fixture) {
  INFO(fixture);
  auto json = json_of<Model>(fixture);
  if (json["rope_parameters"].contains("short_factor")) json.erase("rope_parameters");
  const auto config = Model::configuration(JsonObject(json, "config.json"));
  FormulaTensors made;
  const Model model(config, made, default_kernels());
  const test::TemporaryFolder folder;
  const auto load = [&](const Tensors& tensors) {
    write_file(folder / "m.gguf", gguf_with<Model>(config, tensors));
    return opened(folder / "m.gguf");
  };
  const auto whole = load(made.made());
  REQUIRE(whole.refused == "");
  for (const auto& [name, tensor] : made.made()) {
    const auto gguf = gguf_name(name, Model::model_type);
    INFO(gguf);
    auto tensors = made.made();
    tensors.erase(name);
    // A file without a head has the embedding for it.
    if (gguf != "output.weight")
      CHECK(load(tensors).refused.find("tensor \"" + gguf + "\": is missing") != std::string::npos);
    else
      CHECK(load(tensors).refused.empty());
    tensors = made.made();
    for (float& value : tensors[name].values) value += 0.5f;
    CHECK(load(tensors).log_p != whole.log_p);
  }
  for (const std::string name :
       {"blk.2.attn_norm.weight", "blk.0.attn_q.bias", "blk.1.attn_output.bias",
        "blk.0.attn_q_norm.weight", "blk.1.ffn_down.bias", "output.bias", "rope_freqs.weight",
        "rope_factors_long.weight", "blk.0.attn_sinks.weight", "blk.0.ffn_gate_inp.weight",
        "token_embd_norm.weight", "output_norm.bias", "cls.weight", "x"}) {
    bool is_used = name == "rope_freqs.weight" && fixture == "llama_tied";
    for (const auto& [own, tensor] : made.made())
      is_used = is_used || gguf_name(own, Model::model_type) == name;
    if (is_used) continue;
    INFO(name);
    auto tensors = made.made();
    tensors[name] = tensors.begin()->second;
    const auto refused = load(tensors).refused;
    const bool by_name = refused.find("\"" + name + "\"") != std::string::npos;
    CHECK((by_name || refused.find("both sets of factors") != std::string::npos));
  }
}

}  // namespace

TEST_CASE("no tensor of a folder is dropped, and none that it lacks is made up",
          "[architecture][unsanitized]") {
  require_every_tensor<Llama>("llama_tied");
  require_every_tensor<Phi3>("phi3_short");
  require_every_tensor<Qwen2>("qwen2");
  require_every_tensor<Qwen3>("qwen3");
  require_every_tensor<Qwen3_5>("qwen3_5");
}

TEST_CASE("no tensor of a GGUF file is dropped, and none that it lacks is made up",
          "[architecture][gguf]") {
  require_every_gguf_tensor<Llama>("llama_tied");
  require_every_gguf_tensor<Phi3>("phi3_short");
  require_every_gguf_tensor<Qwen2>("qwen2");
  require_every_gguf_tensor<Qwen3>("qwen3");
}

TEST_CASE("the data of a GGUF file begin where its alignment says", "[gguf]") {
  const auto json = json_of<Qwen3>("qwen3");
  const auto config = Qwen3::configuration(JsonObject(json, "config.json"));
  FormulaTensors made;
  const Qwen3 model(config, made, default_kernels());
  const test::TemporaryFolder folder;
  std::vector<double> expected;
  // A text of each length moves the end of the table past every multiple of 8.
  for (const std::size_t filler : {0, 8, 17, 33}) {
    for (const std::uint32_t alignment : {32U, 8U, 16U, 64U, 24U, 4096U, 1U << 20}) {
      INFO(alignment << ", " << filler);
      write_file(folder / "m.gguf", gguf_with<Qwen3>(config, made.made(), [&](GgufBytes& file) {
                   file.add_text("general.description", std::string(filler, 'x'));
                   file.set_alignment(alignment);
                 }));
      const auto open = opened(folder / "m.gguf");
      CHECK(open.refused.empty());
      if (expected.empty()) expected = open.log_p;
      CHECK(open.log_p == expected);
    }
    write_file(folder / "m.gguf", gguf_with<Qwen3>(config, made.made(), [&](GgufBytes& file) {
                 file.add_text("general.description", std::string(filler, 'x'));
               }));
    CHECK(opened(folder / "m.gguf").log_p == expected);
  }
}

TEST_CASE("no scale that is NaN or infinite gets through packing", "[gguf][weights][unsanitized]") {
  const test::TemporaryFolder folder;
  for (const WeightType& type : weight_types) {
    auto good = llama_gguf([&](std::size_t) { return type; }, 300).stored;
    const std::string bytes = good.bytes();
    const std::size_t data = bytes.size() - good.data.size();
    write_file(folder / "m.gguf", bytes);
    CHECK(opened(folder / "m.gguf").refused.empty());
    const GgufFile file(folder / "m.gguf");
    const std::byte* first = file.tensors().begin()->second.bytes.data();
    for (const auto& [name, tensor] : file.tensors()) first = std::min(first, tensor.bytes.data());
    // Whole numbers of two bytes whose place in a block is given; F32 and BF16 by their upper half.
    struct Field {
      std::size_t at;
      std::vector<std::uint16_t> bits;
    };
    std::vector<Field> fields;
    const std::vector<std::uint16_t> of_float16{0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFFFF};
    const std::vector<std::uint16_t> of_float32{0x7F80, 0xFF80, 0x7FC0, 0xFFFF};
    if (std::string(type.dtype) == "F32") {
      fields = {{2, of_float32}};
    } else if (std::string(type.dtype) == "BF16") {
      fields = {{0, of_float32}};
    } else {
      for (const auto scale : quantised_type(type.dtype).scales)
        fields.push_back({scale, of_float16});
    }
    for (const char* name : {"token_embd.weight", "blk.1.attn_k.weight", "output.weight"}) {
      const auto& tensor = file.tensors().at(name);
      const auto block = stored_block(type.dtype)->bytes;
      const std::size_t begin = data + static_cast<std::size_t>(tensor.bytes.data() - first);
      for (const auto& [at, all] : fields)
        for (const std::uint16_t bits : all)
          for (const std::size_t of_block : {std::size_t{0}, tensor.bytes.size() / block - 1}) {
            INFO(type.dtype << " " << name << " " << at << " " << bits << " " << of_block);
            std::string damaged = bytes;
            std::memcpy(&damaged[begin + of_block * block + at], &bits, sizeof bits);
            write_file(folder / "damaged.gguf", damaged);
            for (const Arithmetic arithmetic : {Arithmetic::float32, Arithmetic::tensor_core}) {
              const auto refused = opened(folder / "damaged.gguf", {}, arithmetic).refused;
              CHECK(refused.find(name) != std::string::npos);
              CHECK(refused.find("NaN or infinite") != std::string::npos);
            }
          }
    }
  }
}

TEST_CASE("a flipped byte of a GGUF file's directory is never computed from old packed weights",
          "[gguf][weights][unsanitized]") {
  const auto json = json_of<Llama>("llama_tied");
  auto config = Llama::configuration(JsonObject(json, "config.json"));
  config.num_hidden_layers = 1;
  FormulaTensors made;
  const Llama model(config, made, default_kernels());
  const test::TemporaryFolder folder;
  const auto file = folder / "m.gguf";
  const auto bytes = gguf_with<Llama>(config, made.made());
  write_file(file, bytes);
  const auto whole = opened(file, folder / "packed");
  REQUIRE(whole.refused == "");
  CHECK(whole.has_packed());
  CHECK(opened(file, folder / "packed").said.empty());
  std::size_t end = 0;
  {
    const GgufFile read(file);
    for (const auto& [name, tensor] : read.tensors()) end = std::max(end, bytes.find(name));
  }
  std::size_t refused = 0;
  // Of the tokenizer's texts a part will do.
  const std::size_t texts = bytes.find("tokenizer.ggml.tokens");
  const std::size_t table = bytes.find("blk.0.");
  REQUIRE(texts < table);
  for (std::size_t byte = 0; byte<end + 64; byte += byte> texts && byte + 100 < table ? 17 : 1) {
    std::string damaged = bytes;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << byte % 8));
    write_file(file, damaged);
    const auto plain = opened(file);
    const auto mapped = opened(file, folder / "packed");
    INFO(byte);
    CHECK(mapped.refused == plain.refused);
    CHECK(mapped.log_p == plain.log_p);
    if (plain.refused.empty()) CHECK(mapped.has_packed());
    refused += plain.refused.empty() ? 0 : 1;
  }
  CHECK(refused > 300);
}

TEST_CASE("a flipped byte anywhere in a header of safetensors is refused, or says the same",
          "[weights]") {
  auto json = json_of<Llama>("llama_tied");
  json["num_hidden_layers"] = 1U;
  FormulaTensors made;
  const Llama model(Llama::configuration(JsonObject(json, "config.json")), made, default_kernels());
  const ModelFolder folder("untied_float32");
  folder.write("config.json", json.dump());
  folder.write("generation_config.json", "{}");
  write_safetensors(folder.path(), made.made());
  const test::TemporaryFolder packed;
  const auto whole = opened(folder.path(), packed / "packed");
  REQUIRE(whole.refused == "");
  const fs::path file = folder.path() / "model.safetensors";
  const std::string bytes = read_bytes(file);
  // Reads a header without the loader; null where there is none.
  const auto header_of = [](const std::string& of) {
    std::uint64_t length = 0;
    std::memcpy(&length, of.data(), sizeof length);
    if (length > of.size() - sizeof length) return nlohmann::json();
    auto header = nlohmann::json::parse(of.substr(sizeof length, length), nullptr, false);
    if (header.is_object()) header.erase("__metadata__");
    return header;
  };
  const nlohmann::json header = header_of(bytes);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  std::size_t refused = 0;
  for (std::size_t byte = 0; byte < sizeof length + length; ++byte) {
    INFO(byte);
    std::string damaged = bytes;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << byte % 8));
    write_file(file, damaged);
    const auto again = opened(folder.path(), byte % 7 == 0 ? packed / "packed" : fs::path());
    CHECK(again.refused.empty() == (header_of(damaged) == header));
    if (again.refused.empty()) CHECK(again.log_p == whole.log_p);
    refused += again.refused.empty() ? 0 : 1;
  }
  CHECK(refused > 500);
}

TEST_CASE("a flipped byte anywhere in a file of packed weights is noticed by the loader",
          "[weights][unsanitized]") {
  const test::TemporaryFolder folder;
  const auto model = folder / "m.gguf";
  const auto type_of = [](std::size_t i) { return weight_types[i % weight_types.size()]; };
  write_file(model, llama_gguf(type_of, 300).stored.bytes());
  const auto packed = folder / "packed";
  const auto plain = opened(model);
  CHECK(opened(model, packed).has_packed());
  fs::path file;
  for (const auto& entry : fs::directory_iterator(packed)) file = entry.path();
  const std::string whole = read_bytes(file);
  const std::size_t directory = whole.find("{\"key\"");
  REQUIRE(directory != std::string::npos);
  // Every part that the directory names, by its first and last bytes and one between; what is
  // between the parts; the directory, and the last line.
  std::set<std::size_t> bytes;
  const auto read = nlohmann::json::parse(whole.substr(directory, whole.size() - 128 - directory));
  for (const auto& [what, value] : read.at("matrices").items())
    for (const char* part : {"weights", "blocks"}) {
      const std::size_t begin = value.at(part).at(0);
      const std::size_t size = value.at(part).at(1);
      if (size == 0) continue;
      bytes.insert({begin, begin + size / 2, begin + size - 1});
      if (begin + size < directory && (begin + size) % 4096 != 0) bytes.insert(begin + size);
    }
  for (std::size_t byte = directory; byte < whole.size();
       byte += byte < whole.size() - 128 ? 29 : 1)
    bytes.insert(byte);
  CHECK(bytes.size() > 100);
  for (const std::size_t byte : bytes) {
    INFO(byte << " of " << whole.size() << ", directory at " << directory);
    std::string damaged = whole;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << byte % 7));
    write_file(file, damaged);
    const auto again = opened(model, packed);
    CHECK(again.said.find("is not used") != std::string::npos);
    CHECK(again.has_packed());
    CHECK(again.log_p == plain.log_p);
    CHECK(is_made_of(file, whole));
  }
  CHECK(opened(model, packed).said.empty());
}

TEST_CASE("the scores of a text of several passes are those of its tokens one by one",
          "[transformer][unsanitized]") {
  const test::TemporaryFolder folder;
  write_fixture_folder<Llama>(folder / "llama", "llama_tied");
  write_fixture_folder<Qwen3_5>(folder / "qwen", "qwen3_5");
  for (const char* name : {"llama", "qwen"})
    for (const std::size_t length : {512UL, 513UL, 514UL, 1020UL}) {
      INFO(name << " " << length);
      const auto open = OpenedModel::open((folder / name).string());
      std::vector<TokenId> tokens;
      for (std::size_t i = 0; i < length; ++i)
        tokens.push_back(static_cast<TokenId>((i * i + 7 * i / 3) % 61));
      const auto rows = make_host_row_lottery();
      TextScoring scoring(open.model(), *rows, tokens, 0);
      while (scoring.step()) continue;
      const auto one_by_one = score_tokens(open.model(), tokens, std::vector<double>{1.0}).log_p;
      REQUIRE(scoring.scores().size() == one_by_one.size());
      for (std::size_t i = 0; i < one_by_one.size(); ++i) {
        INFO(i);
        REQUIRE(scoring.scores()[i].log_p == one_by_one[i]);
      }
      auto* transformer = dynamic_cast<Transformer*>(&open.model());
      REQUIRE(transformer != nullptr);
      DeviceMemory<float> logits;
      transformer->logits_at_every_position(tokens, logits);
      std::vector<RowToken> given;
      const std::vector<double> powers{1.0};
      for (std::size_t i = 1; i < length; ++i) given.push_back({powers, tokens[i]});
      const auto at_once = rows->score(logits, transformer->vocabulary_size(), given);
      for (std::size_t i = 0; i < one_by_one.size(); ++i) {
        INFO(i);
        REQUIRE(at_once[i].log_p == one_by_one[i]);
      }
    }
}

}  // namespace tempera::gpu::stored_tensors_test
