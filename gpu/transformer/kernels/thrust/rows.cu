#include "gpu/device/launch.cuh"
#include "gpu/transformer/kernels/row_kernels.hpp"
#include "gpu/transformer/kernels/thrust/thrust_kernels.hpp"

namespace tempera::gpu {

const Kernels& thrust_kernels() {
  static const ThrustKernels kernels;
  return kernels;
}

void ThrustKernels::embed(const MatrixView& embedding, const TokenRows& batch,
                          float* states) const {
  with_weights(embedding, [&]<class Weights>(const Weights& weights) {
    launch(batch.rows, Embed<Weights>{weights, batch.tokens, embedding.in, states});
  });
}

void ThrustKernels::normalize(const float* states, const float* weight, std::size_t rows,
                              std::size_t size, float epsilon, const ProductInputs& normed) const {
  launch(rows, Normalize{states, weight, size, epsilon, normed.float32});
}

void ThrustKernels::normalize_into_pages(const float* states, const float* weight,
                                         const TokenRows& batch, std::size_t size, float epsilon,
                                         const PagePart& target) const {
  launch(batch.rows, NormalizeIntoPages{states, weight, size, epsilon, batch, target});
}

void ThrustKernels::gather_from_pages(const CachedRows& batch, std::size_t size,
                                      const PagePart& source, const ProductInputs& gathered) const {
  launch(batch.rows, GatherFromPages{batch, size, source, gathered.float32});
}

void ThrustKernels::copy_pages(const std::uint32_t* sources, const std::uint32_t* targets,
                               std::size_t copies, const PageMemory& memory) const {
  const CopyPages kernel{sources, targets, memory};
  launch(copies * kernel.pieces_per_page(), kernel);
}

}  // namespace tempera::gpu
