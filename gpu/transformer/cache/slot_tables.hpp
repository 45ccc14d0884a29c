#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/model/language_model.hpp"

namespace tempera::gpu {

/// One entry of a page table: page `index` of the record in slot `slot`.
struct PageEntry {
  std::uint32_t slot;
  std::uint32_t index;
  std::uint32_t page;

  friend bool operator==(const PageEntry&, const PageEntry&) = default;
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

  /// Appends the entries by which the slot's table on the device is not yet `pages`; from then on
  /// it is taken to be that. Entries after them stay as they are.
  void hold(std::uint32_t slot, std::span<const std::uint32_t> pages,
            std::vector<PageEntry>& entries);

 private:
  struct Slot {
    const Cache* record = nullptr;
    std::vector<std::uint32_t> pages;  // the device's table, as far as it is known
  };
  std::vector<Slot> slots_;
};

}  // namespace tempera::gpu
