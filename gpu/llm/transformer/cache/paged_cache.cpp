#include "gpu/llm/transformer/cache/paged_cache.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "base/error.hpp"
#include "gpu/core/model/no_room.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/cache/state_shape.hpp"

namespace tempera::gpu {

namespace {

std::size_t pages_for(std::size_t tokens) { return (tokens + page_tokens - 1) / page_tokens; }
std::size_t states_for(std::size_t tokens) { return (tokens + state_tokens - 1) / state_tokens; }

/// A page for a text of `length` tokens.
/// @throw NoRoom saying what would fit, if the memory of the device has no more
std::uint32_t page_of_pool(PagePool& pool, std::size_t length) {
  try {
    return pool.take();
  } catch (const std::bad_alloc&) {
    const std::size_t pages = pool.pages();
    const std::size_t records = pages / pages_for(length);
    throw NoRoom("the memory of the device",
                 "holds " + std::to_string(pages) + " pages of " + std::to_string(page_tokens) +
                     " tokens (" + in_gibibytes(pages * pool.page_bytes()) +
                     "), all in use: room for keys and values of " +
                     (records > 0 ? std::to_string(records) + " records of " +
                                        std::to_string(length) + " tokens each, prompt included"
                                  : "texts of " + std::to_string(pages * page_tokens) +
                                        " tokens in all, and one of " + std::to_string(length) +
                                        " is asked for"),
                 "lower --horizon, the number of rungs or --samples to what fits");
  }
}

/// A state for a text of `length` tokens.
/// @throw NoRoom saying what would fit, if the memory of the device has no more
std::uint32_t state_of_pool(PagePool& pool, std::size_t length) {
  try {
    return pool.take();
  } catch (const std::bad_alloc&) {
    throw NoRoom("the memory of the device",
                 "holds " + std::to_string(pool.pages()) + " recurrent states (" +
                     in_gibibytes(pool.pages() * pool.page_bytes()) + "), all in use: a text of " +
                     std::to_string(length) + " tokens takes " +
                     std::to_string(states_for(length)) + ", one for every " +
                     std::to_string(state_tokens) + " tokens begun",
                 "lower --horizon, the number of rungs or --samples to what fits");
  }
}

/// How many of a pool a cache comes to take that holds `held` and is written from number `first`
/// on.
std::size_t to_take(const PagePool& pool, const std::vector<std::uint32_t>& held, std::size_t first,
                    std::size_t wanted) {
  const bool is_copied = first < held.size() && pool.is_shared(held[first]);
  return (wanted > held.size() ? wanted - held.size() : 0) + (is_copied ? 1 : 0);
}

/// The first `count` of what another cache holds, held once more.
void share_first(PagePool& pool, const std::vector<std::uint32_t>& held, std::size_t count,
                 std::vector<std::uint32_t>& shared) {
  shared.assign(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(count));
  for (const auto page : shared) pool.hold(page);
}

}  // namespace

PagedCache::~PagedCache() {
  for (const auto page : pages_) release(*pool_, page);
  for (const auto state : states_) release(*state_pool_, state);
}

std::uint32_t PagedCache::take_page(std::size_t length) {
  const auto page = page_of_pool(*pool_, length);
  take(pool_->page_bytes());
  return page;
}

std::uint32_t PagedCache::take_state(std::size_t length) {
  const auto state = state_of_pool(*state_pool_, length);
  take(state_pool_->page_bytes());
  return state;
}

void PagedCache::release(PagePool& pool, std::uint32_t page) {
  if (pool.release(page)) give_back(pool.page_bytes());
}

template <class Take>
void PagedCache::make_own(PagePool& pool, std::vector<std::uint32_t>& held, std::size_t first,
                          std::size_t wanted, const Take& take, std::vector<PageCopy>& copies) {
  if (first < held.size() && pool.is_shared(held[first])) {
    copies.reserve(copies.size() + 1);
    const auto target = take();
    // The copy happens before anything is computed, and until then another cache holds the source.
    copies.push_back({held[first], target});
    release(pool, held[first]);
    held[first] = target;
  }
  held.reserve(wanted);
  while (held.size() < wanted) held.push_back(take());
}

std::unique_ptr<Cache> PagedCache::fork(std::size_t length) const {
  if (length > this->length()) throw Bug("a fork is no longer than its cache");
  auto copy = std::make_unique<PagedCache>(pool_, state_pool_);
  copy->length_ = copy->computed_ = length;
  if (state_pool_) {
    copy->text_.assign(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(length));
    // The state of the last tokens is after all of them; before it there are checkpoints.
    copy->computed_ = length >= computed_ ? computed_ : length / state_tokens * state_tokens;
    share_first(*state_pool_, states_, states_for(copy->computed_), copy->states_);
  }
  share_first(*pool_, pages_, pages_for(copy->computed_), copy->pages_);
  copy->join_as_fork(*this, length);
  return copy;
}

std::size_t PagedCache::bytes_to_reach(std::size_t length) const {
  if (length <= computed_) return 0;
  const std::size_t pages = to_take(*pool_, pages_, computed_ / page_tokens, pages_for(length));
  if (!state_pool_) return pages * pool_->page_bytes();
  return pages * pool_->page_bytes() +
         to_take(*state_pool_, states_, computed_ / state_tokens, states_for(length)) *
             state_pool_->page_bytes();
}

void PagedCache::drop_unshared() {
  std::size_t shared = pages_.size();
  while (shared > 0 && !pool_->is_shared(pages_[shared - 1])) --shared;
  cut_to(std::max(whole(), shared * page_tokens));
}

void PagedCache::cut_back(std::size_t length) {
  const std::size_t grid = state_pool_ ? state_tokens : page_tokens;
  if (length < computed_) {
    length_ = computed_ = length / grid * grid;
    if (state_pool_) text_.resize(length_);
  }
  if (pages_.size() == pages_for(computed_)) return;
  number_ = pool_->new_number();
  for (; pages_.size() > pages_for(computed_); pages_.pop_back()) release(*pool_, pages_.back());
  for (; states_.size() > states_for(computed_); states_.pop_back())
    release(*state_pool_, states_.back());
}

void PagedCache::reserve(std::size_t length, std::vector<PageCopy>& copies) {
  note_use();
  if (length <= computed_) return;
  make_own(
      *pool_, pages_, computed_ / page_tokens, pages_for(length), [&] { return take_page(length); },
      copies);
}

void PagedCache::reserve_states(std::size_t length, std::vector<PageCopy>& copies) {
  if (!state_pool_ || length <= computed_) return;
  make_own(
      *state_pool_, states_, computed_ / state_tokens, states_for(length),
      [&] { return take_state(length); }, copies);
}

void PagedCache::hold(std::span<const TokenId> tokens) {
  if (state_pool_) {
    const auto replayed = static_cast<std::ptrdiff_t>(length_ - computed_);
    text_.insert(text_.end(), tokens.begin() + replayed, tokens.end());
  }
  hold(tokens.size());
}

}  // namespace tempera::gpu
