#include "gpu/transformer/kernels/kernels.hpp"

#include "gpu/transformer/kernels/token_step.hpp"

namespace tempera::gpu {

Kernels::~Kernels() = default;
TokenStep::~TokenStep() = default;

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

std::unique_ptr<TokenStep> Kernels::make_token_step() const { return nullptr; }

}  // namespace tempera::gpu
