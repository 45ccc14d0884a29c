#include "gpu/input/in_quotes.hpp"

#include "gpu/input/utf8.hpp"

namespace tempera::gpu {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  const bool is_cut = text.size() > longest;
  std::string result = "\"";
  for (const char c : replace_invalid_utf8(text.substr(0, longest))) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    result += is_control ? '?' : c;
  }
  result += is_cut ? "...\"" : "\"";
  return result;
}

}  // namespace tempera::gpu
