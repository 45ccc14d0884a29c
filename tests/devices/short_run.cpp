// Part 5: a short run of every kernel, for compute-sanitizer, which makes kernels many times
// slower. On fibers short_run_kernels.cpp holds what it launches against checks/device_code.txt.
#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/integer_kernels.hpp"
#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/devices/logits.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/devices/part.hpp"
#include "tests/devices/some_inputs.hpp"
#include "tests/devices/tensor_core_steps.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/recurrent_model.hpp"
#include "tests/simt/transformer/quantised_matrix.hpp"

namespace tempera::gpu {

namespace {

const std::vector<double>& some_powers() {
  static const std::vector<double> powers{1.0, 2.5, 4.0};
  return powers;
}

/// Decides by the word of the address, but only when it is shown the tickets.
class ShownLottery final : public Lottery {
 public:
  Word word(std::span<const std::uint64_t> tickets, const Draw& draw) override {
    return by_address_.word(tickets, draw);
  }

 private:
  PhiloxLottery by_address_;
};

/// Whether the rows are drawn as the host draws them; by both ways of the lottery. Scores them too.
bool draws_as_host() {
  constexpr std::size_t vocabulary = 4100;
  std::vector<float> logits;
  std::vector<RowDraw> draws;
  std::vector<RowToken> tokens;
  for (std::uint32_t row = 0; row < 3; ++row) {
    for (std::uint32_t v = 0; v < vocabulary; ++v) logits.push_back(logit_at(v, row, 4));
    draws.push_back({some_powers(), row, {5, {row, 0, 0, 0, 0}}});
    tokens.push_back({some_powers(), 7 * row});
  }
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  PhiloxLottery lottery;
  ShownLottery shown;
  const auto rows = make_cuda_row_lottery();
  const auto host = make_host_row_lottery();
  return rows->draw(memory, vocabulary, draws, lottery) ==
             host->draw(memory, vocabulary, draws, lottery) &&
         rows->draw(memory, vocabulary, draws, shown) ==
             host->draw(memory, vocabulary, draws, lottery) &&
         rows->score(memory, vocabulary, tokens) == host->score(memory, vocabulary, tokens) &&
         rows->log_normalizers(memory, vocabulary, 3, some_powers()) ==
             host->log_normalizers(memory, vocabulary, 3, some_powers());
}

DecoderConfig short_config() {
  DecoderConfig config;
  config.vocab_size = 50;
  config.hidden_size = 64;
  config.intermediate_size = 128;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 16;
  config.max_position_embeddings = 160;
  return config;
}

std::vector<TokenId> text_of(std::size_t length) {
  std::vector<TokenId> text;
  for (std::size_t i = 0; i < length; ++i) text.push_back(static_cast<TokenId>((7 * i + 1) % 20));
  return text;
}

/// Draws `steps` tokens of as many records as there are, after the head, by steps if the kernels
/// have them.
void draw_steps(Transformer& model, std::span<const std::unique_ptr<Cache>> caches,
                std::uint32_t steps) {
  const auto rows = make_cuda_row_lottery();
  PhiloxLottery lottery;
  DeviceMemory<float> logits;
  const TokenId token = 1;
  for (std::uint32_t step = 0; step < steps; ++step) {
    std::vector<Pass> passes;
    std::vector<RowDraw> draws;
    for (std::uint32_t row = 0; row < caches.size(); ++row) {
      passes.push_back({caches[row].get(), {&token, 1}});
      draws.push_back({some_powers(), row % 3, {5, {step, row, 0, 0, 0}}});
    }
    model.next_tokens(passes, draws, *rows, lottery, logits);
  }
}

/// A prompt, forks of a page that is begun, which is copied for the one that is first to write, and
/// steps of `records` records.
void run_model(Transformer& model, std::size_t prompt, std::size_t records) {
  const std::vector<TokenId> text = text_of(prompt);
  DeviceMemory<float> rows;
  model.logits_at_every_position(text, rows);
  const auto cache = model.empty_cache();
  const Pass pass{cache.get(), text};
  model.next_logits({&pass, 1}, rows);
  std::vector<std::unique_ptr<Cache>> forks;
  for (std::size_t i = 0; i < records; ++i) forks.push_back(cache->fork(prompt - 3 * (i % 2)));
  const std::vector<Pass> both{{cache.get(), std::span(text).first(1)},
                               {forks.front().get(), std::span(text).first(2)}};
  model.next_logits(both, rows);
  draw_steps(model, forks, 2);
}

/// Products of many rows, of inputs and outputs for which every form of them is planned.
void run_many_rows(const CudaKernels& kernels) {
  const auto weights = some_inputs(std::size_t{160} * 4160);
  for (const auto& [rows, in, out] :
       {std::array<std::size_t, 3>{40, 576, 144}, {136, 576, 144}, {40, 4160, 32}, {2, 4160, 16}}) {
    MatrixView view{};
    view.fragments = reinterpret_cast<const std::uint32_t*>(weights.data());
    view.in = in;
    view.out = out;
    auto inputs = some_inputs(rows * in);
    DeviceMemory<float> outputs(rows * out);
    kernels.multiply(view, {nullptr, inputs.data()}, rows, out, outputs.data());
    outputs.download(0, 1);
  }
}

/// An embedding and a product of weights that stay quantised, as a GGUF file has them.
void run_quantised(const CudaKernels& kernels) {
  const tests::QuantisedMatrix matrix(256, {{"Q4_K", 32}, {"Q8_0", 16}}, 17);
  const auto view = matrix.packed.view();
  const DeviceMemory<std::uint32_t> tokens{std::span<const std::uint32_t>(matrix.outputs)};
  DeviceMemory<float> states(matrix.outputs.size() * matrix.in);
  kernels.embed(view, {matrix.outputs.size(), 0, tokens.data(), nullptr, nullptr, nullptr},
                states.data());
  auto inputs = some_inputs(3 * matrix.in);
  DeviceMemory<float> outputs(3 * matrix.out);
  kernels.multiply(view, {nullptr, inputs.data()}, 3, matrix.out, outputs.data());
  outputs.download(0, 1);
}

}  // namespace

Finding short_run() {
  const bool draws_well = draws_as_host();
  std::vector<std::uint32_t> steps(std::size_t{4} * 128);
  take_tensor_core_steps(4, steps.data());
  if (why_no_wgmma().empty()) take_wgmma_steps(4, steps.data());

  run_model(*random_qwen3(short_config(), 3, default_kernels(Arithmetic::float32)), 7, 2);
  const CudaKernels graphs(3, std::nullopt, StepForm::graph, own_arithmetic());
  const CudaKernels joined(4, std::nullopt, StepForm::joined, own_arithmetic());
  const CudaKernels eight_bits(5, std::nullopt, StepForm::graph, own_arithmetic_of_8_bit_pages());
  run_model(*random_qwen3(short_config(), 3, graphs), 136, 40);
  run_model(*random_qwen3(short_config(), 3, joined), 7, 2);
  run_model(*random_qwen3(short_config(), 3, eight_bits), 7, 2);
  run_model(*recurrent::model(graphs), 67, 2);
  run_many_rows(graphs);
  run_quantised(graphs);
  const CudaIntegerKernels integer(6);
  run_model(*random_qwen3(short_config(), 3, integer), 20, 9);

  Finding finding;
  finding.verdict = draws_well ? Finding::Verdict::holds : Finding::Verdict::fails;
  finding.words =
      "3 rows drawn and scored; models of float32, integer and tensor cores, with layers joined, "
      "40 records, 136 tokens, pages of 8 bits, quantised weights and recurrent layers";
  return finding;
}

}  // namespace tempera::gpu
