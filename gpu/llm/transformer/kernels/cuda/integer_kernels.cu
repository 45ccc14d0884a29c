#include <cmath>

#include "base/error.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/kernels/cuda/integer_device.cuh"
#include "gpu/llm/transformer/kernels/cuda/whole_attention.cuh"
#include "gpu/llm/transformer/kernels/cuda/whole_product.cuh"
#include "gpu/llm/transformer/kernels/cuda/whole_rows.cuh"

namespace tempera::gpu {

namespace {

#if defined(__CUDACC__)
constexpr const char* graph_name = "cuda";
constexpr const char* launches_name = "cuda, launch by launch";
#else
constexpr const char* graph_name = "cuda on fibers";
constexpr const char* launches_name = "cuda on fibers, launch by launch";
#endif

/// Makes whole numbers of the inputs, and multiplies.
template <class Epilogue>
void multiply_by(CudaIntegerKernels::Device& device, const MatrixView& matrix, const float* inputs,
                 std::size_t rows, std::size_t out, const Epilogue& epilogue) {
  WholeInputRows whole{nullptr, nullptr, as_unsigned(matrix.in)};
  device.words.ensure_size(rows * whole.pairs());
  device.steps.ensure_size(rows * whole.segments());
  whole.words = device.words.data();
  whole.steps = device.steps.data();
  simt::launch({.blocks = {quotient_up(whole.segments(), whole_product_warps), as_unsigned(rows)},
                .threads = whole_product_threads},
               device.stream, quantise_whole_rows, inputs, whole);
  const WholeWeights weights{matrix.pairs, matrix.in};
  simt::launch({.blocks = {quotient_up(as_unsigned(out), as_unsigned(lanes)),
                           quotient_up(as_unsigned(rows), whole_product_rows)},
                .threads = whole_product_threads,
                .shared_bytes = whole_product_bytes<Epilogue>(whole.segments())},
               device.stream, multiply_whole_rows<Epilogue>,
               WholeOperands{weights, Epilogue::gated ? weights.from(matrix.out / 2) : weights,
                             whole, as_unsigned(rows), as_unsigned(out)},
               epilogue);
}

}  // namespace

CudaIntegerKernels::CudaIntegerKernels(std::uint64_t seed, StepForm steps)
    : device_(std::make_unique<Device>()) {
  require_device("");
  device_->limits = this_device();
  device_->stream = new_stream(seed);
  device_->stream.graphs = steps != StepForm::launches;
}

CudaIntegerKernels::~CudaIntegerKernels() { end_stream(device_->stream); }

std::uint64_t CudaIntegerKernels::steps() const { return device_->stream.waits; }
std::uint64_t CudaIntegerKernels::graph_replays() const { return device_->stream.replays; }

const char* CudaIntegerKernels::name() const {
  return device_->stream.graphs ? graph_name : launches_name;
}

void CudaIntegerKernels::require_recurrence(const RecurrentShape& /*shape*/,
                                            const std::string& where) const {
  throw BadInput(where, "has recurrent layers, which integer has on no GPU yet",
                 "use --arithmetic float32, or integer with --device host");
}

void CudaIntegerKernels::embed(const MatrixView& embedding, const TokenRows& batch,
                               float* states) const {
  with_weights(embedding, [&]<class Weights>(const Weights& weights) {
    simt::launch({.blocks = {as_unsigned(batch.rows)}, .threads = whole_row_threads},
                 device_->stream, embed_stored_rows<Weights>, weights, batch,
                 as_unsigned(embedding.in), states);
  });
}

void CudaIntegerKernels::normalize(const float* states, const float* weight, std::size_t rows,
                                   std::size_t size, float epsilon,
                                   const ProductInputs& normed) const {
  simt::launch({.blocks = {as_unsigned(rows)},
                .threads = whole_row_threads,
                .shared_bytes = whole_row_bytes},
               device_->stream, normalize_whole_rows, states, weight, as_unsigned(size), epsilon,
               normed.float32);
}

void CudaIntegerKernels::normalize_into_pages(const float* states, const float* weight,
                                              const TokenRows& batch, std::size_t size,
                                              float epsilon, const PagePart& target) const {
  simt::launch({.blocks = {as_unsigned(batch.rows)},
                .threads = whole_row_threads,
                .shared_bytes = whole_row_bytes},
               device_->stream, normalize_whole_into_slots, states, weight, batch,
               as_unsigned(size), epsilon, target);
}

void CudaIntegerKernels::multiply(const MatrixView& matrix, const ProductInputs& inputs,
                                  std::size_t rows, std::size_t out, float* outputs) const {
  multiply_by(*device_, matrix, inputs.float32, rows, out, StoreProduct{outputs, nullptr});
}

void CudaIntegerKernels::multiply_with_bias(const MatrixView& matrix, const ProductInputs& inputs,
                                            const float* bias, std::size_t rows, std::size_t out,
                                            float* outputs) const {
  multiply_by(*device_, matrix, inputs.float32, rows, out, StoreProduct{outputs, bias});
}

void CudaIntegerKernels::multiply_and_add(const MatrixView& matrix, const ProductInputs& inputs,
                                          std::size_t rows, std::size_t out, float* outputs) const {
  multiply_by(*device_, matrix, inputs.float32, rows, out, AddProduct{outputs});
}

void CudaIntegerKernels::multiply_gated(const MatrixView& gate_up, const ProductInputs& inputs,
                                        std::size_t rows, std::size_t out,
                                        const ProductInputs& gated) const {
  multiply_by(*device_, gate_up, inputs.float32, rows, out, GateWholeProduct{gated.float32});
}

void CudaIntegerKernels::multiply_head(const MatrixView& head, const ProductInputs& inputs,
                                       std::size_t rows, std::size_t out,
                                       const LogitRows& logits) const {
  multiply_by(*device_, head, inputs.float32, rows, out,
              StoreLogits{logits.logits, logits.tile_largest});
}

void CudaIntegerKernels::rotate_into_pages(const AttentionShape& shape, const float* query_norm,
                                           const float* key_norm, float epsilon,
                                           const RotaryTables& tables, const TokenRows& batch,
                                           const PagePart& keys, const PagePart& values,
                                           float* query_key_value) const {
  const std::size_t heads = shape.heads + 2 * shape.key_value_heads;
  simt::launch(
      {.blocks = {quotient_up(as_unsigned(heads), whole_head_warps), as_unsigned(batch.rows)},
       .threads = whole_head_warps * simt::warp_lanes},
      device_->stream, rotate_whole_heads, shape,
      HeadRotation{query_norm, key_norm, epsilon, tables}, batch, keys, values, query_key_value);
}

void CudaIntegerKernels::attend(const AttentionShape& shape, const float* query_key_value,
                                const TokenRows& batch, const PagePart& keys,
                                const PagePart& values, const ProductInputs& attended) const {
  const unsigned splits = quotient_up(as_unsigned(batch.context), whole_split);
  device_->splits.ensure_size(WholeSplits::floats(shape, batch.rows, splits));
  const WholeSplits results = WholeSplits::in(device_->splits.data(), shape, batch.rows, splits);
  const unsigned heads = as_unsigned(shape.heads);
  const unsigned rows = as_unsigned(batch.rows);
  simt::launch({.blocks = {splits, heads, rows},
                .threads = whole_split,
                .shared_bytes = WholeSplitMemory::bytes(shape.head_dim)},
               device_->stream, attend_whole_split, shape,
               1.0f / sqrtf(static_cast<float>(shape.head_dim)), query_key_value, batch, keys,
               values, results);
  simt::launch({.blocks = {heads, rows}, .threads = whole_combining_threads}, device_->stream,
               combine_whole_splits, shape, batch, results, attended.float32);
}

void CudaIntegerKernels::recur(const RecurrentShape& /*shape*/, const RecurrentWeights& /*weights*/,
                               const TokenRows& /*batch*/, const RecurrentStates& /*states*/,
                               float* /*projected*/, const ProductInputs& /*answers*/) const {
  throw Bug("integer has no recurrent layers on a GPU");
}

void CudaIntegerKernels::gather_from_pages(const CachedRows& batch, std::size_t size,
                                           const PagePart& source,
                                           const ProductInputs& gathered) const {
  simt::launch({.blocks = {as_unsigned(batch.rows)}, .threads = whole_row_threads}, device_->stream,
               gather_float_slots, batch, as_unsigned(size), source, gathered.float32);
}

void CudaIntegerKernels::copy_pages(const std::uint32_t* sources, const std::uint32_t* targets,
                                    std::size_t copies, const PageMemory& memory) const {
  queue_page_copies(device_->stream, sources, targets, copies, memory);
}

}  // namespace tempera::gpu
