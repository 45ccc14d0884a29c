#include "gpu/text/pre_tokenizer.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "gpu/text/byte_alphabet.hpp"

namespace tempera::gpu {

namespace {

/// The expression by which ByteLevel cuts words if "use_regex" is true (GPT-2's).
constexpr const char* byte_level_expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
/// Whitespace's: runs of word characters, and runs of what is neither those nor white space.
constexpr const char* whitespace_expression =
    R"([\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}]+|[^\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\s]+)";

/// An expression that matches the text itself.
std::string literal_expression(std::string_view text) {
  std::string expression;
  for (const char c : text) {
    if (std::string_view("\\^$.[]|()?*+{}#-").find(c) != std::string_view::npos) expression += '\\';
    expression += c;
  }
  return expression;
}

std::string read_pattern(const JsonObject& split) {
  const auto pattern = split.object("pattern");
  return pattern.has("Regex") ? pattern.text("Regex") : literal_expression(pattern.text("String"));
}

}  // namespace

PreTokenizer::PreTokenizer(const nlohmann::json& description, const std::string& where) {
  read(description, where);
}

void PreTokenizer::read(const nlohmann::json& description, const std::string& where) {
  if (description.is_null()) return;
  const JsonObject object(description, where);
  const auto type = object.text("type");
  if (type == "Sequence") {
    for (const auto& part : object.array("pretokenizers")) read(part, where);
  } else if (type == "Split") {
    const auto behavior = object.text("behavior");
    if (behavior != "Isolated" && behavior != "Removed") {
      throw BadInput(where, "Split has behavior " + in_quotes(behavior),
                     "only Isolated and Removed are supported; choose another tokenizer");
    }
    const bool removes = behavior == "Removed";
    const bool inverts = object.boolean_or("invert", false);
    steps_.push_back(Split{SplitPattern(read_pattern(object), where), !removes || inverts,
                           !removes || !inverts});
  } else if (type == "ByteLevel") {
    if (object.boolean_or("add_prefix_space", true)) {
      throw BadInput(where, "ByteLevel has \"add_prefix_space\" true",
                     "only false is supported; choose another tokenizer");
    }
    if (object.boolean_or("use_regex", true)) {
      steps_.push_back(Split{SplitPattern(byte_level_expression, where), true, true});
    }
    steps_.push_back(SpellBytes{});
  } else if (type == "Digits") {
    const bool one_by_one = object.boolean_or("individual_digits", false);
    steps_.push_back(Split{SplitPattern(one_by_one ? R"(\p{N})" : R"(\p{N}+)", where), true, true});
  } else if (type == "Whitespace") {
    steps_.push_back(Split{SplitPattern(whitespace_expression, where), true, false});
  } else if (type == "WhitespaceSplit") {
    steps_.push_back(Split{SplitPattern(R"(\s+)", where), false, true});
  } else {
    throw BadInput(where, "type " + in_quotes(type) + " is not supported",
                   "choose a tokenizer of Split, Digits, ByteLevel, Whitespace or WhitespaceSplit");
  }
}

std::vector<std::string> PreTokenizer::apply(const Step& step,
                                             const std::vector<std::string>& words) {
  std::vector<std::string> result;
  for (const auto& word : words) {
    if (const auto* split = std::get_if<Split>(&step)) {
      for (const auto& piece : split->pattern.split(word)) {
        if (piece.is_match ? split->keeps_matches : split->keeps_others) {
          result.emplace_back(piece.text);
        }
      }
    } else {
      result.push_back(to_byte_alphabet(word));
    }
  }
  return result;
}

std::vector<std::string> PreTokenizer::words(std::string_view text) const {
  std::vector<std::string> words;
  if (!text.empty()) words.emplace_back(text);
  for (const auto& step : steps_) words = apply(step, words);
  return words;
}

}  // namespace tempera::gpu
