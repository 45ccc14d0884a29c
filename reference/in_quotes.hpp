#pragma once

#include <string>
#include <string_view>

namespace tempera::reference {

/// Text that is not ours as a terminal can show it in one line: control characters escaped as in
/// JSON, invalid UTF-8 replaced, and what lies beyond 400 bytes left out.
std::string one_line(std::string_view text);

/// `text` in double quotes for a one-line message: control characters escaped, invalid UTF-8
/// replaced, and what lies beyond 80 bytes left out.
std::string in_quotes(std::string_view text);

}  // namespace tempera::reference
