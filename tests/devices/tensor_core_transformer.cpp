#include <algorithm>
#include <map>
#include <random>

#include "gpu/core/model/table_model.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/devices/tempered_bits.hpp"
#include "tests/simt/transformer/contract_model.hpp"

using namespace tempera;
using namespace tempera::gpu;

// The CUDA kernels in the device's own arithmetic, on the device or, in a build for the host, on
// fibers, against the contract of docs/reference/arithmetic.md, which the host computes one element
// at a time.

namespace {

using Text = std::vector<TokenId>;

DecoderConfig small_config() {
  DecoderConfig config;
  config.vocab_size = 11;
  config.hidden_size = 40;
  config.intermediate_size = 56;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 18;
  config.max_position_embeddings = 64;
  return config;
}

/// One model, computed by the CUDA kernels and by the contract on the host.
struct BothModels {
  explicit BothModels(std::optional<std::size_t> shared_bytes = std::nullopt,
                      const DecoderConfig& shape = small_config(), StepForm steps = StepForm::graph)
      : config(shape),
        kernels(5, shared_bytes, steps, own_arithmetic()),
        on_device(std::make_unique<Qwen3>(config, tensors, kernels)),
        contract(config, tensors, own_arithmetic()) {}

  const std::vector<float>& expected(const Text& text) {
    auto& row = known[text];
    if (row.empty()) row = contract.logits(text);
    return row;
  }

  DecoderConfig config;
  tests::RememberedTensors tensors{23};
  CudaKernels kernels;
  Transformer on_device;
  tests::ContractModel contract;
  std::map<Text, std::vector<float>> known;
};

/// A batch of forks of one prompt, in shuffled slots.
struct ForkedBatch {
  ForkedBatch(Cache& root, const Text& prompt, std::size_t batch, std::mt19937& random) {
    // Six records, so that every row is in many slots: forks inside a page, at its end, whole.
    static const std::vector<std::size_t> lengths = {18, 16, 15, 18, 3, 17};
    static const std::vector<Text> added = {{2}, {5, 6}, {7}, {10, 0, 3}, {8}, {1, 1, 1, 2}};
    std::vector<std::size_t> record_of(batch);
    for (std::size_t row = 0; row < batch; ++row) record_of[row] = row % lengths.size();
    std::shuffle(record_of.begin(), record_of.end(), random);
    for (const std::size_t record : record_of) {
      caches.push_back(root.fork(lengths[record]));
      passes.push_back({caches.back().get(), added[record]});
      texts.emplace_back(prompt.begin(),
                         prompt.begin() + static_cast<std::ptrdiff_t>(lengths[record]));
      texts.back().insert(texts.back().end(), added[record].begin(), added[record].end());
    }
  }

  std::vector<std::unique_ptr<Cache>> caches;
  std::vector<Pass> passes;
  std::vector<Text> texts;
};

const Text prompt_of_forks = {1, 4, 9, 5, 3, 3, 5, 9, 4, 1, 0, 1, 4, 9, 5, 3, 7, 2};

std::unique_ptr<Cache> computed_prompt(BothModels& models) {
  auto root = models.on_device.empty_cache();
  DeviceMemory<float> memory;
  const std::vector<Pass> first = {{root.get(), prompt_of_forks}};
  models.on_device.next_logits(first, memory);
  return root;
}

/// How many rows of logits of such a batch differ from the contract.
std::size_t wrong_rows(BothModels& models, std::size_t batch, std::mt19937& random) {
  const auto root = computed_prompt(models);
  const ForkedBatch forked(*root, prompt_of_forks, batch, random);
  DeviceMemory<float> memory;
  models.on_device.next_logits(forked.passes, memory);
  const std::size_t vocabulary = models.config.vocab_size;
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < batch; ++row) {
    const auto found = memory.download(row * vocabulary, vocabulary);
    if (tests::different(found, models.expected(forked.texts[row])) != 0) ++wrong;
  }
  return wrong;
}

/// How many of the tokens that are drawn after such a batch, by one whole step of the device, or
/// their scores, differ from those that one host thread draws from the contract's logits.
std::size_t wrong_tokens(BothModels& models, std::size_t batch, std::mt19937& random) {
  const auto root = computed_prompt(models);
  const ForkedBatch forked(*root, prompt_of_forks, batch, random);
  const std::vector<double> powers = {1.0, 1.6, 2.5};
  std::vector<RowDraw> draws;
  std::vector<float> logits;
  for (std::uint32_t row = 0; row < batch; ++row) {
    draws.push_back({powers, row % 3, {9, {row, static_cast<std::uint32_t>(batch), 0, 0, 0}}});
    const std::vector<float>& expected = models.expected(forked.texts[row]);
    logits.insert(logits.end(), expected.begin(), expected.end());
  }
  PhiloxLottery lottery;
  DeviceMemory<float> memory;
  const auto found =
      models.on_device.next_tokens(forked.passes, draws, *make_cuda_row_lottery(), lottery, memory);
  const DeviceMemory<float> by_contract{std::span<const float>(logits)};
  const auto expected =
      make_host_row_lottery()->draw(by_contract, models.config.vocab_size, draws, lottery);
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < batch; ++row) wrong += found[row] == expected[row] ? 0U : 1U;
  return wrong;
}

}  // namespace

