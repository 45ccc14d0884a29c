#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tempera::gpu {

/// Which runs the shards of a whole run hold, a bit each; threads that read shards share it.
class HeldRuns {
 public:
  explicit HeldRuns(std::size_t runs) : runs_(runs), words_((runs + 63) / 64) {}

  /// Marks a run; false if it was marked before.
  bool mark(std::size_t run_index) {
    const std::uint64_t bit = std::uint64_t{1} << run_index % 64;
    return (words_[run_index / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }
  /// The first run without a mark, if there is one.
  std::optional<std::size_t> first_without() const {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      const std::size_t run_index =
          64 * word + static_cast<std::size_t>(std::countr_one(words_[word].load()));
      if (run_index < 64 * (word + 1))
        return run_index < runs_ ? std::optional(run_index) : std::nullopt;
    }
    return std::nullopt;
  }
  std::size_t runs() const { return runs_; }

 private:
  std::size_t runs_;
  std::vector<std::atomic<std::uint64_t>> words_;
};

}  // namespace tempera::gpu
