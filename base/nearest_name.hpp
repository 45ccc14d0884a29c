#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tempera {

/// The fewest insertions, removals, replacements and exchanges of neighbouring bytes, no byte
/// touched twice, that turn one text into the other (the optimal string alignment distance).
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The known name that `word` is most likely a misspelling of: the first of least edit distance, if
/// that is at most a third of the longer word's bytes (rounded).
std::optional<std::string_view> nearest_name(std::string_view word,
                                             std::span<const std::string_view> known);
std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& known);

}  // namespace tempera
