#include "base/nearest_name.hpp"

#include <algorithm>
#include <vector>

namespace tempera {

std::size_t edit_distance(std::string_view from, std::string_view to) {
  const std::size_t columns = to.size() + 1;
  // Row i holds the distances of the first i bytes of `from` to every prefix of `to`.
  std::vector<std::size_t> before(columns), last(columns), row(columns);
  for (std::size_t j = 0; j < columns; ++j) last[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < columns; ++j) {
      const bool differ = from[i - 1] != to[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (differ ? 1 : 0)});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last.back();
}

std::optional<std::string_view> nearest_name(std::string_view word,
                                             std::span<const std::string_view> known) {
  std::optional<std::string_view> nearest;
  std::size_t least = 0;
  for (const std::string_view candidate : known) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t allowed = (longer + 1) / 3;
    // The difference in length is a lower bound, which keeps a long text from costing anything.
    if (longer - std::min(word.size(), candidate.size()) > allowed) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance > allowed || (nearest && distance >= least)) continue;
    nearest = candidate;
    least = distance;
  }
  return nearest;
}

std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto nearest = nearest_name(word, names);
  return nearest ? std::optional<std::string>(*nearest) : std::nullopt;
}

}  // namespace tempera
