#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "gpu/text/added_tokens.hpp"
#include "gpu/text/byte_pair_encoding.hpp"
#include "gpu/text/pre_tokenizer.hpp"
#include "gpu/text/tokenizer.hpp"

namespace tempera::gpu {

/// What a tokenizer.json describes. Stays where it was made: `model` refers to `vocabulary`.
struct Tokenizer::Parts {
  /// One token per word; `unknown` for a word that is none.
  struct WordLevel {
    std::optional<std::uint32_t> unknown;
  };

  Vocabulary vocabulary;
  std::variant<WordLevel, BytePairEncoding> model;
  bool normalizes = false;        // to NFC
  AddedTokens raw_tokens;         // found in the text as it comes
  AddedTokens normalized_tokens;  // found in the normalised text
  std::set<std::uint32_t> special;
  std::optional<PreTokenizer> pre_tokenizer;
  std::vector<std::string> texts;  // [token], the bytes that decode writes
  std::string separator;           // between two tokens

  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
};

}  // namespace tempera::gpu
