// Where a tokenizer's file is silent: it means what the default means, and nothing else.
#include <functional>
#include <optional>

#include "base/error.hpp"
#include "gpu/llm/text/chat_format.hpp"
#include "gpu/llm/text/tokenizer.hpp"
#include "tests/gpu/llm/text/gguf_tokenizers.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu::silent_keys_test {

namespace {

using nlohmann::json;

const std::filesystem::path fixtures =
    std::filesystem::path(TEMPERA_SOURCE_DIR) / "tests/fixtures/tokenizer";

const std::vector<std::string> texts{"the fox  jumps 12 over",
                                     "ab12e\xCC\x81 ab",
                                     "hello  there <s>hello",
                                     "a <left> b<|end|>  a <unk> </s> a",
                                     " \xE2\x96\x81the xyzzy 1234",
                                     "<tool> \xE2\x98\x83\xE2\x98\x83 = 12",
                                     "xyzzy",
                                     "a\xE2\x96\x81\xE2\x96\x81 b",
                                     "lo <|endoftext|> lo"};

/// What a tokenizer makes of the texts; nothing if it is refused.
std::optional<std::vector<std::string>> seen(const std::function<Tokenizer()>& make) {
  std::vector<std::string> found;
  try {
    const auto tokenizer = make();
    const auto list = [](const std::vector<std::uint32_t>& tokens) { return json(tokens).dump(); };
    found.push_back(list(tokenizer.beginning()) + list(tokenizer.known_ends()));
    for (const auto& text : texts) {
      try {
        const auto tokens = tokenizer.encode(text, "text");
        found.push_back(list(tokens) + tokenizer.decode(tokens));
      } catch (const BadInput& error) {
        found.emplace_back(error.what());
      }
    }
  } catch (const BadInput&) {
    return std::nullopt;
  }
  return found;
}

/// A key of tokenizer.json, in a fixture that has it at the default or gets it, and another value
/// that changes what is seen or is refused. No default: the key must be there.
struct JsonKey {
  const char* fixture;
  const char* object;
  const char* key;
  std::optional<json> otherwise;
  json other;
};

const json nfc = {{"type", "NFC"}};

const std::vector<JsonKey> json_keys{
    {"byte_level_alone", "", "normalizer", json(nullptr), nfc},
    {"characters_bpe", "", "pre_tokenizer", json(nullptr), {{"type", "Whitespace"}}},
    {"words", "", "post_processor", json(nullptr), {{"type", "none"}}},
    {"words", "", "decoder", json(nullptr), {{"type", "Fuse"}}},
    {"words", "", "truncation", json(nullptr), {{"max_length", 5}}},
    {"words", "", "padding", json(nullptr), {{"strategy", "BatchLongest"}}},
    {"words", "", "added_tokens", json::array(), json::parse(R"([{"id": 99, "content": "= 12",
        "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}])")},
    {"phi_like", "/model", "dropout", json(nullptr), 0.5},
    {"phi_like", "/model", "continuing_subword_prefix", json(nullptr), "##"},
    {"phi_like", "/model", "end_of_word_suffix", json(nullptr), "</w>"},
    {"characters_bpe", "/model", "unk_token", json(nullptr), "?"},
    {"characters_bpe", "/model", "fuse_unk", json(false), true},
    {"phi_like", "/model", "byte_fallback", json(false), true},
    {"byte_level_alone", "/model", "ignore_merges", json(false), true},
    {"byte_level_alone", "/pre_tokenizer", "use_regex", json(true), false},
    {"byte_level_alone", "/pre_tokenizer", "add_prefix_space", std::nullopt, true},
    {"qwen_like", "/pre_tokenizer/pretokenizers/0", "invert", std::nullopt, nullptr},
    {"metaspace", "/pre_tokenizer", "prepend_scheme", json("always"), "first"},
    {"metaspace", "/pre_tokenizer", "split", json(true), false},
    {"metaspace", "/pre_tokenizer", "add_prefix_space", json(true), false},
    {"phi_like", "/added_tokens/5", "single_word", std::nullopt, true},
    {"phi_like", "/added_tokens/5", "lstrip", std::nullopt, false},
    {"phi_like", "/added_tokens/3", "rstrip", std::nullopt, false},
    {"phi_like", "/added_tokens/5", "normalized", std::nullopt, true}};

}  // namespace

TEST_CASE("a key that tokenizer.json lacks has tokenizers' default, or is missed", "[tokenizer]") {
  for (const auto& [fixture, object, key, otherwise, other] : json_keys) {
    CAPTURE(fixture, object, key);
    const auto with = [&](const std::optional<json>& value) {
      auto document = json::parse(read_bytes(fixtures / fixture / "tokenizer.json"));
      auto& place = document[json::json_pointer(object)];
      place.erase(key);
      if (value) place[key] = *value;
      return seen([&] { return Tokenizer::parse(document.dump(), "tokenizer.json"); });
    };
    const auto silent = with(std::nullopt);
    if (!otherwise) {
      CHECK(silent == std::nullopt);
      continue;
    }
    REQUIRE(silent != std::nullopt);
    CHECK(silent == with(*otherwise));
    CHECK(silent != with(other));
  }
}

