#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// The most bytes that caches may take.
struct CacheBudget {
  std::size_t bytes = 0;  ///< 0 for no limit
  /// Whether a user gave it. Then a run that does not fit alone is refused; under any other budget
  /// it runs, alone.
  bool is_given = true;
};

/// Lets runs begin while all the memory that they can come to need fits a budget.
///
/// A run that has begun has all it needs, so it ends; runs begin in their order, so the first that
/// waits begins at the latest when no other is under way. Hence nothing waits for ever, if each run
/// fits alone (require_room) or nobody gave the budget. Which runs are under way at once changes no
/// bit of any.
class CacheAdmission {
 public:
  explicit CacheAdmission(const CacheBudget& budget)
      : budget_(budget.bytes), is_given_(budget.is_given) {}

  /// Whether so many bytes more fit.
  bool has_room(std::size_t bytes) const {
    return budget_ == 0 || (taken_ <= budget_ && bytes <= budget_ - taken_);
  }
  /// Whether a run that does not fit may begin if no other is under way.
  bool lets_one_pass() const { return !is_given_; }
  CacheBudget budget() const { return {budget_, is_given_}; }
  void take(std::size_t bytes) { taken_ += bytes; }
  void give_back(std::size_t bytes) { taken_ -= bytes; }
  /// Bytes that what is under way may come to need.
  std::size_t taken() const { return taken_; }

  /// @throw BadInput naming `which` if a run that needs this much does not fit alone
  void require_room(std::size_t bytes, const std::string& which) const;

 private:
  std::size_t budget_;
  bool is_given_;
  std::size_t taken_ = 0;
};

/// The most bytes that the caches of one run take beside those of its prompt: of each of K
/// replicas the record and `proposals`, which share with the prompt all of its full pages.
///
/// proposals: of one replica, those that are drawn ahead included. restored: whether the records
/// are computed from the prompt on, each with a prompt of its own.
std::size_t cache_bytes_of_run(const LanguageModel& model, std::size_t prompt, std::size_t horizon,
                               std::size_t replicas, std::size_t proposals, bool restored);

/// "1.5 GiB", for people.
std::string bytes_text(std::size_t bytes);

}  // namespace tempera::gpu
