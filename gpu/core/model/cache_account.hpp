#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

class CountedCache;

/// The most bytes that caches may take.
struct CacheBudget {
  std::size_t bytes = 0;  ///< 0 for no limit
  /// Whether a user gave it. Then it holds whatever is asked for. Under any other budget a pass
  /// that does not fit alone is made all the same.
  bool is_given = true;

  /// True if so many bytes more fit beside those that are held.
  bool has_room(std::size_t held, std::size_t more) const {
    return bytes == 0 || (held <= bytes && more <= bytes - held);
  }
};

/// The bytes that all caches of one client hold: each page once, however many caches share it. If
/// there is no room for more, caches that are idle are cut back: by the contract of
/// LanguageModel::next_logits what is computed again has the bits that it had, so that this costs
/// time alone.
///
/// A cache that was made empty stays whole, a prompt's for instance. What was forked from one can
/// be cut back to where it left it. Each use of a cache, and each wait for it, is paid for by at
/// most two cuts, so the account never looks at the caches that have nothing to give.
class CacheAccount {
 public:
  explicit CacheAccount(const CacheBudget& budget = {}) : budget_(budget) {}
  CacheAccount(const CacheAccount&) = delete;
  CacheAccount& operator=(const CacheAccount&) = delete;

  const CacheBudget& budget() const { return budget_; }
  std::size_t held() const { return held_; }
  /// The most that was held at one time.
  std::size_t most_held() const { return most_held_; }
  bool has_room(std::size_t bytes) const { return budget_.has_room(held_, bytes); }
  /// Says that the memory of the device has no more than is held now.
  void end_at_held() {
    if (budget_.bytes == 0 || held_ < budget_.bytes) budget_ = {held_ + (held_ == 0), false};
  }

  /// True if a cache is to be left alone.
  using Spared = std::function<bool(const Cache&)>;
  /// Cuts idle caches back until there is room for so many bytes, the longest idle first: of all
  /// first what no other cache holds, the suffixes of records whose proposals are being drawn, then
  /// the rest. Returns whether there is room.
  bool make_room_of_idle(std::size_t bytes, const Spared& is_spared = {});
  /// The same, and then cuts back those that a request waits for.
  bool make_room(std::size_t bytes, const Spared& is_spared);

 private:
  friend class CountedCache;
  using Caches = std::list<CountedCache*>;

  void cut(Caches& caches, std::size_t bytes, const Spared& is_spared,
           void (*give)(CountedCache& cache));

  CacheBudget budget_;
  std::size_t held_ = 0;
  std::size_t most_held_ = 0;
  std::uint64_t caches_ = 0;
  // Each fork is in one of these.
  Caches idle_;    ///< the longest idle first
  Caches shared_;  ///< idle, and what no other held is given back; in the order in which it was
  Caches waited_;  ///< a request waits for them
  Caches spent_;   ///< that have nothing to give back
};

/// A cache whose bytes are counted, if it has an account; base of those that can be cut back.
class CountedCache : public Cache {
 public:
  CountedCache() = default;
  CountedCache(const CountedCache&) = delete;
  CountedCache& operator=(const CountedCache&) = delete;
  ~CountedCache() override;

  void count_in(const std::shared_ptr<CacheAccount>& account) final;
  std::uint64_t number_in_account() const final { return number_; }
  void drop_own() final;
  void begin_wait() final;
  bool holds_own() const final;
  /// Gives back what no other cache holds, as drop_own does.
  virtual void drop_unshared() = 0;

 protected:
  /// To be called by a new fork of `source` at `length`. @pre neither is empty of an account alone
  void join_as_fork(const CountedCache& source, std::size_t length);
  /// Says that the cache is in use: it is idle from now on.
  void note_use() const;
  void take(std::size_t bytes) const;
  void give_back(std::size_t bytes) const;
  /// The tokens whose memory is that of the cache that stays whole.
  std::size_t whole() const { return whole_; }
  /// Cuts the cache back to so many tokens, or a few less.
  void cut_to(std::size_t length) {
    cut_back(length);
    // Tokens below this that are computed again are its own.
    whole_ = std::min(whole_, this->length());
  }

 private:
  /// Gives back what is not needed for so many tokens, or for the nearest number below that it can
  /// be cut to.
  virtual void cut_back(std::size_t length) = 0;

  friend class CacheAccount;
  void move_to(CacheAccount::Caches& list) const;

  std::shared_ptr<CacheAccount> account_;
  mutable CacheAccount::Caches* list_ = nullptr;  ///< of the account, if it is a fork
  CacheAccount::Caches::iterator place_;
  std::uint64_t number_ = 0;
  std::size_t whole_ = 0;
  bool is_fork_ = false;
};

}  // namespace tempera::gpu
