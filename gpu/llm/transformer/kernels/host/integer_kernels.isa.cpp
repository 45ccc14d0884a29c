// Compiled once per instruction set. Nothing that this source shares with others may be emitted
// from it (see gpu/device/arithmetic.hpp), so it includes nothing of the standard library's
// templates.
#include <math.h>

#include "gpu/device/compiled_for.hpp"
#include "gpu/device/host_threads.hpp"
#include "gpu/llm/transformer/kernels/host/delta_rule.hpp"
#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "gpu/llm/transformer/kernels/host/product_results.hpp"
#include "gpu/llm/transformer/kernels/host/whole_attend.hpp"
#include "gpu/llm/transformer/kernels/host/whole_products.hpp"
#include "gpu/llm/transformer/kernels/host/whole_rows.hpp"
#include "gpu/llm/transformer/kernels/loop_kernels.hpp"

namespace tempera::gpu {

namespace {

struct OnHostThreads : Float32Form {
  static constexpr Arithmetic arithmetic = Arithmetic::integer;
  static const char* name() { return host_form_name(); }
  template <class Kernel>
  static void run(std::size_t items, const Kernel& kernel) {
    on_host_threads(items, kernel);
  }
  template <class Finish>
  static void run(std::size_t items, WholeMultiply<Finish> product) {
    run_product(items, product);
  }
  static void run(std::size_t items, WholeMultiplyGated product) { run_product(items, product); }
  template <class Product>
  static void run_product(std::size_t items, Product& product) {
    product.packed = host_scratch(product.rows().floats());
    on_host_threads(product.tiling.rows, PackWholeInputs{product.rows()});
    on_host_threads(items, product);
  }
  template <class Call>
  static void with_weights(const MatrixView& matrix, const Call& call) {
    call(WholeWeights{matrix.pairs, matrix.in});
  }
  using Squares = WholeHeads;
  using Normalize = WholeNormalize;
  using NormalizeIntoPages = WholeNormalizeIntoPages;
  using RotateIntoPages = RotateIntoPagesOf<WholeHeads>;
  using Attend = WholeAttend;
  using ApplyDeltaRule = gpu::ApplyDeltaRule;
  template <class>
  using Tiling = Float32Tiling;
  using Store = gpu::Store;
  using StoreWithBias = gpu::StoreWithBias;
  using Add = gpu::Add;
  template <class, class Finish>
  using Multiply = WholeMultiply<Finish>;
  template <class>
  using MultiplyGated = WholeMultiplyGated;
};

}  // namespace

template <>
const Kernels& integer_kernels_for<InstructionSet::TEMPERA_INSTRUCTION_SET>() {
  static const LoopKernels<OnHostThreads> kernels;
  return kernels;
}

}  // namespace tempera::gpu
