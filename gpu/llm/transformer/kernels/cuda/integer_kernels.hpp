#pragma once

#include <cstdint>
#include <memory>

#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/kernels/token_step.hpp"

namespace tempera::gpu {

/// The arithmetic `integer` on a CUDA device, or, if this program was built for the host, on
/// fibers. It is the simple form: integer multiply-adds, a kernel for each part of a step. Sums of
/// whole numbers have no order, so the bits are the host's by definition, whatever the chip.
///
/// A layer is 13 kernels, and a step 8 besides, on one stream; nothing waits for the host. It owns
/// its scratch memory, so that one transformer at a time may use it.
class CudaIntegerKernels final : public Kernels, public CountsSteps {
 public:
  /// @param seed of the order of threads and blocks, on fibers; a device has its own
  /// @param steps how whole steps are queued: `graph` or `launches`
  /// @throw BadInput without a device
  explicit CudaIntegerKernels(std::uint64_t seed = 1, StepForm steps = StepForm::graph);
  ~CudaIntegerKernels() override;
  CudaIntegerKernels(const CudaIntegerKernels&) = delete;
  CudaIntegerKernels& operator=(const CudaIntegerKernels&) = delete;

  std::uint64_t steps() const override;
  std::uint64_t graph_replays() const override;
  /// Its stream and its memory, for device sources: integer_device.cuh.
  struct Device;
  Device& device() const { return *device_; }

  /// "cuda" or "cuda on fibers", and whether its steps are queued launch by launch.
  const char* name() const override;
  Arithmetic arithmetic() const override { return Arithmetic::integer; }
  /// @throw BadInput for every recurrent layer
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
  void rotate_into_pages(const AttentionShape& shape, const float* query_norm,
                         const float* key_norm, float epsilon, const RotaryTables& tables,
                         const TokenRows& batch, const PagePart& keys, const PagePart& values,
                         float* query_key_value) const override;
  void attend(const AttentionShape& shape, const float* query_key_value, const TokenRows& batch,
              const PagePart& keys, const PagePart& values,
              const ProductInputs& attended) const override;
  /// @throw Bug: require_recurrence refuses such models
  void recur(const RecurrentShape& shape, const RecurrentWeights& weights, const TokenRows& batch,
             const RecurrentStates& states, float* projected,
             const ProductInputs& answers) const override;
  void gather_from_pages(const CachedRows& batch, std::size_t size, const PagePart& source,
                         const ProductInputs& gathered) const override;
  void multiply_head(const MatrixView& head, const ProductInputs& inputs, std::size_t rows,
                     std::size_t out, const LogitRows& logits) const override;
  void copy_pages(const std::uint32_t* sources, const std::uint32_t* targets, std::size_t copies,
                  const PageMemory& memory) const override;
  std::unique_ptr<TokenStep> make_token_step() const override;

 private:
  std::unique_ptr<Device> device_;
};

}  // namespace tempera::gpu
