#pragma once

#include <map>
#include <memory>
#include <string>

#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/weights/tensor_source.hpp"
#include "tests/simt/transformer/contract.hpp"

namespace tempera::tests {

/// Random tensors of bfloat16s, which it remembers by name.
class RememberedTensors final : public gpu::TensorSource {
 public:
  explicit RememberedTensors(unsigned seed) : random_(seed) {}
  const Bfloat16s& named(const std::string& name) const { return made_.at(name); }

 private:
  const gpu::StoredTensor& tensor(const std::string& name, const Shape& shape) override;

  std::mt19937 random_;
  std::map<std::string, Bfloat16s> made_;
  std::map<std::string, gpu::StoredTensor> stored_;
};

/// Qwen3 by the contract of an arithmetic of tensor cores, one token after another and one element
/// after another.
class ContractModel {
 public:
  /// The tensors: those that a Qwen3 of this configuration has been made of.
  ContractModel(gpu::DecoderConfig config, const RememberedTensors& tensors,
                gpu::Arithmetic arithmetic = gpu::Arithmetic::tensor_core)
      : config_(std::move(config)),
        tensors_(tensors),
        step_(contract_step(arithmetic)),
        elements_(gpu::page_elements(arithmetic)) {}

  /// The logits after the text.
  Floats logits(const std::vector<std::uint32_t>& text) const;

 private:
  using HeadVectors = std::vector<ContractHead>;  // [positions], of one head

  ContractHead stored(const Floats& head) const;
  Floats product(const std::string& name, const Bfloat16s& inputs) const;
  Bfloat16s norm(const std::string& name, const Floats& state) const;
  Floats vector(const std::string& name) const;

  gpu::DecoderConfig config_;
  const RememberedTensors& tensors_;
  ContractStep step_;
  gpu::PageElements elements_;
};

}  // namespace tempera::tests
