// Compiled once per instruction set. Nothing that this source shares with others may be emitted
// from it (see gpu/device/arithmetic.hpp), so it includes nothing of the standard library's
// templates.
#include <math.h>

#include "gpu/device/compiled_for.hpp"
#include "gpu/device/host_threads.hpp"
#include "gpu/llm/transformer/kernels/host/delta_rule.hpp"
#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "gpu/llm/transformer/kernels/host/product_results.hpp"
#include "gpu/llm/transformer/kernels/host/tensor_core_attend.hpp"
#include "gpu/llm/transformer/kernels/host/tensor_core_multiply.hpp"
#include "gpu/llm/transformer/kernels/host/tensor_core_rows.hpp"
#include "gpu/llm/transformer/kernels/loop_kernels.hpp"

namespace tempera::gpu {

namespace {

/// What an arithmetic of tensor cores is made of: in the steps of one chip, with pages of Elements,
/// which Heads store.
template <Arithmetic Named, class Step, class Elements, class Heads>
struct OnHostThreads {
  static constexpr Arithmetic arithmetic = Named;
  static const char* name() { return host_form_name(); }
  template <class Kernel>
  static void run(std::size_t items, const Kernel& kernel) {
    on_host_threads(items, kernel);
  }
  using Stored = std::uint16_t;
  static std::uint16_t* stored(const ProductInputs& inputs) { return inputs.bfloat16; }
  template <class Call>
  static void with_weights(const MatrixView& matrix, const Call& call) {
    if (matrix.quantised != nullptr) {
      call(QuantisedTiles<Step>{{matrix.quantised, matrix.blocks}});
    } else {
      call(FragmentTiles<Step>{matrix.fragments, matrix.in});
    }
  }
  template <class Call>
  static void with_embedding(const MatrixView& matrix, const Call& call) {
    with_weights(matrix, call);
  }
  using Squares = PartialSquares<row_sums>;
  using Normalize = TensorCoreNormalize;
  using NormalizeIntoPages = TensorCoreNormalizeIntoPages;
  using RotateIntoPages = RotateIntoPagesOf<Heads>;
  using Attend = TensorCoreAttend<Elements>;
  using GatherFromPages = TensorCoreGatherFromPages;
  using ApplyDeltaRule = gpu::ApplyDeltaRule;
  template <class Weights>
  using Tiling = TensorCoreTiling<Weights::item_rows>;
  using Store = gpu::Store;
  using StoreWithBias = gpu::StoreWithBias;
  using Add = gpu::Add;
  template <class Weights, class Finish>
  using Multiply = TensorCoreMultiply<Weights, Finish>;
  template <class Weights>
  using MultiplyGated = TensorCoreMultiplyGated<Weights>;
};

template <Arithmetic Named, class Step>
const Kernels& with_bfloat16_pages() {
  static const LoopKernels<
      OnHostThreads<Named, Step, Bfloat16Elements, Bfloat16Heads<HeadsInPages>>>
      kernels;
  return kernels;
}

template <Arithmetic Named, class Step>
const Kernels& with_8_bit_pages() {
  static const LoopKernels<OnHostThreads<Named, Step, EightBitElements, EightBitHeads>> kernels;
  return kernels;
}

}  // namespace

template <>
const Kernels& tensor_core_kernels_for<InstructionSet::TEMPERA_INSTRUCTION_SET>(
    Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::tensor_core_ampere:
      return with_bfloat16_pages<Arithmetic::tensor_core_ampere, AmpereStep>();
    case Arithmetic::tensor_core_8_bit_pages:
      return with_8_bit_pages<Arithmetic::tensor_core_8_bit_pages, HopperStep>();
    case Arithmetic::tensor_core_ampere_8_bit_pages:
      return with_8_bit_pages<Arithmetic::tensor_core_ampere_8_bit_pages, AmpereStep>();
    default:
      return with_bfloat16_pages<Arithmetic::tensor_core, HopperStep>();
  }
}

}  // namespace tempera::gpu
