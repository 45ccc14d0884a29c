#include "gpu/llm/models/terminal_tokens.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "gpu/llm/models/opened_model.hpp"
#include "gpu/llm/transformer/architectures/llama.hpp"
#include "tests/gpu/llm/text/gguf_tokenizers.hpp"
#include "tests/gpu/llm/transformer/architectures/decoder_gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/weights/quantised_bytes.hpp"

namespace tempera::gpu::terminal_tokens_test {

namespace {

using nlohmann::json;
using Tokens = std::vector<TokenId>;

/// A vocabulary of 30 words, and added tokens from 30 on; `ends` of them end a text by their names.
json tokenizer_with(const std::vector<std::string>& added) {
  json tokenizer{{"added_tokens", json::array()}, {"model", {{"type", "WordLevel"}}}};
  for (int i = 0; i < 30; ++i) tokenizer["model"]["vocab"]["w" + std::to_string(i)] = i;
  tokenizer["model"]["vocab"]["</s>"] = 29;  // a word that is not an added token
  tokenizer["model"]["vocab"].erase("w29");
  for (std::size_t i = 0; i < added.size(); ++i)
    tokenizer["added_tokens"].push_back({{"id", 30 + i},
                                         {"content", added[i]},
                                         {"single_word", false},
                                         {"lstrip", false},
                                         {"rstrip", false},
                                         {"normalized", false},
                                         {"special", i % 2 == 0}});
  return tokenizer;
}

/// Without a begin of text, whose number would be one more key.
GgufTokenizer gguf_tokenizer(const std::vector<std::pair<std::string, int>>& tokens) {
  GgufTokenizer tokenizer;
  tokenizer.pre = "gpt-2";
  for (const auto& [text, type] : tokens) {
    tokenizer.tokens.push_back(text);
    tokenizer.types.push_back(type);
  }
  while (tokenizer.tokens.size() < 61) {
    tokenizer.tokens.push_back("w" + std::to_string(tokenizer.tokens.size()));
    tokenizer.types.push_back(1);
  }
  tokenizer.merges = {"w60 x"};
  tokenizer.tokens[58] = "x";
  tokenizer.tokens[59] = "w60x";
  return tokenizer;
}

/// The terminal tokens of a GGUF file with these tokens and keys.
Tokens terminal_of_gguf(const std::vector<std::pair<std::string, int>>& tokens,
                        const std::map<std::string, std::uint32_t>& keys) {
  DecoderConfig config;
  config.vocab_size = 61;
  config.hidden_size = 32;
  config.intermediate_size = 32;
  config.num_hidden_layers = 1;
  config.num_attention_heads = 1;
  config.num_key_value_heads = 1;
  config.head_dim = 32;
  auto file = gguf_of<Llama>(config, "llama", std::nullopt);
  gguf_tokenizer(tokens).add_to(file);
  for (const auto& [key, token] : keys)
    file.add("tokenizer.ggml." + key, gguf_type::uint32, little_endian(token));
  for (const auto& [name, made] : tensors_of<Llama>(config))
    add_gguf_tensor(file, gguf_name(name, "llama"), made.shape, 0, bytes_of_values(made.values));
  const ModelFolder folder("untied_float32");  // whose generation_config.json is another model's
  folder.write("model.gguf", file.bytes());
  return OpenedModel::open(folder.path() / "model.gguf").terminal();
}

}  // namespace

TEST_CASE("a folder's terminal tokens: generation_config.json, else keys and names", "[terminal]") {
  const ModelFolder folder("untied_float32");  // of 50 tokens
  const auto terminal = [&] { return OpenedModel::open(folder.path()).terminal(); };
  CHECK(terminal() == Tokens{3, 49});
  folder.write("tokenizer.json",
               tokenizer_with({"<|im_end|>", "<|im_start|>", "<|endoftext|>"}).dump());
  CHECK(terminal() == Tokens{3, 49});
  folder.write("generation_config.json", R"({"eos_token_id": 7})");
  CHECK(terminal() == Tokens{7});
  for (const char* silent : {"{}", R"({"eos_token_id": null})", R"({"eos_token_id": []})"}) {
    folder.write("generation_config.json", silent);
    CHECK(terminal() == Tokens{3, 30, 32, 49});
  }
  std::filesystem::remove(folder.path() / "generation_config.json");
  CHECK(terminal() == Tokens{3, 30, 32, 49});
  folder.edit_json("config.json", [](auto& config) { config["eos_token_id"] = 30; });
  CHECK(terminal() == Tokens{30, 32});
  folder.edit_json("config.json", [](auto& config) { config.erase("eos_token_id"); });
  CHECK(terminal() == Tokens{30, 32});
  // What the model has no logit for ends nothing.
  std::vector<std::string> many;
  for (int i = 0; i < 19; ++i) many.push_back("<" + std::to_string(i) + ">");
  many.insert(many.end(), {"<|eot_id|>", "<|eom_id|>"});
  folder.write("tokenizer.json", tokenizer_with(many).dump());
  CHECK(terminal() == Tokens{49});
  std::filesystem::remove(folder.path() / "tokenizer.json");
  CHECK(terminal().empty());
}

TEST_CASE("a broken generation_config.json is refused by its own name", "[terminal]") {
  const ModelFolder folder("untied_float32");
  const auto refused = [&](const std::string& text, const std::string& named) {
    folder.write("generation_config.json", text);
    require_bad_input([&] { OpenedModel::open(folder.path()); }, {"generation_config.json", named});
  };
  refused(R"({"eos_token_id": 50})", "eos_token_id");
  refused(R"({"eos_token_id": [3, -1]})", "eos_token_id");
  refused("{", "JSON");
}

TEST_CASE("a GGUF file's terminal tokens are those of each of its keys, and of the names",
          "[terminal][gguf]") {
  const std::vector<std::pair<std::string, int>> plain{{"<a>", 3}, {"<b>", 3}, {"<c>", 3}};
  const std::vector<std::string> keys{"eos_token_id", "eot_token_id", "eom_token_id"};
  for (std::size_t chosen = 0; chosen < 8; ++chosen) {
    std::map<std::string, std::uint32_t> given;
    Tokens wanted;
    for (std::size_t i = 0; i < keys.size(); ++i)
      if ((chosen >> i & 1) != 0) {
        given[keys[i]] = static_cast<std::uint32_t>(20 - i);
        wanted.push_back(static_cast<TokenId>(20 - i));
      }
    std::sort(wanted.begin(), wanted.end());
    CAPTURE(chosen);
    CHECK(terminal_of_gguf(plain, given) == wanted);
  }
  for (const auto& key : keys) {
    CAPTURE(key);
    CHECK(terminal_of_gguf(plain, {{key, 60}}) == Tokens{60});
    require_bad_input(
        [&] {
          terminal_of_gguf(plain, {{key, 61}});
        },
        {"model.gguf", "tokenizer.ggml." + key, "from 0 to 60"});
  }
  // A control token and a user-defined one by their names, beside the key; an ordinary word never.
  const std::vector<std::pair<std::string, int>> named{
      {"<|end|>", 3}, {"<|user|>", 3}, {"<|endoftext|>", 4}, {"</s>", 1}, {"<|eot_id|>", 5}};
  CHECK(terminal_of_gguf(named, {}) == Tokens{0, 2});
  CHECK(terminal_of_gguf(named, {{"eos_token_id", 2}}) == Tokens{0, 2});
  CHECK(terminal_of_gguf(named, {{"eom_token_id", 9}}) == Tokens{0, 2, 9});
}

TEST_CASE("texts end where llama.cpp ends them, but for two differences", "[terminal][gguf]") {
  // The vocabularies that llama.cpp ships, other families, and each name that it knows
  // (make_ends.py).
  const auto table = json::parse(read_bytes(std::filesystem::path(TEMPERA_SOURCE_DIR) /
                                            "tests/fixtures/tokenizer/known_ends.json"));
  CHECK(table.size() >= 98);
  // What fills or separates the parts of a program ends nothing here.
  const std::set<std::string> fills{"<|fim_pad|>",   "<fim-pad>",    "<fim_pad>",   "<PAD>",
                                    "[PAD]",         "<|fim_repo|>", "<fim-repo>",  "<REPO>",
                                    "<|repo_name|>", "<reponame>",   "<|file_sep|>"};
  std::set<std::string> filling;
  std::size_t ordinary = 0;
  for (const auto& [name, entry] : table.items()) {
    CAPTURE(name);
    std::vector<std::pair<std::string, int>> tokens;
    for (const auto& [text, type] : entry["tokens"].items()) tokens.emplace_back(text, type);
    std::set<std::string> found = entry["keys"], wanted;
    for (const auto end : gguf_tokenizer(tokens).tokenizer().known_ends())
      found.insert(tokens.at(end).first);
    for (const std::string end : entry["llama_cpp"]) {
      const bool is_ordinary = entry["tokens"][end] == 1 && entry["keys"] != json{end};
      if (fills.contains(end))
        filling.insert(end);
      else if (is_ordinary)
        ++ordinary;
      else
        wanted.insert(end);
    }
    if (name == "IFM") wanted.insert("<|ifm|im_end|>");  // which llama.cpp came to know later
    CHECK(found == wanted);
  }
  CHECK(filling == fills);
  CHECK(ordinary == 2);  // the </s> of Qwen2 and of Qwen3.5
}

}  // namespace tempera::gpu::terminal_tokens_test
