#include "base/error.hpp"
#include "gpu/transformer/kernels/cuda/many_rows_product_launch.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

namespace {

template <class Epilogue>
void launch_any(simt::Stream& stream, const ProductPlan& plan, const ProductOperands& operands,
                const Epilogue& epilogue) {
  if (operands.quantised != nullptr || operands.inputs.rows == nullptr)
    throw Bug("many_rows_product takes fragments, and rows as they are");
  simt::launch({.blocks = {plan.blocks},
                .threads = ManyRowsLayout::threads,
                .shared_bytes = plan.shared_bytes},
               stream, many_rows_product<Epilogue>, plan, operands, epilogue);
}

}  // namespace

void launch_many_rows_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const StoreProduct& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}
void launch_many_rows_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const AddProduct& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}
void launch_many_rows_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const GateProduct& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}
void launch_many_rows_product(simt::Stream& stream, const ProductPlan& plan,
                              const ProductOperands& operands, const StoreLogits& epilogue) {
  launch_any(stream, plan, operands, epilogue);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
