#include "gpu/core/model/cache_account.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tempera::gpu {

/// Cuts caches of a list back, from its beginning on, until there is room for so many bytes.
void CacheAccount::cut(Caches& caches, std::size_t bytes, const Spared& is_spared,
                       void (*give)(CountedCache&)) {
  for (auto next = caches.begin(); !has_room(bytes) && next != caches.end();) {
    CountedCache& cache = **next++;
    if (!is_spared || !is_spared(cache)) give(cache);
  }
}

bool CacheAccount::make_room_of_idle(std::size_t bytes, const Spared& is_spared) {
  cut(idle_, bytes, is_spared, [](CountedCache& cache) {
    cache.drop_unshared();
    cache.move_to(cache.account_->shared_);
  });
  cut(shared_, bytes, is_spared, [](CountedCache& cache) { cache.drop_own(); });
  return has_room(bytes);
}

bool CacheAccount::make_room(std::size_t bytes, const Spared& is_spared) {
  make_room_of_idle(bytes, is_spared);
  cut(waited_, bytes, is_spared, [](CountedCache& cache) { cache.drop_own(); });
  return has_room(bytes);
}

CountedCache::~CountedCache() {
  if (list_ != nullptr) list_->erase(place_);
}

void CountedCache::count_in(const std::shared_ptr<CacheAccount>& account) {
  if (length() > 0 || account_) throw Bug("a cache that is counted from its middle on");
  account_ = account;
  number_ = account->caches_++;
}

void CountedCache::join_as_fork(const CountedCache& source, std::size_t length) {
  is_fork_ = true;
  whole_ = source.is_fork_ ? std::min(source.whole_, length) : length;
  account_ = source.account_;
  if (!account_) return;
  source.note_use();
  number_ = account_->caches_++;
  // `length` may be less than its own: of a page that is begun nothing belongs to the source.
  CacheAccount::Caches& list = this->length() > whole_ ? account_->idle_ : account_->spent_;
  place_ = list.insert(list.end(), this);
  list_ = &list;  // only now: there may be too little memory for a place
}

void CountedCache::move_to(CacheAccount::Caches& list) const {
  list.splice(list.end(), *list_, place_);
  list_ = &list;
}

void CountedCache::note_use() const {
  if (list_ != nullptr) move_to(account_->idle_);
}

void CountedCache::drop_own() {
  if (!is_fork_) return;
  cut_to(whole_);
  if (list_ != nullptr) move_to(account_->spent_);
}

void CountedCache::begin_wait() {
  if (!holds_own()) return;
  if (length() > whole_)
    move_to(account_->waited_);
  else
    drop_own();
}

bool CountedCache::holds_own() const { return list_ != nullptr && list_ != &account_->spent_; }

void CountedCache::take(std::size_t bytes) const {
  if (!account_) return;
  account_->held_ += bytes;
  account_->most_held_ = std::max(account_->most_held_, account_->held_);
}

void CountedCache::give_back(std::size_t bytes) const {
  if (account_) account_->held_ -= bytes;
}

}  // namespace tempera::gpu
