#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/fingerprint.hpp"

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

/// A way to run an arithmetic of tensor cores that this program has.
struct TensorCoreForm {
  const Kernels& kernels;
  bool on_fibers;            ///< thread by thread: for small models
  const CudaKernels* steps;  ///< these kernels, if a token is a whole step of theirs; else null
  StepForm step_form;        ///< how these steps are queued

  /// "avx512, tensor-core, row by row".
  std::string words() const;
  /// The rows that make the engine take this way.
  std::unique_ptr<RowLottery> make_rows() const;
};

/// On a device, of its own arithmetic, its steps as graphs, launch by launch, and as graphs in
/// which all layers are one kernel. In a build for the host, of `tensor-core`, the host's form,
/// and, on fibers, the device's row by row, by steps that are replayed as graphs are, launch by
/// launch, and with all layers in one kernel; of `tensor-core-ampere` the host's form, and the
/// device's by steps. All of one arithmetic must give the same bits.
std::vector<TensorCoreForm> tensor_core_forms();

/// The same with pages of 8 bits: on a device steps as graphs, of its own arithmetic; in a build
/// for the host the host's form of both chips, and, on fibers, steps of Hopper.
std::vector<TensorCoreForm> forms_of_8_bit_pages();

}  // namespace tempera::gpu
