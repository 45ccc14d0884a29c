#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_document.hpp"
#include "gpu/llm/text/split_pattern.hpp"

namespace tempera::gpu {

/// SentencePiece's spaces, as a pre-tokenizer or a decoder of tokenizer.json describes them: every
/// space is written as `replacement`, and one more may be put before a text.
struct Metaspace {
  enum class Prepends : std::uint8_t { always, to_first, never };

  /// @throw BadInput naming `where`
  Metaspace(const JsonObject& description, const std::string& where);

  std::string replacement;  // one character
  Prepends prepends;        // always: before each text between added tokens
  bool splits;              // a word begins at each replacement
};

/// A truth value that tokenizers has no default for.
/// @throw BadInput if it is missing
inline bool required_flag(const JsonObject& object, const std::string& key) {
  object.at(key);
  return object.boolean_or(key, false);
}

/// Cuts a text into the words that the vocabulary's model takes one by one.
class PreTokenizer {
 public:
  /// Reads the "pre_tokenizer" of a tokenizer.json: null, Split (behaviour Isolated, Removed or
  /// MergedWithPrevious),
  /// Digits, ByteLevel, Metaspace, Whitespace, WhitespaceSplit, or a Sequence of them. `where`
  /// names it in errors; BadInput for anything else, by its name.
  PreTokenizer(const nlohmann::json& description, const std::string& where);

  /// The words of well-formed UTF-8; in the byte alphabet if the description has a ByteLevel.
  /// is_first: whether the text is the beginning of what is encoded.
  std::vector<std::string> words(std::string_view text, bool is_first) const;

 private:
  struct Split {
    SplitPattern pattern;
    bool keeps_matches;
    bool keeps_others;
    bool joins_matches = false;  // to what is before them
  };
  struct SpellBytes {};
  using Step = std::variant<Split, SpellBytes, Metaspace>;

  void read(const nlohmann::json& description, const std::string& where);
  /// is_first: whether the first word is the beginning of what is encoded, before and after.
  static std::vector<std::string> apply(const Step& step, const std::vector<std::string>& words,
                                        bool& is_first);

  std::vector<Step> steps_;
};

}  // namespace tempera::gpu
