#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gpu/core/model/cache_account.hpp"
#include "gpu/llm/transformer/cache/page_pool.hpp"

namespace tempera::gpu {

/// The keys, values and final hidden states of a prefix, in pages, and its recurrent states, if
/// the model has such: one for every state_tokens tokens begun. A fork shares them all; whoever
/// first appends to a page or a state that others hold gets a copy of it.
///
/// A state cannot be taken back to fewer tokens. A fork of fewer tokens than were computed holds
/// what is up to the nearest checkpoint, and of the tokens after it, fewer than state_tokens,
/// only what they are: they are computed again, before whatever is appended.
///
/// It is cut back to a whole page, or to a checkpoint, and holds no token after that.
class PagedCache : public CountedCache {
 public:
  /// states: those of the same transformer; null if it has none.
  explicit PagedCache(std::shared_ptr<PagePool> pool, std::shared_ptr<PagePool> states = nullptr)
      : pool_(std::move(pool)), state_pool_(std::move(states)), number_(pool_->new_number()) {}
  ~PagedCache() override;

  std::size_t length() const override { return length_; }
  /// The pool of its model's pages.
  const void* maker() const override { return pool_.get(); }
  /// @throw Bug if length > length().
  std::unique_ptr<Cache> fork(std::size_t length) const override;
  std::size_t bytes_to_reach(std::size_t length) const override;
  void drop_unshared() override;

  const std::shared_ptr<PagePool>& pool() const { return pool_; }
  const std::shared_ptr<PagePool>& state_pool() const { return state_pool_; }
  /// Which cache of its pool this is: no other has had this number, dead ones included. Its pages
  /// and states change from computed() on, and nowhere before; one that is cut back has another.
  std::uint64_t number() const { return number_; }
  std::span<const std::uint32_t> pages() const { return pages_; }
  /// The page and slot of a token: pages()[token / page_tokens], token % page_tokens.
  std::uint32_t page_of(std::size_t token) const { return pages_[token / page_tokens]; }
  /// State s is that after its token (s + 1) · state_tokens - 1, or after the last one.
  std::span<const std::uint32_t> states() const { return states_; }

  /// The tokens that the pages and states were computed from; less than length() if some are to
  /// be computed again.
  std::size_t computed() const { return computed_; }
  /// Tokens computed() .. length() - 1.
  std::span<const TokenId> to_replay() const {
    return std::span<const TokenId>(text_).subspan(state_pool_ ? computed_ : 0);
  }

  /// A page, or a state, whose contents must be copied to another before anything is computed.
  struct PageCopy {
    std::uint32_t source;
    std::uint32_t target;
  };
  /// Makes room for tokens computed() .. length - 1 in pages that no other cache holds. Appends to
  /// `copies` the copy that this asks for, if any.
  /// @throw BadInput if the memory of the device has no room, saying what would fit
  void reserve(std::size_t length, std::vector<PageCopy>& copies);
  /// The same of states, if the model has such.
  void reserve_states(std::size_t length, std::vector<PageCopy>& copies);
  /// Says that `tokens` more are computed; reserve made room. For a cache without states.
  void hold(std::size_t tokens) { length_ = computed_ += tokens; }
  /// Says that these are: to_replay() and then new ones.
  void hold(std::span<const TokenId> tokens);

 private:
  void cut_back(std::size_t length) override;
  std::uint32_t take_page(std::size_t length);
  std::uint32_t take_state(std::size_t length);
  void release(PagePool& pool, std::uint32_t page);
  /// Makes `held` as many as `wanted`, and number `first`, which is written next, nobody else's.
  template <class Take>
  void make_own(PagePool& pool, std::vector<std::uint32_t>& held, std::size_t first,
                std::size_t wanted, const Take& take, std::vector<PageCopy>& copies);

  std::shared_ptr<PagePool> pool_;
  std::shared_ptr<PagePool> state_pool_;
  std::uint64_t number_;
  std::vector<std::uint32_t> pages_;
  std::vector<std::uint32_t> states_;
  std::vector<TokenId> text_;  // empty if there are no states
  std::size_t computed_ = 0;
  std::size_t length_ = 0;
};

}  // namespace tempera::gpu
