#include "gpu/llm/text/normalizer.hpp"

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu {

TEST_CASE("the steps of a normaliser follow one another", "[normalizer]") {
  CHECK(Normalizer()("e\xCC\x81 ") == "e\xCC\x81 ");
  Normalizer normalizer;
  normalizer.add_replace("aa", "a");
  normalizer.add_nfc();
  normalizer.add_prepend("_");
  normalizer.add_replace("_", "e");
  normalizer.add_nfc();
  CHECK(normalizer("aaaaa e\xCC\x81_") ==
        "eaaa \xC3\xA9"
        "e");
  CHECK(normalizer("").empty());
  CHECK(normalizer("\xCC\x81").substr(0, 2) == "\xC3\xA9");
}

TEST_CASE("replacing goes on after what it has replaced", "[normalizer]") {
  CHECK(replace_all("aaa", "a", "aa") == "aaaaaa");
  CHECK(replace_all("abab", "ab", "") == "");
  CHECK(replace_all("", "a", "b") == "");
  CHECK(replace_all("x", "a", "b") == "x");
}

TEST_CASE("a normaliser is read from tokenizer.json, or refused by its name", "[normalizer]") {
  const auto read = [](const char* json) {
    return Normalizer(nlohmann::json::parse(json), "tokenizer.json, normalizer");
  };
  CHECK(read("null")("a b") == "a b");
  const auto phi = read(
      R"({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "_"},
          {"type": "Replace", "pattern": {"String": " "}, "content": "_"}]})");
  CHECK(phi("a b ") == "_a_b_");
  CHECK(phi("").empty());
  const auto refused = [&](const char* json, const std::string& named) {
    require_bad_input([&] { read(json); }, {"tokenizer.json, normalizer", named});
  };
  refused(R"({"type": "Lowercase"})", "Lowercase");
  refused(R"({"type": "Replace", "pattern": {"Regex": " "}, "content": "_"})", "String");
  refused(R"({"type": "Replace", "pattern": {"String": ""}, "content": "_"})", "empty pattern");
  refused(R"({"type": "Replace", "pattern": {"String": "a"}})", "content");
  refused(R"({"type": "Prepend"})", "prepend");
}

}  // namespace tempera::gpu
