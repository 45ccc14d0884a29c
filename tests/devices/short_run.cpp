// Part 5: a short run of every kernel, for compute-sanitizer, which makes kernels many times
// slower.
#include "gpu/lottery/rows/row_lottery.hpp"
#include "gpu/transformer/random_transformer.hpp"
#include "tests/devices/logits.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/devices/part.hpp"
#include "tests/devices/tensor_core_steps.hpp"
#include "tests/gpu/transformer/default_kernels.hpp"

namespace tempera::gpu {

namespace {

std::vector<std::unique_ptr<Cache>> forks_of(const Cache& cache) {
  std::vector<std::unique_ptr<Cache>> forks;
  for (const std::size_t cut : {0U, 3U}) forks.push_back(cache.fork(cache.length() - cut));
  return forks;
}

}  // namespace

Finding short_run() {
  constexpr std::size_t vocabulary = 4100;
  const std::vector<double> powers{1.0, 2.5, 4.0};
  std::vector<float> logits;
  std::vector<RowDraw> draws;
  for (std::uint32_t row = 0; row < 3; ++row) {
    for (std::uint32_t v = 0; v < vocabulary; ++v) logits.push_back(logit_at(v, row, 4));
    draws.push_back({powers, row, {5, {row, 0, 0, 0, 0}}});
  }
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  PhiloxLottery lottery;
  const auto drawn = make_cuda_row_lottery()->draw(memory, vocabulary, draws, lottery);
  std::vector<std::uint32_t> steps(std::size_t{4} * 128);
  take_tensor_core_steps(4, steps.data());

  DecoderConfig config;
  config.vocab_size = 50;
  config.hidden_size = 64;
  config.intermediate_size = 96;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 16;
  config.max_position_embeddings = 64;
  const std::vector<TokenId> text{1, 2, 3, 4, 5, 6, 7};
  for (const Arithmetic arithmetic : {Arithmetic::float32, own_arithmetic()}) {
    const auto transformer = random_qwen3(config, 3, default_kernels(arithmetic));
    DeviceMemory<float> rows;
    transformer->logits_at_every_position(text, rows);
    // Two forks of a page that is begun: it is copied for the one that is first to write.
    const auto cache = transformer->empty_cache();
    const Pass prompt{cache.get(), text};
    transformer->next_logits({&prompt, 1}, rows);
    const auto fork = cache->fork(text.size());
    const std::vector<Pass> both{{cache.get(), std::span(text).first(1)},
                                 {fork.get(), std::span(text).first(2)}};
    transformer->next_logits(both, rows);
    // Three tokens of each, drawn after the head, by steps if the kernels have them.
    const auto cuda_rows = make_cuda_row_lottery();
    const std::vector<std::unique_ptr<Cache>> forks = forks_of(*cache);
    for (std::uint32_t step = 0; step < 3; ++step) {
      const std::vector<Pass> next{{forks[0].get(), std::span(text).first(1)},
                                   {forks[1].get(), std::span(text).first(1)}};
      const std::vector<RowDraw> row_draws{{powers, 0, {5, {step, 1, 0, 0, 0}}},
                                           {powers, 2, {5, {step, 2, 0, 0, 0}}}};
      transformer->next_tokens(next, row_draws, *cuda_rows, lottery, rows);
    }
  }

  Finding finding;
  finding.verdict = drawn == make_host_row_lottery()->draw(memory, vocabulary, draws, lottery)
                        ? Finding::Verdict::holds
                        : Finding::Verdict::fails;
  finding.words =
      "3 rows drawn, 4 tiles multiplied, 23 tokens through a transformer of each arithmetic";
  return finding;
}

}  // namespace tempera::gpu
