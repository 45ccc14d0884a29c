#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/kernels/token_step.hpp"

namespace tempera::gpu {

/// The production form of the arithmetics of tensor cores: the kernels of this folder, on a
/// CUDA device, or, if this program was built for the host, on fibers, thread by thread and so
/// slowly that only tests use it. Same bits as the host's form: docs/reference/arithmetic.md.
///
/// At most 8 kernels a layer, 7 in a step of decoding and 5 in one of at most 8 rows, 6 a step
/// besides, and one for each product whose segments a second kernel adds, on one stream; nothing
/// waits for the host. It owns its scratch memory, so that one transformer at a time may use it.
class CudaKernels final : public Kernels, public CountsSteps {
 public:
  /// @param seed of the order of threads and blocks, on fibers; a device has its own
  /// @param shared_bytes shared memory of a block, if that is less than the device gives (on
  /// fibers 227 KiB, as an H200). It changes no bit.
  /// @param steps how whole steps are queued; tests hold one form against the other
  /// @param arithmetic of tensor cores; on fibers any of them
  /// @throw BadInput if there is no device, and if its tensor cores do not take the steps of the
  /// arithmetic: it is asked for 4,096 of them, less than a millisecond
  explicit CudaKernels(std::uint64_t seed = 1,
                       std::optional<std::size_t> shared_bytes = std::nullopt,
                       StepForm steps = StepForm::graph,
                       Arithmetic arithmetic = Arithmetic::tensor_core);
  ~CudaKernels() override;
  CudaKernels(const CudaKernels&) = delete;
  CudaKernels& operator=(const CudaKernels&) = delete;

  /// Kernels launched so far.
  std::uint64_t launches() const;
  std::uint64_t steps() const override;
  std::uint64_t graph_replays() const override;
  /// Whether products may go by steps that four warps take together (wgmma): the device has them,
  /// and they have shown the bits of mma.sync when this was made.
  bool takes_warpgroup_steps() const;
  /// Its stream and its memory, for device sources: cuda_device.cuh.
  struct Device;
  Device& device() const { return *device_; }

  /// "cuda" or "cuda on fibers", and whether its steps are queued launch by launch.
  const char* name() const override;
  Arithmetic arithmetic() const override { return arithmetic_; }
  /// @throw BadInput for a head of more than 256 elements, and for one whose keys have no room in
  /// the shared memory of a block
  void require_attention(const AttentionShape& shape, const std::string& where) const override;
  /// @throw BadInput for a head whose memory has no room in the shared memory of a block
  void require_recurrence(const RecurrentShape& shape, const std::string& where) const override;
  void embed(const MatrixView& embedding, const TokenRows& batch, float* states) const override;
  void normalize(const float* states, const float* weight, std::size_t rows, std::size_t size,
                 float epsilon, const ProductInputs& normed) const override;
  void normalize_into_pages(const float* states, const float* weight, const TokenRows& batch,
                            std::size_t size, float epsilon, const PagePart& target) const override;
  void multiply(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                std::size_t out, float* outputs) const override;
  void multiply_with_bias(const MatrixView& matrix, const ProductInputs& inputs, const float* bias,
                          std::size_t rows, std::size_t out, float* outputs) const override;
  void multiply_and_add(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                        std::size_t out, float* outputs) const override;
  void multiply_gated(const MatrixView& gate_up, const ProductInputs& inputs, std::size_t rows,
                      std::size_t out, const ProductInputs& gated) const override;
  /// Queues one kernel, if normalizes_inputs.
  void normalize_and_multiply(const RowNorm& norm, const MatrixView& matrix, const float* bias,
                              std::size_t rows, std::size_t out, float* outputs) const override;
  void normalize_and_multiply_gated(const RowNorm& norm, const MatrixView& gate_up,
                                    std::size_t rows, std::size_t out,
                                    const ProductInputs& gated) const override;
  void rotate_into_pages(const AttentionShape& shape, const float* query_norm,
                         const float* key_norm, float epsilon, const RotaryTables& tables,
                         const TokenRows& batch, const PagePart& keys, const PagePart& values,
                         float* query_key_value) const override;
  void attend(const AttentionShape& shape, const float* query_key_value, const TokenRows& batch,
              const PagePart& keys, const PagePart& values,
              const ProductInputs& attended) const override;
  /// Queues one kernel, if every row is of a record of its own.
  void rotate_and_attend(const AttentionShape& shape, const float* query_norm,
                         const float* key_norm, float epsilon, const RotaryTables& tables,
                         const TokenRows& batch, const PagePart& keys, const PagePart& values,
                         float* query_key_value, const ProductInputs& attended) const override;
  void recur(const RecurrentShape& shape, const RecurrentWeights& weights, const TokenRows& batch,
             const RecurrentStates& states, float* projected,
             const ProductInputs& answers) const override;
  /// Queues one kernel for all, if they are to be joined and can be (StepForm::joined).
  void run_dense_layers(const DenseDecoderWork& work, std::span<const DenseLayer> layers,
                        const TokenRows& batch) const override;
  void gather_from_pages(const CachedRows& batch, std::size_t size, const PagePart& source,
                         const ProductInputs& gathered) const override;
  void normalize_and_gather(const float* states, const float* weight, const TokenRows& computed,
                            const CachedRows& asked, std::size_t size, float epsilon,
                            const PagePart& target, const ProductInputs& gathered) const override;
  void multiply_head(const MatrixView& head, const ProductInputs& inputs, std::size_t rows,
                     std::size_t out, const LogitRows& logits) const override;
  void copy_pages(const std::uint32_t* sources, const std::uint32_t* targets, std::size_t copies,
                  const PageMemory& memory) const override;
  std::unique_ptr<TokenStep> make_token_step() const override;

 private:
  Arithmetic arithmetic_;
  std::unique_ptr<Device> device_;
};

}  // namespace tempera::gpu
