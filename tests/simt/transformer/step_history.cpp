#include "tests/simt/transformer/step_history.hpp"

#include <algorithm>
#include <numeric>

#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::tests {

namespace {

constexpr std::size_t vocabulary = 37;

/// A ladder for every row of a batch, none as long as its neighbours'.
const std::vector<std::vector<double>> ladders = {
    {1.0}, {1.0, 1.5, 2.5}, {0.5, 4.0}, {1.0, 2.0, 3.0, 4.0, 5.0}};

}  // namespace

gpu::DecoderConfig step_config() {
  gpu::DecoderConfig config;
  config.vocab_size = vocabulary;
  config.hidden_size = 24;
  config.intermediate_size = 40;
  config.num_hidden_layers = 1;
  config.num_attention_heads = 2;
  config.num_key_value_heads = 1;
  config.head_dim = 8;
  config.max_position_embeddings = 400;
  config.tie_word_embeddings = true;
  return config;
}

std::unique_ptr<gpu::Transformer> step_model(const gpu::Kernels& kernels, StepLayers layers) {
  if (layers == StepLayers::attending) return gpu::random_qwen3(step_config(), 7, kernels);
  gpu::Qwen3_5Config config;
  static_cast<gpu::DecoderConfig&>(config) = step_config();
  config.num_hidden_layers = 2;
  config.head_dim = 16;
  config.rotary_dim = 6;
  config.full_attention = {false, true};
  config.linear_num_key_heads = 1;
  config.linear_num_value_heads = 2;
  config.linear_key_head_dim = 6;
  config.linear_value_head_dim = 19;
  config.linear_conv_kernel_dim = 4;
  gpu::FormulaTensors tensors;
  return std::make_unique<gpu::Transformer>(
      std::make_unique<gpu::Qwen3_5>(config, tensors, kernels));
}

StepHistory::StepHistory(const gpu::Kernels& kernels, unsigned seed, StepLayers layers)
    : random_(seed),
      device_{step_model(kernels, layers),
              gpu::make_cuda_row_lottery({.blocks = 3, .thread_order = seed})},
      host_{step_model(gpu::default_kernels(kernels.arithmetic()), layers),
            gpu::make_host_row_lottery()} {
  // Two prompts, one of them across a split of 256 positions, or the second checkpoint of a state.
  for (const std::size_t length : {19U, layers == StepLayers::attending ? 250U : 126U}) {
    Twin twin{device_.model->empty_cache(), host_.model->empty_cache()};
    const Text prompt = random_text(length);
    const std::vector<gpu::Pass> on_device = {{twin.on_device.get(), prompt}};
    const std::vector<gpu::Pass> on_host = {{twin.on_host.get(), prompt}};
    device_.model->next_logits(on_device, device_.logits);
    host_.model->next_logits(on_host, host_.logits);
    records_.push_back(std::move(twin));
  }
}

StepHistory::Text StepHistory::random_text(std::size_t length) {
  Text text(length);
  for (auto& token : text) token = static_cast<gpu::TokenId>(random_() % vocabulary);
  return text;
}

StepHistory::Twin StepHistory::fork_of(const Twin& twin, std::size_t length) const {
  return {twin.on_device->fork(length), twin.on_host->fork(length), twin.drawn};
}

std::size_t StepHistory::differences_of_a_batch(std::size_t rows) {
  // Proposals: forks within a page, at its end, and whole. Some records end.
  if (records_.size() > rows + 4) {
    const auto first = records_.begin() + 2 + static_cast<std::ptrdiff_t>(random_() % 2);
    records_.erase(first, first + 2);
  }
  while (records_.size() < rows || random_() % 3 == 0) {
    const Twin& parent = records_[random_() % records_.size()];
    const std::size_t length = parent.on_host->length();
    const std::size_t cut = random_() % 3 == 0 ? 0 : random_() % std::min<std::size_t>(length, 20);
    records_.push_back(fork_of(parent, length - cut));
  }
  std::vector<std::size_t> chosen(records_.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  std::shuffle(chosen.begin(), chosen.end(), random_);
  chosen.resize(rows);
  std::vector<Text> added;
  for (const std::size_t record : chosen) {
    const std::size_t kind = random_() % 8;
    if (kind == 0)
      added.emplace_back();
    else if (kind == 1)
      added.push_back(random_text(1 + random_() % 3));
    else
      added.push_back({records_[record].drawn});
  }
  return draw(chosen, added);
}

std::size_t StepHistory::differences_of_a_decode_step() {
  std::vector<Text> added;
  for (const std::size_t record : last_batch_) added.push_back({records_[record].drawn});
  return draw(last_batch_, added);
}

std::size_t StepHistory::differences_of_long_forks() {
  const std::size_t before = records_.size();
  const auto added_to = [&](const std::vector<std::size_t>& chosen, std::size_t tokens) {
    std::vector<Text> added;
    while (added.size() < chosen.size()) added.push_back(random_text(tokens));
    return draw(chosen, added);
  };
  records_.push_back(fork_of(records_[0], records_[0].on_host->length()));
  records_.push_back(fork_of(records_[1], 250));
  std::size_t wrong = added_to({before + 1}, 14);
  for (const std::size_t length : {264U, 263U, 258U, 264U, 260U})
    records_.push_back(fork_of(records_[before + 1], length));
  std::vector<std::size_t> chosen(7);
  std::iota(chosen.begin(), chosen.end(), before);
  wrong += added_to(chosen, 1) + added_to(chosen, 1);
  // The first slots of those that share are nobody's, and then another's.
  chosen.erase(chosen.begin() + 1, chosen.begin() + 3);
  wrong += added_to(chosen, 1);
  records_.push_back(fork_of(records_[0], records_[0].on_host->length()));
  chosen.push_back(records_.size() - 1);
  wrong += added_to(chosen, 1);
  records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(before), records_.end());
  last_batch_.clear();
  return wrong;
}

std::size_t StepHistory::draw(const std::vector<std::size_t>& chosen,
                              const std::vector<Text>& added) {
  std::vector<gpu::Pass> on_device;
  std::vector<gpu::Pass> on_host;
  std::vector<gpu::RowDraw> draws;
  ++turn_;
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    Twin& twin = records_[chosen[row]];
    on_device.push_back({twin.on_device.get(), added[row]});
    on_host.push_back({twin.on_host.get(), added[row]});
    const auto& ladder = ladders[row % ladders.size()];
    const std::size_t rung = turn_ % ladder.size();
    draws.push_back({ladder,
                     rung,
                     {turn_,
                      {static_cast<std::uint32_t>(row), 1, static_cast<std::uint16_t>(rung), turn_,
                       0, gpu::Purpose::proposal_token}}});
  }
  gpu::PhiloxLottery lottery;
  const auto found =
      device_.model->next_tokens(on_device, draws, *device_.rows, lottery, device_.logits);
  const auto expected =
      host_.model->next_tokens(on_host, draws, *host_.rows, lottery, host_.logits);
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    if (!(found[row] == expected[row])) ++wrong;
    records_[chosen[row]].drawn = expected[row].id;
  }
  last_batch_ = chosen;
  return wrong;
}

}  // namespace tempera::tests
