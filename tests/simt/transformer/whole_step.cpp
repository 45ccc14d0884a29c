#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_plan.hpp"
#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/simt/transformer/contract_model.hpp"
#include "tests/simt/transformer/forwarding_kernels.hpp"

namespace tempera::whole_step_test {

using namespace tempera;
using namespace tempera::tests;

namespace {

using Text = std::vector<gpu::TokenId>;

gpu::DecoderConfig config_of(std::size_t hidden, std::size_t heads, std::size_t key_heads,
                             std::size_t head_dim, std::size_t inner, bool tied) {
  gpu::DecoderConfig config;
  config.vocab_size = 37;
  config.hidden_size = hidden;
  config.intermediate_size = inner;
  config.num_hidden_layers = 2;
  config.num_attention_heads = heads;
  config.num_key_value_heads = key_heads;
  config.head_dim = head_dim;
  config.max_position_embeddings = 1024;
  config.tie_word_embeddings = tied;
  return config;
}

Text random_text(std::size_t length, std::mt19937& random) {
  Text text(length);
  for (auto& token : text) token = static_cast<gpu::TokenId>(random() % 37);
  return text;
}

struct Rows {
  gpu::Transformer& model;
  gpu::DeviceMemory<float> memory{};

  /// The logits after every pass.
  std::vector<Floats> operator()(const std::vector<gpu::Pass>& passes) {
    model.next_logits(passes, memory);
    std::vector<Floats> rows;
    for (std::size_t row = 0; row < passes.size(); ++row) {
      rows.push_back(memory.download(row * model.vocabulary_size(), model.vocabulary_size()));
    }
    return rows;
  }
};

}  // namespace

TEST_CASE("whole steps on fibers have the contract's bits: prefill, decode, forks, any slot") {
  const auto config =
      GENERATE(config_of(48, 4, 2, 16, 600, true), config_of(21, 6, 3, 18, 35, false));
  const auto arithmetic =
      GENERATE(gpu::Arithmetic::tensor_core, gpu::Arithmetic::tensor_core_8_bit_pages);
  CAPTURE(name_of(arithmetic));
  RememberedTensors tensors(5);
  const gpu::CudaKernels kernels(9, std::nullopt, gpu::StepForm::graph, arithmetic);
  gpu::Transformer model(std::make_unique<gpu::Qwen3>(config, tensors, kernels));
  const ContractModel contract(config, tensors, arithmetic);
  std::mt19937 random(3);
  Rows next{model};

  // A prompt, and forks of it in the middle of a page, at its end, and whole.
  const Text prompt = random_text(41, random);
  const auto root = model.empty_cache();
  const std::vector<gpu::Pass> first = {{root.get(), prompt}};
  REQUIRE(different(next(first)[0], contract.logits(prompt)) == 0);
  std::vector<Text> texts;
  std::vector<std::unique_ptr<gpu::Cache>> caches;
  for (const std::size_t length : {41U, 37U, 32U, 41U, 7U}) {
    texts.emplace_back(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(length));
    caches.push_back(root->fork(length));
  }
  // Three steps of one token each, in another order every time, and a pass of several tokens.
  for (int step = 0; step < 3; ++step) {
    std::vector<std::size_t> order = {0, 1, 2, 3, 4};
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Text> added;
    for (const std::size_t record : order) {
      added.push_back(random_text(step == 1 && record == 2 ? 19 : 1, random));
      texts[record].insert(texts[record].end(), added.back().begin(), added.back().end());
    }
    std::vector<gpu::Pass> passes;
    for (std::size_t slot = 0; slot < order.size(); ++slot) {
      passes.push_back({caches[order[slot]].get(), added[slot]});
    }
    const std::uint64_t before = kernels.launches();
    const auto rows = next(passes);
    // The recorder: 8 a layer and 6 besides.
    REQUIRE(kernels.launches() - before <= 8 * config.num_hidden_layers + 6);
    for (std::size_t slot = 0; slot < order.size(); ++slot) {
      REQUIRE(different(rows[slot], contract.logits(texts[order[slot]])) == 0);
    }
  }
  // What the forks wrote did not reach the record that they came from.
  const Text more = {1};
  Text whole = prompt;
  whole.push_back(1);
  REQUIRE(different(next({{root.get(), more}})[0], contract.logits(whole)) == 0);
}

TEST_CASE("a batch of 1 to 64 on fibers has the bits of the host's form of its arithmetic") {
  const auto arithmetic =
      GENERATE(gpu::Arithmetic::tensor_core, gpu::Arithmetic::tensor_core_ampere,
               gpu::Arithmetic::tensor_core_8_bit_pages);
  CAPTURE(name_of(arithmetic));
  const auto config = config_of(40, 8, 2, 24, 56, true);
  const gpu::CudaKernels kernels(2, std::nullopt, gpu::StepForm::graph, arithmetic);
  const auto on_fibers = gpu::random_qwen3(config, 11, kernels);
  const auto on_host = gpu::random_qwen3(config, 11, gpu::default_kernels(arithmetic));
  std::mt19937 random(8);
  Rows fibers{*on_fibers};
  Rows host{*on_host};
  // Contexts across a split of 256 positions.
  const Text prompt = random_text(254, random);
  const auto fiber_root = on_fibers->empty_cache();
  const auto host_root = on_host->empty_cache();
  REQUIRE(different(fibers({{fiber_root.get(), prompt}})[0],
                    host({{host_root.get(), prompt}})[0]) == 0);
  for (const std::size_t batch : {1U, 2U, 7U, 16U, 33U, 64U}) {
    std::vector<std::unique_ptr<gpu::Cache>> caches;
    std::vector<Text> texts;
    std::vector<gpu::Pass> fiber_passes;
    std::vector<gpu::Pass> host_passes;
    for (std::size_t row = 0; row < batch; ++row) {
      texts.push_back(random_text(1 + row % 4, random));
    }
    for (std::size_t row = 0; row < batch; ++row) {
      const std::size_t length = 254 - row * 5 % 250;
      caches.push_back(fiber_root->fork(length));
      fiber_passes.push_back({caches.back().get(), texts[row]});
      caches.push_back(host_root->fork(length));
      host_passes.push_back({caches.back().get(), texts[row]});
    }
    const auto expected = host(host_passes);
    const auto found = fibers(fiber_passes);
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < batch; ++row) wrong += different(found[row], expected[row]);
    INFO("batch " << batch);
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("a batch of 512 on fibers has the host's bits, and so have four prompts together") {
  auto config = config_of(64, 4, 2, 16, 96, true);
  config.num_hidden_layers = 1;
  // On this device its products go by steps of four warps.
  for (const auto& [in, out, tiles, gated] :
       {std::tuple{64U, 128U, 8U, false}, {64U, 64U, 4U, false}, {64U, 96U, 12U, true}})
    REQUIRE(gpu::plan_product(512, in, out, tiles, gated, {3, 227 * 1024, true}).form ==
            gpu::ProductForm::warpgroups);
  const gpu::CudaKernels kernels(6);
  const auto on_fibers = gpu::random_qwen3(config, 17, kernels);
  const auto on_host =
      gpu::random_qwen3(config, 17, gpu::default_kernels(gpu::Arithmetic::tensor_core));
  std::mt19937 random(14);
  Rows fibers{*on_fibers};
  Rows host{*on_host};
  std::vector<std::unique_ptr<gpu::Cache>> caches;
  std::vector<Text> texts;
  const auto fiber_root = on_fibers->empty_cache();
  const auto host_root = on_host->empty_cache();
  const Text prompt = random_text(21, random);
  REQUIRE(different(fibers({{fiber_root.get(), prompt}})[0],
                    host({{host_root.get(), prompt}})[0]) == 0);
  const auto wrong_rows = [&](std::size_t records, std::size_t tokens) {
    for (std::size_t record = 0; record < records; ++record)
      texts.push_back(random_text(tokens, random));
    std::vector<gpu::Pass> fiber_passes;
    std::vector<gpu::Pass> host_passes;
    for (std::size_t record = 0; record < records; ++record) {
      const Text& text = texts[texts.size() - records + record];
      const std::size_t length = 21 - record % 20;
      caches.push_back(fiber_root->fork(length));
      fiber_passes.push_back({caches.back().get(), text});
      caches.push_back(host_root->fork(length));
      host_passes.push_back({caches.back().get(), text});
    }
    const auto expected = host(host_passes);
    const auto found = fibers(fiber_passes);
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < records; ++row) wrong += different(found[row], expected[row]);
    return wrong;
  };
  CHECK(wrong_rows(512, 1) == 0);
  CHECK(wrong_rows(4, 40) == 0);
}

TEST_CASE("a whole step on a device that gives a block 99 KiB has the same bits") {
  const auto config = config_of(40, 8, 2, 24, 56, true);
  const gpu::CudaKernels roomy(2);
  const gpu::CudaKernels narrow(3, 99 * 1024);
  const auto expected = gpu::random_qwen3(config, 11, roomy);
  const auto found = gpu::random_qwen3(config, 11, narrow);
  std::mt19937 random(12);
  const Text text = random_text(70, random);
  gpu::DeviceMemory<float> expected_rows;
  gpu::DeviceMemory<float> found_rows;
  expected->logits_at_every_position(text, expected_rows);
  found->logits_at_every_position(text, found_rows);
  REQUIRE(different(found_rows.download(0, text.size() * 37),
                    expected_rows.download(0, text.size() * 37)) == 0);
}

TEST_CASE("the CUDA kernels are made for the arithmetics of tensor cores alone") {
  for (const gpu::Arithmetic other : {gpu::Arithmetic::float32, gpu::Arithmetic::bfloat16_pairs})
    REQUIRE_THROWS_WITH(gpu::CudaKernels(1, std::nullopt, gpu::StepForm::graph, other),
                        Catch::Contains("take no steps of " + std::string(name_of(other))));
}

TEST_CASE("a head that the tensor-core kernels cannot take is refused before a weight is read") {
  const gpu::CudaKernels kernels(1);
  const gpu::CudaKernels narrow(1, 99 * 1024);
  REQUIRE_THROWS_AS(gpu::random_qwen3(config_of(40, 4, 2, 258, 56, true), 1, kernels),
                    tempera::BadInput);
  REQUIRE_THROWS_WITH(gpu::random_qwen3(config_of(40, 4, 2, 258, 56, true), 1, kernels),
                      Catch::Contains("\"head_dim\" is 258") && Catch::Contains("at most 256"));
  REQUIRE_NOTHROW(gpu::random_qwen3(config_of(40, 4, 2, 256, 56, true), 1, kernels));
  REQUIRE_THROWS_WITH(gpu::random_qwen3(config_of(40, 4, 2, 256, 56, true), 1, narrow),
                      Catch::Contains("the device gives 101376"));
}

namespace {

/// Which kernels a step launches, call by call: 'layer CALL' between the embedding and the norm
/// after the last layer, 'step CALL' elsewhere.
class LaunchRecorder final : public ForwardingKernels {
 public:
  /// twice: a call that is made twice, as a defect.
  explicit LaunchRecorder(std::string twice) : ForwardingKernels(4), twice_(std::move(twice)) {}

