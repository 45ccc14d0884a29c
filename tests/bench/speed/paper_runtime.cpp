#include "bench/speed/paper_runtime.hpp"

#include <cmath>

#include "gpu/device/planted_fault.hpp"
#include "gpu/transformer/kernels/cuda/cuda_kernels.hpp"
#include "tests/gpu/transformer/architectures/model_folder.hpp"

using namespace tempera;
using namespace tempera::gpu;

namespace {

/// Expected decode tokens, one move after the other.
double naive_tokens(const PaperSettings& settings, std::size_t rungs,
                    const std::vector<std::size_t>& rounds) {
  double tokens = 0.0;
  for (std::size_t k = 0; k < rungs; ++k) {
    tokens += static_cast<double>(settings.horizon);
    for (std::size_t stage = 0; stage < rounds.size(); ++stage) {
      const std::size_t horizon = std::min(settings.horizon, (stage + 1) * settings.block);
      double all = 0.0;
      for (std::size_t r = 1; r <= horizon; ++r) all += static_cast<double>(horizon - r + 1);
      tokens += static_cast<double>(rounds[stage]) * all / static_cast<double>(horizon);
    }
  }
  return tokens;
}

}  // namespace

TEST_CASE("the rounds of a row spend the paper's budget as nearly as whole rounds can") {
  const PaperSettings settings;
  for (const PaperRuntime& row : paper_runtimes()) {
    const auto rounds = rounds_for(settings, row.powers.size(), row.decode_tokens);
    REQUIRE(rounds.size() == 4);
    const auto budget = static_cast<double>(row.decode_tokens);
    const double spent = naive_tokens(settings, row.powers.size(), rounds);
    INFO("K = " << row.powers.size() << " spends " << spent);
    CHECK(std::abs(spent - budget) < 0.01 * budget);
    // One round more or fewer of any stage within the order is not nearer.
    auto more = rounds;
    ++more[rounds[0] > rounds[3] ? 2 : 0];
    CHECK(std::abs(naive_tokens(settings, row.powers.size(), more) - budget) >=
          std::abs(spent - budget));
  }
  CHECK(rounds_for(settings, 1, 0) == std::vector<std::size_t>(4, 0));
}

TEST_CASE("a tiny run of the table draws what its plan says, to the end or until the time is up") {
  const PaperSettings settings = shortened(PaperSettings(), 128);
  PaperRuntime row = paper_runtimes()[1];
  row.decode_tokens /= 128;
  const auto model = model_of_shape("tiny", Arithmetic::tensor_core);
  const auto whole = measure_runtime(*model, row, settings, 3, 0.0);
  CHECK(whole.complete);
  CHECK(whole.rungs == 4);
  CHECK(whole.problems == 3);
  const auto rounds = rounds_for(settings, 4, row.decode_tokens);
  CHECK(static_cast<double>(whole.budget) == std::round(naive_tokens(settings, 4, rounds)));
  CHECK(whole.longest >= settings.prompt + settings.horizon - 1);
  CHECK(whole.sweeps == rounds[0] + rounds[1] + rounds[2] + rounds[3]);
  CHECK(whole.sweep_seconds > 0.0);
  CHECK(whole.prompt_seconds > 0.0);
  // The extensions at the least; at the most every move regenerates all.
  CHECK(whole.decode_tokens > 3 * 4 * settings.horizon);
  CHECK(whole.decode_tokens < 3 * (2 * whole.budget));
  CHECK(whole.cache_bytes >=
        3 * 4 * (settings.horizon / page_tokens) * model->pages().page_bytes());
  CHECK(whole.seconds_per_problem() == whole.seconds / 3.0);

  const auto cut = measure_runtime(*model, row, settings, 3, whole.seconds / 4.0);
  CHECK_FALSE(cut.complete);
  CHECK(cut.decode_tokens < whole.decode_tokens);
  CHECK(cut.seconds_per_problem() == static_cast<double>(cut.budget) / cut.tokens_per_second());
}

TEST_CASE("the table measures steps that are graphs, as sample's are, and nothing else") {
  const ModelShape& tiny = *find_model_shape("tiny");
  // On fibers, thread by thread: 15 tokens in two stages of one round each.
  const PaperSettings settings{8, 4, 2, 1};
  PaperRuntime row = paper_runtimes()[0];
  row.decode_tokens = 15;
  const CudaKernels graphs(3);
  const auto sound = filled_qwen3(tiny.config, 1, graphs);
  CHECK(measure_runtime(*sound, row, settings, 1, 0.0).graph_replays > 0);
  // Planted: kernel by kernel.
  const CudaKernels launches(3, std::nullopt, StepForm::launches);
  const auto slow = filled_qwen3(tiny.config, 1, launches);
  CHECK_THROWS_WITH(measure_runtime(*slow, row, settings, 1, 0.0),
                    Catch::Contains("0 were a graph"));
}

TEST_CASE("what a device has no room for is refused, and says what would fit") {
  require_bad_input([] { model_of_shape("qwen3-9b", Arithmetic::tensor_core); },
                    {"--shape", "qwen3-9b", "qwen3-8b, qwen3-4b, 135m, tiny"});
  {
    const WithPlantedFault small({{}, std::size_t{1} << 30});
    require_bad_input(
        [] { model_of_shape("qwen3-8b", Arithmetic::tensor_core); },
        {"--shape qwen3-8b: its weights take 14.1 GiB and the device has 1.0 GiB free",
         "what fits: 135m, tiny"});
  }
  const PaperSettings settings = shortened(PaperSettings(), 128);
  const auto model = model_of_shape("tiny", Arithmetic::tensor_core);
  // A problem of K = 4 may hold 1 + 2 · 4 · 5 pages.
  const WithPlantedFault small({{}, 100 * model->pages().page_bytes()});
  CHECK(problems_that_fit(*model, settings, 4) == 2);
  CHECK(problems_that_fit(*model, settings, 1) == 8);
  require_bad_input([&] { measure_runtime(*model, paper_runtimes()[1], settings, 3, 0.0); },
                    {"--problems: 3 problems of 4 rungs may hold 123 pages", "give at most 2"});
}

TEST_CASE("the shapes have the parameters of their models") {
  // Qwen3-8B: 8.19e9 in all, of which 0.62e9 are the embedding; 4B: 4.02e9, the head tied to it.
  const ModelShape& large = *find_model_shape("qwen3-8b");
  CHECK(large.step_weights() + 151936ULL * 4096 == 8190427136ULL);
  CHECK(find_model_shape("qwen3-4b")->step_weights() == 4022272000ULL);
  CHECK(large.token_bytes() == 147456);
  CHECK(find_model_shape("135m")->step_weights() > 134'000'000);
  CHECK(find_model_shape("135m")->step_weights() < 136'000'000);
  CHECK(find_model_shape("none") == nullptr);
}
