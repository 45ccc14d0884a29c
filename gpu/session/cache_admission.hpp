#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "gpu/core/model/cache_account.hpp"
#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// Lets runs begin while the memory that they are counted for fits a budget: a whole record for
/// each row that they can draw at once (cache_bytes_of_rows), or fewer where a session says so, and
/// their prompts.
///
/// Records whose proposals are drawn, and proposals that wait for their turn, are not counted: they
/// are cut back if memory is short (CacheAccount). So a run that has begun ends if one of its rows
/// fits beside the prompts of all runs, which what is counted is at least. Runs begin in their
/// order, the first at the latest when no other is under way, so nothing waits for ever, if one row
/// of each run fits alone (require_room) or nobody gave the budget. Which runs are under way at
/// once changes no bit of any.
class CacheAdmission {
 public:
  explicit CacheAdmission(const CacheBudget& budget) : budget_(budget) {}

  /// Whether so many bytes more fit.
  bool has_room(std::size_t bytes) const { return budget_.has_room(taken_, bytes); }
  /// Bytes that are not counted for any run.
  std::size_t free() const {
    constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
    return budget_.bytes == 0 ? all : budget_.bytes - std::min(taken_, budget_.bytes);
  }
  const CacheBudget& budget() const { return budget_; }
  /// The memory that a client's request of so many bytes leaves free: an eighth of the budget, and
  /// nothing if it fits into that. So those that need little never wait for one that needs much.
  std::size_t left_beside(std::size_t bytes) const {
    const std::size_t eighth = budget_.bytes / 8;
    return bytes <= eighth ? 0 : eighth;
  }
  void take(std::size_t bytes) { taken_ += bytes; }
  void give_back(std::size_t bytes) { taken_ -= bytes; }
  /// Bytes that what is under way is counted for.
  std::size_t taken() const { return taken_; }

  /// @throw BadInput naming `which` if a run that needs this much at least, and leaves so much
  /// free, does not fit alone
  void require_room(std::size_t bytes, std::size_t left, const std::string& which) const;

 private:
  CacheBudget budget_;
  std::size_t taken_ = 0;
};

/// The most bytes that so many whole records take beside the cache of their prompt, with which they
/// share all of its full pages.
std::size_t cache_bytes_of_rows(const LanguageModel& model, std::size_t prompt, std::size_t horizon,
                                std::size_t rows);

/// "1.5 GiB", for people.
std::string bytes_text(std::size_t bytes);

}  // namespace tempera::gpu
