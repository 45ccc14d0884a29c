#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tempera::serve {

/// The paths that need no key: they tell nothing of clients, and the page asks for the key itself.
/// Every other path needs it, whether it exists or not. GET /openapi.json says so from this list.
inline constexpr std::array<std::string_view, 3> public_paths{"/", "/health", "/openapi.json"};

inline bool is_public(std::string_view path) {
  return std::find(public_paths.begin(), public_paths.end(), path) != public_paths.end();
}

}  // namespace tempera::serve
