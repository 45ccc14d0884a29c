#include <cmath>
#include <cstdio>
#include <optional>

#include "gpu/text/tokenizer.hpp"
#include "gpu/transformer/weights/gguf.hpp"
#include "tests/gpu/transformer/architectures/model_folder.hpp"
#include "tests/gpu/transformer/weights/gguf_bytes.hpp"

namespace tempera::gpu {

namespace {

using Tokens = std::vector<std::uint32_t>;

/// A tokenizer of the format, which a test may break.
struct Metadata {
  std::string model = "gpt2";
  std::string pre = "smollm";
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;
  std::vector<std::string> merges;
  std::vector<float> scores;
  std::string architecture = "llama";
  std::optional<bool> adds_bos, adds_eos, adds_space;
  std::uint32_t bos = 0;

  std::string bytes() const {
    GgufBytes file;
    const auto boolean = [&](const std::string& key, std::optional<bool> value) {
      if (value)
        file.add("tokenizer.ggml." + key, gguf_type::boolean, std::string(1, *value ? '\1' : '\0'));
    };
    file.add_text("general.architecture", architecture);
    file.add_text("tokenizer.ggml.model", model);
    file.add_text("tokenizer.ggml.pre", pre);
    file.add_texts("tokenizer.ggml.tokens", tokens);
    file.add_numbers("tokenizer.ggml.token_type", gguf_type::int32, types);
    if (!merges.empty()) file.add_texts("tokenizer.ggml.merges", merges);
    if (!scores.empty()) file.add_numbers("tokenizer.ggml.scores", gguf_type::float32, scores);
    file.add("tokenizer.ggml.bos_token_id", gguf_type::uint32, little_endian(bos));
    boolean("add_bos_token", adds_bos);
    boolean("add_eos_token", adds_eos);
    boolean("add_space_prefix", adds_space);
    return file.bytes();
  }

  Tokenizer tokenizer() const {
    const auto file = bytes();
    const auto content = read_gguf(std::as_bytes(std::span<const char>(file)), "m.gguf");
    return Tokenizer::from_gguf(content.metadata);
  }
};

/// 0: <end>; 1: <tool>; 2: unused; then letters, a space, digits and their merges.
Metadata byte_level() {
  Metadata metadata;
  metadata.tokens = {"<end>",
                     "<tool>",
                     "[PAD2]",
                     "a",
                     "b",
                     "\xC4\xA0",
                     "1",
                     "2",
                     "ab",
                     "\xC4\xA0"
                     "ab",
                     "12",
                     "e",
                     "\xC3\x8C",
                     "\xC4\xA3",
                     "\xC3\x83",
                     "\xC2\xA9",
                     "xy"};
  metadata.types = {3, 4, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  metadata.merges = {"a b", "\xC4\xA0 ab", "1 2"};
  return metadata;
}

/// 0: <unk>, 1: <s>, 2: </s>, 3..258: bytes, then pieces of SentencePiece.
Metadata scored() {
  Metadata metadata;
  metadata.model = "llama";
  metadata.pre = "default";
  metadata.architecture = "phi3";
  metadata.tokens = {"<unk>", "<s>", "</s>"};
  metadata.types = {2, 3, 4};
  for (int byte = 0; byte < 256; ++byte) {
    char spelled[8];
    std::snprintf(spelled, sizeof spelled, "<0x%02X>", static_cast<unsigned>(byte) & 0xFFU);
    metadata.tokens.emplace_back(spelled);
    metadata.types.push_back(6);
  }
  for (const char* piece : {"\xE2\x96\x81", "a", "b", "ab",
                            "\xE2\x96\x81"
                            "a",
                            "ba", "aba"}) {
    metadata.tokens.emplace_back(piece);
    metadata.types.push_back(1);
  }
  for (std::size_t i = 0; i < metadata.tokens.size(); ++i)
    metadata.scores.push_back(-static_cast<float>(i));
  metadata.bos = 1;
  return metadata;
}
constexpr std::uint32_t space = 259, a = 260, b = 261, ab = 262, space_a = 263, ba = 264, aba = 265;

void refused(const Metadata& metadata, std::initializer_list<std::string> parts) {
  require_bad_input([&] { metadata.tokenizer(); }, parts);
}

}  // namespace

TEST_CASE("a byte-level vocabulary cuts as the model that its file names", "[gguf_tokenizer]") {
  auto metadata = byte_level();
  const auto smollm = metadata.tokenizer();
  CHECK(smollm.encode("ab ab12", "text") == Tokens{8, 9, 6, 7});  // digits one by one
  CHECK(smollm.decode(Tokens{8, 9, 6, 7}) == "ab ab12");
  CHECK(smollm.encode("ab<end><tool>b", "text") == Tokens{8, 0, 1, 4});
  CHECK(smollm.is_special(0));
  CHECK_FALSE(smollm.is_special(1));
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
  auto metadata = scored();
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
  auto bytes = byte_level();
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
  auto pieces = scored();
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

TEST_CASE("a tokenizer in GGUF that cannot be used is refused by its key", "[gguf_tokenizer]") {
  const auto changed = [](Metadata metadata, const std::function<void(Metadata&)>& change) {
    change(metadata);
    return metadata;
  };
  const auto byte = [&](const auto& change) { return changed(byte_level(), change); };
  const auto piece = [&](const auto& change) { return changed(scored(), change); };
  refused(byte([](auto& m) { m.model = "t5"; }), {"m.gguf", "tokenizer.ggml.model", "t5"});
  refused(byte([](auto& m) { m.pre = "deepseek-llm"; }), {"tokenizer.ggml.pre", "deepseek-llm"});
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
