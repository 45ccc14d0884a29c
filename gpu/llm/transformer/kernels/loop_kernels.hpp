#pragma once

#include <cmath>

#include "gpu/llm/transformer/kernels/expert_rows.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/kernels/recurrent_kernels.hpp"
#include "gpu/llm/transformer/kernels/row_kernels.hpp"
#include "gpu/llm/transformer/kernels/variant_rows.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Kernels of a form that runs each step as a loop over items: the one list of them for all such
/// forms. A Form has
///   name(), arithmetic                  as Kernels
///   run(items, kernel)                  calls kernel(item) for every item < items, in any order
///   Stored, stored(inputs)              how and where its arithmetic stores ProductInputs
///   with_weights(matrix, call)          call(weights), as its products take those of a matrix
///   with_embedding(matrix, call)        the same of an embedding
/// and the steps themselves, aggregates that are called with an item: Normalize,
/// NormalizeIntoPages, RotateIntoPages, Attend, GatherFromPages, ApplyDeltaRule, and, over items of
/// a Tiling<Weights>, Multiply<Weights, Finish> with Store, StoreWithBias and Add, and
/// MultiplyGated<Weights>. Weights give one by (output, input), and those from(output) on.
/// Squares::mean_of_squares(row, size) is that of its arithmetic's norms of rows.
template <class Form>
class LoopKernels final : public Kernels, public VariantKernels {
 public:
  const char* name() const override { return Form::name(); }
  Arithmetic arithmetic() const override { return Form::arithmetic; }

  void embed(const MatrixView& embedding, const TokenRows& batch, float* states) const override {
    Form::with_embedding(embedding, [&]<class Weights>(const Weights& weights) {
      Form::run(batch.rows, Embed<Weights>{weights, batch.tokens, embedding.in, states});
    });
  }

  void normalize(const float* states, const float* weight, std::size_t rows, std::size_t size,
                 float epsilon, const ProductInputs& normed) const override {
    Form::run(rows, typename Form::Normalize{states, weight, size, epsilon, Form::stored(normed)});
  }

  void normalize_into_pages(const float* states, const float* weight, const TokenRows& batch,
                            std::size_t size, float epsilon,
                            const PagePart& target) const override {
    Form::run(batch.rows,
              typename Form::NormalizeIntoPages{states, weight, size, epsilon, batch, target});
  }

  void multiply(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                std::size_t out, float* outputs) const override {
    run_multiply(matrix, inputs, rows, out, outputs, typename Form::Store{});
  }

  void multiply_with_bias(const MatrixView& matrix, const ProductInputs& inputs, const float* bias,
                          std::size_t rows, std::size_t out, float* outputs) const override {
    run_multiply(matrix, inputs, rows, out, outputs, typename Form::StoreWithBias{bias});
  }

  void multiply_and_add(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                        std::size_t out, float* outputs) const override {
    run_multiply(matrix, inputs, rows, out, outputs, typename Form::Add{});
  }

  void multiply_gated(const MatrixView& gate_up, const ProductInputs& inputs, std::size_t rows,
                      std::size_t out, const ProductInputs& gated) const override {
    Form::with_weights(gate_up, [&]<class Weights>(const Weights& weights) {
      const typename Form::template Tiling<Weights> tiling{rows, gate_up.in, out};
      Form::run(tiling.items(), typename Form::template MultiplyGated<Weights>{
                                    tiling, weights, weights.from(gate_up.out / 2),
                                    Form::stored(inputs), Form::stored(gated)});
    });
  }

  void rotate_into_pages(const AttentionShape& shape, const float* query_norm,
                         const float* key_norm, float epsilon, const RotaryTables& tables,
                         const TokenRows& batch, const PagePart& keys, const PagePart& values,
                         float* query_key_value) const override {
    const typename Form::RotateIntoPages kernel{shape, query_norm, key_norm, epsilon,        tables,
                                                batch, keys,       values,   query_key_value};
    Form::run(kernel.items(), kernel);
  }

  void attend(const AttentionShape& shape, const float* query_key_value, const TokenRows& batch,
              const PagePart& keys, const PagePart& values,
              const ProductInputs& attended) const override {
    attend_within(shape, {}, query_key_value, batch, keys, values, attended);
  }

  const VariantKernels* variants() const override { return this; }

  void attend_within(const AttentionShape& shape, const AttentionReach& reach,
                     const float* query_key_value, const TokenRows& batch, const PagePart& keys,
                     const PagePart& values, const ProductInputs& attended) const override {
    const float scale =
        reach.scale == 0.0f ? 1.0f / sqrtf(static_cast<float>(shape.head_dim)) : reach.scale;
    const typename Form::Attend kernel{shape,      scale,  query_key_value,        batch,
                                       keys,       values, Form::stored(attended), reach.window,
                                       reach.sinks};
    Form::run(kernel.items(), kernel);
    if (shape.gate_begin == 0) return;
    Form::run(batch.rows, GateAttended<typename Form::Stored>{
                              query_key_value + shape.gate_begin, shape.row_floats,
                              shape.heads * shape.head_dim, Form::stored(attended)});
  }

