// A head that config.json ties to the embedding, stored in every way.
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/llm/transformer/architectures/llama.hpp"
#include "gpu/llm/transformer/architectures/phi3.hpp"
#include "gpu/llm/transformer/architectures/qwen2.hpp"
#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "gpu/session/token_scores.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu::stored_heads_test {

namespace {

using Tensors = std::map<std::string, FormulaTensors::Made>;

const std::string embedding = "model.embed_tokens.weight";
const std::string head = "lm_head.weight";

struct Answer {
  std::vector<double> log_p;
  std::string remark;
};

/// `packed`: where packed weights are kept; empty: in memory.
Answer answer_of(const std::filesystem::path& model, const std::vector<TokenId>& tokens,
                 const std::filesystem::path& packed = {}) {
  const auto opened = OpenedModel::open(model.string(), {}, std::nullopt, std::nullopt,
                                        {.folder = packed, .program = "this"});
  return {score_tokens(opened.model(), tokens, std::vector<double>{1.0}).log_p, opened.remark()};
}

nlohmann::json config_of(const std::string& fixture, bool is_tied) {
  auto json = nlohmann::json::parse(read_bytes(architecture_fixtures / fixture / "config.json"));
  json["tie_word_embeddings"] = is_tied;
  return json;
}

/// The tensors of a fixture's model, whose head is not its embedding.
template <class Model>
Tensors tensors_of(const std::string& fixture) {
  const auto json = config_of(fixture, false);
  FormulaTensors tensors;
  const Model model(Model::configuration(JsonObject(json, "config.json")), tensors,
                    default_kernels());
  return tensors.made();
}

template <class Model>
void require_heads(const std::string& fixture) {
  INFO(fixture);
  const std::vector<TokenId> text{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
  const test::TemporaryFolder packed;
  const auto answer = [&](bool is_tied, const Tensors& tensors) {
    const ModelFolder folder("untied_float32");
    folder.write("config.json", config_of(fixture, is_tied).dump());
    folder.write("generation_config.json", "{}");
    write_safetensors(folder.path(), tensors);
    const auto result = answer_of(folder.path(), text);
    // Packed, and then mapped.
    for (int i = 0; i < 2; ++i) {
      const auto again = answer_of(folder.path(), text, packed / "packed");
      CHECK(again.log_p == result.log_p);
      CHECK(again.remark == result.remark);
    }
    return result;
  };
  auto both = tensors_of<Model>(fixture);
  REQUIRE(both.contains(head));
  auto equal = both;
  equal[head].values = equal[embedding].values;
  auto alone = equal;
  alone.erase(embedding);
  auto without = equal;
  without.erase(head);

  const auto untied = answer(false, both);
  const auto tied = answer(true, without);
  CHECK(untied.log_p != tied.log_p);
  const auto own = answer(true, both);
  CHECK(own.log_p == untied.log_p);
  CHECK(own.remark.find("lm_head.weight") != std::string::npos);
  CHECK(own.remark.find('\n') == std::string::npos);
  for (const auto& same : {answer(true, equal), answer(true, alone)}) {
    CHECK(same.log_p == tied.log_p);
    CHECK(same.remark == tied.remark);
  }
  CHECK(answer(false, equal).log_p == tied.log_p);
  // One element, of either, is enough.
  for (const std::size_t element : {std::size_t{0}, equal[head].values.size() - 1}) {
    auto nearly = equal;
    nearly[head].values[element] += 0.25f;
    CHECK(answer(true, nearly).log_p == answer(false, nearly).log_p);
    CHECK(answer(true, nearly).remark == own.remark);
  }
  // What is tied to nothing is missing.
  auto headless = config_of(fixture, false);
  const ModelFolder folder("untied_float32");
  folder.write("config.json", headless.dump());
  write_safetensors(folder.path(), without);
  require_bad_input([&] { answer_of(folder.path(), text); }, {"lm_head.weight", "is missing"});
  write_safetensors(folder.path(), alone);
  require_bad_input([&] { answer_of(folder.path(), text); }, {"embed_tokens.weight", "is missing"});
}

}  // namespace

TEST_CASE("a head that is stored is computed with, whatever config.json ties", "[architecture]") {
  require_heads<Llama>("llama_tied");
  require_heads<Phi3>("phi3_short");
  require_heads<Qwen2>("qwen2");
  require_heads<Qwen3>("qwen3");
  require_heads<Qwen3_5>("qwen3_5");
}

TEST_CASE("a folder that sees images has its head as transformers has it", "[architecture]") {
  auto tensors = tensors_of<Qwen3_5>("qwen3_5");
  const std::vector<TokenId> text{3, 1, 4, 1, 5, 9, 2, 6};
  const auto answer = [&](bool is_tied, const Tensors& of_text) {
    nlohmann::json outer{{"model_type", "qwen3_5"}, {"tie_word_embeddings", is_tied}};
    outer["text_config"] = config_of("qwen3_5", is_tied);
    Tensors named;
    for (const auto& [name, made] : of_text) {
      named.emplace(name == head ? name : "model.language_model." + name.substr(6), made);
    }
    const ModelFolder folder("untied_float32");
    folder.write("config.json", outer.dump());
    folder.write("generation_config.json", "{}");
    write_safetensors(folder.path(), named);
    return answer_of(folder.path(), text);
  };
  const auto untied = answer(false, tensors);
  const auto own = answer(true, tensors);
  CHECK(own.log_p == untied.log_p);
  CHECK(own.remark.find("images are not seen") != std::string::npos);
  CHECK(own.remark.find("; computes with the stored lm_head.weight") != std::string::npos);
  tensors.erase(embedding);
  CHECK(answer(true, tensors).log_p != untied.log_p);
}

TEST_CASE("stored heads give what transformers gives", "[architecture]") {
  const auto fixtures = std::filesystem::path(TEMPERA_SOURCE_DIR) / "tests/fixtures/heads";
  for (const char* name : {"own_head", "head_alone"}) {
    INFO(name);
    const auto expected = nlohmann::json::parse(read_bytes(fixtures / name / "expected.json"));
    const auto tokens = expected["tokens"].get<std::vector<TokenId>>();
    const auto log_p = expected["transformers_5_24"].get<std::vector<double>>();
    const auto answer = answer_of(fixtures / name, tokens);
    REQUIRE(answer.log_p.size() == log_p.size());
    for (std::size_t i = 0; i < log_p.size(); ++i)
      CHECK(std::abs(answer.log_p[i] - log_p[i]) < 1e-4);
    CHECK(answer.remark.empty() == (std::string(name) == "head_alone"));
  }
}

TEST_CASE("what a folder holds besides its model is named", "[architecture]") {
  const auto tensors = tensors_of<Qwen3_5>("qwen3_5");
  const std::vector<TokenId> text{3, 1, 4};
  const ModelFolder folder("untied_float32");
  folder.write("config.json", config_of("qwen3_5", false).dump());
  folder.write("generation_config.json", "{}");
  write_safetensors(folder.path(), tensors);
  const auto alone = answer_of(folder.path(), text);
  CHECK(alone.remark.empty());
  // What predicts several tokens: transformers leaves it out, too.
  auto more = tensors;
  more["mtp.fc.weight"] = tensors.at(embedding);
  write_safetensors(folder.path(), more);
  const auto left_out = answer_of(folder.path(), text);
  CHECK(left_out.log_p == alone.log_p);
  CHECK(left_out.remark == "the heads that predict several tokens are left out");
  more["model.visual.patch_embed.weight"] = tensors.at(embedding);
  write_safetensors(folder.path(), more);
  const auto blind = answer_of(folder.path(), text);
  CHECK(blind.log_p == alone.log_p);
  CHECK(blind.remark.find("images are not seen") != std::string::npos);
  write_safetensors(folder.path(), tensors);
  folder.write("adapter_config.json", "{}");
  require_bad_input([&] { answer_of(folder.path(), text); }, {"adapter_config.json", "merge it"});
}

}  // namespace tempera::gpu::stored_heads_test
