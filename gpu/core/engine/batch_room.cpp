// Which of the requests that wait have memory for their caches.
#include <algorithm>
#include <functional>
#include <string>

#include "gpu/core/engine/engine.hpp"
#include "gpu/core/model/no_room.hpp"

namespace tempera::gpu {

/// Makes room for a request that was taken out of its queue. Those of the batch whose turn is later
/// go aside for it. Returns false if it is to wait itself.
bool Engine::has_room(Request& request, std::vector<Request*>& aside) {
  request.bytes_ = 0;
  if (account_ == nullptr) return true;
  // A prefix is computed once for all who ask for it.
  const auto has_its_cache = [&](const Request* other) {
    return &other->cache_ == &request.cache_;
  };
  if (!request.draw_ && std::any_of(batch_.begin(), batch_.end(), has_its_cache)) return true;
  if (!fits(request) && !cut_back_for(request, aside)) {
    if (by_rank_.back()->rank() < request.rank()) return false;
    // It is alone, and all that can be given back is.
    const CacheBudget& budget = account_->budget();
    if (budget.is_given)
      request.failure_ = std::make_exception_ptr(
          NoRoom("cache memory",
                 std::to_string(budget.bytes) + " bytes cannot hold a text of " +
                     std::to_string(request.reach_) + " tokens",
                 "give more, or lower the horizon"));
  }
  batch_bytes_ += request.bytes_;
  return true;
}

/// Asks what a request needs, which changes as caches are cut back: a page that it shares becomes
/// its own, and need not be copied. Returns whether there is room for it beside the batch.
bool Engine::fits(Request& request) {
  request.bytes_ = request.cache_.bytes_to_reach(request.reach_);
  return account_->has_room(batch_bytes_ + request.bytes_);
}

/// Cuts caches back until there is room for a request, or nothing is left that may be cut back for
/// it. Returns whether there is room.
bool Engine::cut_back_for(Request& request, std::vector<Request*>& aside) {
  if (by_rank_.empty()) list_by_rank(request, aside);
  const auto is_waited_for = [&](const Cache& cache) {
    return std::binary_search(waited_for_.begin(), waited_for_.end(), &cache);
  };
  if (is_idle_left_)
    is_idle_left_ = account_->make_room(batch_bytes_ + request.bytes_, is_waited_for);
  for (Request* const later : by_rank_) {
    if (!(request.rank() < later->rank()) || fits(request)) break;
    // All who ask for its cache, a prefix, go aside: the pass is counted for the first of them.
    const auto asks_for_it = [&](const Request* asking) {
      return &asking->cache_ == &later->cache_;
    };
    const auto stays =
        std::stable_partition(batch_.begin(), batch_.end(), std::not_fn(asks_for_it));
    for (auto gone = stays; gone != batch_.end(); ++gone) batch_bytes_ -= (*gone)->bytes_;
    aside.insert(aside.end(), stays, batch_.end());
    batch_.erase(stays, batch_.end());
    later->cache_.drop_own();
  }
  return fits(request);
}

/// Lists all that wait, those in the batch that is being made and aside among them.
void Engine::list_by_rank(Request& request, std::vector<Request*>& aside) {
  by_rank_ = {&request};
  by_rank_.insert(by_rank_.end(), batch_.begin(), batch_.end());
  by_rank_.insert(by_rank_.end(), aside.begin(), aside.end());
  for (const FairQueue<Request>* queue : {&needed_, &ahead_})
    queue->for_each([&](Request* waiting) { by_rank_.push_back(waiting); });
  std::sort(by_rank_.begin(), by_rank_.end(),
            [](const Request* a, const Request* b) { return b->rank() < a->rank(); });
  waited_for_.clear();
  for (const Request* waiting : by_rank_) waited_for_.push_back(&waiting->cache_);
  std::sort(waited_for_.begin(), waited_for_.end());
  is_idle_left_ = true;
}

}  // namespace tempera::gpu