  void scale(float* values, std::size_t rows, std::size_t size, float factor) const override {
    Form::run(rows, ScaleRow{values, size, factor});
  }

  void take(const float* states, std::size_t rows, std::size_t size,
            const ProductInputs& inputs) const override {
    Form::run(rows, TakeRow<typename Form::Stored>{states, size, Form::stored(inputs)});
  }

  void gate_by_gelu(const float* gate_up, std::size_t rows, std::size_t row_floats,
                    std::size_t up_begin, std::size_t out,
                    const ProductInputs& gated) const override {
    Form::run(rows, GateByGelu<typename Form::Stored>{gate_up, row_floats, up_begin, out,
                                                      Form::stored(gated)});
  }

  void gate_by_clamped(const ClampedGate& clamped, const float* gate_up, std::size_t rows,
                       std::size_t row_floats, std::size_t up_begin, std::size_t out,
                       const ProductInputs& gated) const override {
    Form::run(rows, GateByClamped<typename Form::Stored>{clamped, gate_up, row_floats, up_begin,
                                                         out, Form::stored(gated)});
  }

  void normalize_part(float* part, std::size_t rows, std::size_t row_floats, std::size_t size,
                      const float* weight, float epsilon) const override {
    Form::run(rows, NormalizePart<typename Form::Squares>{part, row_floats, size, weight, epsilon});
  }

  void add_branch(const float* branch, const BranchEnd& end, std::size_t rows, std::size_t size,
                  float* states) const override {
    Form::run(rows, AddBranch<typename Form::Squares>{branch, end, size, states});
  }

  void choose_experts(const ExpertChoice& choice, const MatrixView& router,
                      const ProductInputs& inputs, std::size_t rows, float* logits,
                      std::uint32_t* experts, float* weights) const override {
    gpu::with_weights(router, [&]<class Weights>(const Weights& stored) {
      Form::run(rows * (router.out / lanes),
                Route<typename Form::Stored, Weights>{stored, Form::stored(inputs), router.in,
                                                      router.out, choice.bias, logits});
    });
    Form::run(rows, ChooseExperts{choice, logits, router.out, experts, weights});
  }

  void take_listed(const ProductInputs& inputs, const std::uint32_t* list, std::size_t count,
                   std::size_t size, const ProductInputs& taken) const override {
    Form::run(count, TakeListed<typename Form::Stored>{Form::stored(inputs), list, size,
                                                       Form::stored(taken)});
  }

  void add_experts(const float* outputs, const std::uint32_t* places, const float* weights,
                   std::size_t slots, std::size_t rows, std::size_t size,
                   float* states) const override {
    Form::run(rows, AddExperts{outputs, places, weights, slots, size, states});
  }

  void gather_from_pages(const CachedRows& batch, std::size_t size, const PagePart& source,
                         const ProductInputs& gathered) const override {
    Form::run(batch.rows,
              typename Form::GatherFromPages{batch, size, source, Form::stored(gathered)});
  }

  void recur(const RecurrentShape& shape, const RecurrentWeights& weights, const TokenRows& batch,
             const RecurrentStates& states, float* projected,
             const ProductInputs& answers) const override {
    const Convolve convolve{shape, weights.convolution, batch, states.inputs, projected};
    Form::run(convolve.items(), convolve);
    Form::run(batch.rows, PrepareRecurrence{shape, weights.rates, weights.biases, projected});
    const typename Form::ApplyDeltaRule apply{shape, batch, states.memories, projected};
    Form::run(apply.items(), apply);
    Form::run(batch.rows,
              NormalizeGated<typename Form::Stored>{shape, weights.norm, weights.epsilon, projected,
                                                    Form::stored(answers)});
  }

  void copy_pages(const std::uint32_t* sources, const std::uint32_t* targets, std::size_t copies,
                  const PageMemory& memory) const override {
    const CopyPages kernel{sources, targets, memory};
    Form::run(copies * kernel.pieces_per_page(), kernel);
  }

 private:
  template <class Finish>
  static void run_multiply(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                           std::size_t out, float* outputs, const Finish& finish) {
    Form::with_weights(matrix, [&]<class Weights>(const Weights& weights) {
      const typename Form::template Tiling<Weights> tiling{rows, matrix.in, out};
      Form::run(tiling.items(), typename Form::template Multiply<Weights, Finish>{
                                    tiling, weights, Form::stored(inputs), outputs, finish});
    });
  }
};

/// What the forms of `float32` share.
struct Float32Form {
  static constexpr Arithmetic arithmetic = Arithmetic::float32;
  using Squares = PartialSquares<partial_sums>;
  using Normalize = gpu::Normalize;
  using NormalizeIntoPages = gpu::NormalizeIntoPages;
  using RotateIntoPages = gpu::RotateIntoPages;
  using GatherFromPages = gpu::GatherFromPages;

  using Stored = float;
  static float* stored(const ProductInputs& inputs) { return inputs.float32; }
  template <class Call>
  static void with_weights(const MatrixView& matrix, const Call& call) {
    gpu::with_weights(matrix, call);
  }
  template <class Call>
  static void with_embedding(const MatrixView& matrix, const Call& call) {
    gpu::with_weights(matrix, call);
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
