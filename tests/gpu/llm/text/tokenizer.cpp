#include "gpu/llm/text/tokenizer.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "base/utf8.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::tokenizer_test {

namespace {

const std::filesystem::path fixtures =
    std::filesystem::path(TEMPERA_SOURCE_DIR) / "tests/fixtures/tokenizer";

/// The tokenizer.json of a fixture after an edit.
Tokenizer edited(const std::string& fixture, const std::function<void(nlohmann::json&)>& edit) {
  auto document = nlohmann::json::parse(read_bytes(fixtures / fixture / "tokenizer.json"));
  edit(document);
  return Tokenizer::parse(document.dump(), "tokenizer.json");
}

/// The golden cases that a tokenizer gets wrong.
std::vector<std::string> mistakes(const Tokenizer& tokenizer, const std::string& fixture) {
  std::vector<std::string> wrong;
  for (const auto& entry : nlohmann::json::parse(read_bytes(fixtures / fixture / "cases.json"))) {
    const auto ids = entry["ids"].get<std::vector<std::uint32_t>>();
    const bool encodes = entry["text"].is_null() ||
                         tokenizer.encode(entry["text"].get<std::string>(), "text") == ids;
    if (!encodes || tokenizer.decode(ids) != entry["decoded"].get<std::string>()) {
      wrong.push_back(entry.dump());
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("texts and tokens are those of Hugging Face tokenizers", "[tokenizer]") {
  for (const char* fixture : {"qwen_like", "byte_level_alone", "characters", "characters_bpe",
                              "words", "words_whitespace_split", "phi_like"}) {
    INFO(fixture);
    CHECK(mistakes(Tokenizer::load(fixtures / fixture), fixture) == std::vector<std::string>{});
  }
}

TEST_CASE("the golden cases see a part of the tokenizer that is left out", "[tokenizer]") {
  const auto seen = [](const std::string& fixture,
                       const std::function<void(nlohmann::json&)>& edit) {
    return !mistakes(edited(fixture, edit), fixture).empty();
  };
  CHECK(seen("qwen_like", [](auto& json) { json["normalizer"] = nullptr; }));
  CHECK(seen("qwen_like", [](auto& json) { json["added_tokens"].erase(0); }));
  CHECK(seen("qwen_like", [](auto& json) { json["decoder"] = {{"type", "Fuse"}}; }));
  CHECK(seen("qwen_like", [](auto& json) { json["pre_tokenizer"]["pretokenizers"].erase(0); }));
  CHECK(seen("qwen_like", [](auto& json) {
    auto& merges = json["model"]["merges"];
    std::reverse(merges.begin(), merges.end());
  }));
  CHECK(seen("byte_level_alone", [](auto& json) { json["model"]["ignore_merges"] = false; }));
  CHECK(seen("byte_level_alone", [](auto& json) { json["pre_tokenizer"]["use_regex"] = false; }));
  CHECK(seen("characters_bpe", [](auto& json) { json["model"]["fuse_unk"] = false; }));
  CHECK(seen("phi_like", [](auto& json) { json["normalizer"]["normalizers"].erase(0); }));
  CHECK(seen("phi_like", [](auto& json) { json["normalizer"]["normalizers"].erase(1); }));
  CHECK(seen("phi_like", [](auto& json) { json["model"]["byte_fallback"] = false; }));
  for (std::size_t part = 0; part < 4; ++part) {  // all but Fuse, which joins what is joined anyway
    if (part == 2) continue;
    CHECK(seen("phi_like", [&](auto& json) { json["decoder"]["decoders"].erase(part); }));
  }
  for (const char* side : {"lstrip", "rstrip"}) {
    CHECK(seen("phi_like", [&](auto& json) {
      for (auto& token : json["added_tokens"]) token[side] = false;
    }));
  }
  CHECK(seen("words", [](auto& json) { json["pre_tokenizer"]["type"] = "WhitespaceSplit"; }));
}

namespace {

/// White space in UTF-8, of one, two and three bytes.
const std::vector<std::string> white_space{" ", "\t", "\n", "\xC2\xA0", "\xE3\x80\x80"};

/// Without the white space that it begins or ends with.
std::string stripped(std::string text, bool at_begin, bool at_end) {
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (const std::string& space : white_space) {
      if (at_begin && text.starts_with(space)) {
        text.erase(0, space.size());
        is_changed = true;
      }
      if (at_end && text.ends_with(space)) {
        text.resize(text.size() - space.size());
        is_changed = true;
      }
    }
  }
  return text;
}

/// An added token, and whether it takes in the white space before and after it.
struct Added {
  std::string text;
  std::uint32_t id;
  bool before, after;
};

/// The tokens of a text, naively: it is cut at its first added token, what is left on both sides
/// loses the white space that the token takes in, and has no other added token before it.
std::vector<std::uint32_t> cut_at_added(const Tokenizer& tokenizer, const std::vector<Added>& added,
                                        const std::string& text) {
  const Added* first = nullptr;
  std::size_t at = text.size();
  for (const Added& token : added)
    if (const std::size_t found = text.find(token.text); found < at) {
      at = found;
      first = &token;
    }
  if (text.empty()) return {};
  if (first == nullptr) return tokenizer.encode(text, "text");
  const std::string before = stripped(text.substr(0, at), false, first->before);
  auto ids = before.empty() ? std::vector<std::uint32_t>{} : tokenizer.encode(before, "text");
  ids.push_back(first->id);
  const std::string after = text.substr(at + first->text.size());
  for (const auto id : cut_at_added(tokenizer, added, stripped(after, first->after, false)))
    ids.push_back(id);
  return ids;
}

}  // namespace

TEST_CASE("added tokens take in the spaces beside them in every form of tokenizer", "[tokenizer]") {
  // Words that the form has tokens for.
  const std::map<std::string, std::vector<std::string>> words{
      {"qwen_like", {"user", "the fox", "e\xCC\x81"}},
      {"byte_level_alone", {"the", "12", "a b"}},
      {"characters", {"1", "=", "2 3"}},
      {"characters_bpe", {"1", "=", "2 3"}},
      {"words", {"two", "the sum", "two  two"}},
      {"words_whitespace_split", {"two", "the"}},
      {"phi_like", {"the", "fox jumps", "\xD0\xB1"}}};
  for (const auto& [fixture, own] : words) {
    CAPTURE(fixture);
    std::vector<Added> added;
    const Tokenizer tokenizer = edited(fixture, [&](auto& json) {
      std::uint32_t next = 2000;
      for (const auto& token : json["added_tokens"])
        added.push_back({token["content"], token["id"], token["lstrip"], token["rstrip"]});
      for (const bool special : {false, true})
        for (const bool before : {false, true})
          for (const bool after : {false, true}) {
            const std::string text = "<|" + std::to_string(next) + "|>";
            added.push_back({text, next, before, after});
            json["added_tokens"].push_back({{"id", next++},
                                            {"content", text},
                                            {"single_word", false},
                                            {"lstrip", before},
                                            {"rstrip", after},
                                            {"normalized", false},
                                            {"special", special}});
          }
    });
    std::size_t spared = 0, taken = 0;
    law("the tokens are those of the pieces", [&] {
      const auto parts = *rc::gen::container<std::vector<std::size_t>>(
          rc::gen::inRange<std::size_t>(0, 3 * added.size()));
      std::string text;
      for (const std::size_t part : parts) {
        if (part < added.size())
          text += added[part].text;
        else if (part % 3 == 0)
          text += own[part % own.size()];
        else
          text += white_space[part % 2 == 0 ? 0 : part % white_space.size()];
      }
      const auto expected = [&]() -> std::optional<std::vector<std::uint32_t>> {
        try {
          return cut_at_added(tokenizer, added, text);
        } catch (const BadInput&) {
          return std::nullopt;  // white space that the form has no token for
        }
      }();
      if (!expected) return;
      RC_ASSERT(tokenizer.encode(text, "text") == *expected);
      for (const Added& token : added) {
        spared += !token.after && text.find(token.text + " ") != std::string::npos ? 1 : 0;
        taken += token.after && text.find(token.text + " ") != std::string::npos ? 1 : 0;
      }
    });
    CHECK(spared > 5);
    CHECK(taken > 5);
  }
}

TEST_CASE("decoding what was encoded gives the normalised text", "[tokenizer]") {
  const auto qwen_like = Tokenizer::load(fixtures / "qwen_like");
  const auto byte_level = Tokenizer::load(fixtures / "byte_level_alone");
  law("decode(encode(s)) is NFC(s), or s without a normaliser", [&] {
    const auto parts = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "a", "the", " ", "\n", "\r\n", "e\xCC\x81", "\xCC\xA7", "\xE7\x8B\x90", "\xF0\x9F\x91\xA9",
        "\xE2\x80\x8D", "'s", "12", "<|endoftext|>", "<|", "<tool>", "\t", std::string(1, '\0'),
        "\xE1\x84\x92", "\xE1\x85\xA1", "\xC2\xA0", "!?"));
    std::string text;
    for (const auto& part : parts) text += part;
    RC_ASSERT(qwen_like.decode(qwen_like.encode(text, "text")) == normalize_nfc(text));
    RC_ASSERT(byte_level.decode(byte_level.encode(text, "text")) == text);
  });
}

TEST_CASE("added tokens of any letters are their own text", "[tokenizer]") {
  // Letters that stand for bytes in the vocabulary (U+00A1 to U+0143), letters that do not, and
  // both.
  const std::vector<std::string> contents{"caf\xC3\xA9",
                                          "\xC4\x91"
                                          "em",
                                          "<\xC4\x8D>",
                                          "\xC4\xA0qqq",
                                          "\xC3\x83\xC3\x83",
                                          "\xE7\x8B\x90\xC3\xA9",
                                          "<plain>"};
  for (const char* fixture : {"qwen_like", "byte_level_alone"}) {
    for (const bool normalized : {false, true}) {
      CAPTURE(fixture, normalized);
      const auto tokenizer = edited(fixture, [&](auto& json) {
        for (std::size_t i = 0; i < contents.size(); ++i)
          json["added_tokens"].push_back({{"id", 2000 + i},
                                          {"content", contents[i]},
                                          {"single_word", false},
                                          {"lstrip", false},
                                          {"rstrip", false},
                                          {"normalized", normalized}});
      });
      for (std::size_t i = 0; i < contents.size(); ++i) {
        const auto token = static_cast<std::uint32_t>(2000 + i);
        CAPTURE(contents[i]);
        CHECK(tokenizer.encode(contents[i], "text") == std::vector<std::uint32_t>{token});
        CHECK(tokenizer.decode(std::vector{token}) == contents[i]);
        CHECK(tokenizer.piece(token) == contents[i]);
        CHECK(tokenizer.bytes(token) == contents[i]);
        const auto text = "the " + contents[i] + contents[i] + " caf\xC3\xA8";
        CHECK(tokenizer.decode(tokenizer.encode(text, "text")) == text);
      }
    }
  }
  // A token that is found in the normalised text is the normalised text.
  const auto normalized = edited("qwen_like", [](auto& json) {
    json["added_tokens"].push_back({{"id", 2000},
                                    {"content", "e\xCC\x81"},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", true}});
  });
  for (const char* text : {"e\xCC\x81", "\xC3\xA9"}) {
    CHECK(normalized.encode(text, "text") == std::vector<std::uint32_t>{2000});
    CHECK(normalized.decode(std::vector<std::uint32_t>{2000}) == "\xC3\xA9");
  }
}

TEST_CASE("decoding any tokens gives well-formed text", "[tokenizer]") {
  const auto tokenizer = Tokenizer::load(fixtures / "qwen_like");
  law("decode(tokens) is UTF-8", [&] {
    const auto tokens =
        *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 520));
    const auto text = tokenizer.decode(tokens);
    RC_ASSERT(first_invalid_utf8(text) == text.size());
  });
}

TEST_CASE("text comes token by token, never half a character, and is that of all", "[tokenizer]") {
  for (const char* fixture : {"qwen_like", "phi_like", "words"}) {
    const auto tokenizer = Tokenizer::load(fixtures / fixture);
    law(fixture, [&] {
      const auto tokens =
          *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 520));
      TextStream stream(tokenizer);
      std::string text, bytes;
      for (const auto token : tokens) {
        const auto part = stream.push(token);
        RC_ASSERT(first_invalid_utf8(part) == part.size());
        text += part;
        // After another token each gives what it gives after any.
        if (!bytes.empty()) RC_ASSERT(stream.last_bytes() == tokenizer.bytes(token));
        bytes += stream.last_bytes();
      }
      text += stream.finish();
      RC_ASSERT(text == tokenizer.decode(tokens));
      // The bytes of all, where they are whole characters, are the text too.
      if (first_invalid_utf8(bytes) == bytes.size()) RC_ASSERT(bytes == text);
      if (std::string(fixture) != "phi_like") RC_ASSERT(replace_invalid_utf8(bytes) == text);
      RC_ASSERT(stream.finish().empty());
      // Naively: all bytes at once.
      std::string naive;
      for (const auto token : tokens) naive += tokenizer.piece(token);
      if (std::string(fixture) == "qwen_like" && naive.find("\xEF\xBF\xBD") == std::string::npos)
        RC_ASSERT(naive == text);
    });
  }
}

