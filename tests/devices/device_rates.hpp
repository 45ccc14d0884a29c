#pragma once

#include <cstddef>

#include "tests/devices/device_clock.hpp"

namespace tempera::gpu {

/// What everything else of part 6 is a fraction of, measured in the same run.
struct DeviceRates {
  double bandwidth = 0.0;    ///< bytes a second, by read_bandwidth
  double matrix_peak = 0.0;  ///< operations a second, by matrix_peak
};

/// Bytes per second of reading memory far larger than the caches, 16 bytes a lane: the best of
/// five. On a host by one thread.
double read_bandwidth(const DeviceClock& clock);

/// Operations per second of mma.sync on bfloat16 with float32 sums, a multiplication and an
/// addition counted as two, operands in registers: the best of five. On a host of the host's own
/// form of a product.
double matrix_peak(const DeviceClock& clock);

/// Seconds of one draw of `rows` rows of `vocabulary` logits, `rungs` rungs each: on a device of
/// its two kernels after a head that has left the maxima of its tiles, on a host of RowLottery.
///
/// spread: standard deviation of the logits; the larger, the more tokens have one ticket.
double draw_seconds(const Timing& timing, std::size_t rows, std::size_t vocabulary,
                    std::size_t rungs, float spread);

}  // namespace tempera::gpu
