#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "gpu/core/lottery/cuda/draw_launch.hpp"
#include "gpu/core/lottery/rows/row_draw.hpp"
#include "gpu/device/device_memory.hpp"

namespace tempera::gpu {

/// Turns rows of logits into tickets and draws one token from each: the lottery over a
/// whole vocabulary. The winner is found beside the tickets, on the device, from the word of the
/// row's counter. If the lottery is Philox's the counter is the row's address; any other lottery is
/// shown the row's tickets on the host, and the row gets the counter whose word is the lottery's
/// answer.
///
/// Bitwise: a row's token and scores depend on its logits and its own RowDraw alone.
class RowLottery {
 public:
  virtual ~RowLottery() = default;
  /// Which form of the steps it runs, as RowSteps::name says.
  virtual const char* form() const = 0;
  /// Calls `fuse` if a step of the same device may queue this draw right after its head: if the
  /// rows are drawn by CUDA kernels and the words of `lottery` are those of addresses. Then no
  /// logits need to be looked at (LanguageModel::fused_draw).
  virtual void fuse_if_queued(Lottery& /*lottery*/, const std::function<void()>& /*fuse*/) {}

  /// Draws one token from each row.
  ///
  /// logits: [rows, vocabulary] or longer, device memory. draws: [rows].
  /// @throw ModelError for a row that holds NaN or +infinity, or allows no token
  virtual std::vector<ScoredToken> draw(const DeviceMemory<float>& logits, std::size_t vocabulary,
                                        std::span<const RowDraw> draws, Lottery& lottery) = 0;

  /// Scores given tokens as draw scores drawn ones: what a record keeps of a token it was handed.
  ///
  /// logits: [rows, vocabulary], device memory. tokens: [rows].
  /// @throw ModelError as draw does
  /// @throw ImpossibleToken for a token that its row forbids
  virtual std::vector<ScoredToken> score(const DeviceMemory<float>& logits, std::size_t vocabulary,
                                         std::span<const RowToken> tokens) = 0;

  /// log z_α of each row for every power, `eq:theory-token-normalizer`, to full precision.
  ///
  /// powers: each > 0. Returns [rows, powers].
  virtual std::vector<double> log_normalizers(const DeviceMemory<float>& logits,
                                              std::size_t vocabulary, std::size_t rows,
                                              std::span<const double> powers) = 0;
};

/// Returns whether any of these rows is changed before its draw.
bool have_rules(std::span<const RowDraw> draws);

/// As RowLottery::draw, from rows that are changed first where RowDraw::rules say so. The host
/// changes them, and the same kernels draw from them as from any other. ℓ_t and ζ_t are those of
/// the row as the model gave it, which is in `logits` again afterwards.
/// @throw as draw; then the rows are those that were drawn from
std::vector<ScoredToken> draw_by_rules(RowLottery& rows, DeviceMemory<float>& logits,
                                       std::size_t vocabulary, std::span<const RowDraw> draws,
                                       Lottery& lottery);

// Each works on the device that is current when it is made (gpu/device/device.hpp).

/// On the device: by CUDA kernels in a build for CUDA, else on the host's threads, compiled for the
/// set that chosen_instruction_set() gives.
/// @throw BadInput as chosen_instruction_set
std::unique_ptr<RowLottery> make_device_row_lottery();

/// Draws by CUDA kernels: on the device in a build for CUDA, else on fibers, thread by thread.
std::unique_ptr<RowLottery> make_cuda_row_lottery(const DrawLaunch& launch = {});

/// On Thrust's device system: the readable form.
std::unique_ptr<RowLottery> make_thrust_row_lottery();

/// On Thrust, on one host thread, whatever the device and without wide instructions: what the
/// others are compared with.
std::unique_ptr<RowLottery> make_host_row_lottery();

}  // namespace tempera::gpu
