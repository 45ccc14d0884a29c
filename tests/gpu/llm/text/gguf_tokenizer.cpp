#include <cmath>
#include <functional>

#include "tests/gpu/llm/text/gguf_tokenizers.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu {

namespace {

using Tokens = std::vector<std::uint32_t>;

constexpr std::uint32_t space = 259, a = 260, b = 261, ab = 262, space_a = 263, ba = 264, aba = 265;

void refused(const GgufTokenizer& metadata, std::initializer_list<std::string> parts) {
  require_bad_input([&] { metadata.tokenizer(); }, parts);
}

}  // namespace

TEST_CASE("a byte-level vocabulary cuts as the model that its file names", "[gguf_tokenizer]") {
  auto metadata = byte_level_gguf();
  const auto smollm = metadata.tokenizer();
  CHECK(smollm.encode("ab ab12", "text") == Tokens{8, 9, 6, 7});  // digits one by one
  CHECK(smollm.decode(Tokens{8, 9, 6, 7}) == "ab ab12");
  CHECK(smollm.encode("ab<end><tool>b", "text") == Tokens{8, 0, 1, 4});
  CHECK(smollm.beginning().empty());
  // An unused token is not found in a text, and has none; the vocabulary counts it.
  require_bad_input([&] { smollm.encode("[PAD2]", "text"); }, {"text", "no token"});
  CHECK(smollm.decode(Tokens{2}).empty());
  CHECK(smollm.find("[PAD2]") == std::nullopt);
  CHECK(smollm.vocabulary_size() == 17);
  metadata.pre = "gpt-2";
  CHECK(metadata.tokenizer().encode("ab12", "text") == Tokens{8, 10});
  CHECK(metadata.tokenizer().encode("e\xCC\x81", "text") == Tokens{11, 12, 13});
  metadata.pre = "qwen2";
  CHECK(metadata.tokenizer().encode("ab12", "text") == Tokens{8, 6, 7});
  CHECK(metadata.tokenizer().encode("e\xCC\x81", "text") == Tokens{14, 15});  // NFC
  metadata.pre = "qwen35";
  CHECK(metadata.tokenizer().encode("e\xCC\x81", "text") == Tokens{14, 15});
  metadata.pre = "llama-bpe";
  const auto llama = metadata.tokenizer();
  CHECK(llama.encode("ab12", "text") == Tokens{8, 10});
  CHECK(llama.encode("xy", "text") == Tokens{16});  // whole words first
  CHECK(llama.beginning() == Tokens{0});
  metadata.adds_bos = false;
  CHECK(metadata.tokenizer().beginning().empty());
}

TEST_CASE("pieces merge by their scores and fall back to bytes", "[gguf_tokenizer]") {
  auto metadata = scored_gguf();
  const auto tokenizer = metadata.tokenizer();
  CHECK(tokenizer.beginning() == Tokens{1});
  // "ab" has the greater score than "_a", and "aba" is only reached by way of "ab" or "ba".
  CHECK(tokenizer.encode("ab", "text") == Tokens{space, ab});
  CHECK(tokenizer.encode("aba", "text") == Tokens{space, aba});
  CHECK(tokenizer.encode("a ba", "text") == Tokens{space_a, space, ba});
  CHECK(tokenizer.encode("a\xC3\xA9", "text") == Tokens{space_a, 3 + 0xC3, 3 + 0xA9});
  CHECK(tokenizer.encode("", "text").empty());
  CHECK(tokenizer.decode(Tokens{space, ab, 3 + 0xC3, 3 + 0xA9, space_a}) == "ab\xC3\xA9 a");
  // Phi-3's </s> takes in white space, its <s> does not.
  CHECK(tokenizer.encode("</s> a", "text") == Tokens{2, space_a});
  CHECK(tokenizer.encode("<s> a", "text") == Tokens{1, space, space_a});
  metadata.architecture = "llama";
  CHECK(metadata.tokenizer().encode("</s> a", "text") == Tokens{2, space, space_a});
  metadata.adds_space = false;
  CHECK(metadata.tokenizer().encode("ab", "text") == Tokens{ab});
  CHECK(metadata.tokenizer().decode(Tokens{space_a}) == " a");
  std::swap(metadata.scores[ab], metadata.scores[ba]);
  CHECK(metadata.tokenizer().encode("abb", "text") == Tokens{ab, b});
  CHECK(metadata.tokenizer().encode("bab", "text") == Tokens{ba, b});
}

