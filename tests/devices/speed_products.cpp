// Part 6: the products of a model and its head, as fractions of the bandwidth.
#include "gpu/llm/transformer/kernels/product_input_memory.hpp"
#include "tests/devices/model_products.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/devices/some_inputs.hpp"
#include "tests/devices/speed.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu {

namespace {

/// Seconds of one product. Copies of the matrix take turns, so that each comes from memory.
double product_seconds(const SpeedRun& run, const Kernels& kernels, const ModelProduct& product,
                       std::size_t rows, std::vector<PackedMatrix>& copies) {
  DeviceMemory<std::uint16_t> given = some_inputs(rows * product.in);
  const ProductInputs inputs{nullptr, given.data()};
  ProductInputMemory gated(kernels.arithmetic());
  gated.ensure_size(rows * product.out);
  DeviceMemory<float> outputs(rows * padded(product.out));
  std::size_t turn = 0;
  return seconds_per_call(run.timing, [&] {
    const MatrixView matrix = copies[turn++ % copies.size()].view();
    if (product.form == ModelProduct::Form::store)
      kernels.multiply(matrix, inputs, rows, product.out, outputs.data());
    else if (product.form == ModelProduct::Form::add)
      kernels.multiply_and_add(matrix, inputs, rows, product.out, outputs.data());
    else
      kernels.multiply_gated(matrix, inputs, rows, product.out, gated.view());
  });
}

}  // namespace

void measure_products(SpeedRun& run, const ModelShape& shape,
                      std::span<const std::size_t> batches) {
  const Kernels& kernels = default_kernels(own_arithmetic());
  // With so many rows a product is bound by arithmetic.
  constexpr std::size_t many_rows = 512;
  double many_rows_seconds = 0.0;
  double many_rows_operations = 0.0;
  for (const ModelProduct& product : products_of(shape.config)) {
    auto copies = copies_of(product, kernels.arithmetic());
    for (const std::size_t rows : batches) {
      const double seconds = product_seconds(run, kernels, product, rows, copies);
      const double fraction =
          static_cast<double>(2 * product.weights()) / (seconds * run.rates.bandwidth);
      run.figures.judge(
          std::string(shape.name) + ", " + product.name + ", B = " + std::to_string(rows), fraction,
          "of the bandwidth",
          {Goal::Side::at_least, product.is_head ? 0.90
                                 : rows <= 16    ? 0.85
                                                 : 0.80});
    }
    if (product.is_head) continue;
    many_rows_seconds += product_seconds(run, kernels, product, many_rows, copies);
    many_rows_operations += 2.0 * static_cast<double>(product.weights() * many_rows);
  }
  run.figures.judge(
      std::string(shape.name) + ", a layer's products, B = " + std::to_string(many_rows),
      many_rows_operations / (many_rows_seconds * run.rates.matrix_peak), "of the matrix peak",
      {Goal::Side::at_least, 0.60});
}

}  // namespace tempera::gpu
