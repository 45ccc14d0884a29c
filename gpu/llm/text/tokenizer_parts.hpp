#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "gpu/llm/text/added_tokens.hpp"
#include "gpu/llm/text/byte_pair_encoding.hpp"
#include "gpu/llm/text/normalizer.hpp"
#include "gpu/llm/text/pre_tokenizer.hpp"
#include "gpu/llm/text/tokenizer.hpp"

namespace tempera::gpu {

/// What a tokenizer is made of. Stays where it was made: `model` refers to `vocabulary`.
struct Tokenizer::Parts {
  /// One token per word; `unknown` for a word that is none.
  struct WordLevel {
    std::optional<std::uint32_t> unknown;
  };

  std::string file;  // where all this was read, for errors
  Vocabulary vocabulary;
  std::variant<WordLevel, BytePairEncoding> model;
  Normalizer normalizer;
  AddedTokens raw_tokens;                      // found in the text as it comes
  AddedTokens normalized_tokens;               // found in the normalised text
  std::map<std::uint32_t, std::string> added;  // all those, by the text that they are found by
  std::optional<PreTokenizer> pre_tokenizer;
  std::vector<std::uint32_t> beginning;  // before a text that is no part of a conversation
  std::vector<std::string> texts;        // [token], the bytes that decode writes
  std::map<std::uint32_t, std::string> first_texts;  // of tokens that begin a text otherwise
  std::set<std::uint32_t> bytes;   // tokens that stand for a byte each: see TextStream
  std::string separator;           // between two tokens
  std::size_t leading_spaces = 0;  // how many decode takes off the start

  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
};

/// The token of each byte, spelled "<0x00>" to "<0xFF>" in the vocabulary.
/// @throw BadInput naming `where` if one is missing
BytePairEncoding::ByteTokens byte_tokens(const Vocabulary& vocabulary, const std::string& where);

/// The byte that "<0x0A>" spells, or nothing.
std::optional<char> spelled_byte(std::string_view token);

}  // namespace tempera::gpu
