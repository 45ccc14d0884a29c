#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/lottery/draw_address.hpp"

namespace tempera::gpu {

/// The one door of chance: every random decision of tempera is a call of draw.
class Lottery {
 public:
  virtual ~Lottery() = default;
  /// Index i wins with probability tickets[i] / Σ tickets, exactly.
  /// Range: 0 < Σ tickets < 2^64.
  /// @throw std::domain_error if no ticket was sold
  virtual std::size_t draw(std::span<const std::uint64_t> tickets, const DrawAddress& address) = 0;
  /// The seed, where the threshold is Philox's and may be computed on the device; null where the
  /// decision is made elsewhere and draw must be asked.
  virtual const std::uint64_t* philox_seed() const { return nullptr; }
};

/// Σ tickets.
/// @throw std::domain_error if it is zero
std::uint64_t total_of(std::span<const std::uint64_t> tickets);

/// Production: the word of a draw is Philox4x32-10 of its address under the seed.
class PhiloxLottery final : public Lottery {
 public:
  explicit PhiloxLottery(std::uint64_t seed) : seed_(seed) {}
  std::size_t draw(std::span<const std::uint64_t> tickets, const DrawAddress& address) override;
  const std::uint64_t* philox_seed() const override { return &seed_; }

 private:
  std::uint64_t seed_;
};

/// Replay: the winners are read from a tape, in the order of the draws.
class TapeLottery final : public Lottery {
 public:
  explicit TapeLottery(std::vector<std::size_t> winners) : winners_(std::move(winners)) {}
  /// @throw std::out_of_range if the tape is at its end, or names an index without tickets
  std::size_t draw(std::span<const std::uint64_t> tickets, const DrawAddress& address) override;
  bool at_end() const { return next_ == winners_.size(); }

 private:
  std::vector<std::size_t> winners_;
  std::size_t next_ = 0;
};

}  // namespace tempera::gpu
