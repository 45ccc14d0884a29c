#include "base/nearest_name.hpp"

#include <algorithm>

namespace tempera {
namespace {

/// The optimal string alignment distance.
std::size_t changes(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const bool differ = a[i - 1] != b[j - 1];
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (differ ? 1 : 0)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest_name(const std::string& word, const std::vector<std::string>& names) {
  // Nobody mistypes a name into something much longer.
  if (word.size() > 64) return "";
  std::string nearest;
  std::size_t fewest = word.size() + 64;
  for (const std::string& name : names) {
    const std::size_t needed = changes(word, name);
    if (needed < fewest && 3 * needed <= std::max(name.size(), std::size_t{3})) {
      nearest = name;
      fewest = needed;
    }
  }
  return nearest;
}

}  // namespace tempera