TEST_CASE("a character that comes in parts is held back until it is whole", "[tokenizer]") {
  const auto tokenizer = Tokenizer::load(fixtures / "qwen_like");
  TextStream stream(tokenizer);
  const auto byte = [&](const char* spelled) { return tokenizer.find(spelled).value(); };
  // Half a character, then the rest; then half a character and something else.
  CHECK(stream.push(byte("ð")).empty());
  CHECK(stream.push(byte("Ł")).empty());
  CHECK(stream.push(byte("Ļ")).empty());
  CHECK(stream.push(byte("Ĥ")) == "\xF0\x9F\x99\x82");
  CHECK(stream.push(byte("â")).empty());
  CHECK(stream.push(byte("A")) ==
        "\xEF\xBF\xBD"
        "A");
  CHECK(stream.push(byte("Ã")).empty());
  CHECK(stream.finish() == "\xEF\xBF\xBD");
  CHECK(tokenizer.piece(byte("Ã")) == "\xEF\xBF\xBD");
  CHECK(tokenizer.piece(9999).empty());
}

TEST_CASE("tokens that stand for bytes are held back until another one ends them", "[tokenizer]") {
  const auto tokenizer = Tokenizer::load(fixtures / "phi_like");
  TextStream stream(tokenizer);
  const auto token = [&](const char* spelled) { return tokenizer.find(spelled).value(); };
  for (const char* whole : {"<0xF0>", "<0x9F>", "<0x99>", "<0x82>", "<0x41>"})
    CHECK(stream.push(token(whole)).empty());
  CHECK(stream.push(token("a")) ==
        "\xF0\x9F\x99\x82"
        "Aa");
  // No UTF-8 as a whole, so every byte of it is lost; a number that is no token ends nothing.
  CHECK(stream.push(token("<0xE2>")).empty());
  CHECK(stream.push(9999).empty());
  CHECK(stream.push(token("<0x41>")).empty());
  CHECK(stream.push(token("a")) ==
        "\xEF\xBF\xBD\xEF\xBF\xBD"
        "a");
  CHECK(stream.push(token("<0xC3>")).empty());
  CHECK(stream.finish() == "\xEF\xBF\xBD");
}

