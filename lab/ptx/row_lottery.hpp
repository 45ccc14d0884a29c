#pragma once

#include <cstdint>
#include <memory>

#include "gpu/core/lottery/rows/row_lottery.hpp"

namespace tempera::lab::ptx {

/// The lottery over rows whose kernels are what nvcc compiled, and never their text: the PTX kept
/// for sm_90, translated to C++ and run by fibers. In a build for CUDA they run on the device.
std::unique_ptr<gpu::RowLottery> make_row_lottery();

/// How many kernels of PTX such lotteries have launched so far; 0 in a build for CUDA.
std::uint64_t draw_launches();

}  // namespace tempera::lab::ptx
