#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace tempera::gpu {

/// How long passes take by how many rows they draw, as far as that was seen. On some devices a pass
/// of many rows takes as long as one of few, and on others each row has its price.
class PassSeconds {
 public:
  /// A pass of so many rows has taken so long. @pre rows >= 1
  void note(std::size_t rows, double seconds) {
    double& mean = seconds_[size_of(rows)];
    mean = mean == 0.0 ? seconds : mean + (seconds - mean) / 8.0;
  }
  /// What a pass of so many rows is expected to take: what passes of about so many took, else those
  /// of the next more rows that were seen; 0 if none was. @pre rows >= 1
  double expected(std::size_t rows) const {
    const auto seen = std::find_if(seconds_.begin() + size_of(rows), seconds_.end(),
                                   [](double seconds) { return seconds > 0.0; });
    return seen == seconds_.end() ? 0.0 : *seen;
  }
  /// How many rows a pass is to have, of at most `most`, if those of so many shares wait, and the
  /// smallest of them has `least`: so many that the pass takes the smallest no more than its share
  /// of the time, and at least as many as give each share what the smallest has.
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
    return std::min<std::ptrdiff_t>(std::bit_width(rows) - 1, sizes - 1);
  }
  static constexpr std::ptrdiff_t sizes = 16;
  std::array<double, sizes> seconds_{};
};

}  // namespace tempera::gpu
