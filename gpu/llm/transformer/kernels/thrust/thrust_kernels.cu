#include "gpu/device/launch.cuh"
#include "gpu/llm/transformer/kernels/loop_kernels.hpp"
#include "gpu/llm/transformer/kernels/thrust/attention.cuh"
#include "gpu/llm/transformer/kernels/thrust/delta_rule.cuh"
#include "gpu/llm/transformer/kernels/thrust/multiply.cuh"
#include "gpu/llm/transformer/kernels/thrust/thrust_kernels.hpp"

namespace tempera::gpu {

namespace {

struct OnThrust : Float32Form {
  static const char* name() { return "thrust"; }
  template <class Kernel>
  static void run(std::size_t items, const Kernel& kernel) {
    launch(items, kernel);
  }
  using Attend = readable::Attend;
  using ApplyDeltaRule = readable::ApplyDeltaRule;
  template <class>
  using Tiling = readable::Tiling;
  using Store = readable::Store;
  using StoreWithBias = readable::StoreWithBias;
  using Add = readable::Add;
  template <class Weights, class Finish>
  using Multiply = readable::Multiply<Weights, Finish>;
  template <class Weights>
  using MultiplyGated = readable::MultiplyGated<Weights>;
};

}  // namespace

const Kernels& thrust_kernels() {
  static const LoopKernels<OnThrust> kernels;
  return kernels;
}

}  // namespace tempera::gpu
