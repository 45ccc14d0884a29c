#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "gpu/core/model/language_model.hpp"
#include "gpu/session/cache_admission.hpp"

namespace tempera::gpu {

/// The caches of prompts, each computed once for all that begin with it at the same time.
class SharedPrompts {
 public:
  SharedPrompts(LanguageModel& model, CacheAdmission& memory) : model_(model), memory_(memory) {}
  SharedPrompts(const SharedPrompts&) = delete;
  SharedPrompts& operator=(const SharedPrompts&) = delete;

  /// One prompt, for as long as a request that waits or runs has it.
  class Prompt {
   public:
    Prompt(SharedPrompts& all, const std::vector<TokenId>& tokens) : all_(all), tokens_(tokens) {}
    ~Prompt() {
      drop();
      all_.prompts_.erase(tokens_);
    }
    Prompt(const Prompt&) = delete;
    Prompt& operator=(const Prompt&) = delete;

    /// The bytes that its cache would take beyond what is taken for it now.
    std::size_t bytes_to_take() const {
      return cache_ ? 0 : all_.model_.cache_bytes(tokens_.size());
    }
    /// Its cache, which those who hold it compute; takes its bytes if they are not taken.
    std::shared_ptr<Cache> cache() {
      if (!cache_) {
        all_.memory_.take(bytes_to_take());
        cache_ = all_.model_.empty_cache();
      }
      return cache_;
    }
    /// Gives the cache back unless some run holds it.
    void drop_if_unused() {
      if (cache_.use_count() == 1) drop();
    }

   private:
    void drop() {
      if (!cache_) return;
      cache_ = nullptr;
      all_.memory_.give_back(bytes_to_take());
    }

    SharedPrompts& all_;
    std::vector<TokenId> tokens_;
    std::shared_ptr<Cache> cache_;
  };

  /// The prompt of these tokens.
  std::shared_ptr<Prompt> of(const std::vector<TokenId>& tokens) {
    std::weak_ptr<Prompt>& known = prompts_[tokens];
    std::shared_ptr<Prompt> prompt = known.lock();
    if (!prompt) known = prompt = std::make_shared<Prompt>(*this, tokens);
    return prompt;
  }
  /// Gives back all caches that no run holds; they are computed again when one begins with them.
  void drop_unused() {
    for (const auto& [tokens, prompt] : prompts_)
      if (const auto held = prompt.lock()) held->drop_if_unused();
  }

 private:
  LanguageModel& model_;
  CacheAdmission& memory_;
  std::map<std::vector<TokenId>, std::weak_ptr<Prompt>> prompts_;
};

}  // namespace tempera::gpu
