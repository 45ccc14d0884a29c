#include "reference/in_quotes.hpp"

#include <nlohmann/json.hpp>

namespace tempera::reference {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string shown(text.substr(0, longest));
  if (text.size() > longest) shown += "...";
  return nlohmann::json(shown).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tempera::reference
