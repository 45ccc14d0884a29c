#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/sampler/parallel_power_tempering.hpp"
#include "gpu/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// Runs of PPT that share an engine: some prompts, some samples of each.
struct TemperedCase {
  std::vector<Context> contexts;
  std::vector<double> powers;
  Plan plan;
  std::size_t samples = 1;
  std::uint64_t seed = 1;
};

/// Everything that the runs leave, bit for bit: of every record of every run its tokens, log p0 and
/// the sums of log z at every rung. largest_batch and order lay the work out and change nothing.
std::vector<std::uint64_t> tempered_bits(LanguageModel& model, RowLottery& rows,
                                         const TemperedCase& runs, std::size_t largest_batch,
                                         WorkOrder order);

/// FNV-1a over 64-bit words, as 16 hexadecimal digits: what a host has computed, recorded so that a
/// program without a host's form can be held against it. To record anew, take what the failing test
/// of a build for the host has found.
std::string fingerprint_of(const std::vector<std::uint64_t>& words);

/// A form of the kernels of `tensor-core` that this program can run.
struct TensorCoreForm {
  const Kernels& kernels;
  bool on_fibers;  ///< thread by thread: for small models
};

/// The device's, or the host's and, thread by thread, the device's: all must give the same bits.
/// CUDA graphs join here as forms of their own where a build has them.
std::vector<TensorCoreForm> tensor_core_forms();

}  // namespace tempera::gpu
