#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// One entry of a page table: page `index` of the record in slot `slot`.
struct PageEntry {
  std::uint32_t slot;
  std::uint32_t index;
  std::uint32_t page;

  friend bool operator==(const PageEntry&, const PageEntry&) = default;
};

/// The first pages, or states, of a record. All lists of one record have one number. A later list
/// has the pages of the earlier one, of which only the last may be another. Number 0 belongs to no
/// record: two lists of that number may differ anywhere.
struct PageList {
  std::uint64_t number;
  std::span<const std::uint32_t> pages;
};

/// What a device holds of the page tables of its slots, so that a step sends the entries that have
/// changed and no others. A slot is a row of a step: a record keeps its slot from step to step
/// if it can. Which slot it has changes what is sent, and no bit.
class SlotTables {
 public:
  /// Nothing is known of what the device holds.
  void forget();

  /// Slots of the records, in their order, all below `slots`: for each the one that it had, if
  /// that is one of them, else one that is free. Range: at most `slots` records, all different.
  std::vector<std::uint32_t> assign(std::span<const Cache* const> records, std::size_t slots);

  /// Appends the entries by which the slot's table on the device is not yet `list`; from then on
  /// it is taken to be that. Entries after them stay as they are. Of the list that the slot held
  /// last, it looks at the last page that it knows and at those after it: a PageList changes
  /// nowhere before them.
  void hold(std::uint32_t slot, const PageList& list, std::vector<PageEntry>& entries);

  /// Pages that `hold` has looked at so far: a step's work that could grow with the context.
  std::uint64_t compared() const { return compared_; }

 private:
  struct Slot {
    const Cache* record = nullptr;
    std::vector<std::uint32_t> pages;  // the device's table, as far as it is known
    std::uint64_t list = 0;            // whose pages the table has, 0 for nobody's
    std::size_t held = 0;              // how many of them
  };
  std::vector<Slot> slots_;
  std::uint64_t compared_ = 0;
};

}  // namespace tempera::gpu
