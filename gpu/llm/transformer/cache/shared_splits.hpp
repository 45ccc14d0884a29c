#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/llm/transformer/cache/slot_tables.hpp"

namespace tempera::gpu {

/// Pages of a split: 256 positions, which share a largest score (docs/reference/arithmetic.md).
constexpr std::size_t split_pages = 16;

/// Which slots of a step hold the same pages, split by split, so that a device reads these once for
/// all of them: forks share the pages of their prefix. Only whole splits count that end before the
/// page of a record's last token, which is written. It changes no bit.
///
/// Every split of a slot has a number, and two slots have the same one just if their pages are the
/// same up to the end of that split. Numbers are found when a split is new to a slot, and kept.
class SharedSplits {
 public:
  /// No slot holds anything.
  void forget();

  /// From now on the slot holds the list, whose last page is that of its record's last token.
  /// Range: slot < 2^32 - 1.
  void hold(std::uint32_t slot, const PageList& list);

  /// A slot's place in an order in which slots that share are neighbours.
  struct Place {
    std::uint32_t slot;
    std::uint32_t splits;  // that it shares with the slot before it

    friend bool operator==(const Place&, const Place&) = default;
  };
  /// The first `slots` slots, each once. It is put in order anew only if a split has come or gone.
  std::span<const Place> order(std::size_t slots);
  /// Whether at least half of the splits of these are shared with the slot before. Of fewer, blocks
  /// that take rows together are predicted to take longer than blocks of rows alone, of which a
  /// device has more at a time (bench/results/diary.md).
  bool is_half_shared(std::size_t slots);

  /// Splits that were compared with those of other slots, or with what their own slot held: a
  /// step's work that could grow with the context.
  std::uint64_t compared() const { return compared_; }

 private:
  struct Slot {
    std::uint64_t list = 0;            // whose pages these are, 0 for nobody's
    std::vector<std::uint32_t> pages;  // of whole splits
    std::vector<std::uint64_t> numbers;
  };
  std::uint64_t number_of(std::uint32_t slot, std::size_t split);
  std::size_t shared_by(const Slot& a, const Slot& b) const;

  std::vector<Slot> slots_;
  std::vector<Place> order_;
  std::uint64_t last_number_ = 0;
  std::uint64_t compared_ = 0;
  bool is_half_shared_ = false;
};

}  // namespace tempera::gpu
