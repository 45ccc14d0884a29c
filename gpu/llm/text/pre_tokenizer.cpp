#include "gpu/llm/text/pre_tokenizer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/utf8.hpp"
#include "gpu/llm/text/byte_alphabet.hpp"
#include "gpu/llm/text/normalizer.hpp"

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

/// Appends the words that Metaspace makes of one.
void append_words(const Metaspace& metaspace, const std::string& word, bool is_first,
                  std::vector<std::string>& words) {
  const auto& mark = metaspace.replacement;
  std::string text = replace_all(word, " ", mark);
  const bool prepends = metaspace.prepends == Metaspace::Prepends::always ||
                        (metaspace.prepends == Metaspace::Prepends::to_first && is_first);
  if (prepends && !text.starts_with(mark)) text.insert(0, mark);
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = metaspace.splits ? text.find(mark, begin + 1) : std::string::npos;
    words.push_back(text.substr(begin, end - begin));
    begin = std::min(end, text.size());
  }
}

std::string read_pattern(const JsonObject& split) {
  const auto pattern = split.object("pattern");
  return pattern.has("Regex") ? pattern.text("Regex") : literal_expression(pattern.text("String"));
}

}  // namespace

Metaspace::Metaspace(const JsonObject& description, const std::string& where)
    : replacement(description.text("replacement")),
      prepends(Prepends::always),
      splits(description.boolean_or("split", true)) {
  if (replacement.empty() || utf8_character_length(replacement) != replacement.size()) {
    throw BadInput(where, "Metaspace has \"replacement\" " + in_quotes(replacement),
                   "give one character");
  }
  const std::string scheme =
      description.has("prepend_scheme") ? description.text("prepend_scheme") : "always";
  if (scheme == "first") {
    prepends = Prepends::to_first;
  } else if (scheme == "never") {
    prepends = Prepends::never;
  } else if (scheme != "always") {
    throw BadInput(where, "Metaspace has \"prepend_scheme\" " + in_quotes(scheme),
                   "only always, first and never are known; choose another tokenizer");
  }
  // The older spelling of "never"; true says nothing beside the newer one.
  if (!description.boolean_or("add_prefix_space", true) && prepends != Prepends::never) {
    throw BadInput(
        where,
        "Metaspace has \"add_prefix_space\" false and \"prepend_scheme\" " + in_quotes(scheme),
        "write \"never\"");
  }
}

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
    if (behavior != "Isolated" && behavior != "Removed" && behavior != "MergedWithPrevious") {
      throw BadInput(where, "Split has behavior " + in_quotes(behavior),
                     "only Isolated, Removed and MergedWithPrevious are supported; choose another "
                     "tokenizer");
    }
    const bool removes = behavior == "Removed";
    const bool inverts = required_flag(object, "invert");
    const bool joins = behavior == "MergedWithPrevious";
    if (joins && inverts) {
      throw BadInput(where, "Split has behavior \"MergedWithPrevious\" and \"invert\" true",
                     "only false is supported; choose another tokenizer");
    }
    steps_.push_back(Split{SplitPattern(read_pattern(object), where), !removes || inverts,
                           !removes || !inverts, joins});
  } else if (type == "ByteLevel") {
    if (required_flag(object, "add_prefix_space")) {
      throw BadInput(where, "ByteLevel has \"add_prefix_space\" true",
                     "only false is supported; choose another tokenizer");
    }
    if (object.boolean_or("use_regex", true)) {
      steps_.push_back(Split{SplitPattern(byte_level_expression, where), true, true});
    }
    steps_.push_back(SpellBytes{});
  } else if (type == "Digits") {
    const bool one_by_one = required_flag(object, "individual_digits");
    steps_.push_back(Split{SplitPattern(one_by_one ? R"(\p{N})" : R"(\p{N}+)", where), true, true});
  } else if (type == "Metaspace") {
    steps_.push_back(Metaspace(object, where));
  } else if (type == "Whitespace") {
    steps_.push_back(Split{SplitPattern(whitespace_expression, where), true, false});
  } else if (type == "WhitespaceSplit") {
    steps_.push_back(Split{SplitPattern(R"(\s+)", where), false, true});
  } else {
    throw BadInput(where, "type " + in_quotes(type) + " is not supported",
                   "choose a tokenizer of Split, Digits, ByteLevel, Metaspace, Whitespace or "
                   "WhitespaceSplit");
  }
}

std::vector<std::string> PreTokenizer::apply(const Step& step,
                                             const std::vector<std::string>& words,
                                             bool& is_first) {
  std::vector<std::string> result;
  for (const auto& word : words) {
    if (const auto* split = std::get_if<Split>(&step)) {
      bool follows_other = false;
      for (const auto& piece : split->pattern.split(word)) {
        const bool joins = split->joins_matches && piece.is_match && follows_other;
        follows_other = !piece.is_match;
        if (joins) {
          result.back() += piece.text;
          continue;
        }
        if (piece.is_match ? split->keeps_matches : split->keeps_others) {
          result.emplace_back(piece.text);
        } else if (result.empty()) {
          is_first = false;
        }
      }
    } else if (const auto* metaspace = std::get_if<Metaspace>(&step)) {
      append_words(*metaspace, word, is_first && result.empty(), result);
    } else {
      result.push_back(to_byte_alphabet(word));
    }
  }
  return result;
}

std::vector<std::string> PreTokenizer::words(std::string_view text, bool is_first) const {
  std::vector<std::string> words;
  if (!text.empty()) words.emplace_back(text);
  for (const auto& step : steps_) words = apply(step, words, is_first);
  return words;
}

}  // namespace tempera::gpu
