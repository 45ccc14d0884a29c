#include "reference/nearest_key.hpp"

#include <algorithm>
#include <numeric>

namespace tempera::reference {
namespace {

// Levenshtein's distance; one row of his table at a time.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_key(std::string_view key,
                                       const std::vector<std::string>& known) {
  std::optional<std::string> nearest;
  std::size_t fewest = 0;
  for (const std::string& candidate : known) {
    // A key more than half as long again is no misspelling, and its distance would take long.
    if (2 * key.size() > 3 * candidate.size()) continue;
    const std::size_t needed = edits(key, candidate);
    if (2 * needed > candidate.size() || (nearest && needed >= fewest)) continue;
    nearest = candidate;
    fewest = needed;
  }
  return nearest;
}

}  // namespace tempera::reference
