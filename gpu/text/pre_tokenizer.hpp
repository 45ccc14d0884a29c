#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gpu/text/split_pattern.hpp"

namespace tempera::gpu {

/// Cuts a text into the words that the vocabulary's model takes one by one.
class PreTokenizer {
 public:
  /// Reads the "pre_tokenizer" of a tokenizer.json: null, Split (behaviour Isolated or Removed),
  /// Digits, ByteLevel, Whitespace, WhitespaceSplit, or a Sequence of them. `where` names it in
  /// errors; BadInput for anything else, by its name.
  PreTokenizer(const nlohmann::json& description, const std::string& where);

  /// The words of well-formed UTF-8; in the byte alphabet if the description has a ByteLevel.
  std::vector<std::string> words(std::string_view text) const;

 private:
  struct Split {
    SplitPattern pattern;
    bool keeps_matches;
    bool keeps_others;
  };
  struct SpellBytes {};
  using Step = std::variant<Split, SpellBytes>;

  void read(const nlohmann::json& description, const std::string& where);
  static std::vector<std::string> apply(const Step& step, const std::vector<std::string>& words);

  std::vector<Step> steps_;
};

}  // namespace tempera::gpu
