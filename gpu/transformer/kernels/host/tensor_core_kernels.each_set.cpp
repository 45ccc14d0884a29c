// Compiled once per instruction set. Nothing that this source shares with others may be emitted
// from it (see gpu/device/arithmetic.hpp), so it includes nothing of the standard library's
// templates.
#include <math.h>

#include "gpu/device/compiled_for.hpp"
#include "gpu/device/host_threads.hpp"
#include "gpu/transformer/kernels/host/host_kernels.hpp"
#include "gpu/transformer/kernels/host/tensor_core_attend.hpp"
#include "gpu/transformer/kernels/host/tensor_core_multiply.hpp"
#include "gpu/transformer/kernels/host/tensor_core_rows.hpp"

namespace tempera::gpu {

namespace {

class TensorCoreKernels final : public Kernels {
 public:
  const char* name() const override { return host_form_name(); }
  Arithmetic arithmetic() const override { return Arithmetic::tensor_core; }

  void embed(const MatrixView& embedding, const TokenRows& batch, float* states) const override {
    on_host_threads(batch.rows,
                    TensorCoreEmbed{embedding.fragments, batch.tokens, embedding.in, states});
  }

  void normalize(const float* states, const float* weight, std::size_t rows, std::size_t size,
                 float epsilon, const ProductInputs& normed) const override {
    on_host_threads(rows, TensorCoreNormalize{states, weight, size, epsilon, normed.bfloat16});
  }

  void normalize_into_pages(const float* states, const float* weight, const TokenRows& batch,
                            std::size_t size, float epsilon,
                            const PagePart& target) const override {
    on_host_threads(batch.rows,
                    TensorCoreNormalizeIntoPages{states, weight, size, epsilon, batch, target});
  }

  void multiply(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                std::size_t out, float* outputs) const override {
    run_multiply(matrix, inputs, rows, out, outputs, Store());
  }

  void multiply_with_bias(const MatrixView& matrix, const ProductInputs& inputs, const float* bias,
                          std::size_t rows, std::size_t out, float* outputs) const override {
    run_multiply(matrix, inputs, rows, out, outputs, StoreWithBias{bias});
  }

  void multiply_and_add(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                        std::size_t out, float* outputs) const override {
    run_multiply(matrix, inputs, rows, out, outputs, Add());
  }

  void multiply_gated(const MatrixView& gate_up, const ProductInputs& inputs, std::size_t rows,
                      std::size_t out, const ProductInputs& gated) const override {
    const Tiling tiling{rows, gate_up.in, out};
    const std::uint32_t* up = gate_up.fragments + tile_begin(tiling, gate_up.out / 2);
    on_host_threads(tiling.items(), TensorCoreMultiplyGated{tiling, gate_up.fragments, up,
                                                            inputs.bfloat16, gated.bfloat16});
  }

  void rotate_into_pages(const AttentionShape& shape, const float* query_norm,
                         const float* key_norm, float epsilon, const RotaryTables& tables,
                         const TokenRows& batch, const PagePart& keys, const PagePart& values,
                         float* query_key_value) const override {
    const TensorCoreRotateIntoPages kernel{shape, query_norm, key_norm, epsilon,        tables,
                                           batch, keys,       values,   query_key_value};
    on_host_threads(kernel.items(), kernel);
  }

  void attend(const AttentionShape& shape, const float* query_key_value, const TokenRows& batch,
              const PagePart& keys, const PagePart& values,
              const ProductInputs& attended) const override {
    const float scale = 1.0f / sqrtf(static_cast<float>(shape.head_dim));
    const TensorCoreAttend kernel{shape, scale,  query_key_value,  batch,
                                  keys,  values, attended.bfloat16};
    on_host_threads(kernel.items(), kernel);
  }

  void gather_from_pages(const CachedRows& batch, std::size_t size, const PagePart& source,
                         const ProductInputs& gathered) const override {
    on_host_threads(batch.rows, TensorCoreGatherFromPages{batch, size, source, gathered.bfloat16});
  }

  void copy_pages(const std::uint32_t* sources, const std::uint32_t* targets, std::size_t copies,
                  const PageMemory& memory) const override {
    const CopyPages kernel{sources, targets, memory};
    on_host_threads(copies * kernel.pieces_per_page(), kernel);
  }

 private:
  template <class Finish>
  static void run_multiply(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                           std::size_t out, float* outputs, const Finish& finish) {
    const Tiling tiling{rows, matrix.in, out};
    on_host_threads(tiling.items(), TensorCoreMultiply<Finish>{tiling, matrix.fragments,
                                                               inputs.bfloat16, outputs, finish});
  }
};

}  // namespace

template <>
const Kernels& tensor_core_kernels_for<InstructionSet::TEMPERA_INSTRUCTION_SET>() {
  static const TensorCoreKernels kernels;
  return kernels;
}

}  // namespace tempera::gpu
