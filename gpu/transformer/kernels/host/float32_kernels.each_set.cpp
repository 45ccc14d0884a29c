// Compiled once per instruction set. Nothing that this source shares with others may be emitted
// from it (see gpu/device/arithmetic.hpp), so it includes nothing of the standard library's
// templates.
#include <math.h>

#include "gpu/device/compiled_for.hpp"
#include "gpu/device/host_threads.hpp"
#include "gpu/transformer/kernels/host/attend.hpp"
#include "gpu/transformer/kernels/host/host_kernels.hpp"
#include "gpu/transformer/kernels/host/multiply.hpp"
#include "gpu/transformer/kernels/row_kernels.hpp"

namespace tempera::gpu {

namespace {

class Float32Kernels final : public Kernels {
 public:
  const char* name() const override { return host_form_name(); }
  Arithmetic arithmetic() const override { return Arithmetic::float32; }

  void embed(const MatrixView& embedding, const TokenRows& batch, float* states) const override {
    with_weights(embedding, [&]<class Weights>(const Weights& weights) {
      on_host_threads(batch.rows, Embed<Weights>{weights, batch.tokens, embedding.in, states});
    });
  }

  void normalize(const float* states, const float* weight, std::size_t rows, std::size_t size,
                 float epsilon, const ProductInputs& normed) const override {
    on_host_threads(rows, Normalize{states, weight, size, epsilon, normed.float32});
  }

  void normalize_into_pages(const float* states, const float* weight, const TokenRows& batch,
                            std::size_t size, float epsilon,
                            const PagePart& target) const override {
    on_host_threads(batch.rows, NormalizeIntoPages{states, weight, size, epsilon, batch, target});
  }

  void multiply(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                std::size_t out, float* outputs) const override {
    run_multiply(matrix, inputs.float32, rows, out, outputs, Store());
  }

  void multiply_with_bias(const MatrixView& matrix, const ProductInputs& inputs, const float* bias,
                          std::size_t rows, std::size_t out, float* outputs) const override {
    run_multiply(matrix, inputs.float32, rows, out, outputs, StoreWithBias{bias});
  }

  void multiply_and_add(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                        std::size_t out, float* outputs) const override {
    run_multiply(matrix, inputs.float32, rows, out, outputs, Add());
  }

  void multiply_gated(const MatrixView& gate_up, const ProductInputs& inputs, std::size_t rows,
                      std::size_t out, const ProductInputs& gated) const override {
    const Tiling tiling{rows, gate_up.in, out};
    with_weights(gate_up, [&]<class Weights>(const Weights& weights) {
      on_host_threads(tiling.items(),
                      MultiplyGated<Weights>{tiling, weights, weights.from(gate_up.out / 2),
                                             inputs.float32, gated.float32});
    });
  }

  void rotate_into_pages(const AttentionShape& shape, const float* query_norm,
                         const float* key_norm, float epsilon, const RotaryTables& tables,
                         const TokenRows& batch, const PagePart& keys, const PagePart& values,
                         float* query_key_value) const override {
    const RotateIntoPages kernel{shape, query_norm, key_norm, epsilon,        tables,
                                 batch, keys,       values,   query_key_value};
    on_host_threads(kernel.items(), kernel);
  }

  void attend(const AttentionShape& shape, const float* query_key_value, const TokenRows& batch,
              const PagePart& keys, const PagePart& values,
              const ProductInputs& attended) const override {
    const float scale = 1.0f / sqrtf(static_cast<float>(shape.head_dim));
    on_host_threads(batch.rows * shape.heads,
                    Attend{shape, scale, query_key_value, batch, keys, values, attended.float32});
  }

  void gather_from_pages(const CachedRows& batch, std::size_t size, const PagePart& source,
                         const ProductInputs& gathered) const override {
    on_host_threads(batch.rows, GatherFromPages{batch, size, source, gathered.float32});
  }

  void copy_pages(const std::uint32_t* sources, const std::uint32_t* targets, std::size_t copies,
                  const PageMemory& memory) const override {
    const CopyPages kernel{sources, targets, memory};
    on_host_threads(copies * kernel.pieces_per_page(), kernel);
  }

 private:
  template <class Finish>
  static void run_multiply(const MatrixView& matrix, const float* inputs, std::size_t rows,
                           std::size_t out, float* outputs, const Finish& finish) {
    const Tiling tiling{rows, matrix.in, out};
    with_weights(matrix, [&]<class Weights>(const Weights& weights) {
      on_host_threads(tiling.items(),
                      Multiply<Weights, Finish>{tiling, weights, inputs, outputs, finish});
    });
  }
};

}  // namespace

template <>
const Kernels& float32_kernels_for<InstructionSet::TEMPERA_INSTRUCTION_SET>() {
  static const Float32Kernels kernels;
  return kernels;
}

}  // namespace tempera::gpu