TEST_CASE("what belongs before a text is known, and is not a part of encoding it", "[tokenizer]") {
  const auto phi = Tokenizer::load(fixtures / "phi_like");
  CHECK(phi.beginning() == std::vector<std::uint32_t>{1});
  CHECK(phi.encode("a", "text")[0] != 1);
  CHECK(Tokenizer::load(fixtures / "qwen_like").beginning().empty());
  const auto several = edited("phi_like", [](auto& json) {
    const nlohmann::json before = {{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}};
    auto& single = json["post_processor"]["single"];
    single.insert(single.begin(), before);
    json["post_processor"] = {{"type", "Sequence"},
                              {"processors", {{{"type", "ByteLevel"}}, json["post_processor"]}}};
  });
  CHECK(several.beginning() == std::vector<std::uint32_t>{2, 1});
  require_bad_input(
      [] {
        edited("phi_like", [](auto& json) {
          auto& single = json["post_processor"]["single"];
          std::swap(single[0], single[1]);
        });
      },
      {"post_processor", "\"<s>\" after the text"});
  require_bad_input(
      [] {
        edited("phi_like", [](auto& json) {
          json["post_processor"]["single"][0]["SpecialToken"]["id"] = "nowhere";
        });
      },
      {"post_processor", "nowhere"});
}

