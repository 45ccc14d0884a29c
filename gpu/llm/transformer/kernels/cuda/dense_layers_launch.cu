#include <algorithm>
#include <cmath>

#include "gpu/llm/transformer/kernels/cuda/attention_launch.hpp"
#include "gpu/llm/transformer/kernels/cuda/dense_layers.cuh"
#include "gpu/llm/transformer/kernels/cuda/dense_layers_launch.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

namespace {

constexpr std::size_t largest_joined_head = 128;

const simt::Vector16* fragments_of(const MatrixView& matrix) {
  return reinterpret_cast<const simt::Vector16*>(matrix.fragments);
}

LayerOperands operands_of(const DenseLayer& layer) {
  return {fragments_of(layer.query_key_value),
          fragments_of(layer.attention_output),
          fragments_of(layer.gate_up),
          fragments_of(layer.down),
          layer.input_norm,
          layer.post_attention_norm,
          layer.query_key_value_bias,
          layer.query_norm,
          layer.key_norm,
          layer.keys.first,
          layer.values.first};
}

std::size_t attention_bytes(const AttentionShape& shape) {
  return AttentionLayout<Bfloat16Elements>::of(static_cast<unsigned>(shape.head_dim))
      .bytes(joined_queries);
}

using JoinedKernel = void (*)(DenseLayers);

/// For heads of so many elements. What is tried has one kernel, for all of them.
JoinedKernel joined_kernel(const CudaKernels::Device& device, std::size_t head_dim) {
  if (device.tried.joined != JoinedTrial::none)
    return run_dense_layers<2, Bfloat16Elements, TriedMeeting>;
  return head_dim <= 64 ? run_dense_layers<1, Bfloat16Elements, Fences>
                        : run_dense_layers<2, Bfloat16Elements, Fences>;
}

/// The order of a trial, of so many blocks.
JoinedOrder order_of(JoinedTrial trial, unsigned blocks) {
  JoinedOrder order;
  order.keys_first = trial == JoinedTrial::keys_first;
  order.idle_blocks = trial == JoinedTrial::idle_blocks;
  order.acquires = trial == JoinedTrial::acquires;
  if (trial == JoinedTrial::less_ahead) {
    constexpr unsigned most_bytes = 24'000'000;
    const unsigned step_bytes = blocks * product_warps * simt::warp_lanes * 16;
    order.most_ahead = std::clamp(most_bytes / step_bytes, steps_ahead, 2 * steps_ahead - 1);
  }
  return order;
}

void launch_joined(CudaKernels::Device& device, std::size_t shared_bytes, DenseLayers& all) {
  const JoinedKernel kernel = joined_kernel(device, all.attention.shape.head_dim);
  const unsigned blocks =
      device.limits.multiprocessors * simt::blocks_at_once(kernel, product_threads, shared_bytes);
  all.tried = order_of(device.tried.joined, blocks);
  simt::launch({.blocks = {blocks},
                .threads = product_threads,
                .shared_bytes = shared_bytes,
                .together = true},
               device.stream, kernel, all);
}

}  // namespace

unsigned joined_blocks(const CudaKernels::Device& device, const AttentionShape& shape) {
  constexpr std::size_t reserved = 1024;  // that a device takes of each block
  const std::size_t room =
      (device.limits.shared_bytes + reserved) / (attention_bytes(shape) + reserved);
  return static_cast<unsigned>(std::min<std::size_t>(room, product_blocks_together));
}

bool takes_joined_layers(const CudaKernels::Device& device, PageElements elements,
                         const DenseDecoderWork& work, std::span<const DenseLayer> layers,
                         const TokenRows& batch) {
  const auto is_taken = [](const MatrixView& matrix) { return matrix.fragments != nullptr; };
  const bool all_taken = std::all_of(layers.begin(), layers.end(), [&](const DenseLayer& layer) {
    return is_taken(layer.query_key_value) && is_taken(layer.attention_output) &&
           is_taken(layer.gate_up) && is_taken(layer.down);
  });
  return !layers.empty() && all_taken && batch.own_records &&
         normalizes_inputs(batch.rows, layers[0].query_key_value.in) &&
         elements == PageElements::bfloat16 && work.shape.head_dim <= largest_joined_head &&
         attention_bytes(work.shape) <= device.limits.shared_bytes;
}

void launch_dense_layers(CudaKernels::Device& device, const DenseDecoderWork& work,
                         std::span<const DenseLayer> layers, const TokenRows& batch) {
  const std::size_t rows = batch.rows;
  const AttentionShape& shape = work.shape;
  const DenseLayer& one = layers[0];
  const std::size_t hidden = one.query_key_value.in;
  const unsigned splits = attention_splits(batch.context);
  std::size_t scratch_floats = attention_floats(shape, rows, splits);
  std::size_t counters = attention_counters(shape, rows, joined_queries);
  std::size_t shared_bytes = attention_bytes(shape);
  const unsigned blocks = joined_blocks(device, shape);
  const auto product = [&](const MatrixView& matrix, std::size_t out, bool gated) {
    const ProductPlan& plan = device.plan_of(matrix, rows, out, gated, blocks);
    scratch_floats = std::max(scratch_floats, plan.scratch_floats());
    counters = std::max(counters, plan.counters());
    shared_bytes = std::max(shared_bytes, plan.shared_bytes);
    return LayerProduct{plan, plan.jobs()};
  };
  DenseLayers all{};
  all.query_key_value = product(one.query_key_value, shape.row_floats, false);
  all.additions[0] = product(one.attention_output, hidden, false);
  all.gate_up = product(one.gate_up, work.intermediate_size, true);
  all.additions[1] = product(one.down, hidden, false);
  device.scratch.ensure_size(scratch_floats);
  device.counters.ensure_size(counters);
  device.phases_left.ensure_size(1);

  float* const scratch = device.scratch.data();
  all.attention = {shape,
                   {nullptr, nullptr, work.epsilon, work.rotary},
                   1.0f / std::sqrt(static_cast<float>(shape.head_dim)),
                   work.query_key_value,
                   batch,
                   one.keys,
                   one.values,
                   attention_scratch(shape, rows, splits, scratch, device.counters.data()),
                   work.attended.bfloat16};
  all.query_groups = as_unsigned(attention_counters(shape, 1, joined_queries));
  all.states = work.states;
  all.projected = work.query_key_value;
  all.gated = work.gated.bfloat16;
  all.epsilon = work.epsilon;
  all.scratch = scratch;
  all.counters = device.counters.data();
  all.phases_left = device.phases_left.data();
  for (std::size_t begin = 0; begin < layers.size(); begin += layers_together) {
    const auto some =
        layers.subspan(begin).first(std::min<std::size_t>(layers_together, layers.size() - begin));
    all.count = as_unsigned(some.size());
    std::transform(some.begin(), some.end(), all.layers, operands_of);
    launch_joined(device, shared_bytes, all);
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
