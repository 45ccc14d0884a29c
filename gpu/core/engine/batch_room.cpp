// Which of the requests that wait are in a batch, and have memory for their caches.
#include <algorithm>
#include <functional>
#include <string>

#include "gpu/core/engine/engine.hpp"
#include "gpu/core/model/no_room.hpp"

namespace tempera::gpu {

/// Takes those whose turn it is. Returns false, and takes none, if they do not all have room once
/// idle caches are cut back.
bool Engine::take_in_turn(std::size_t most) {
  batch_bytes_ = 0;
  // Requests that are asked ahead of time get the rows that are left.
  for (FairQueue<Request>* queue : {&needed_, &ahead_})
    while (batch_.size() < most && !queue->empty()) {
      Request* const request = queue->take(order_ == WorkOrder::last_come);
      request->queue_ = nullptr;
      const bool is_in = has_room(*request);
      batch_bytes_ += request->bytes_;
      batch_.push_back(request);
      if (is_in) continue;
      for (Request* taken : batch_) enqueue(*taken);
      batch_.clear();
      return false;
    }
  return true;
}

/// Takes of each share in turn the one with the oldest cache, until the batch is full or no share's
/// has room.
void Engine::take_by_age(std::size_t most) {
  batch_bytes_ = 0;
  std::vector<Request*> aside;
  const Request* const first = memory_order_.first();
  for (FairQueue<Request>* queue : {&needed_, &ahead_})
    while (batch_.size() < most && !queue->empty()) {
      const Share share = queue->next_share();
      Request* const request = memory_order_.first(share);
      // Where a share's needed one waits, so do those that were asked ahead of time.
      if (request->queue_ != queue || !finds_room(*request, request == first, aside)) {
        queue->set_aside(share);
        continue;
      }
      queue->leave(request->place_);
      request->queue_ = nullptr;
      memory_order_.take(request->memory_place_);
      batch_.push_back(request);
    }
  for (FairQueue<Request>* queue : {&needed_, &ahead_}) queue->bring_back();
  for (Request* request : aside) wait(*request);
}

/// True if there is room for a request once idle caches are cut back.
bool Engine::has_room(Request& request) {
  request.bytes_ = 0;
  if (account_ == nullptr || is_prefix_of_batch(request) || fits(request)) return true;
  account_->make_room_of_idle(batch_bytes_ + request.bytes_);
  return fits(request);
}

/// True if the batch computes the prefix that is asked for already: once for all who ask for it.
bool Engine::is_prefix_of_batch(const Request& request) const {
  return !request.draw_ && std::any_of(batch_.begin(), batch_.end(), [&](const Request* other) {
    return &other->cache_ == &request.cache_;
  });
}

/// Asks what a request needs, which changes as caches are cut back: a page that it shares becomes
/// its own, and need not be copied. Returns whether there is room for it beside the batch.
bool Engine::fits(Request& request) {
  request.bytes_ = request.cache_.bytes_to_reach(request.reach_);
  return account_->has_room(batch_bytes_ + request.bytes_);
}

/// Cuts caches back until there is room for a request beside the batch, or none gives way to it
/// any more. is_first: whether it is the first of all that wait. Returns false if it is to wait.
bool Engine::finds_room(Request& request, bool is_first, std::vector<Request*>& aside) {
  request.bytes_ = 0;
  if (is_prefix_of_batch(request)) return true;
  while (!fits(request)) {
    if (Request* const later = memory_order_.gives_way_to(request.memory_place_, is_first)) {
      give_way(*later, aside);
      continue;
    }
    if (!is_first) return false;
    // It is alone, and the untold caches too have given back all they can.
    const Cache& own = request.cache_;
    account_->make_room(request.bytes_, [&](const Cache& cache) { return &cache == &own; });
    const CacheBudget& budget = account_->budget();
    if (!fits(request) && budget.is_given)
      request.failure_ = std::make_exception_ptr(
          NoRoom("cache memory",
                 std::to_string(budget.bytes) + " bytes cannot hold a text of " +
                     std::to_string(request.reach_) + " tokens",
                 "give more, or lower the horizon"));
    break;
  }
  batch_bytes_ += request.bytes_;
  return true;
}

/// Cuts the cache of one that waits back. One of the batch goes aside, and its share takes no more
/// rows: a younger cache of it would pass it by.
void Engine::give_way(Request& request, std::vector<Request*>& aside) {
  if (request.queue_ != nullptr) {
    memory_order_.let_go(request.memory_place_);
  } else {
    // All who ask for its cache, a prefix, go aside: the pass is counted for the first of them.
    const auto asks_for_it = [&](const Request* asking) {
      return &asking->cache_ == &request.cache_;
    };
    const auto stays =
        std::stable_partition(batch_.begin(), batch_.end(), std::not_fn(asks_for_it));
    for (auto gone = stays; gone != batch_.end(); ++gone) {
      batch_bytes_ -= (*gone)->bytes_;
      memory_order_.leave((*gone)->memory_place_);
      for (FairQueue<Request>* queue : {&needed_, &ahead_}) queue->set_aside((*gone)->share_);
    }
    aside.insert(aside.end(), stays, batch_.end());
    batch_.erase(stays, batch_.end());
  }
  request.cache_.drop_own();
}

}  // namespace tempera::gpu
