#include "gpu/llm/text/added_tokens.hpp"

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"

namespace tempera::gpu {

void AddedTokens::add(std::string content, std::uint32_t id, Sides sides) {
  auto& tokens = tokens_[static_cast<std::uint8_t>(content[0])];
  const auto position = std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) {
    return token.content.size() < content.size();
  });
  tokens.insert(position, {std::move(content), id, sides});
}

std::vector<AddedTokens::Piece> AddedTokens::split(std::string_view text) const {
  std::vector<Piece> pieces;
  std::size_t done = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto& tokens = tokens_[static_cast<std::uint8_t>(text[begin])];
    const auto rest = text.substr(begin);
    const auto found = std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) {
      return rest.starts_with(token.content);
    });
    if (found == tokens.end()) {
      ++begin;
      continue;
    }
    // The search goes on after the token's own text: white space that it takes may begin another,
    // and then both have it, as in Hugging Face's tokenizers.
    const auto next = begin + found->content.size();
    auto end = next;
    if (found->sides.after) end += leading_white_space(text.substr(end));
    auto first = begin;
    if (found->sides.before)
      first = done < begin ? begin - trailing_white_space(text.substr(done, begin - done)) : done;
    begin = next;
    // One that would take in what is before it, and is itself in what another took, is not there.
    if (end <= first) continue;
    if (done < first) pieces.push_back({text.substr(done, first - done), std::nullopt});
    pieces.push_back({text.substr(first, end - first), found->id});
    done = end;
  }
  if (done < text.size()) pieces.push_back({text.substr(done), std::nullopt});
  return pieces;
}

}  // namespace tempera::gpu
