#pragma once

#include <string>

namespace tempera::serve {

/// `prefix` and 24 hexadecimal digits of the machine's entropy: a name that nobody else has.
std::string fresh_id(const std::string& prefix);

}  // namespace tempera::serve