TEST_CASE("a key that GGUF's tokenizer lacks has llama.cpp's default", "[gguf_tokenizer]") {
  using Change = std::function<void(GgufTokenizer&)>;
  struct Key {
    const char* name;
    std::function<GgufTokenizer()> file;
    Change otherwise, other;
  };
  const auto bos = [](bool value) { return [=](GgufTokenizer& m) { m.adds_bos = value; }; };
  const auto space = [](bool value) { return [=](GgufTokenizer& m) { m.adds_space = value; }; };
  const auto of = [](const char* pre) {
    return [=] {
      auto file = byte_level_gguf();
      file.pre = pre;
      return file;
    };
  };
  std::vector<Key> keys{
      {"add_bos_token of pieces", scored_gguf, bos(true), bos(false)},
      {"add_bos_token of llama-bpe", of("llama-bpe"), bos(true), bos(false)},
      {"add_space_prefix of pieces", scored_gguf, space(true), space(false)},
      {"add_space_prefix of bytes", of("gpt-2"), space(false), space(true)},
      {"add_eos_token", scored_gguf, [](auto& m) { m.adds_eos = false; },
       [](auto& m) { m.adds_eos = true; }},
      {"general.architecture",
       [] {
         auto file = scored_gguf();
         file.architecture.reset();
         return file;
       },
       [](auto& m) { m.architecture = "llama"; }, [](auto& m) { m.architecture = "phi3"; }}};
  for (const char* pre : {"gpt-2", "smollm", "qwen2", "qwen35"})
    keys.push_back({pre, of(pre), bos(false), bos(true)});
  for (const auto& [name, make, otherwise, other] : keys) {
    CAPTURE(name);
    const auto with = [&](const Change& change) {
      auto file = make();
      change(file);
      return seen([&] { return file.tokenizer(); });
    };
    const auto silent = with([](auto&) {});
    REQUIRE(silent != std::nullopt);
    CHECK(silent == with(otherwise));
    CHECK(silent != with(other));
  }
}

namespace {

/// Tulu 3's template after a begin of text: it writes both of the model's tokens.
const std::string tulu =
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}{{ "
    "'<|system|>\n' "
    "+ message['content'] + '\n' }}{% elif message['role'] == 'user' %}{{ '<|user|>\n' + "
    "message['content'] "
    "+ '\n' }}{% elif message['role'] == 'assistant' %}{% if not loop.last %}{{ '<|assistant|>\n' "
    " + message['content'] + eos_token + '\n' }}{% else %}{{ '<|assistant|>\n'  + "
    "message['content'] "
    "+ eos_token }}{% endif %}{% endif %}{% if loop.last and add_generation_prompt %}{{ "
    "'<|assistant|>\n' "
    "}}{% endif %}{% endfor %}";

const std::vector<ChatMessage> messages{{"user", "Hi"}, {"assistant", "Ho"}, {"user", "Hi"}};

/// The turns with what a file says of the tokens.
std::string turns(const std::string& beginning, const std::string& end) {
  return beginning + "<|user|>\nHi\n<|assistant|>\nHo" + end + "\n<|user|>\nHi\n<|assistant|>\n";
}

}  // namespace

TEST_CASE("a chat token that tokenizer_config.json lacks has no text", "[chat_format]") {
  const ModelFolder folder("untied_float32");
  const auto rendered = [&](const json& config) {
    folder.write("tokenizer_config.json", config.dump());
    return ChatFormat::load(folder.path()).render(messages, {}, "chat");
  };
  const json whole{{"chat_template", tulu}, {"bos_token", "<s>"}, {"eos_token", "</s>"}};
  CHECK(rendered(whole) == turns("<s>", "</s>"));
  for (const char* key : {"bos_token", "eos_token"}) {
    CAPTURE(key);
    const bool is_bos = std::string(key) == "bos_token";
    const auto without = turns(is_bos ? "" : "<s>", is_bos ? "</s>" : "");
    auto config = whole;
    config[key] = nullptr;
    CHECK(rendered(config) == without);
    config.erase(key);
    CHECK(rendered(config) == without);
    config[key] = {{"content", whole[key]}, {"lstrip", false}};
    CHECK(rendered(config) == turns("<s>", "</s>"));
  }
  for (const auto& value : {json(nullptr), json(3)}) {
    auto config = whole;
    config["chat_template"] = value;
    require_bad_input([&] { rendered(config); }, {"tokenizer_config.json", "chat_template"});
  }
}

TEST_CASE("a chat token that GGUF lacks has no text", "[chat_format]") {
  const auto rendered = [](std::optional<std::uint32_t> bos, std::optional<std::uint32_t> eos) {
    GgufBytes file;
    file.add_texts("tokenizer.ggml.tokens", {"<s>", "</s>", "a"});
    file.add_text("tokenizer.chat_template", tulu);
    if (bos) file.add("tokenizer.ggml.bos_token_id", gguf_type::uint32, little_endian(*bos));
    if (eos) file.add("tokenizer.ggml.eos_token_id", gguf_type::uint32, little_endian(*eos));
    const auto bytes = file.bytes();
    const auto content = read_gguf(std::as_bytes(std::span<const char>(bytes)), "m.gguf");
    return ChatFormat::from_gguf(content.metadata).render(messages, {}, "chat");
  };
  CHECK(rendered(0, 1) == turns("<s>", "</s>"));
  CHECK(rendered(std::nullopt, 1) == turns("", "</s>"));
  CHECK(rendered(0, std::nullopt) == turns("<s>", ""));
  CHECK(rendered(2, 2) == turns("a", "a"));
  require_bad_input([&] { rendered(0, 3); }, {"m.gguf", "eos_token_id", "from 0 to 2"});
}

}  // namespace tempera::gpu::silent_keys_test
