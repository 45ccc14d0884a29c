#include "gpu/text/added_tokens.hpp"

#include <algorithm>
#include <utility>

namespace tempera::gpu {

void AddedTokens::add(std::string content, std::uint32_t id) {
  auto& tokens = tokens_[static_cast<std::uint8_t>(content[0])];
  const auto place = std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) {
    return token.content.size() < content.size();
  });
  tokens.insert(place, {std::move(content), id});
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
    if (done < begin) pieces.push_back({text.substr(done, begin - done), std::nullopt});
    pieces.push_back({rest.substr(0, found->content.size()), found->id});
    begin += found->content.size();
    done = begin;
  }
  if (done < text.size()) pieces.push_back({text.substr(done), std::nullopt});
  return pieces;
}

}  // namespace tempera::gpu
