#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/lower_case.hpp"

namespace tempera::serve {

/// Whether the texts are equal. Which bytes are read, and how often, depends on the two lengths
/// alone: so the time tells nobody how much of a guess is right.
/// @tparam Given, Key have size(), and operator[] for bytes
/// @pre the key is not empty
template <class Given, class Key>
bool is_same_key(const Given& given, const Key& key) {
  // The compiler may not end the loop early: what it computes is written to memory each time.
  volatile unsigned differs = given.size() == key.size() ? 0U : 1U;
  for (std::size_t i = 0; i < given.size(); ++i)
    differs = differs | (static_cast<unsigned char>(given[i]) ^
                         static_cast<unsigned char>(key[i % key.size()]));
  return differs == 0;
}

/// The token of an Authorization header of the scheme Bearer, whose letters have no case (RFC 9110,
/// section 11.1); nothing for other schemes.
inline std::optional<std::string_view> bearer_token(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer ";
  if (in_lower_case(authorization.substr(0, scheme.size())) != scheme) return std::nullopt;
  authorization.remove_prefix(scheme.size());
  authorization.remove_prefix(std::min(authorization.find_first_not_of(' '), authorization.size()));
  return authorization;
}

}  // namespace tempera::serve
