#include "gpu/core/model/cache_account.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tempera::gpu {

bool CacheAccount::make_room(std::size_t bytes, const Spared& is_spared) {
  for (const bool is_all : {false, true})
    for (auto next = forks_.begin(); !has_room(bytes) && next != forks_.end(); ++next) {
      if (is_spared(**next)) continue;
      is_all ? (*next)->drop_own() : (*next)->drop_unshared();
    }
  return has_room(bytes);
}

CountedCache::~CountedCache() {
  if (account_ && is_fork_) account_->forks_.erase(place_);
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
  place_ = account_->forks_.insert(account_->forks_.end(), this);
}

void CountedCache::note_use() const {
  if (account_ && is_fork_)
    account_->forks_.splice(account_->forks_.end(), account_->forks_, place_);
}

void CountedCache::take(std::size_t bytes) const {
  if (!account_) return;
  account_->held_ += bytes;
  account_->most_held_ = std::max(account_->most_held_, account_->held_);
}

void CountedCache::give_back(std::size_t bytes) const {
  if (account_) account_->held_ -= bytes;
}

}  // namespace tempera::gpu