  /// Since the last time that they were asked for, those of the step around the model included.
  std::vector<std::string> take_lines() const {
    note("step", "the_step_itself");
    return std::exchange(lines_, {});
  }

 protected:
  void called(const char* call, const std::function<void()>& run) const override {
    note("step", "the_step_itself");
    const std::string name = call;
    if (name == "normalize_and_gather" || name == "multiply_head") in_layers_ = false;
    run();
    if (name == twice_) run();
    note(in_layers_ ? "layer" : "step", name);
    if (name == "embed") in_layers_ = true;
  }

 private:
  /// The launches since the last note.
  void note(const std::string& part, const std::string& call) const {
    for (; noted_ < cuda().launches(); ++noted_) lines_.push_back(part + " " + call);
  }

  std::string twice_;
  mutable std::vector<std::string> lines_;
  mutable std::uint64_t noted_ = 0;
  mutable bool in_layers_ = false;
};

/// The launches of one step of so many records whose pages have to be copied first, and whose
/// tokens are drawn.
std::vector<std::string> launches_of_a_step(std::size_t layers, const std::string& twice = "",
                                            std::size_t rows = 1) {
  auto config = config_of(40, 8, 2, 24, 56, true);
  config.num_hidden_layers = layers;
  const LaunchRecorder recorder(twice);
  const auto model = gpu::random_qwen3(config, 11, recorder);
  std::mt19937 random(13);
  Rows next{*model};
  const auto root = model->empty_cache();
  next({{root.get(), random_text(20, random)}});
  const Text one = {3};
  const std::vector<double> powers = {1.0, 2.0};
  std::vector<std::unique_ptr<gpu::Cache>> forks;
  std::vector<gpu::Pass> passes;
  for (std::size_t row = 0; row < rows; ++row) {
    forks.push_back(root->fork(20));
    passes.push_back({forks.back().get(), one});
  }
  const std::vector<gpu::RowDraw> draws(rows, {powers, 1, {}});
  gpu::PhiloxLottery lottery;
  recorder.take_lines();
  model->next_tokens(passes, draws, *gpu::make_cuda_row_lottery(), lottery, next.memory);
  return recorder.take_lines();
}

std::size_t layer_launches(const std::vector<std::string>& lines) {
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(),
                    [](const std::string& line) { return line.starts_with("layer "); }));
}

}  // namespace

TEST_CASE("a layer launches 5 kernels, beyond 8 rows 7, and the rest of a step 6", "[launches]") {
  const auto one = launches_of_a_step(1);
  const std::size_t layer = layer_launches(one);
  REQUIRE(layer <= 5);
  REQUIRE(one.size() - layer <= 6);
  REQUIRE(launches_of_a_step(1, "", 8).size() == one.size());
  REQUIRE(launches_of_a_step(1, "", 9).size() == one.size() + 2);
  // Every layer costs the same.
  REQUIRE(launches_of_a_step(3).size() == one.size() + 2 * layer);
  // For checks/device_code --launches, to which ./test hands them.
  if (const char* file = std::getenv("TEMPERA_LAUNCHES")) {
    std::ofstream out(file);
    for (const std::string& line : one) out << line << '\n';
    out.close();
    REQUIRE(out.good());
  }
}

TEST_CASE("planted: a sixth kernel a layer, and a seventh a step, are recorded") {
  CHECK(layer_launches(launches_of_a_step(1, "rotate_and_attend")) == 6);
  const auto lines = launches_of_a_step(1, "multiply_head");
  CHECK(lines.size() - layer_launches(lines) == 7);
}

}  // namespace tempera::whole_step_test
