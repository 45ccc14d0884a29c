#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// The tokens x_1, x_2, … of a record with what was computed of each when it was generated: ℓ_t
/// and, flat [tokens, K], ζ_{t,j} for every rung j.
///
/// Kept in blocks. A copy shares them all; whoever first appends to a block that others hold gets a
/// copy of it, so that a fork copies less than one block.
class ScoredSequence {
 public:
  static constexpr std::size_t block_tokens = 64;

  std::size_t size() const { return size_; }
  /// x_t. Range of t, here and below: 1..size().
  TokenId token(std::size_t t) const { return block_of(t).tokens[index_of(t)]; }
  /// ℓ_t, `eq:implementation-base-log-probability`.
  double log_p(std::size_t t) const { return block_of(t).log_p[index_of(t)]; }
  /// ζ_{t,j} for j = 1, …, K, `eq:implementation-token-normalizers`.
  std::span<const double> log_z(std::size_t t) const {
    return std::span(block_of(t).log_z).subspan(index_of(t) * rungs_, rungs_);
  }

  /// Σ_v p0(v | x_<t) log p0(v | x_<t), if it was measured; else 0.
  double negative_entropy(std::size_t t) const { return block_of(t).entropies[index_of(t)]; }

  /// x_1 … x_length. Range: length <= size().
  ScoredSequence first(std::size_t length) const;
  /// @throw Bug if the token is scored for another number of rungs than those before
  void append(const ScoredToken& token);

 private:
  struct Block {
    std::vector<TokenId> tokens;
    std::vector<double> log_p;
    std::vector<double> log_z;
    std::vector<double> entropies;
  };
  static std::size_t index_of(std::size_t t) { return (t - 1) % block_tokens; }
  const Block& block_of(std::size_t t) const { return *blocks_[(t - 1) / block_tokens]; }
  /// The block that the next token goes to, held by nobody else and ending where this ends.
  Block& open_block();

  std::vector<std::shared_ptr<Block>> blocks_;
  std::size_t size_ = 0;
  std::size_t rungs_ = 0;
};

}  // namespace tempera::gpu
