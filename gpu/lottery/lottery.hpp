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
  virtual std::size_t draw(std::span<const std::uint64_t> tickets, const Draw& draw) = 0;
  /// Whether the word of every draw is Philox's, so that it may be computed on the device; false
  /// where the decision is made elsewhere and draw must be asked.
  virtual bool draws_by_philox() const { return false; }
};

/// Σ tickets.
/// @throw std::domain_error if it is zero
std::uint64_t total_of(std::span<const std::uint64_t> tickets);

/// Production: the word of a draw is Philox4x32-10 of its address under its seed.
class PhiloxLottery final : public Lottery {
 public:
  std::size_t draw(std::span<const std::uint64_t> tickets, const Draw& draw) override;
  bool draws_by_philox() const override { return true; }
};

/// Replay: the winners are read from a tape, in the order of the draws.
class TapeLottery final : public Lottery {
 public:
  explicit TapeLottery(std::vector<std::size_t> winners) : winners_(std::move(winners)) {}
  /// @throw std::out_of_range if the tape is at its end, or names an index without tickets
  std::size_t draw(std::span<const std::uint64_t> tickets, const Draw& draw) override;
  bool at_end() const { return next_ == winners_.size(); }

 private:
  std::vector<std::size_t> winners_;
  std::size_t next_ = 0;
};

}  // namespace tempera::gpu
