#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "gpu/core/sampler/context.hpp"
#include "lab/enumerate/real.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::lab {

/// A language model of production, small enough to be enumerated, with the names of its tokens.
struct EnumerableModel {
  gpu::LanguageModel& model;
  gpu::Context context;
  std::vector<std::string> vocabulary;
};

/// A finite model as production sees it: every probability p becomes the float32 logit nearest to
/// log p, and p = 0 a forbidden token.
std::unique_ptr<gpu::LanguageModel> finite_table(const reference::FiniteModel& model);
/// E, in the order of the vocabulary.
std::vector<gpu::TokenId> terminal_tokens(const reference::FiniteModel& model);

/// The finite_table of a model with its names. Owns the table.
class FiniteLogits {
 public:
  explicit FiniteLogits(const reference::FiniteModel& model)
      : table_(finite_table(model)),
        context_{{}, terminal_tokens(model)},
        vocabulary_(model.vocabulary()) {}
  EnumerableModel enumerable() const { return {*table_, context_, vocabulary_}; }

 private:
  std::unique_ptr<gpu::LanguageModel> table_;
  gpu::Context context_;
  std::vector<std::string> vocabulary_;
};

/// S_T as production can reach it: every record with its likelihood under the softmax of the
/// float32 logits, to 50 digits. Depth-first in vocabulary order, as in reference/.
class CompiledSpace {
 public:
  /// @throw BadInput if there are more than `limit` records, or the horizon exceeds 1024
  CompiledSpace(const EnumerableModel& model, std::size_t horizon, std::size_t limit = 1024);

  const EnumerableModel& model() const { return model_; }
  std::size_t horizon() const { return horizon_; }
  std::size_t size() const { return records_.size(); }
  const std::vector<gpu::TokenId>& tokens(std::size_t s) const { return records_[s]; }
  std::string name(std::size_t s) const;
  /// Index of a record; it must be one of them.
  std::size_t find(const std::vector<gpu::TokenId>& tokens) const { return index_.at(tokens); }
  /// p0(x) of the float32 logits.
  const Real& likelihood(std::size_t s) const { return likelihoods_[s]; }
  /// π_α(x) ∝ p0(x)^α, `eq:theory-power-target`, of the float32 logits: the target that is the
  /// sampler's own.
  std::vector<Real> own_target(double power) const;

 private:
  void extend(std::vector<gpu::TokenId>& tokens, const Real& likelihood, std::size_t limit);

  const EnumerableModel model_;
  std::size_t horizon_;
  std::vector<std::vector<gpu::TokenId>> records_;
  std::vector<Real> likelihoods_;
  std::map<std::vector<gpu::TokenId>, std::size_t> index_;
};

/// The float32 logits that follow prompt and tokens.
std::vector<float> logits_after(const EnumerableModel& model,
                                const std::vector<gpu::TokenId>& tokens);

/// weights^power, normalised.
std::vector<Real> power_of(const std::vector<Real>& weights, double power);

/// |S|^K, the joint states of K rungs.
/// @throw BadInput if they are more than `limit`, the most of which `what` is true
std::size_t joint_states(const CompiledSpace& space, std::size_t rungs, std::size_t limit,
                         const std::string& what);

}  // namespace tempera::lab
