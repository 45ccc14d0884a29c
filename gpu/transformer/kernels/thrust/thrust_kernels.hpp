#pragma once

#include "gpu/transformer/kernels/kernels.hpp"

namespace tempera::gpu {

/// The readable form of `float32`: every kernel as loops over single floats, on Thrust's device
/// system. It is the device's form, and on the host what the others are held against.
const Kernels& thrust_kernels();

class ThrustKernels final : public Kernels {
 public:
  const char* name() const override { return "thrust"; }
  Arithmetic arithmetic() const override { return Arithmetic::float32; }
  void embed(const MatrixView& embedding, const TokenRows& batch, float* states) const override;
  void normalize(const float* states, const float* weight, std::size_t rows, std::size_t size,
                 float epsilon, const ProductInputs& normed) const override;
  void normalize_into_pages(const float* states, const float* weight, const TokenRows& batch,
                            std::size_t size, float epsilon, const PagePart& target) const override;
  void multiply(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                std::size_t out, float* outputs) const override;
  void multiply_with_bias(const MatrixView& matrix, const ProductInputs& inputs, const float* bias,
                          std::size_t rows, std::size_t out, float* outputs) const override;
  void multiply_and_add(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                        std::size_t out, float* outputs) const override;
  void multiply_gated(const MatrixView& gate_up, const ProductInputs& inputs, std::size_t rows,
                      std::size_t out, const ProductInputs& gated) const override;
  void rotate_into_pages(const AttentionShape& shape, const float* query_norm,
                         const float* key_norm, float epsilon, const RotaryTables& tables,
                         const TokenRows& batch, const PagePart& keys, const PagePart& values,
                         float* query_key_value) const override;
  void attend(const AttentionShape& shape, const float* query_key_value, const TokenRows& batch,
              const PagePart& keys, const PagePart& values,
              const ProductInputs& attended) const override;
  void gather_from_pages(const CachedRows& batch, std::size_t size, const PagePart& source,
                         const ProductInputs& gathered) const override;
  void copy_pages(const std::uint32_t* sources, const std::uint32_t* targets, std::size_t copies,
                  const PageMemory& memory) const override;
};

}  // namespace tempera::gpu
