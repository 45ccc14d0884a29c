#pragma once

#include <string>
#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::cli {

/// A fraction such as 3/8 or a decimal such as 0.25, without leading zeros.
/// @throw BadInput naming `flag`
reference::Rational parse_fraction(const std::string& text, const std::string& flag);
/// A list of them.
/// @throw BadInput naming `flag`
std::vector<reference::Rational> parse_fractions(const std::string& list, const std::string& flag);

}  // namespace tempera::cli
