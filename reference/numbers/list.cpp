#include "reference/numbers/list.hpp"

#include <algorithm>

namespace tempera::reference {

std::vector<Rational> parse_rationals(std::string_view text, const std::string& where) {
  std::vector<Rational> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(parse_rational(text.substr(begin, end - begin), where));
    begin = end + 1;
  }
  return values;
}

}  // namespace tempera::reference
