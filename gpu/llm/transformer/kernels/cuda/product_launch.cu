#include "gpu/llm/transformer/kernels/cuda/product_launch.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_product_launch.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

namespace {

template <unsigned TokenTiles, class Epilogue>
void launch_for(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                const Epilogue& epilogue) {
  constexpr unsigned unit_tiles = unit_tiles_for(Epilogue::gated);
  const simt::LaunchShape shape{
      .blocks = {plan.blocks}, .threads = product_threads, .shared_bytes = plan.shared_bytes};
  if (operands.quantised != nullptr) {
    simt::launch(shape, stream, product<TokenTiles, unit_tiles, Epilogue, PackedWeights>, plan,
                 operands, epilogue);
  } else {
    simt::launch(shape, stream, product<TokenTiles, unit_tiles, Epilogue, FragmentWeights>, plan,
                 operands, epilogue);
  }
}

template <class Epilogue>
void launch_chunks(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                   const Epilogue& epilogue) {
  switch (plan.token_tiles) {
    case 1:
      return launch_for<1>(stream, plan, operands, epilogue);
    case 2:
      return launch_for<2>(stream, plan, operands, epilogue);
    default:
      return launch_for<4>(stream, plan, operands, epilogue);
  }
}

template <class Epilogue>
void launch_any(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                const Epilogue& epilogue) {
  switch (plan.form) {
    case ProductForm::chunks:
      launch_chunks(stream, plan, operands, epilogue);
      break;
    case ProductForm::warpgroups:
      launch_warpgroup_product(stream, plan, operands, epilogue);
      break;
  }
  if (plan.adding != Adding::next_kernel) return;
  simt::launch({.blocks = {plan.adding_blocks(Epilogue::gated)}, .threads = product_threads},
               stream, add_segments<Epilogue>, plan, operands.scratch, epilogue);
}

}  // namespace

void launch_product(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                    const StoreProduct& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}
void launch_product(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                    const AddProduct& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}
void launch_product(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                    const GateProduct& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}
void launch_product(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                    const StoreLogits& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
