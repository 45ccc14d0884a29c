#include "gpu/llm/transformer/kernels/kernels.hpp"

#include "gpu/llm/transformer/kernels/token_step.hpp"
#include "gpu/llm/transformer/kernels/variant_kernels.hpp"

namespace tempera::gpu {

Kernels::~Kernels() = default;
TokenStep::~TokenStep() = default;
CountsSteps::~CountsSteps() = default;
VariantKernels::~VariantKernels() = default;

void Kernels::require_attention(const AttentionShape& /*shape*/,
                                const std::string& /*where*/) const {}

void Kernels::require_recurrence(const RecurrentShape& /*shape*/,
                                 const std::string& /*where*/) const {}

void Kernels::normalize_and_gather(const float* states, const float* weight,
                                   const TokenRows& computed, const CachedRows& asked,
                                   std::size_t size, float epsilon, const PagePart& target,
                                   const ProductInputs& gathered) const {
  normalize_into_pages(states, weight, computed, size, epsilon, target);
  gather_from_pages(asked, size, target, gathered);
}

void Kernels::multiply_head(const MatrixView& head, const ProductInputs& inputs, std::size_t rows,
                            std::size_t out, const LogitRows& logits) const {
  multiply(head, inputs, rows, out, logits.logits);
}

void Kernels::normalize_and_multiply(const RowNorm& norm, const MatrixView& matrix,
                                     const float* bias, std::size_t rows, std::size_t out,
                                     float* outputs) const {
  normalize(norm.states, norm.weight, rows, matrix.in, norm.epsilon, norm.normed);
  if (bias == nullptr) return multiply(matrix, norm.normed, rows, out, outputs);
  multiply_with_bias(matrix, norm.normed, bias, rows, out, outputs);
}

void Kernels::normalize_and_multiply_gated(const RowNorm& norm, const MatrixView& gate_up,
                                           std::size_t rows, std::size_t out,
                                           const ProductInputs& gated) const {
  normalize(norm.states, norm.weight, rows, gate_up.in, norm.epsilon, norm.normed);
  multiply_gated(gate_up, norm.normed, rows, out, gated);
}

void Kernels::rotate_and_attend(const AttentionShape& shape, const float* query_norm,
                                const float* key_norm, float epsilon, const RotaryTables& tables,
                                const TokenRows& batch, const PagePart& keys,
                                const PagePart& values, float* query_key_value,
                                const ProductInputs& attended) const {
  rotate_into_pages(shape, query_norm, key_norm, epsilon, tables, batch, keys, values,
                    query_key_value);
  attend(shape, query_key_value, batch, keys, values, attended);
}

void Kernels::run_dense_layers(const DenseDecoderWork& work, std::span<const DenseLayer> layers,
                               const TokenRows& batch) const {
  const std::size_t rows = batch.rows;
  for (const DenseLayer& layer : layers) {
    const std::size_t hidden = layer.query_key_value.in;
    normalize_and_multiply({work.states, layer.input_norm, work.epsilon, work.normed},
                           layer.query_key_value, layer.query_key_value_bias, rows,
                           work.shape.row_floats, work.query_key_value);
    rotate_and_attend(work.shape, layer.query_norm, layer.key_norm, work.epsilon, work.rotary,
                      batch, layer.keys, layer.values, work.query_key_value, work.attended);
    multiply_and_add(layer.attention_output, work.attended, rows, hidden, work.states);

    normalize_and_multiply_gated(
        {work.states, layer.post_attention_norm, work.epsilon, work.normed}, layer.gate_up, rows,
        work.intermediate_size, work.gated);
    multiply_and_add(layer.down, work.gated, rows, hidden, work.states);
  }
}

std::unique_ptr<TokenStep> Kernels::make_token_step() const { return nullptr; }

}  // namespace tempera::gpu
