#include "gpu/llm/transformer/cache/slot_tables.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace tempera::gpu {

namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void SlotTables::forget() { slots_.clear(); }

std::vector<std::uint32_t> SlotTables::assign(std::span<const Cache* const> records,
                                              std::size_t slots) {
  if (slots_.size() < slots) slots_.resize(slots);
  std::map<const Cache*, std::uint32_t> before;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    if (slots_[slot].record != nullptr) before.emplace(slots_[slot].record, slot);
  }
  // Those that had a slot take it and leave the others to the rest.
  for (Slot& slot : slots_) slot.record = nullptr;
  std::vector<std::uint32_t> chosen(records.size(), nowhere);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto found = before.find(records[i]);
    if (found == before.end()) continue;
    chosen[i] = found->second;
    slots_[found->second].record = records[i];
  }
  std::uint32_t free = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (chosen[i] != nowhere) continue;
    while (slots_[free].record != nullptr) ++free;
    chosen[i] = free;
    slots_[free].record = records[i];
  }
  return chosen;
}

void SlotTables::hold(std::uint32_t slot, const PageList& list, std::vector<PageEntry>& entries) {
  Slot& of = slots_[slot];
  const std::span<const std::uint32_t> pages = list.pages;
  const bool is_same = list.number != 0 && of.list == list.number && of.held > 0;
  const std::size_t unchanged = is_same ? of.held - 1 : 0;
  if (of.pages.size() < pages.size()) of.pages.resize(pages.size(), nowhere);
  for (std::size_t index = unchanged; index < pages.size(); ++index) {
    ++compared_;
    if (of.pages[index] == pages[index]) continue;
    of.pages[index] = pages[index];
    entries.push_back({slot, static_cast<std::uint32_t>(index), pages[index]});
  }
  of.list = list.number;
  of.held = pages.size();
}

}  // namespace tempera::gpu