TEST_CASE("added tokens beside spaces are cut as the file's model does", "[gguf_tokenizer]") {
  // Byte-level: every space stays what it is, beside special tokens and others.
  auto bytes = byte_level_gguf();
  for (const char* architecture : {"llama", "phi3x"})
    for (const char* pre : {"gpt-2", "smollm", "qwen2", "qwen35", "llama-bpe"}) {
      CAPTURE(architecture, pre);
      bytes.architecture = architecture;
      bytes.pre = pre;
      const auto tokenizer = bytes.tokenizer();
      CHECK(tokenizer.encode("<end> ab", "text") == Tokens{0, 9});
      CHECK(tokenizer.encode("<tool> ab", "text") == Tokens{1, 9});
      CHECK(tokenizer.encode("ab <end>", "text") == Tokens{8, 5, 0});
      CHECK(tokenizer.encode(" <tool>  ab ", "text") == Tokens{5, 1, 5, 9, 5});
      CHECK(tokenizer.encode("<end> <tool>", "text") == Tokens{0, 5, 1});
    }
  // SentencePiece's: each piece of text begins with a space of its own. Phi-3's tokens take in all
  // white space after them, whatever their type, but for three; none takes in what is before.
  auto pieces = scored_gguf();
  for (const char* added : {"<|end|>", "<tool>", "<|endoftext|>"}) {
    pieces.tokens.emplace_back(added);
    pieces.types.push_back(added == std::string("<tool>") ? 4 : 3);
    pieces.scores.push_back(0.0F);
  }
  pieces.types[0] = 3;
  constexpr std::uint32_t unk = 0, begin = 1, close = 2, end = 266, tool = 267, end_of_text = 268;
  const std::vector<std::pair<std::string, std::uint32_t>> added{
      {"<unk>", unk},   {"<s>", begin},   {"</s>", close},
      {"<|end|>", end}, {"<tool>", tool}, {"<|endoftext|>", end_of_text}};
  const Tokens line{3 + '\n'};
  for (const bool is_phi : {true, false}) {
    pieces.architecture = is_phi ? "phi3" : "llama";
    const auto tokenizer = pieces.tokenizer();
    for (const auto& [text, id] : added) {
      CAPTURE(is_phi, text);
      const bool takes = is_phi && id != unk && id != begin && id != end_of_text;
      CHECK(tokenizer.encode(text + "a", "text") == Tokens{id, space_a});
      CHECK(tokenizer.encode(text + " a", "text") ==
            (takes ? Tokens{id, space_a} : Tokens{id, space, space_a}));
      CHECK(tokenizer.encode(text + " \n a", "text") ==
            (takes ? Tokens{id, space_a} : Tokens{id, space, space, line[0], space_a}));
      CHECK(tokenizer.encode("a " + text, "text") == Tokens{space_a, space, id});
      CHECK(tokenizer.encode(" " + text + " ", "text") ==
            (takes ? Tokens{space, space, id} : Tokens{space, space, id, space, space}));
      CHECK(tokenizer.encode(text + " " + text, "text") ==
            (takes ? Tokens{id, id} : Tokens{id, space, space, id}));
    }
  }
}

TEST_CASE("an unknown token is found in a text by its name", "[gguf_tokenizer]") {
  // As llama.cpp and the tokenizer.json of these models have it; type 2 is unknown.
  const auto pieces = scored_gguf().tokenizer();
  CHECK(pieces.encode("a<unk>b", "text") == Tokens{space_a, 0, space, b});
  CHECK(pieces.encode("<unk><unk>", "text") == Tokens{0, 0});
  CHECK(pieces.decode(Tokens{space_a, 0, space, b}) == "a<unk> b");
  auto metadata = byte_level_gguf();
  metadata.types[1] = 2;
  CHECK(metadata.tokenizer().encode("ab<tool>b", "text") == Tokens{8, 1, 4});
}

