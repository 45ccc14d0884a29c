#pragma once

#include <string>
#include <string_view>

namespace tempera::gpu {

/// Text from a file as an error can show it in one line: in double quotes, control characters and
/// ill-formed UTF-8 replaced, what is longer than 80 bytes cut.
std::string in_quotes(std::string_view text);

}  // namespace tempera::gpu
