#pragma once

#include <span>

#include "gpu/llm/transformer/kernels/cuda/cuda_device.cuh"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// Blocks of the joined layers that a multiprocessor has: two, if attention leaves room for them.
unsigned joined_blocks(const CudaKernels::Device& device, const AttentionShape& shape);

/// Whether one kernel can take all of these layers (dense_layers.cuh): at most 8 rows, each of a
/// record of its own; weights in fragments, of inputs in whole vectors; pages of bfloat16s; heads
/// of at most 128 elements; and room in the shared memory of a block.
bool takes_joined_layers(const CudaKernels::Device& device, PageElements elements,
                         const DenseDecoderWork& work, std::span<const DenseLayer> layers,
                         const TokenRows& batch);

/// Queues the layers: a kernel for every layers_together of them.
/// @pre takes_joined_layers
void launch_dense_layers(CudaKernels::Device& device, const DenseDecoderWork& work,
                         std::span<const DenseLayer> layers, const TokenRows& batch);

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
