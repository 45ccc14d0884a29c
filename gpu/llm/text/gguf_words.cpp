#include "gpu/llm/text/gguf_words.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tempera::gpu {

namespace {

constexpr const char* qwen2_expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* qwen35_expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* llama3_expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* tekken_expression =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* gpt_4o_expression =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* one_digit = R"(\p{N})";

/// Letters that have a case, as deepseek-llm lists them, after a space or none.
constexpr const char* deepseek_letters =
    "\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-"
    "ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝ\\x{1F5F}-\\x{1F7D}ᾀ-ᾴ\\x{1FB6}-\\x{1FBC}\\x{1FBE}ῂ-ῄῆ-ῌ\\x{1FD0}-"
    "\\x{1FD3}\\x{1FD6}-\\x{1FDB}ῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝ\\x{2124}\\x{2126}\\x{2128}\\x{212A}-\\x{212D}ℯ-"
    "ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-"
    "𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+";
constexpr const char* deepseek_punctuation = "\\s?[!-/:-~！-／：-～‘-‟　-。]+";
constexpr const char* deepseek_characters = "[一-龥ࠀ-一가-퟿]+";

const std::vector<GgufWords>& known_words() {
  static const std::vector<GgufWords> words{
      {.name = "gpt-2"},
      {.name = "smollm", .expressions = {one_digit, nullptr}},
      {.name = "qwen2", .expressions = {qwen2_expression}, .normalizes = true},
      {.name = "qwen35", .expressions = {qwen35_expression}, .normalizes = true},
      // DeepSeek's distilled models have Qwen2's words without its normaliser.
      {.name = "deepseek-r1-qwen", .expressions = {qwen2_expression}},
      {.name = "llama-bpe",
       .expressions = {llama3_expression},
       .takes_whole_words = true,
       .begins = true},
      {.name = "tekken",
       .expressions = {tekken_expression},
       .takes_whole_words = true,
       .begins = true},
      {.name = "gpt-4o", .expressions = {gpt_4o_expression}},
      {.name = "deepseek-llm",
       .expressions = {"[\r\n]", deepseek_letters, deepseek_punctuation, "\\s+$",
                       deepseek_characters, "\\p{N}+"}}};
  return words;
}

}  // namespace

const GgufWords* find_gguf_words(std::string_view name) {
  const auto& words = known_words();
  const auto found = std::find_if(words.begin(), words.end(),
                                  [&](const GgufWords& each) { return each.name == name; });
  return found == words.end() ? nullptr : &*found;
}

nlohmann::json pre_tokenizer_of(const GgufWords& words) {
  auto parts = nlohmann::json::array();
  bool cuts_as_byte_level = words.expressions.empty();
  for (const char* expression : words.expressions) {
    if (expression == nullptr) {
      cuts_as_byte_level = true;
      continue;
    }
    parts.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", expression}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  }
  parts.push_back(
      {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", cuts_as_byte_level}});
  return {{"type", "Sequence"}, {"pretokenizers", parts}};
}

}  // namespace tempera::gpu
