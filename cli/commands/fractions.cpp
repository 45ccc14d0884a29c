#include "cli/commands/fractions.hpp"

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "cli/terminal/option_values.hpp"

namespace tempera::cli {

reference::Rational parse_fraction(const std::string& text, const std::string& flag) {
  if (!is_fraction(text))
    throw BadInput(
        flag, in_quotes(text) + " is not a number",
        "write a fraction such as 3/8 or a decimal such as 0.25 or 1e-9, without leading zeros; "
        "a list has commas and no spaces");
  return reference::parse_rational(text, flag);
}

std::vector<reference::Rational> parse_fractions(const std::string& list, const std::string& flag) {
  std::vector<reference::Rational> values;
  for (const std::string& part : parts_between_commas(list))
    values.push_back(parse_fraction(part, flag));
  return values;
}

}  // namespace tempera::cli
