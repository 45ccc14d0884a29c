#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "gpu/core/model/cache_account.hpp"
#include "gpu/core/model/forwarding_model.hpp"

namespace tempera::gpu {

/// A model whose caches are all of one account. Before a pass it makes room for what that takes, by
/// caches that are in no pass. Whoever wants more than idle memory for it looks to that before.
class AccountedModel final : public ForwardingModel {
 public:
  /// @param model must outlive it
  AccountedModel(LanguageModel& model, std::shared_ptr<CacheAccount> account)
      : ForwardingModel(model), account_(std::move(account)) {}

  std::unique_ptr<Cache> empty_cache() const override {
    auto cache = model().empty_cache();
    cache->count_in(account_);
    return cache;
  }

 private:
  void before(std::span<const Pass> passes) override {
    std::size_t bytes = 0;
    for (const Pass& pass : passes)
      bytes += pass.cache->bytes_to_reach(pass.cache->length() + pass.tokens.size());
    if (account_->has_room(bytes)) return;
    account_->make_room(bytes, [&](const Cache& cache) {
      return std::any_of(passes.begin(), passes.end(),
                         [&](const Pass& pass) { return pass.cache == &cache; });
    });
  }

  std::shared_ptr<CacheAccount> account_;
};

}  // namespace tempera::gpu
