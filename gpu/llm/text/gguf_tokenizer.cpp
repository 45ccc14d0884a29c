#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/utf8.hpp"
#include "gpu/llm/gguf/metadata.hpp"
#include "gpu/llm/text/byte_alphabet.hpp"
#include "gpu/llm/text/gguf_words.hpp"
#include "gpu/llm/text/tokenizer_parts.hpp"

namespace tempera::gpu {

namespace {

constexpr const char* tokens_key = "tokenizer.ggml.tokens";
constexpr const char* types_key = "tokenizer.ggml.token_type";
constexpr const char* merges_key = "tokenizer.ggml.merges";
constexpr const char* scores_key = "tokenizer.ggml.scores";
constexpr const char* model_key = "tokenizer.ggml.model";
constexpr const char* pre_key = "tokenizer.ggml.pre";
constexpr const char* bos_key = "tokenizer.ggml.bos_token_id";
constexpr const char* add_bos_key = "tokenizer.ggml.add_bos_token";
constexpr const char* add_eos_key = "tokenizer.ggml.add_eos_token";
constexpr const char* add_space_key = "tokenizer.ggml.add_space_prefix";
/// Logits are of at most 2^18 tokens. Gemma 3 has a few more, for images, and models refuse them.
constexpr std::size_t most_tokens = (std::size_t{1} << 18) + 1024;
constexpr std::string_view lower_block = "\xE2\x96\x81";  // U+2581, SentencePiece's space

/// The format's types of tokens.
enum class TokenType : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

const GgufWords& words_of(const GgufMetadata& metadata) {
  const auto name = metadata.text(pre_key);
  const auto* const found = find_gguf_words(name);
  if (found == nullptr) {
    throw BadInput(metadata.where(pre_key), in_quotes(name) + " is not supported",
                   "use a model of gpt-2, smollm, qwen2, qwen35, llama-bpe, deepseek-llm, "
                   "deepseek-r1-qwen, tekken or gpt-4o, or its folder with tokenizer.json");
  }
  return *found;
}

/// The texts of all tokens, and their types.
struct Tokens {
  std::vector<std::string_view> texts;
  std::vector<TokenType> types;
};

Tokens read_tokens(const GgufMetadata& metadata) {
  Tokens tokens{metadata.texts(tokens_key), {}};
  if (tokens.texts.empty() || tokens.texts.size() > most_tokens) {
    throw BadInput(metadata.where(tokens_key),
                   "lists " + std::to_string(tokens.texts.size()) + " tokens, where 1 to " +
                       std::to_string(most_tokens) + " are possible",
                   "choose another model");
  }
  for (const auto type : metadata.whole_numbers(types_key, 1, 6))
    tokens.types.push_back(static_cast<TokenType>(type));
  if (tokens.types.size() != tokens.texts.size()) {
    throw BadInput(metadata.where(types_key),
                   "gives " + std::to_string(tokens.types.size()) + " types for " +
                       std::to_string(tokens.texts.size()) + " tokens",
                   "convert the model again");
  }
  return tokens;
}

/// Whether a token also takes in the white space after it: Phi-3's added tokens do, but for those
/// below. The file does not say so; tokenizer.json does.
bool takes_space_after(std::string_view architecture, std::string_view text) {
  return architecture == "phi3" && text != "<unk>" && text != "<s>" && text != "<|endoftext|>";
}

void add_tokens(const GgufMetadata& metadata, const Tokens& tokens, Tokenizer::Parts& parts) {
  const auto architecture =
      metadata.has("general.architecture") ? metadata.text("general.architecture") : "";
  for (std::uint32_t id = 0; id < tokens.texts.size(); ++id) {
    const auto text = tokens.texts[id];
    const auto type = tokens.types[id];
    if (type == TokenType::unused) continue;
    const bool is_well_formed = first_invalid_utf8(text) == text.size();
    if (text.empty() || !is_well_formed ||
        !parts.vocabulary.emplace(std::string(text), id).second) {
      throw BadInput(metadata.where(tokens_key),
                     "token " + std::to_string(id) + ", " + in_quotes(text) +
                         ", is empty, not UTF-8, or there twice",
                     "convert the model again");
    }
    if (type == TokenType::control || type == TokenType::user_defined ||
        type == TokenType::unknown) {
      parts.raw_tokens.add(std::string(text), id, {false, takes_space_after(architecture, text)});
      parts.added.emplace(id, text);
    }
  }
}

void read_beginning(const GgufMetadata& metadata, bool otherwise, Tokenizer::Parts& parts) {
  if (metadata.boolean_or(add_eos_key, false)) {
    throw BadInput(metadata.where(add_eos_key), "puts a token after every text",
                   "it is not supported; choose another model");
  }
  if (!metadata.boolean_or(add_bos_key, otherwise)) return;
  parts.beginning.push_back(
      static_cast<std::uint32_t>(metadata.whole_number(bos_key, 0, parts.texts.size() - 1)));
}

/// One piece of a merge "left right"; neither has a space in the byte alphabet.
std::uint32_t merge_part(const GgufMetadata& metadata, const Vocabulary& vocabulary,
                         std::string_view text, std::string_view merge) {
  const auto found = vocabulary.find(std::string(text));
  if (found == vocabulary.end()) {
    throw BadInput(metadata.where(merges_key),
                   "merge " + in_quotes(merge) + " needs token " + in_quotes(text) +
                       ", which is not in the vocabulary",
                   "convert the model again");
  }
  return found->second;
}

void read_byte_level(const GgufMetadata& metadata, Tokenizer::Parts& parts) {
  const auto& words = words_of(metadata);
  if (metadata.boolean_or(add_space_key, false)) {
    throw BadInput(metadata.where(add_space_key), "puts a space before every text",
                   "it is not supported with \"gpt2\"; choose another model");
  }
  if (words.normalizes) parts.normalizer.add_nfc();
  parts.pre_tokenizer.emplace(pre_tokenizer_of(words), metadata.where(pre_key));
  BytePairEncoding pairs(parts.vocabulary, std::nullopt, words.takes_whole_words, parts.file);
  for (const auto merge : metadata.texts(merges_key)) {
    const auto space = merge.find(' ', 1);
    if (space == std::string_view::npos) {
      throw BadInput(metadata.where(merges_key), in_quotes(merge) + " is not a pair of tokens",
                     "convert the model again");
    }
    const auto part = [&](std::string_view text) {
      return merge_part(metadata, parts.vocabulary, text, merge);
    };
    const auto left = part(merge.substr(0, space));
    const auto right = part(merge.substr(space + 1));
    std::string merged(merge);
    pairs.add_merge(left, right, part(merged.erase(space, 1)));
  }
  parts.model = std::move(pairs);
  for (const auto& [text, id] : parts.vocabulary)
    parts.texts[id] = parts.added.contains(id) ? text : from_byte_alphabet(text).value_or(text);
  read_beginning(metadata, words.begins, parts);
}

/// Every pair of pieces whose text is a piece merges; the greater the merged piece's score, the
/// earlier. Of pairs with the same text, that of the lower numbers comes first, as in the merges
/// that Hugging Face makes of such a vocabulary.
void add_scored_merges(const GgufMetadata& metadata, const Tokens& tokens,
                       const Vocabulary& vocabulary, BytePairEncoding& pairs) {
  const auto scores = metadata.finite_numbers(scores_key);
  if (scores.size() != tokens.texts.size()) {
    throw BadInput(metadata.where(scores_key),
                   "gives " + std::to_string(scores.size()) + " scores for " +
                       std::to_string(tokens.texts.size()) + " tokens",
                   "convert the model again");
  }
  const auto piece = [&](std::string_view text) -> std::optional<std::uint32_t> {
    const auto found = vocabulary.find(std::string(text));
    if (found == vocabulary.end() || tokens.types[found->second] != TokenType::normal)
      return std::nullopt;
    return found->second;
  };
  std::vector<std::uint32_t> order(tokens.texts.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return scores[a] > scores[b]; });
  for (const auto merged : order) {
    const auto text = tokens.texts[merged];
    if (tokens.types[merged] != TokenType::normal) continue;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> halves;
    for (std::size_t cut = utf8_character_length(text); cut < text.size();
         cut += utf8_character_length(text.substr(cut))) {
      const auto left = piece(text.substr(0, cut));
      const auto right = piece(text.substr(cut));
      if (left && right) halves.emplace_back(*left, *right);
    }
    std::sort(halves.begin(), halves.end());
    for (const auto& [left, right] : halves) pairs.add_merge(left, right, merged);
  }
}

void read_scored(const GgufMetadata& metadata, const Tokens& tokens, Tokenizer::Parts& parts) {
  const bool adds_space = metadata.boolean_or(add_space_key, true);
  if (adds_space) parts.normalizer.add_prepend(std::string(lower_block));
  parts.normalizer.add_replace(" ", std::string(lower_block));
  parts.pre_tokenizer.emplace(nullptr, metadata.where(pre_key));
  BytePairEncoding pairs(parts.vocabulary, std::nullopt, false, parts.file);
  pairs.fall_back_to(byte_tokens(parts.vocabulary, metadata.where(tokens_key)));
  add_scored_merges(metadata, tokens, parts.vocabulary, pairs);
  parts.model = std::move(pairs);
  for (const auto& [text, id] : parts.vocabulary) {
    const auto byte = tokens.types[id] == TokenType::byte ? spelled_byte(text) : std::nullopt;
    parts.texts[id] = byte ? std::string(1, *byte) : replace_all(text, lower_block, " ");
    if (byte) parts.bytes.insert(id);
  }
  parts.leading_spaces = adds_space ? 1 : 0;
  read_beginning(metadata, true, parts);
}

}  // namespace

Tokenizer Tokenizer::from_gguf(const GgufMetadata& metadata) {
  auto parts = std::make_unique<Parts>();
  parts->file = metadata.where(tokens_key);
  const auto model = metadata.text(model_key);
  const auto tokens = read_tokens(metadata);
  add_tokens(metadata, tokens, *parts);
  parts->texts.resize(tokens.texts.size());
  if (model == "gpt2") {
    read_byte_level(metadata, *parts);
  } else if (model == "llama") {
    read_scored(metadata, tokens, *parts);
  } else {
    throw BadInput(metadata.where(model_key), in_quotes(model) + " is not supported",
                   "use a model of \"gpt2\" or \"llama\", or its folder with tokenizer.json");
  }
  return Tokenizer(std::move(parts));
}

}  // namespace tempera::gpu
