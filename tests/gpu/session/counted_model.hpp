#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "gpu/core/model/cache_account.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"

namespace tempera::gpu {

/// A table model that counts what its caches hold: so many bytes for each token that was computed
/// and that some cache still has.
class CountedModel final : public LanguageModel {
  struct Unit {
    explicit Unit(std::size_t& its_count) : count(its_count) { ++count; }
    ~Unit() { --count; }
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;
    std::size_t& count;
  };

 public:
  explicit CountedModel(std::size_t token_bytes = 10) : token_bytes_(token_bytes) {}
  std::size_t vocabulary_size() const override { return table_.vocabulary_size(); }
  std::unique_ptr<Cache> empty_cache() const override {
    return std::make_unique<Counted>(table_.empty_cache(), token_bytes_, looks);
  }
  std::size_t cache_bytes(std::size_t tokens) const override { return token_bytes_ * tokens; }
  void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override {
    longest_batch = std::max(longest_batch, passes.size());
    rows_computed += passes.size();
    std::vector<Pass> inner;
    for (const Pass& pass : passes) {
      longest_pass = std::max(longest_pass, pass.tokens.size());
      computed += pass.tokens.size();
      auto& cache = dynamic_cast<Counted&>(*pass.cache);
      cache.add(pass.tokens.size(), units_);
      inner.push_back({cache.inner.get(), pass.tokens});
    }
    table_.next_logits(inner, rows);
    most_held = std::max(most_held, token_bytes_ * units_);
  }
  std::size_t held() const { return token_bytes_ * units_; }

  /// The questions to caches: how many times one was asked what it takes or told to give back, and
  /// how many times one was forked.
  struct Looks {
    std::size_t asked = 0, forked = 0;
  };

  std::size_t most_held = 0, longest_batch = 0, longest_pass = 0, computed = 0, rows_computed = 0;
  mutable Looks looks;

 private:
  struct Counted final : CountedCache {
    Counted(std::unique_ptr<Cache> its_inner, std::size_t its_token_bytes, Looks& its_looks)
        : inner(std::move(its_inner)), token_bytes(its_token_bytes), looks(its_looks) {}
    ~Counted() override { resize(0); }
    std::size_t length() const override { return inner->length(); }
    std::unique_ptr<Cache> fork(std::size_t length) const override {
      ++looks.forked;
      auto forked = std::make_unique<Counted>(inner->fork(length), token_bytes, looks);
      forked->units.assign(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(length));
      forked->join_as_fork(*this, length);
      return forked;
    }
    std::size_t bytes_to_reach(std::size_t length) const override {
      ++looks.asked;
      return length > units.size() ? token_bytes * (length - units.size()) : 0;
    }
    void drop_unshared() override {
      std::size_t shared = units.size();
      while (shared > whole() && units[shared - 1].use_count() == 1) --shared;
      cut_to(shared);
    }
    void cut_back(std::size_t length) override {
      ++looks.asked;
      if (length >= units.size()) return;
      resize(length);
      inner = inner->fork(length);
    }
    void add(std::size_t tokens, std::size_t& count) {
      note_use();
      for (std::size_t i = 0; i < tokens; ++i) {
        units.push_back(std::make_shared<Unit>(count));
        take(token_bytes);
      }
    }
    void resize(std::size_t length) {
      for (; units.size() > length; units.pop_back())
        if (units.back().use_count() == 1) give_back(token_bytes);
    }
    std::unique_ptr<Cache> inner;
    std::size_t token_bytes;
    Looks& looks;
    std::vector<std::shared_ptr<Unit>> units;  // of its tokens, shared with forks
  };

  std::size_t token_bytes_;
  TableModel table_ = scattered_table(7, 3);
  std::size_t units_ = 0;
};

}  // namespace tempera::gpu
