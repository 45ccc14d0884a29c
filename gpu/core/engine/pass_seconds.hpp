#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace tempera::gpu {

/// Estimates how long a pass takes by the number of its rows, from the passes that were seen. On
/// some devices a pass of many rows takes as long as one of few, and on others each row has its
/// price.
class PassSeconds {
 public:
  /// Takes note of a pass. @pre rows >= 1
  void note(std::size_t rows, double seconds) {
    double& mean = seconds_[size_of(rows)];
    mean = mean == 0.0 ? seconds : mean + (seconds - mean) / 8.0;
  }
  /// Returns the expected seconds of a pass: the mean of passes of about so many rows, or else of
  /// the next larger ones that were seen; 0 if none was. @pre rows >= 1
  double expected(std::size_t rows) const {
    const auto seen = std::find_if(seconds_.begin() + size_of(rows), seconds_.end(),
                                   [](double seconds) { return seconds > 0.0; });
    return seen == seconds_.end() ? 0.0 : *seen;
  }
  /// Chooses how many rows a pass has, at most `most`, if so many shares wait and the smallest has
  /// `least` rows: so many that the pass takes no longer than one for each share with `least` rows
  /// would, and at least as many as give each share what the smallest has.
  std::size_t rows(std::size_t shares, std::size_t least, std::size_t most) const {
    const std::size_t equal = std::min(most, shares * least);
    const double time = static_cast<double>(shares) * expected(least);
    std::size_t rows = most;
    while (rows > equal && expected(rows) > time) rows = std::max(equal, rows / 2);
    return rows;
  }

 private:
  /// Passes of 2^k to 2^(k + 1) - 1 rows are of one size.
  static std::ptrdiff_t size_of(std::size_t rows) {
    return std::min(static_cast<std::ptrdiff_t>(std::bit_width(rows)) - 1, sizes - 1);
  }
  static constexpr std::ptrdiff_t sizes = 16;
  std::array<double, sizes> seconds_{};
};

}  // namespace tempera::gpu
