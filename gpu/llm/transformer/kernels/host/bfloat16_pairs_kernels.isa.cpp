// Compiled once per instruction set. Nothing that this source shares with others may be emitted
// from it (see gpu/device/arithmetic.hpp), so it includes nothing of the standard library's
// templates.
#include <math.h>

#include "gpu/device/compiled_for.hpp"
#include "gpu/device/host_threads.hpp"
#include "gpu/llm/transformer/kernels/host/delta_rule.hpp"
#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "gpu/llm/transformer/kernels/host/pair_attend.hpp"
#include "gpu/llm/transformer/kernels/host/pair_multiply.hpp"
#include "gpu/llm/transformer/kernels/host/product_results.hpp"
#include "gpu/llm/transformer/kernels/host/tensor_core_rows.hpp"
#include "gpu/llm/transformer/kernels/loop_kernels.hpp"

namespace tempera::gpu {

namespace {

struct OnHostThreads {
  static constexpr Arithmetic arithmetic = Arithmetic::bfloat16_pairs;
  static const char* name() { return host_form_name(); }
  template <class Kernel>
  static void run(std::size_t items, const Kernel& kernel) {
    on_host_threads(items, kernel);
  }
  template <class Weights, class Finish>
  static void run(std::size_t items, PairMultiply<Weights, Finish> product) {
    run_product(items, product);
  }
  template <class Weights>
  static void run(std::size_t items, PairMultiplyGated<Weights> product) {
    run_product(items, product);
  }
  template <class Product>
  static void run_product(std::size_t items, Product& product) {
    if (product.rows().needs_packing()) {
      product.packed =
          reinterpret_cast<std::uint32_t*>(host_scratch(product.rows().packed_words()));
      on_host_threads(product.rows().packed_rows(), PackPairInputs{product.rows()});
    }
    on_host_threads(items, product);
  }
  using Stored = std::uint16_t;
  static std::uint16_t* stored(const ProductInputs& inputs) { return inputs.bfloat16; }
  template <class Call>
  static void with_weights(const MatrixView& matrix, const Call& call) {
    if (matrix.quantised != nullptr) {
      call(QuantisedPairs{{matrix.quantised, matrix.blocks}});
    } else {
      call(PackedPairs{matrix.pairs, matrix.in});
    }
  }
  template <class Call>
  static void with_embedding(const MatrixView& matrix, const Call& call) {
    with_weights(matrix, call);
  }
  using Squares = PartialSquares<row_sums>;
  using Normalize = TensorCoreNormalize;
  using NormalizeIntoPages = TensorCoreNormalizeIntoPages;
  using RotateIntoPages = RotateIntoPagesOf<Bfloat16Heads<PairsInPages>>;
  using Attend = PairAttend;
  using GatherFromPages = TensorCoreGatherFromPages;
  using ApplyDeltaRule = gpu::ApplyDeltaRule;
  template <class>
  using Tiling = Float32Tiling;
  using Store = gpu::Store;
  using StoreWithBias = gpu::StoreWithBias;
  using Add = gpu::Add;
  template <class Weights, class Finish>
  using Multiply = PairMultiply<Weights, Finish>;
  template <class Weights>
  using MultiplyGated = PairMultiplyGated<Weights>;
};

}  // namespace

template <>
const Kernels& bfloat16_pairs_kernels_for<InstructionSet::TEMPERA_INSTRUCTION_SET>() {
  static const LoopKernels<OnHostThreads> kernels;
  return kernels;
}

}  // namespace tempera::gpu
