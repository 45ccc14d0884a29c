#include "gpu/llm/transformer/cache/shared_splits.hpp"

#include <algorithm>

namespace tempera::gpu {

namespace {

std::span<const std::uint32_t> pages_of(std::span<const std::uint32_t> pages, std::size_t split) {
  return pages.subspan(split * split_pages, split_pages);
}

}  // namespace

void SharedSplits::forget() {
  slots_.clear();
  order_.clear();
}

void SharedSplits::hold(std::uint32_t slot, const PageList& list) {
  if (slots_.size() <= slot) slots_.resize(slot + 1);
  Slot& of = slots_[slot];
  const std::size_t wholes = list.pages.empty() ? 0 : (list.pages.size() - 1) / split_pages;
  // A list of the same number changes nowhere before its last page.
  const bool is_same = list.number != 0 && of.list == list.number;
  const std::size_t known = std::min(of.numbers.size(), wholes);
  std::size_t kept = is_same ? known : 0;
  for (; kept < known; ++kept) {
    ++compared_;
    if (!std::ranges::equal(pages_of(of.pages, kept), pages_of(list.pages, kept))) break;
  }
  of.list = list.number;
  if (kept == of.numbers.size() && kept == wholes) return;
  order_.clear();  // it is made anew
  of.numbers.resize(kept);
  of.pages.resize(kept * split_pages);
  const auto fresh = list.pages.first(wholes * split_pages).subspan(kept * split_pages);
  of.pages.insert(of.pages.end(), fresh.begin(), fresh.end());
  for (std::size_t split = kept; split < wholes; ++split)
    of.numbers.push_back(number_of(slot, split));
}

/// The number of a split of the slot, whose splits before it have theirs.
std::uint64_t SharedSplits::number_of(std::uint32_t slot, std::size_t split) {
  const Slot& of = slots_[slot];
  for (const Slot& other : slots_) {
    if (&other == &of || other.numbers.size() <= split) continue;
    ++compared_;
    if (split > 0 && other.numbers[split - 1] != of.numbers[split - 1]) continue;
    if (std::ranges::equal(pages_of(other.pages, split), pages_of(of.pages, split)))
      return other.numbers[split];
  }
  return ++last_number_;
}

/// The leading splits that two slots share.
std::size_t SharedSplits::shared_by(const Slot& a, const Slot& b) const {
  // Where two numbers are the same, all before them are.
  const std::size_t most = std::min(a.numbers.size(), b.numbers.size());
  std::size_t same = 0;
  for (std::size_t differs = most; same < differs;) {
    const std::size_t middle = (same + differs) / 2;
    if (a.numbers[middle] == b.numbers[middle]) {
      same = middle + 1;
    } else {
      differs = middle;
    }
  }
  return same;
}

std::span<const SharedSplits::Place> SharedSplits::order(std::size_t slots) {
  if (slots_.size() < slots) slots_.resize(slots);
  if (order_.size() == slots) return order_;
  order_.resize(slots);
  for (std::uint32_t slot = 0; slot < slots; ++slot) order_[slot] = {slot, 0};
  // As words are in a dictionary: those that begin alike are neighbours.
  std::ranges::sort(order_, [&](const Place& a, const Place& b) {
    const Slot& first = slots_[a.slot];
    const Slot& second = slots_[b.slot];
    const std::size_t shared = shared_by(first, second);
    const bool first_ends = shared == first.numbers.size();
    const bool second_ends = shared == second.numbers.size();
    if (first_ends || second_ends) return first_ends && second_ends ? a.slot < b.slot : first_ends;
    return first.numbers[shared] < second.numbers[shared];
  });
  for (std::size_t i = 1; i < slots; ++i) {
    order_[i].splits =
        static_cast<std::uint32_t>(shared_by(slots_[order_[i - 1].slot], slots_[order_[i].slot]));
  }
  // Those that share nothing are last: a device takes rows by fours or eights from the first on.
  std::vector<Place> alone;
  std::size_t sharing = 0;
  for (std::size_t i = 0; i < slots; ++i) {
    const bool leads = i + 1 < slots && order_[i + 1].splits > 0;
    if (leads || order_[i].splits > 0) {
      order_[sharing++] = order_[i];
    } else {
      alone.push_back(order_[i]);
    }
  }
  std::ranges::copy(alone, order_.begin() + static_cast<std::ptrdiff_t>(sharing));
  std::size_t all = 0;
  std::size_t shared = 0;
  for (const Place& place : order_) {
    all += slots_[place.slot].numbers.size();
    shared += place.splits;
  }
  is_half_shared_ = shared > 0 && 2 * shared >= all;
  return order_;
}

bool SharedSplits::is_half_shared(std::size_t slots) {
  order(slots);
  return is_half_shared_;
}

}  // namespace tempera::gpu
