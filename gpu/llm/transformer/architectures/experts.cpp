#include "gpu/llm/transformer/architectures/experts.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tempera::gpu {

namespace {

/// The inputs from one element on.
ProductInputs from(const ProductInputs& inputs, std::size_t element) {
  if (inputs.float32 != nullptr) return {inputs.float32 + element, nullptr};
  return {nullptr, inputs.bfloat16 + element};
}

}  // namespace

void require_experts(const DecoderConfig& config, const Kernels& kernels,
                     const std::string& where) {
  if (!config.experts || kernels.variants() != nullptr) return;
  throw BadInput(where,
                 "has layers of experts, which the " + std::string(name_of(kernels.arithmetic())) +
                     " kernels of this device do not compute",
                 "use --arithmetic float32, or another with --device host");
}

Experts::Experts(const std::string& prefix, std::size_t hidden, const ExpertsConfig& config,
                 TensorSource& tensors, Arithmetic arithmetic)
    : hidden_(hidden),
      clamped_(config.clamped),
      choice_{config.experts, config.chosen, config.renormalises} {
  const std::string router = prefix + (clamped_ ? "router" : "gate");
  std::vector<TensorSource::Part> logits{{router + ".weight", config.experts}};
  if (config.shared_inner != 0) {
    logits.push_back({prefix + "shared_expert_gate.weight", 1});
    choice_.shared_begin = padded(config.experts);
  }
  // A router decides: its sums are float32 whatever the arithmetic.
  router_ = tensors.stacked(logits, hidden, Arithmetic::float32);
  if (clamped_) router_bias_ = tensors.stacked_vector({{router + ".bias", config.experts}});
  for (std::size_t expert = 0; expert < config.experts; ++expert) {
    experts_.push_back(read(prefix + "experts." + std::to_string(expert) + ".", config.inner,
                            tensors, arithmetic));
  }
  if (config.shared_inner != 0)
    experts_.push_back(read(prefix + "shared_expert.", config.shared_inner, tensors, arithmetic));
}

Experts::Expert Experts::read(const std::string& prefix, std::size_t inner, TensorSource& tensors,
                              Arithmetic arithmetic) const {
  auto gate_up =
      tensors.stacked({{prefix + "gate_proj.weight", inner}, {prefix + "up_proj.weight", inner}},
                      hidden_, arithmetic);
  Expert expert{std::move(gate_up),
                tensors.matrix(prefix + "down_proj.weight", hidden_, inner, arithmetic),
                inner,
                {},
                {}};
  if (clamped_) {
    expert.gate_up_bias = tensors.stacked_vector(
        {{prefix + "gate_proj.bias", inner}, {prefix + "up_proj.bias", inner}});
    expert.down_bias = tensors.stacked_vector({{prefix + "down_proj.bias", hidden_}});
  }
  return expert;
}

void Experts::run(const Kernels& kernels, const Expert& expert, const ProductInputs& taken,
                  std::size_t rows, const ProductInputs& gated, DeviceMemory<float>& wide,
                  float* outputs) const {
  const auto gate_up = expert.gate_up.view();
  if (!clamped_) {
    kernels.multiply_gated(gate_up, taken, rows, expert.inner, gated);
    kernels.multiply(expert.down.view(), gated, rows, hidden_, outputs);
    return;
  }
  wide.ensure_size(rows * gate_up.out);
  kernels.multiply_with_bias(gate_up, taken, expert.gate_up_bias.data(), rows, gate_up.out,
                             wide.data());
  kernels.variants()->gate_by_clamped(*clamped_, wide.data(), rows, gate_up.out, gate_up.out / 2,
                                      expert.inner, gated);
  kernels.multiply_with_bias(expert.down.view(), gated, expert.down_bias.data(), rows, hidden_,
                             outputs);
}

void Experts::add(const Kernels& kernels, const ProductInputs& inputs, std::size_t rows,
                  float* states, ExpertMemory& memory) const {
  const VariantKernels& variants = *kernels.variants();
  const std::size_t slots = choice_.slots();
  const std::size_t all = rows * slots;
  memory.logits.ensure_size(rows * router_.out);
  memory.chosen.ensure_size(all);
  memory.weights.ensure_size(all);
  ExpertChoice choice = choice_;
  if (clamped_) choice.bias = router_bias_.data();
  variants.choose_experts(choice, router_.view(), inputs, rows, memory.logits.data(),
                          memory.chosen.data(), memory.weights.data());

  // The rows of each expert follow one another, so that its weights are read once for all of them.
  const auto chosen = memory.chosen.download(0, all);
  std::vector<std::size_t> first(experts_.size() + 1);
  for (const auto expert : chosen) ++first[expert + 1];
  for (std::size_t expert = 0; expert < experts_.size(); ++expert)
    first[expert + 1] += first[expert];
  std::vector<std::uint32_t> lists(2 * all);
  auto next = first;
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t place = next[chosen[i]]++;
    lists[place] = static_cast<std::uint32_t>(i / slots);
    lists[all + i] = static_cast<std::uint32_t>(place);
  }
  memory.lists.ensure_size(lists.size());
  memory.lists.upload(lists);

  std::size_t widest = 0;
  for (const Expert& expert : experts_) widest = std::max(widest, expert.inner);
  memory.taken.ensure_size(all * hidden_);
  memory.gated.ensure_size(all * widest);
  memory.outputs.ensure_size(all * hidden_);
  variants.take_listed(inputs, memory.lists.data(), all, hidden_, memory.taken.view());
  for (std::size_t i = 0; i < experts_.size(); ++i) {
    const std::size_t count = first[i + 1] - first[i];
    if (count == 0) continue;
    const Expert& expert = experts_[i];
    run(kernels, expert, from(memory.taken.view(), first[i] * hidden_), count,
        from(memory.gated.view(), first[i] * widest), memory.wide,
        memory.outputs.data() + first[i] * hidden_);
  }
  variants.add_experts(memory.outputs.data(), memory.lists.data() + all, memory.weights.data(),
                       slots, rows, hidden_, states);
}

MatrixWork Experts::idle_work() const {
  // All but the shared one are of one size.
  MatrixWork idle;
  for (std::size_t expert = choice_.chosen; expert < choice_.experts; ++expert) {
    idle += work_of(experts_[expert].gate_up);
    idle += work_of(experts_[expert].down);
  }
  return idle;
}

}  // namespace tempera::gpu
