// In a build for CUDA an object for sm_90a alone, for wgmma is no part of sm_90. A build for other
// devices has no such code.
#include "base/error.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_plan.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_product_launch.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

#if !defined(__CUDACC__) || defined(TEMPERA_HAS_SM_90A)

namespace {

template <class Epilogue>
void launch_any(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                const Epilogue& epilogue) {
  if (operands.quantised != nullptr || operands.inputs.rows == nullptr)
    throw Bug("warpgroup_product takes fragments, and rows as they are");
  with_layout(block_of(plan), [&]<class Layout>(Layout) {
    simt::launch(
        {.blocks = {plan.blocks}, .threads = Layout::threads, .shared_bytes = plan.shared_bytes},
        stream, warpgroup_product<Layout, Epilogue>, plan, operands, epilogue);
  });
}

}  // namespace

bool has_warpgroup_steps() {
#if defined(__CUDACC__)
  const auto capability = compute_capability();
  return capability && capability->major == 9 && capability->minor == 0;
#else
  return true;
#endif
}

#else

namespace {

template <class Epilogue>
void launch_any(simt::Stream&, const ProductPlan&, const ProductOperands&, const Epilogue&) {
  throw Bug("this build has no code for sm_90a");
}

}  // namespace

bool has_warpgroup_steps() { return false; }

#endif

void launch_warpgroup_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const StoreProduct& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}
void launch_warpgroup_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const AddProduct& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}
void launch_warpgroup_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const GateProduct& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}
void launch_warpgroup_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const StoreLogits& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