TEST_CASE("tokens are found by their text", "[tokenizer]") {
  const auto tokenizer = Tokenizer::load(fixtures / "qwen_like");
  CHECK(tokenizer.vocabulary_size() == 506);
  CHECK(tokenizer.find("<|endoftext|>") == 500);
  CHECK(tokenizer.find("no such token") == std::nullopt);
  CHECK(tokenizer.decode(std::vector<std::uint32_t>{9999}).empty());
}

TEST_CASE("a text that is not UTF-8 is refused by its byte", "[tokenizer]") {
  const auto tokenizer = Tokenizer::load(fixtures / "qwen_like");
  require_bad_input([&] { tokenizer.encode("abc\xFFz", "prompt 3"); },
                    {"prompt 3", "byte 3", "UTF-8"});
}

TEST_CASE("a word without a token is refused where there is no unknown token", "[tokenizer]") {
  const std::vector<std::function<void(nlohmann::json&)>> edits = {
      [](auto& json) { json["model"].erase("unk_token"); },
      [](auto& json) { json["model"]["unk_token"] = "not in the vocabulary"; }};
  for (const auto* fixture : {"characters", "characters_bpe"}) {
    for (const auto& edit : edits) {
      const auto tokenizer = edited(fixture, edit);
      CHECK(tokenizer.encode("12", "prompt").size() == 2);
      require_bad_input([&] { tokenizer.encode("1\xE2\x98\x83", "prompt"); },
                        {"prompt", "\xE2\x98\x83", "no token"});
    }
  }
}

