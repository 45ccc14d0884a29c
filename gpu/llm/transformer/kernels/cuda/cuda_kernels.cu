#include <algorithm>

#include "base/error.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/planted_fault.hpp"
#include "gpu/llm/transformer/kernels/cuda/attention_launch.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_device.cuh"
#include "gpu/llm/transformer/kernels/cuda/dense_layers_launch.hpp"
#include "gpu/llm/transformer/kernels/cuda/own_stream.cuh"
#include "gpu/llm/transformer/kernels/cuda/rotary.cuh"
#include "gpu/llm/transformer/kernels/cuda/rows.cuh"
#include "gpu/llm/transformer/kernels/cuda/tensor_core_check.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_check.hpp"

namespace tempera::gpu {

namespace {

#if defined(__CUDACC__)
void set_steps(simt::Stream& /*stream*/, Arithmetic /*arithmetic*/) {}
/// Whether wgmma is there, and has shown the bits of mma.sync here.
bool warpgroups_can_be_used(simt::Stream& stream) {
  return has_warpgroup_steps() && warpgroups_have_equal_bits(stream);
}
constexpr const char* graph_name = "cuda";
constexpr const char* joined_name = "cuda, joined layers";
constexpr const char* launches_name = "cuda, launch by launch";
#else
/// Fibers take the steps of either chip.
void set_steps(simt::Stream& stream, Arithmetic arithmetic) {
  stream.takes_ampere_steps = takes_ampere_steps(arithmetic) != planted_fault().tensor_core_differs;
}
bool warpgroups_can_be_used(simt::Stream&) { return true; }  // tests hold them against the contract
constexpr const char* graph_name = "cuda on fibers";
constexpr const char* joined_name = "cuda on fibers, joined layers";
constexpr const char* launches_name = "cuda on fibers, launch by launch";
#endif

/// @throw BadInput unless the tensor cores of the device have shown the steps of the arithmetic
void require_own_steps(simt::Stream& stream, Arithmetic arithmetic) {
  const auto steps = take_tensor_core_steps(stream, checked_tiles);
  const std::size_t others = count_other_steps(steps, arithmetic);
  if (others == 0) return;
  throw BadInput("--arithmetic " + std::string(name_of(arithmetic)),
                 "the tensor cores of " + device_description().value_or("this device") + " took " +
                     std::to_string(others) + " of " + std::to_string(steps.size()) +
                     " steps otherwise than " +
                     (takes_ampere_steps(arithmetic) ? "Ampere's" : "Hopper's") +
                     " do, and would give other bits",
                 "use --arithmetic float32");
}

void attend_by(CudaKernels::Device& device, PageElements elements, const AttentionShape& shape,
               const HeadRotation& rotation, const float* query_key_value, const TokenRows& batch,
               const PagePart& keys, const PagePart& values, const ProductInputs& attended) {
  const unsigned splits = attention_splits(batch.context);
  device.scratch.ensure_size(attention_floats(shape, batch.rows, splits));
  device.counters.ensure_size(attention_counters(shape, batch.rows));
  TokenRows rows = batch;
  if (attention_shared_bytes(shape, elements, attention_rows(shape, elements)) >
      device.limits.shared_bytes)
    rows.shared = {};  // each row alone has room
  launch_attention(
      device.stream, shape, rotation, query_key_value, rows, elements, keys, values,
      attention_scratch(shape, batch.rows, splits, device.scratch.data(), device.counters.data()),
      attended.bfloat16);
}

}  // namespace

CudaKernels::CudaKernels(std::uint64_t seed, std::optional<std::size_t> shared_bytes,
                         StepForm steps, Arithmetic arithmetic)
    : arithmetic_(arithmetic), device_(std::make_unique<Device>()) {
  if (!takes_tensor_core_steps(arithmetic))
    throw Bug("the CUDA kernels take no steps of " + std::string(name_of(arithmetic)));
  require_device("");
  ProductDevice& limits = device_->limits;
  limits = this_device();
  limits.shared_bytes = std::min(limits.shared_bytes, shared_bytes.value_or(limits.shared_bytes));
  device_->stream = new_stream(seed);
  set_steps(device_->stream, arithmetic);
  require_own_steps(device_->stream, arithmetic);
  limits.warpgroups = takes_hopper_steps(arithmetic) && warpgroups_can_be_used(device_->stream);
  device_->stream.launches = 0;  // those before were no work of a model
  if (const std::string of = name_of_plans(); !of.empty()) {
    const std::filesystem::path folder = plan_folder();
    const std::string file = "plans-" + std::to_string(current_device().index) + ".json";
    device_->plans = folder.empty() ? TimedPlans({}, of) : TimedPlans(folder / file, of);
  }
  device_->stream.graphs = steps != StepForm::launches;
  device_->stream.joined = steps == StepForm::joined;
  device_->stream.times_forms = steps == StepForm::timed;
}

CudaKernels::~CudaKernels() { end_stream(device_->stream); }

std::uint64_t CudaKernels::launches() const { return device_->stream.launches; }
std::uint64_t CudaKernels::steps() const { return device_->stream.waits; }
std::uint64_t CudaKernels::graph_replays() const { return device_->stream.replays; }
bool CudaKernels::takes_warpgroup_steps() const { return device_->limits.warpgroups; }

const char* CudaKernels::name() const {
  const simt::Stream& stream = device_->stream;
  if (!stream.graphs) return launches_name;
  return stream.joined && !stream.times_forms ? joined_name : graph_name;
}

void CudaKernels::require_attention(const AttentionShape& shape, const std::string& where) const {
  const std::string what = "\"head_dim\" is " + std::to_string(shape.head_dim);
  if (shape.head_dim > largest_head)
    throw BadInput(where, what,
                   "the tensor-core kernels take at most " + std::to_string(largest_head) +
                       "; use --arithmetic float32");
  const std::size_t needed = attention_shared_bytes(shape, page_elements(arithmetic_), 1);
  if (needed > device_->limits.shared_bytes)
    throw BadInput(where,
                   what + ", whose attention needs " + std::to_string(needed) +
                       " bytes of shared memory a block, and the device gives " +
                       std::to_string(device_->limits.shared_bytes),
                   "use --arithmetic float32 or a larger GPU");
}

void CudaKernels::embed(const MatrixView& embedding, const TokenRows& batch, float* states) const {
  const simt::LaunchShape shape{.blocks = {as_unsigned(batch.rows)}, .threads = row_threads};
  const unsigned size = as_unsigned(embedding.in);
  if (embedding.quantised != nullptr) {
    simt::launch(shape, device_->stream, embed_quantised_rows,
                 QuantisedWeights{embedding.quantised, embedding.blocks}, batch, size, states);
  } else {
    simt::launch(shape, device_->stream, embed_rows, embedding.fragments, batch, size, states);
  }
}

void CudaKernels::normalize(const float* states, const float* weight, std::size_t rows,
                            std::size_t size, float epsilon, const ProductInputs& normed) const {
  simt::launch({.blocks = {as_unsigned(rows)},
                .threads = row_threads,
                .shared_bytes = row_threads * sizeof(float)},
               device_->stream, normalize_rows, states, weight, as_unsigned(size), epsilon,
               normed.bfloat16);
}

void CudaKernels::normalize_into_pages(const float* states, const float* weight,
                                       const TokenRows& batch, std::size_t size, float epsilon,
                                       const PagePart& target) const {
  simt::launch({.blocks = {as_unsigned(batch.rows)},
                .threads = row_threads,
                .shared_bytes = row_threads * sizeof(float)},
               device_->stream, normalize_into_slots, states, weight, batch, as_unsigned(size),
               epsilon, target);
}

void CudaKernels::multiply(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                           std::size_t out, float* outputs) const {
  device_->multiply(matrix, inputs, rows, out, StoreProduct{outputs, nullptr});
}

void CudaKernels::multiply_with_bias(const MatrixView& matrix, const ProductInputs& inputs,
                                     const float* bias, std::size_t rows, std::size_t out,
                                     float* outputs) const {
  device_->multiply(matrix, inputs, rows, out, StoreProduct{outputs, bias});
}

void CudaKernels::multiply_and_add(const MatrixView& matrix, const ProductInputs& inputs,
                                   std::size_t rows, std::size_t out, float* outputs) const {
  device_->multiply(matrix, inputs, rows, out, AddProduct{outputs});
}

void CudaKernels::multiply_gated(const MatrixView& gate_up, const ProductInputs& inputs,
                                 std::size_t rows, std::size_t out,
                                 const ProductInputs& gated) const {
  device_->multiply(gate_up, inputs, rows, out, GateProduct{gated.bfloat16});
}

void CudaKernels::normalize_and_multiply(const RowNorm& norm, const MatrixView& matrix,
                                         const float* bias, std::size_t rows, std::size_t out,
                                         float* outputs) const {
  if (!normalizes_inputs(rows, matrix.in))
    return Kernels::normalize_and_multiply(norm, matrix, bias, rows, out, outputs);
  device_->multiply(matrix, norm, rows, out, StoreProduct{outputs, bias});
}

void CudaKernels::normalize_and_multiply_gated(const RowNorm& norm, const MatrixView& gate_up,
                                               std::size_t rows, std::size_t out,
                                               const ProductInputs& gated) const {
  if (!normalizes_inputs(rows, gate_up.in))
    return Kernels::normalize_and_multiply_gated(norm, gate_up, rows, out, gated);
  device_->multiply(gate_up, norm, rows, out, GateProduct{gated.bfloat16});
}

void CudaKernels::rotate_into_pages(const AttentionShape& shape, const float* query_norm,
                                    const float* key_norm, float epsilon,
                                    const RotaryTables& tables, const TokenRows& batch,
                                    const PagePart& keys, const PagePart& values,
                                    float* query_key_value) const {
  const std::size_t heads = shape.heads + 2 * shape.key_value_heads;
  simt::launch(
      {.blocks = {as_unsigned((heads + rotary_warps - 1) / rotary_warps), as_unsigned(batch.rows)},
       .threads = rotary_warps * simt::warp_lanes},
      device_->stream,
      page_elements(arithmetic_) == PageElements::eight_bits ? rotate_heads<EightBitElements>
                                                             : rotate_heads<Bfloat16Elements>,
      shape, HeadRotation{query_norm, key_norm, epsilon, tables}, batch, keys, values,
      query_key_value);
}

void CudaKernels::attend(const AttentionShape& shape, const float* query_key_value,
                         const TokenRows& batch, const PagePart& keys, const PagePart& values,
                         const ProductInputs& attended) const {
  constexpr HeadRotation before{nullptr, nullptr, 0, {nullptr, nullptr}};
  attend_by(*device_, page_elements(arithmetic_), shape, before, query_key_value, batch, keys,
            values, attended);
}

void CudaKernels::rotate_and_attend(const AttentionShape& shape, const float* query_norm,
                                    const float* key_norm, float epsilon,
                                    const RotaryTables& tables, const TokenRows& batch,
                                    const PagePart& keys, const PagePart& values,
                                    float* query_key_value, const ProductInputs& attended) const {
  if (!batch.own_records)
    return Kernels::rotate_and_attend(shape, query_norm, key_norm, epsilon, tables, batch, keys,
                                      values, query_key_value, attended);
  attend_by(*device_, page_elements(arithmetic_), shape, {query_norm, key_norm, epsilon, tables},
            query_key_value, batch, keys, values, attended);
}

void CudaKernels::run_dense_layers(const DenseDecoderWork& work, std::span<const DenseLayer> layers,
                                   const TokenRows& batch) const {
  if (!device_->stream.joined ||
      !takes_joined_layers(*device_, page_elements(arithmetic_), work, layers, batch))
    return Kernels::run_dense_layers(work, layers, batch);
  launch_dense_layers(*device_, work, layers, batch);
}

void CudaKernels::gather_from_pages(const CachedRows& batch, std::size_t size,
                                    const PagePart& source, const ProductInputs& gathered) const {
  simt::launch({.blocks = {as_unsigned(batch.rows)}, .threads = row_threads}, device_->stream,
               gather_slots, batch, as_unsigned(size), source, gathered.bfloat16);
}

void CudaKernels::normalize_and_gather(const float* states, const float* weight,
                                       const TokenRows& computed, const CachedRows& asked,
                                       std::size_t size, float epsilon, const PagePart& target,
                                       const ProductInputs& gathered) const {
  simt::launch({.blocks = {as_unsigned(computed.rows)},
                .threads = row_threads,
                .shared_bytes = row_threads * sizeof(float)},
               device_->stream, normalize_and_gather_slots, states, weight, computed, asked,
               as_unsigned(size), epsilon, target, gathered.bfloat16);
}

void CudaKernels::multiply_head(const MatrixView& head, const ProductInputs& inputs,
                                std::size_t rows, std::size_t out, const LogitRows& logits) const {
  device_->multiply(head, inputs, rows, out, StoreLogits{logits.logits, logits.tile_largest});
}

void CudaKernels::copy_pages(const std::uint32_t* sources, const std::uint32_t* targets,
                             std::size_t copies, const PageMemory& memory) const {
  queue_page_copies(device_->stream, sources, targets, copies, memory);
}

void queue_page_copies(simt::Stream& stream, const std::uint32_t* sources,
                       const std::uint32_t* targets, std::size_t copies, const PageMemory& memory) {
  constexpr std::size_t block_bytes = 4 * row_threads * sizeof(simt::Vector16);
  simt::launch({.blocks = {as_unsigned((memory.layout.bytes() + block_bytes - 1) / block_bytes),
                           as_unsigned(copies)},
                .threads = row_threads},
               stream, copy_whole_pages, sources, targets, memory);
}

}  // namespace tempera::gpu
