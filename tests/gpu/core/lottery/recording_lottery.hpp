// A lottery that keeps what it was asked, for the tests of the addresses.
#pragma once

#include <functional>
#include <vector>

#include "gpu/core/lottery/lottery.hpp"

namespace tempera::gpu {

/// One draw as the lottery saw it.
struct RecordedDraw {
  Draw draw;
  std::size_t tickets = 0;  ///< how many outcomes it had
};

/// Philox, with a list of all that was drawn. `defect` is planted before the address arrives, as a
/// program with that defect would ask.
class RecordingLottery final : public Lottery {
 public:
  using Defect = std::function<void(DrawAddress&)>;
  explicit RecordingLottery(Defect defect = {}) : defect_(std::move(defect)) {}

  Word word(std::span<const std::uint64_t> tickets, const Draw& draw) override {
    Draw asked = draw;
    if (defect_) defect_(asked.address);
    drawn_.push_back({asked, tickets.size()});
    return philox_.word(tickets, asked);
  }
  /// An address that is looked at again is recorded once.
  Word conditioned_word(std::span<const std::uint64_t> tickets, std::size_t,
                        const Draw& draw) override {
    Draw asked = draw;
    if (defect_) defect_(asked.address);
    return philox_.word(tickets, asked);
  }
  const std::vector<RecordedDraw>& drawn() const { return drawn_; }

 private:
  PhiloxLottery philox_;
  Defect defect_;
  std::vector<RecordedDraw> drawn_;
};

}  // namespace tempera::gpu
