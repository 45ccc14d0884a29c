// Parity with Hugging Face tokenizers on real vocabularies. They are too large for the tree: where
// tests/fixtures/tokenizer/real/make_fixture.py has not put them, the test says so.
#include <cstdlib>
#include <iostream>

#include "base/utf8.hpp"
#include "gpu/llm/text/tokenizer.hpp"
#include "gpu/llm/transformer/weights/gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu::real_tokenizers_test {

namespace {

const std::filesystem::path expected =
    std::filesystem::path(TEMPERA_SOURCE_DIR) / "tests/fixtures/tokenizer/real";

/// tempera's folder below $XDG_DATA_HOME, or what stands for it.
std::filesystem::path data_folder() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && *data != '\0') return std::filesystem::path(data) / "tempera";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "/" : home) / ".local/share/tempera";
}

bool is_there(const std::filesystem::path& file) {
  if (std::filesystem::exists(file)) return true;
  std::cout << "SKIPPED: the tokenizer of " << file.string()
            << ": it is not there (tests/fixtures/tokenizer/real/make_fixture.py or tempera models "
               "get smollm2 makes it)\n";
  return false;
}

nlohmann::json read(const std::string& file) {
  return nlohmann::json::parse(read_bytes(expected / file));
}

/// The text of tokens as they come; every part of it has whole characters.
std::string streamed(const Tokenizer& tokenizer, const std::vector<std::uint32_t>& ids) {
  TextStream stream(tokenizer);
  std::string text;
  const auto append = [&](const std::string& part) {
    CHECK(first_invalid_utf8(part) == part.size());
    text += part;
  };
  for (const auto id : ids) append(stream.push(id));
  append(stream.finish());
  return text;
}

/// The texts of the corpus that the tokenizer gets wrong.
std::vector<std::string> mistakes(const Tokenizer& tokenizer, const std::string& family) {
  const auto corpus = read("corpus.json");
  const auto cases = read(family + ".json");
  REQUIRE(corpus.size() == cases.size());
  REQUIRE(corpus.size() > 200);
  std::vector<std::string> wrong;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto ids = cases[i]["ids"].get<std::vector<std::uint32_t>>();
    const auto text = corpus[i].get<std::string>();
    if (cases[i].contains("lost"))
      require_bad_input([&] { tokenizer.encode(text, "text"); }, {"text", "has no token"});
    else if (tokenizer.encode(text, "text") != ids)
      wrong.push_back("encoding " + corpus[i].dump());
    if (tokenizer.decode(ids) != cases[i]["decoded"].get<std::string>())
      wrong.push_back("decoding " + corpus[i].dump());
    if (streamed(tokenizer, ids) != tokenizer.decode(ids))
      wrong.push_back("streaming " + corpus[i].dump());
  }
  return wrong;
}

/// The sequences of tokens, which no text gave, that `decode` makes another text of.
template <class Decode>
std::vector<std::string> decoding_mistakes(const std::string& family, const Decode& decode) {
  const auto cases = read(family + "_sequences.json");
  REQUIRE(cases.size() > 390);
  std::vector<std::string> wrong;
  std::size_t ill_formed = 0;
  for (const auto& each : cases) {
    const auto decoded = each["decoded"].get<std::string>();
    ill_formed += decoded.find("\uFFFD") != std::string::npos ? 1 : 0;
    if (decode(each["ids"].get<std::vector<std::uint32_t>>()) != decoded)
      wrong.push_back(each["ids"].dump());
  }
  REQUIRE(ill_formed > 270);
  return wrong;
}

void require_decoded(const Tokenizer& tokenizer, const std::string& family) {
  CHECK(decoding_mistakes(family, [&](const auto& ids) { return tokenizer.decode(ids); }) ==
        std::vector<std::string>{});
  CHECK(decoding_mistakes(family, [&](const auto& ids) { return streamed(tokenizer, ids); }) ==
        std::vector<std::string>{});
  // Characters that are cut must not be decoded token by token.
  CHECK(decoding_mistakes(family, [&](const auto& ids) {
          std::string pieces;
          for (const auto id : ids) pieces += tokenizer.piece(id);
          return pieces;
        }).size() > 50);
}

/// Nothing but UTF-8 is a text: the first byte that is none is named, and nothing is replaced.
void require_only_utf8(const Tokenizer& tokenizer) {
  for (const char* bytes : {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xE2\x82",
                            "\xF0\x9F\x99", "\xF4\x90\x80\x80", "\xFF"}) {
    for (const char* after : {"", "z", "<|im_end|>", "\n"}) {
      const std::string text = std::string("a\n") + bytes + after;
      require_bad_input([&] { tokenizer.encode(text, "prompt 3"); },
                        {"prompt 3", "byte 2", "UTF-8"});
    }
  }
}

}  // namespace

TEST_CASE("real vocabularies in tokenizer.json give Hugging Face's tokens", "[real_tokenizers]") {
  for (const char* family : {"smollm2", "qwen2", "llama3", "phi3"}) {
    const auto folder = data_folder() / "tokenizers" / family;
    if (!is_there(folder / "tokenizer.json")) continue;
    INFO(family);
    const auto tokenizer = Tokenizer::load(folder);
    CHECK(mistakes(tokenizer, family) == std::vector<std::string>{});
    require_decoded(tokenizer, family);
    require_only_utf8(tokenizer);
  }
}

TEST_CASE("real vocabularies in GGUF give Hugging Face's tokens", "[real_tokenizers]") {
  for (const char* family : {"smollm2", "qwen2", "llama3", "phi3"}) {
    const bool is_model = family == std::string("smollm2");
    const auto file =
        data_folder() / (is_model ? "models" : "tokenizers") / (family + std::string(".gguf"));
    if (!is_there(file)) continue;
    INFO(family);
    const GgufFile gguf(file);
    const auto tokenizer = Tokenizer::from_gguf(gguf.metadata());
    CHECK(mistakes(tokenizer, family) == std::vector<std::string>{});
    require_decoded(tokenizer, family);
    require_only_utf8(tokenizer);
    // A begin of text is before a text if the published tokenizer puts one.
    const auto beginning = tokenizer.beginning();
    const std::vector<std::uint32_t> none;
    CHECK(beginning == (family == std::string("llama3") ? std::vector<std::uint32_t>{128000}
                        : family == std::string("phi3") ? std::vector<std::uint32_t>{1}
                                                        : none));
  }
}

TEST_CASE("the corpus sees another family's words", "[real_tokenizers]") {
  // SmolLM2's vocabulary, whose words are cut as another family cuts them.
  const auto file = data_folder() / "tokenizers/smollm2/tokenizer.json";
  if (!is_there(file)) return;
  auto document = nlohmann::json::parse(read_bytes(file));
  document["pre_tokenizer"]["pretokenizers"].erase(0);  // digits one by one
  CHECK_FALSE(mistakes(Tokenizer::parse(document.dump(), "tokenizer.json"), "smollm2").empty());
}

}  // namespace tempera::gpu::real_tokenizers_test