TEST_CASE("whole steps under tensor-core have the contract's bits in batches of 1 to 64") {
  BothModels models;
  std::mt19937 random(31);
  const bool on_fibers = device_system() != "CUDA";
  INFO("kernels: " << models.kernels.name());
  for (std::size_t batch = 1; batch <= 64; ++batch) {
    // The fibers take the batches where the kernels' forms change.
    const bool edge = batch == 1 || batch == 3 || batch == 9 || batch == 33 || batch == 64;
    if (on_fibers && !edge) continue;
    INFO("batch " << batch);
    REQUIRE(wrong_rows(models, batch, random) == 0);
  }
}

TEST_CASE("tokens drawn by whole steps of 1 to 64 rows, in every form, are the contract's") {
  const bool on_fibers = device_system() != "CUDA";
  for (const StepForm form : {StepForm::graph, StepForm::launches, StepForm::joined}) {
    BothModels models(std::nullopt, small_config(), form);
    INFO("kernels: " << models.kernels.name());
    std::mt19937 random(34);
    std::uint64_t steps = 0;
    for (std::size_t batch = 1; batch <= 64; ++batch) {
      if (on_fibers && batch != 1 && batch != 9 && batch != 35) continue;
      INFO("batch " << batch);
      REQUIRE(wrong_tokens(models, batch, random) == 0);
      ++steps;
    }
    CHECK(models.kernels.steps() == steps);
    CHECK(models.kernels.graph_replays() == (form == StepForm::launches ? 0 : steps));
  }
}

TEST_CASE("whole steps of other shapes under tensor-core have the contract's bits") {
  const bool on_fibers = device_system() != "CUDA";
  const auto shaped = [](std::size_t inner, std::size_t heads, std::size_t key_value_heads,
                         std::size_t head_dim) {
    DecoderConfig config = small_config();
    config.intermediate_size = inner;
    config.num_attention_heads = heads;
    config.num_key_value_heads = key_value_heads;
    config.head_dim = head_dim;
    return config;
  };
  // Ungrouped heads; four queries to a key head and several segments; the largest heads.
  for (const DecoderConfig& config :
       {shaped(56, 2, 2, 64), shaped(1100, 8, 2, 128), shaped(48, 2, 1, 256)}) {
    BothModels models(std::nullopt, config);
    std::mt19937 random(33);
    for (const std::size_t batch : {1U, 2U, 7U, 8U, 9U, 16U, 17U, 33U, 64U}) {
      if (on_fibers && batch != 7) continue;
      INFO("head_dim " << config.head_dim << ", batch " << batch);
      REQUIRE(wrong_rows(models, batch, random) == 0);
    }
  }
}

TEST_CASE("whole steps under tensor-core keep their bits where a block has 99 KiB") {
  BothModels models(99 * 1024);
  std::mt19937 random(32);
  for (const std::size_t batch : {1U, 16U, 40U}) {
    INFO("batch " << batch);
    REQUIRE(wrong_rows(models, batch, random) == 0);
  }
}

TEST_CASE("planted: a step that reads one token as another differs from the contract") {
  BothModels models;
  const Text text = {1, 4, 9, 5, 3};
  const auto expected = models.expected(text);
  // The token before the last read as another: the least that a wrong page or position does.
  const auto cache = models.on_device.empty_cache();
  const Text other = {1, 4, 9, 6, 3};
  DeviceMemory<float> memory;
  const std::vector<Pass> passes = {{cache.get(), other}};
  models.on_device.next_logits(passes, memory);
  REQUIRE(tests::different(memory.download(0, models.config.vocab_size), expected) != 0);
}

TEST_CASE("whole runs of PPT under tensor-core have the contract's bits on one host thread") {
  BothModels models;
  TableModel on_host(models.config.vocab_size, [&](std::span<const TokenId> prefix) {
    return models.expected(Text(prefix.begin(), prefix.end()));
  });
  const auto device_rows = make_device_row_lottery();
  const auto host_rows = make_host_row_lottery();
  const TemperedCase runs{{{{1, 2, 3}, {10}}},
                          {1.0, 1.6, 2.5},
                          {make_stages(8, 4, {3}, {2}, {1}), Schedule::deo, 2},
                          2,
                          6};
  const auto expected = tempered_bits(on_host, *host_rows, runs, 1, WorkOrder::first_come);
  const auto found = [&](std::size_t largest_batch, WorkOrder order) {
    return tempered_bits(models.on_device, *device_rows, runs, largest_batch, order);
  };
  CHECK(found(1, WorkOrder::first_come) == expected);
  CHECK(found(5, WorkOrder::last_come) == expected);
  CHECK(found(64, WorkOrder::last_come) == expected);
}
