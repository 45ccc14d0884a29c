#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/device/device_memory.hpp"
#include "gpu/lottery/lottery.hpp"

namespace tempera::gpu {

/// A token with what its record keeps of it.
struct ScoredToken {
  std::uint32_t id = 0;
  double log_p = 0.0;  ///< ℓ_t = log p0(x_t | x_<t), `eq:implementation-base-log-probability`
  std::vector<double> log_z;  ///< ζ_{t,j} for every rung j, `eq:implementation-token-normalizers`

  friend bool operator==(const ScoredToken&, const ScoredToken&) = default;
};

/// One row of a batch: the rung whose power it is drawn at, and where in the run the draw stands.
struct RowDraw {
  std::size_t rung = 0;
  DrawAddress address;
};

/// Turns rows of logits into tickets and draws one token from each: the vocabulary-wide end of the
/// door. Where the lottery is Philox's the winner is found beside the tickets, on the device; any
/// other lottery is shown each row's tickets on the host, and its winner is then found by the same
/// kernel from the threshold that the winner implies.
///
/// Bitwise: a row's token and scores depend on its logits, its address, its rung and the powers
/// alone.
class RowLottery {
 public:
  virtual ~RowLottery() = default;

  /// Draws one token from each row.
  ///
  /// logits: [rows, vocabulary], device memory. draws: [rows].
  /// @throw std::domain_error for a row that holds NaN or +infinity, or allows no token
  virtual std::vector<ScoredToken> draw(const DeviceMemory<float>& logits, std::size_t vocabulary,
                                        std::span<const RowDraw> draws, Lottery& lottery) = 0;

  /// Scores given tokens as draw scores drawn ones: what a record keeps of a token it was handed.
  ///
  /// logits: [rows, vocabulary], device memory. tokens: [rows].
  /// @throw std::domain_error as draw does, and for a token that its row forbids
  virtual std::vector<ScoredToken> score(const DeviceMemory<float>& logits, std::size_t vocabulary,
                                         std::span<const std::uint32_t> tokens) = 0;

  /// log z_α of each row for every power, `eq:theory-token-normalizer`, to full precision.
  ///
  /// Returns [rows, powers].
  virtual std::vector<double> log_normalizers(const DeviceMemory<float>& logits,
                                              std::size_t vocabulary, std::size_t rows) = 0;
};

/// On Thrust's device system. powers: of all rungs, in order, each > 0.
std::unique_ptr<RowLottery> make_device_row_lottery(std::vector<double> powers);

/// On one host thread, whatever the device: what ./gpu-check holds the device against.
std::unique_ptr<RowLottery> make_host_row_lottery(std::vector<double> powers);

}  // namespace tempera::gpu