TEST_CASE("a part of tokenizer.json that is not supported is refused by its name", "[tokenizer]") {
  struct Case {
    const char* pointer;
    nlohmann::json value;
    std::string named;
  };
  const nlohmann::json split = {{"type", "Split"}, {"pattern", {{"String", "a"}}}};
  const auto with = [](nlohmann::json object, const char* key, nlohmann::json value) {
    object[key] = std::move(value);
    return object;
  };
  for (const auto& [pointer, value, named] : std::vector<Case>{
           {"/model/type", "Unigram", "Unigram"},
           {"/model/dropout", 0.1, "dropout"},
           {"/model/byte_fallback", true, "byte_fallback"},
           {"/model/continuing_subword_prefix", "##", "continuing_subword_prefix"},
           {"/model/end_of_word_suffix", "</w>", "end_of_word_suffix"},
           {"/model/vocab", {{"a", 1}, {"b", 1}}, "number 1"},
           {"/model/vocab/a", 263168, "\"a\""},
           {"/model/vocab/a", -1, "\"a\""},
           {"/model/vocab", nullptr, "vocab"},
           {"/model/merges/0", "a b c", "merge"},
           {"/model/merges/0", {"a", "nowhere"}, "nowhere"},
           {"/model/merges/0", 3, "merge"},
           {"/model", nullptr, "model"},
           {"/normalizer", {{"type", "Lowercase"}}, "Lowercase"},
           {"/normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "NFKC"}}}}}, "NFKC"},
           {"/pre_tokenizer", {{"type", "Metaspace"}}, "replacement"},
           {"/pre_tokenizer", {{"type", "BertPreTokenizer"}}, "BertPreTokenizer"},
           {"/pre_tokenizer", with(split, "behavior", "MergedWithNext"), "MergedWithNext"},
           {"/pre_tokenizer", split, "behavior"},
           {"/pre_tokenizer", {{"type", "ByteLevel"}}, "add_prefix_space"},
           {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "(", "regular expression"},
           {"/post_processor", {{"type", "TemplateProcessing"}}, "\"single\""},
           {"/decoder", {{"type", "WordPiece"}}, "WordPiece"},
           {"/truncation", {{"max_length", 5}}, "truncation"},
           {"/padding", {{"strategy", "BatchLongest"}}, "padding"},
           {"/decoder", {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}, "Strip"},
           {"/decoder",
            {{"type", "Replace"}, {"pattern", {{"String", ""}}}, {"content", ""}},
            "Replace"},
           {"/added_tokens/0/single_word", true, "single_word"},
           {"/added_tokens/0/content", "", "number"},
           {"/added_tokens/0/content", "a", "number"},
           {"/added_tokens/0/id", 3, "number"},
           {"/added_tokens/0/id", 1e9, "id"}}) {
    INFO(pointer << " = " << value.dump());
    require_bad_input(
        [&] {
          edited("qwen_like",
                 [&](auto& json) { json[nlohmann::json::json_pointer(pointer)] = value; });
        },
        {"tokenizer.json", named});
  }
  require_bad_input([] { Tokenizer::parse("{", "tokenizer.json"); }, {"tokenizer.json", "JSON"});
  require_bad_input([] { Tokenizer::load(fixtures); }, {"tokenizer.json", "cannot be read"});
}

TEST_CASE("removing and inverting splits drop the right pieces", "[tokenizer]") {
  const auto words = [](bool removed, bool inverted) {
    const auto tokenizer = edited("characters", [&](auto& json) {
      json["pre_tokenizer"] = {{"type", "Sequence"},
                               {"pretokenizers",
                                {{{"type", "Split"},
                                  {"pattern", {{"String", "+"}}},
                                  {"behavior", removed ? "Removed" : "Isolated"},
                                  {"invert", inverted}},
                                 {{"type", "Split"},
                                  {"pattern", {{"Regex", ""}}},
                                  {"behavior", "Isolated"},
                                  {"invert", false}}}}};
    });
    return tokenizer.decode(tokenizer.encode("1+2+3", "text"));
  };
  CHECK(words(false, false) == "1+2+3");
  CHECK(words(false, true) == "1+2+3");
  CHECK(words(true, false) == "123");
  CHECK(words(true, true) == "++");
}

}  // namespace tempera::gpu::tokenizer_test