TEST_CASE("added tokens of GGUF are their own text, whatever their letters", "[gguf_tokenizer]") {
  for (const std::int32_t type : {2, 3, 4}) {
    auto metadata = byte_level_gguf();
    for (const char* content : {"caf\xC3\xA9",
                                "\xC4\x91"
                                "em",
                                "<\xC4\x8D>"}) {
      CAPTURE(type, content);
      metadata.tokens[1] = content;
      metadata.types[1] = type;
      const auto tokenizer = metadata.tokenizer();
      CHECK(tokenizer.encode(content, "text") == Tokens{1});
      CHECK(tokenizer.decode(Tokens{8, 1, 4}) == "ab" + std::string(content) + "b");
    }
  }
  // An ordinary piece of the same letters is bytes.
  CHECK(byte_level_gguf().tokenizer().decode(Tokens{14, 15}) == "\xC3\xA9");
}

TEST_CASE("a tokenizer in GGUF that cannot be used is refused by its key", "[gguf_tokenizer]") {
  const auto changed = [](GgufTokenizer metadata,
                          const std::function<void(GgufTokenizer&)>& change) {
    change(metadata);
    return metadata;
  };
  const auto byte = [&](const auto& change) { return changed(byte_level_gguf(), change); };
  const auto piece = [&](const auto& change) { return changed(scored_gguf(), change); };
  refused(byte([](auto& m) { m.model = "t5"; }), {"m.gguf", "tokenizer.ggml.model", "t5"});
  refused(byte([](auto& m) { m.pre = "deepseek-v9"; }), {"tokenizer.ggml.pre", "deepseek-v9"});
  refused(byte([](auto& m) { m.tokens.pop_back(); }), {"token_type", "17 types for 16 tokens"});
  refused(byte([](auto& m) { m.types[3] = 7; }), {"token_type", "from 1 to 6"});
  refused(byte([](auto& m) { m.types[3] = -1; }), {"token_type"});
  refused(byte([](auto& m) { m.tokens[4] = "a"; }), {"tokens", "token 4, \"a\""});
  refused(byte([](auto& m) { m.tokens[4] = ""; }), {"tokens", "token 4"});
  refused(byte([](auto& m) { m.tokens[4] = "\xFF"; }), {"tokens", "token 4"});
  refused(byte([](auto& m) {
            m.tokens.clear();
            m.types.clear();
          }),
          {"tokens", "lists 0 tokens"});
  refused(byte([](auto& m) { m.merges.clear(); }), {"merges", "missing"});
  refused(byte([](auto& m) { m.merges[0] = "a z"; }), {"merges", "\"a z\"", "token \"z\""});
  refused(byte([](auto& m) { m.merges[0] = "b a"; }), {"merges", "token \"ba\""});
  refused(byte([](auto& m) { m.merges[0] = "ab"; }), {"merges", "not a pair"});
  refused(byte([](auto& m) { m.merges[0] = "a b b"; }), {"merges", "token \"b b\""});
  refused(byte([](auto& m) { m.adds_eos = true; }), {"add_eos_token", "after every text"});
  refused(byte([](auto& m) { m.adds_space = true; }), {"add_space_prefix"});
  refused(byte([](auto& m) {
            m.adds_bos = true;
            m.bos = 17;
          }),
          {"bos_token_id", "from 0 to 16"});
  refused(piece([](auto& m) { m.scores.clear(); }), {"scores", "missing"});
  refused(piece([](auto& m) { m.scores.pop_back(); }), {"scores", "265 scores for 266 tokens"});
  refused(piece([](auto& m) { m.scores[5] = NAN; }), {"scores", "finite number"});
  refused(piece([](auto& m) { m.tokens[3 + 0x41] = "<0x4>"; }), {"tokens", "\"<0x41>\""});
}

}  // namespace tempera::gpu
