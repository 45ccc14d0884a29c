#pragma once

#include <string>
#include <vector>

namespace tempera {

/// The name with the fewest insertions, deletions, replacements and exchanges of neighbours from
/// `word`, the first of several; empty where even it needs more than a third of its letters
/// changed.
std::string nearest_name(const std::string& word, const std::vector<std::string>& names);

}  // namespace tempera
