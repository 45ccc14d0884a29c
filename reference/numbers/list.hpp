#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// Reads rationals separated by commas, "1/2,1/3".
/// @throw BadInput, naming `where`, if one is none
std::vector<Rational> parse_rationals(std::string_view text, const std::string& where);

}  // namespace tempera::reference
