#include "gpu/llm/text/byte_pair_encoding.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <queue>
#include <tuple>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/utf8.hpp"
#include "gpu/llm/text/encoding_stop.hpp"
#include "gpu/llm/text/token_limit.hpp"

namespace tempera::gpu {

namespace {

/// Symbols of a word that is encoded at once, whatever it has.
constexpr std::size_t a_few = 4096;

std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) {
  return static_cast<std::uint64_t>(left) << 32 | right;
}

/// A character as an error names it: a control character, which in_quotes shows as "?", by its
/// number.
std::string character_name(std::string_view piece) {
  if (piece == "?" || in_quotes(piece) != "\"?\"") return in_quotes(piece);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(piece[i]); };
  unsigned code = byte(0);
  if (piece.size() > 1) code = piece.size() == 2 ? code & 0x1FU : code & 0xFU;
  for (std::size_t i = 1; i < piece.size(); ++i) code = code << 6 | (byte(i) & 0x3FU);
  char name[32];
  std::snprintf(name, sizeof name, "the character U+%04X", code);
  return name;
}

}  // namespace

void refuse_untokenizable(std::string_view piece, const std::string& where,
                          const std::string& file) {
  throw BadInput(where, character_name(piece) + " has no token in " + file,
                 "leave it out, or mend the file if it should have one");
}

void BytePairEncoding::add_merge(std::uint32_t left, std::uint32_t right, std::uint32_t merged) {
  merges_[pair_key(left, right)] = {ranks_++, merged};
}

const BytePairEncoding::Merge* BytePairEncoding::find(std::uint32_t left,
                                                      std::uint32_t right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

std::vector<std::uint32_t> BytePairEncoding::characters(std::string_view word,
                                                        const std::string& where) const {
  std::vector<std::uint32_t> tokens;
  bool after_unknown = false;
  while (!word.empty()) {
    const auto character = word.substr(0, utf8_character_length(word));
    const auto found = vocabulary_->find(std::string(character));
    if (found != vocabulary_->end()) {
      tokens.push_back(found->second);
    } else if (bytes_) {
      for (const char byte : character)
        tokens.push_back((*bytes_)[static_cast<std::uint8_t>(byte)]);
    } else if (!unknown_) {
      refuse_untokenizable(character, where, file_);
    } else if (!(unknown_->fuses && after_unknown)) {
      tokens.push_back(unknown_->token);
    }
    after_unknown = found == vocabulary_->end();
    word.remove_prefix(character.size());
  }
  return tokens;
}

/// In characters, none of which a merge adds.
std::size_t BytePairEncoding::longest_token() const {
  std::size_t longest = 1;
  for (const auto& [text, token] : *vocabulary_) {
    std::size_t characters = 0;
    for (std::size_t at = 0; at < text.size(); ++characters)
      at += std::max<std::size_t>(1, utf8_character_length(std::string_view(text).substr(at)));
    longest = std::max(longest, characters);
  }
  return longest;
}

std::vector<std::uint32_t> BytePairEncoding::encode(std::string_view word,
                                                    const std::string& where) const {
  if (takes_whole_words_) {
    const auto found = vocabulary_->find(std::string(word));
    if (found != vocabulary_->end()) return {found->second};
  }
  auto tokens = characters(word, where);
  if (tokens.empty()) return tokens;
  if (TokenLimit::is_set() && tokens.size() > a_few)
    TokenLimit::check_word(tokens.size() / longest_token());
  // The tokens as a list, so that a merge costs no move: the right one of a merged pair is
  // unlinked.
  const std::size_t end = tokens.size();
  std::vector<std::size_t> next(end);
  std::vector<std::size_t> previous(end);
  std::vector<bool> is_linked(end, true);
  for (std::size_t i = 0; i < end; ++i) {
    next[i] = i + 1;
    previous[i] = i == 0 ? end : i - 1;
  }
  // (rank, place, left, right): a candidate whose tokens have since merged otherwise is stale.
  using Candidate = std::tuple<std::size_t, std::size_t, std::uint32_t, std::uint32_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto consider = [&](std::size_t left) {
    if (left == end || next[left] == end) return;
    const auto right = tokens[next[left]];
    if (const auto* merge = find(tokens[left], right)) {
      candidates.emplace(merge->rank, left, tokens[left], right);
    }
  };
  for (std::size_t i = 0; i < end; ++i) consider(i);
  for (std::size_t steps = 1; !candidates.empty(); ++steps) {
    if (steps % a_few == 0) EncodingStop::check();
    const auto [rank, position, left, right] = candidates.top();
    candidates.pop();
    if (!is_linked[position] || tokens[position] != left) continue;
    const std::size_t partner = next[position];
    if (partner == end || tokens[partner] != right) continue;
    tokens[position] = find(left, right)->merged;
    is_linked[partner] = false;
    next[position] = next[partner];
    if (next[position] != end) previous[next[position]] = position;
    consider(previous[position]);
    consider(position);
  }
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < end; i = next[i]) result.push_back(tokens[i]);
  return result;
}

}  // namespace tempera::gpu
