#pragma once

#include <string>
#include <string_view>

namespace tempera {

/// The text with the letters A to Z made small, whatever the locale.
inline std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace tempera
