#pragma once

#include <string_view>

#include "base/held_json.hpp"

namespace tempera::serve {

/// The object that the body of a request spells; errors call it "body".
/// @throw BadInput for what is not one JSON object in UTF-8, as parse_json
HeldJson parse_body(std::string_view text);

}  // namespace tempera::serve
