// Compiled once per instruction set. Nothing that this source shares with others may be emitted
// from it (see gpu/device/arithmetic.hpp), so it includes nothing of the standard library's
// templates.
#include <math.h>

#include "gpu/device/compiled_for.hpp"
#include "gpu/device/host_threads.hpp"
#include "gpu/llm/transformer/kernels/host/attend.hpp"
#include "gpu/llm/transformer/kernels/host/delta_rule.hpp"
#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "gpu/llm/transformer/kernels/host/multiply.hpp"
#include "gpu/llm/transformer/kernels/host/product_results.hpp"
#include "gpu/llm/transformer/kernels/loop_kernels.hpp"

namespace tempera::gpu {

namespace {

struct OnHostThreads : Float32Form {
  static const char* name() { return host_form_name(); }
  template <class Kernel>
  static void run(std::size_t items, const Kernel& kernel) {
    on_host_threads(items, kernel);
  }
  template <class Weights, class Finish>
  static void run(std::size_t items, gpu::Multiply<Weights, Finish> product) {
    run_product<Weights>(items, product);
  }
  template <class Weights>
  static void run(std::size_t items, gpu::MultiplyGated<Weights> product) {
    run_product<Weights>(items, product);
  }
  template <class Weights, class Product>
  static void run_product(std::size_t items, Product& product) {
    const auto& [rows, in, out] = product.tiling;
    if (rows > direct_rows<Weights>) {
      float* const packed = host_scratch(PackedInputs::floats(rows, in));
      on_host_threads(rows, PackInputs{product.inputs, rows, in, packed});
      product.packed = packed;
    }
    on_host_threads(items, product);
  }
  using Attend = gpu::Attend;
  using ApplyDeltaRule = gpu::ApplyDeltaRule;
  template <class>
  using Tiling = gpu::Float32Tiling;
  using Store = gpu::Store;
  using StoreWithBias = gpu::StoreWithBias;
  using Add = gpu::Add;
  template <class Weights, class Finish>
  using Multiply = gpu::Multiply<Weights, Finish>;
  template <class Weights>
  using MultiplyGated = gpu::MultiplyGated<Weights>;
};

}  // namespace

template <>
const Kernels& float32_kernels_for<InstructionSet::TEMPERA_INSTRUCTION_SET>() {
  static const LoopKernels<OnHostThreads> kernels;
  return kernels;
}

}  // namespace tempera::gpu
