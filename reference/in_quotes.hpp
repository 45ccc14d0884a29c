#pragma once

#include <string>
#include <string_view>

namespace tempera::reference {

/// `text` in double quotes for a one-line message: control characters escaped, invalid UTF-8
/// replaced, and what lies beyond 80 bytes left out.
std::string in_quotes(std::string_view text);

}  // namespace tempera::reference
