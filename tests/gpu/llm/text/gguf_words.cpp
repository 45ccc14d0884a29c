#include "gpu/llm/text/gguf_words.hpp"

#include <nlohmann/json.hpp>

#include "base/json_document.hpp"
#include "gpu/llm/text/pre_tokenizer.hpp"
#include "tests/bad_input.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu::gguf_words_test {

namespace {

const nlohmann::json& golden() {
  static const auto document = read_json_file(std::filesystem::path(TEMPERA_SOURCE_DIR) /
                                              "tests/fixtures/tokenizer/gguf_words.json");
  return document;
}

std::size_t differences(const PreTokenizer& cutter, const std::string& name) {
  const auto& texts = golden().at("texts");
  std::size_t count = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto expected = golden().at(name).at(i).get<std::vector<std::string>>();
    if (cutter.words(texts[i].get<std::string>(), true) != expected) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("words of the names of GGUF are those that tokenizers cuts", "[gguf_tokenizer]") {
  REQUIRE(golden().at("texts").size() > 200);
  for (const char* name : {"tekken", "gpt-4o", "deepseek-r1-qwen", "deepseek-llm"}) {
    INFO(name);
    const auto* const words = find_gguf_words(name);
    REQUIRE(words != nullptr);
    const PreTokenizer cutter(pre_tokenizer_of(*words), "pre");
    CHECK(differences(cutter, name) == 0);
    // The texts tell these names from all others.
    for (const char* other : {"tekken", "gpt-4o", "deepseek-r1-qwen", "deepseek-llm"})
      if (std::string(other) != name) CHECK(differences(cutter, other) > 10);
  }
  CHECK(find_gguf_words("gpt-4") == nullptr);
}

TEST_CASE("a space that is merged with what is before it is cut as tokenizers does",
          "[tokenizer]") {
  nlohmann::json description{{"type", "Split"},
                             {"pattern", {{"String", " "}}},
                             {"behavior", "MergedWithPrevious"},
                             {"invert", false}};
  CHECK(differences(PreTokenizer(description, "pre"), "space") == 0);
  description["behavior"] = "Isolated";
  CHECK(differences(PreTokenizer(description, "pre"), "space") > 10);
  description["behavior"] = "MergedWithPrevious";
  description["invert"] = true;
  require_bad_input([&] { PreTokenizer(description, "pre"); },
                    {"pre", "MergedWithPrevious", "invert"});
  description["behavior"] = "MergedWithNext";
  require_bad_input([&] { PreTokenizer(description, "pre"); }, {"pre", "MergedWithNext"});
}

}  // namespace tempera::gpu::gguf_words_test
