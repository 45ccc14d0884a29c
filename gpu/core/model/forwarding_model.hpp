#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// A model that answers as another one does, by the same way: base of whatever counts, times or
/// cuts off what a model is asked for. It passes on every function of LanguageModel, so that what
/// is derived from it cannot lose a shorter way that the model knows.
class ForwardingModel : public LanguageModel {
 public:
  /// @param model must outlive it
  explicit ForwardingModel(LanguageModel& model) : model_(model) {}

  std::size_t vocabulary_size() const override { return model_.vocabulary_size(); }
  std::unique_ptr<Cache> empty_cache() const override { return model_.empty_cache(); }
  Device device() const override { return model_.device(); }
  std::size_t cache_bytes(std::size_t tokens) const override { return model_.cache_bytes(tokens); }
  std::size_t most_unshared_tokens() const override { return model_.most_unshared_tokens(); }
  std::size_t most_cache_bytes() const override { return model_.most_cache_bytes(); }
  void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override {
    before(passes);
    model_.next_logits(passes, rows);
    after(passes);
  }
  std::unique_ptr<FusedDraw> fused_draw(RowLottery& rows, Lottery& lottery) override {
    auto fused = model_.fused_draw(rows, lottery);
    return fused ? std::make_unique<Forwarded>(*this, std::move(fused)) : nullptr;
  }

 protected:
  LanguageModel& model() const { return model_; }

 private:
  class Forwarded final : public FusedDraw {
   public:
    Forwarded(ForwardingModel& model, std::unique_ptr<FusedDraw> fused)
        : model_(model), fused_(std::move(fused)) {}
    std::vector<ScoredToken> next_tokens(std::span<const Pass> passes,
                                         std::span<const RowDraw> draws,
                                         DeviceMemory<float>& logits) override {
      model_.before(passes);
      std::vector<ScoredToken> tokens = fused_->next_tokens(passes, draws, logits);
      model_.after(passes);
      return tokens;
    }

   private:
    ForwardingModel& model_;
    std::unique_ptr<FusedDraw> fused_;
  };

  /// Is called before a batch is computed, whichever of the two functions asks for it.
  virtual void before(std::span<const Pass> /*passes*/) {}
  /// And when it has been computed.
  virtual void after(std::span<const Pass> /*passes*/) {}

  LanguageModel& model_;
};

}  // namespace tempera::gpu
