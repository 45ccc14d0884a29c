#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::reference {

/// The known key that `key` probably meant: of those that need the fewest insertions, removals and
/// replacements of bytes to become it, the first, if that is at most half its length.
std::optional<std::string> nearest_key(std::string_view key, const std::vector<std::string>& known);

}  // namespace tempera::reference
