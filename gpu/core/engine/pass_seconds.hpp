#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace tempera::gpu {

/// Estimates how long a pass takes by the number of its tokens, from the passes that were seen. On
/// some devices a pass of many tokens takes as long as one of few, and on others each token has its
/// price.
class PassSeconds {
 public:
  /// Takes note of a pass. @pre tokens >= 1
  void note(std::size_t tokens, double seconds) {
    Size& seen = seen_[size_of(tokens)];
    // The first passes count as their mean, later ones fade.
    const double weight = 1.0 / static_cast<double>(seen.passes = std::min(seen.passes + 1, 8));
    seen.tokens += (static_cast<double>(tokens) - seen.tokens) * weight;
    seen.seconds += (seconds - seen.seconds) * weight;
  }
  /// Returns the expected seconds of a pass: on the line between the means of smaller and of larger
  /// passes that were seen. If all that were seen are larger, on the line of the two smallest, but
  /// no more than the smallest takes and no less than its part by tokens. 0 if all are smaller.
  /// @pre tokens >= 1
  double expected(std::size_t tokens) const {
    const auto asked = static_cast<double>(tokens);
    const auto is_seen = [](const Size& size) { return size.passes > 0; };
    const auto first = std::find_if(seen_.begin(), seen_.end(), is_seen);
    if (first == seen_.end()) return 0.0;
    if (asked < first->tokens) {
      const double part = first->seconds * asked / first->tokens;
      const auto second = std::find_if(first + 1, seen_.end(), is_seen);
      return second == seen_.end()
                 ? part
                 : std::clamp(on_line(*first, *second, asked), part, first->seconds);
    }
    for (auto lower = first; lower != seen_.end();) {
      if (lower->tokens == asked) return lower->seconds;
      const auto upper = std::find_if(lower + 1, seen_.end(), is_seen);
      if (upper != seen_.end() && upper->tokens >= asked) return on_line(*lower, *upper, asked);
      lower = upper;
    }
    return 0.0;
  }
  /// Chooses how many tokens a pass has, at most `most`, if so many clients wait and the smallest
  /// asks for `least`: so many that the pass takes no longer than one for each client with `least`
  /// tokens would, and at least as many as give each client what the smallest has. A pass larger
  /// than all that were seen is tried once.
  std::size_t tokens(std::size_t clients, std::size_t least, std::size_t most) const {
    const std::size_t equal = std::min(most, clients * least);
    const double time = static_cast<double>(clients) * expected(least);
    std::size_t tokens = most;
    while (tokens > equal && expected(tokens) > time) tokens = std::max(equal, tokens / 2);
    return tokens;
  }

 private:
  struct Size {
    int passes = 0;
    double tokens = 0.0;
    double seconds = 0.0;
  };
  static double on_line(const Size& a, const Size& b, double tokens) {
    return a.seconds + (b.seconds - a.seconds) * (tokens - a.tokens) / (b.tokens - a.tokens);
  }
  /// Passes of 2^k to 2^(k + 1) - 1 tokens are of one size.
  static std::ptrdiff_t size_of(std::size_t tokens) {
    return std::min(static_cast<std::ptrdiff_t>(std::bit_width(tokens)) - 1, sizes - 1);
  }
  static constexpr std::ptrdiff_t sizes = 24;
  std::array<Size, sizes> seen_{};
};

}  // namespace tempera::gpu
