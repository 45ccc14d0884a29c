// How fast the other arithmetics are on the host, as ratios to float32 within one run: one
// matrix product, and decoding with a random model of 135 million parameters.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "bench/seconds_of.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/random_transformer.hpp"

using namespace tempera;
using bench::seconds_of;

namespace {

constexpr std::size_t batches[] = {1, 8, 64};

/// The shape of SmolLM2-135M, as a Qwen3 model.
gpu::DecoderConfig shape_of_135_million() {
  gpu::DecoderConfig config;
  config.vocab_size = 49152;
  config.hidden_size = 576;
  config.intermediate_size = 1536;
  config.num_hidden_layers = 30;
  config.num_attention_heads = 9;
  config.num_key_value_heads = 3;
  config.head_dim = 64;
  config.max_position_embeddings = 8192;
  config.tie_word_embeddings = true;
  return config;
}

/// Numbers in [-1, 1) that are bfloat16s.
std::vector<float> fractions(std::size_t size, std::uint64_t seed) {
  std::vector<float> values;
  for (std::size_t i = 0; i < size; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto whole = static_cast<std::int64_t>(seed >> 40) - (1 << 23);
    values.push_back(gpu::from_bfloat16(gpu::to_bfloat16(static_cast<float>(whole) * 0x1p-23f)));
  }
  return values;
}

/// The best of some repetitions.
template <class Work>
double best_seconds(const Work& work) {
  double best = seconds_of(work);
  for (int i = 0; i < 4; ++i) best = std::min(best, seconds_of(work));
  return best;
}

/// Multiplications per second of one product, `size` by `size`, weights stored as bfloat16.
double product_rate(gpu::Arithmetic arithmetic, std::size_t rows) {
  constexpr std::size_t size = 2048;
  const auto values = fractions(size * size, 1);
  std::vector<std::uint16_t> weights;
  for (const float value : values) weights.push_back(gpu::to_bfloat16(value));
  const gpu::StoredTensor tensor{"weights",
                                 "BF16",
                                 {size, size},
                                 std::as_bytes(std::span<const std::uint16_t>(weights)),
                                 "random"};
  const gpu::StoredTensor* const pointer = &tensor;
  const auto matrix = gpu::pack_matrices({&pointer, 1}, arithmetic);
  const auto inputs = fractions(rows * size, 2);
  std::vector<std::uint16_t> rounded;
  for (const float value : inputs) rounded.push_back(gpu::to_bfloat16(value));
  gpu::DeviceMemory<float> float32{std::span<const float>(inputs)};
  gpu::DeviceMemory<std::uint16_t> bfloat16{std::span<const std::uint16_t>(rounded)};
  gpu::DeviceMemory<float> outputs(rows * size);
  const gpu::ProductInputs view = rounds_to_bfloat16(arithmetic)
                                      ? gpu::ProductInputs{nullptr, bfloat16.data()}
                                      : gpu::ProductInputs{float32.data(), nullptr};
  const auto kernels = gpu::make_default_kernels(arithmetic);
  const double seconds =
      best_seconds([&] { kernels->multiply(matrix.view(), view, rows, size, outputs.data()); });
  return static_cast<double>(rows * size * size) / seconds;
}

/// Tokens per second of decoding `rows` texts at once, after contexts of 64 tokens.
double decode_rate(gpu::Transformer& model, std::size_t rows) {
  std::vector<gpu::TokenId> prompt(64);
  std::iota(prompt.begin(), prompt.end(), 0);
  std::vector<std::unique_ptr<gpu::Cache>> caches;
  gpu::DeviceMemory<float> logits;
  const auto first = model.empty_cache();
  const gpu::Pass begin{first.get(), prompt};
  model.next_logits({&begin, 1}, logits);
  for (std::size_t row = 0; row < rows; ++row) caches.push_back(first->fork(prompt.size()));
  const gpu::TokenId token = 7;
  const double seconds = best_seconds([&] {
    std::vector<gpu::Pass> passes;
    for (const auto& cache : caches) passes.push_back({cache.get(), {&token, 1}});
    model.next_logits(passes, logits);
  });
  return static_cast<double>(rows) / seconds;
}

using Rates = std::array<double, gpu::arithmetics.size()>;

void print_heading(const char* what) {
  std::printf("\n%s\n%8s", what, "batch");
  for (const auto arithmetic : gpu::arithmetics) {
    std::printf(" %16s", std::string(name_of(arithmetic)).c_str());
    if (arithmetic != gpu::Arithmetic::float32) std::printf(" %8s", "ratio");
  }
  std::printf("\n");
}

void print(std::size_t batch, const Rates& rates) {
  std::printf("%8zu %16.2f", batch, rates[0]);
  for (std::size_t i = 1; i < rates.size(); ++i)
    std::printf(" %16.2f %8.3f", rates[i], rates[i] / rates[0]);
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf("kernels: %s\n", gpu::make_default_kernels(gpu::Arithmetic::bfloat16_pairs)->name());
  print_heading("a product 2048 x 2048, 10^9 multiplications a second");
  for (const std::size_t rows : batches) {
    Rates rates{};
    for (std::size_t i = 0; i < rates.size(); ++i)
      rates[i] = product_rate(gpu::arithmetics[i], rows) / 1e9;
    print(rows, rates);
  }
  print_heading("decoding with 135 million random parameters, tokens a second");
  std::array<Rates, std::size(batches)> rates{};
  for (std::size_t a = 0; a < gpu::arithmetics.size(); ++a) {
    const auto model = gpu::random_qwen3(shape_of_135_million(), 1,
                                         gpu::make_default_kernels(gpu::arithmetics[a]));
    for (std::size_t i = 0; i < rates.size(); ++i) rates[i][a] = decode_rate(*model, batches[i]);
  }
  for (std::size_t i = 0; i < rates.size(); ++i) print(batches[i], rates[i]);
}
