#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

namespace tempera::gpu {

/// How a byte-level tokenizer of a GGUF file, whose "tokenizer.ggml.pre" is this name, cuts a text
/// into words: as the tokenizer.json of its models does.
struct GgufWords {
  std::string_view name;
  /// Each cuts the pieces of those before it; none, or nullptr at last: ByteLevel's own.
  std::vector<const char*> expressions = {};
  bool normalizes = false;         ///< to NFC
  bool takes_whole_words = false;  ///< a word that is a token is not merged
  /// The begin of text belongs before a text, unless the file says otherwise.
  bool begins = false;
};

/// Returns nullptr for a name that is not known.
const GgufWords* find_gguf_words(std::string_view name);

/// Writes the words as the "pre_tokenizer" of a tokenizer.json.
nlohmann::json pre_tokenizer_of(const GgufWords& words);

}  // namespace tempera::gpu
