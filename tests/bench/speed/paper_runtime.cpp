#include "bench/speed/paper_runtime.hpp"

#include <cmath>

#include "gpu/device/planted_fault.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/integer_kernels.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

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
  CHECK(std::abs(whole.expected.tokens - naive_tokens(settings, 4, rounds)) < 1e-6);
  CHECK(whole.parts.empty());
  CHECK(whole.longest >= settings.prompt + settings.horizon - 1);
  CHECK(whole.sweeps == rounds[0] + rounds[1] + rounds[2] + rounds[3]);
  CHECK(whole.sweep_seconds > 0.0);
  CHECK(whole.prompt_seconds > 0.0);
  // The extensions at the least; at the most every move regenerates all.
  CHECK(whole.decoded.tokens > 3 * 4 * settings.horizon);
  CHECK(static_cast<double>(whole.decoded.tokens) < 3 * (2 * whole.expected.tokens));
  // No token is drawn before the prompt, and none after the horizon.
  CHECK(whole.decoded.mean_position() > static_cast<double>(settings.prompt));
  CHECK(whole.decoded.mean_position() < static_cast<double>(settings.prompt + settings.horizon));
  CHECK(whole.cache_bytes >=
        3 * 4 * (settings.horizon / page_tokens) * model->pages().page_bytes());
  CHECK(whole.seconds_per_problem() == whole.decoded.seconds / 3.0);
}

namespace {

/// Returns the mean place of a problem's decode tokens, counted one by one.
double naive_position(const PaperSettings& settings, const std::vector<std::size_t>& rounds) {
  double tokens = 0.0;
  double positions = 0.0;
  for (std::size_t stage = 0; stage < rounds.size(); ++stage) {
    const std::size_t horizon = (stage + 1) * settings.block;
    for (std::size_t x = stage * settings.block + 1; x <= horizon; ++x) {
      tokens += 1.0;
      positions += static_cast<double>(settings.prompt + x);
    }
    // One move from each place, in whole numbers.
    std::uint64_t of_moves = 0;
    std::uint64_t places = 0;
    for (std::size_t r = 1; r <= horizon; ++r) {
      for (std::size_t x = r; x <= horizon; ++x) {
        ++of_moves;
        places += settings.prompt + x;
      }
    }
    const double share = static_cast<double>(rounds[stage]) / static_cast<double>(horizon);
    tokens += share * static_cast<double>(of_moves);
    positions += share * static_cast<double>(places);
  }
  return positions / tokens;
}

}  // namespace

TEST_CASE("a problem of the table attends to some 4,600 tokens in the mean") {
  const PaperSettings settings;
  const auto row = paper_runtimes()[0];
  const auto rounds = rounds_for(settings, 1, row.decode_tokens);
  REQUIRE(rounds == std::vector<std::size_t>(4, 20));
  ExpectedTokens all;
  for (std::size_t stage = 0; stage < 4; ++stage) {
    for (const bool is_extension : {true, false})
      all += expected_of_part(settings, 1, stage, is_extension, rounds[stage]);
  }
  CHECK(std::abs(all.mean_position() - naive_position(settings, rounds)) < 1e-6);
  CHECK(std::llround(all.mean_position()) == 4608);
}

TEST_CASE("a row that is cut off begins each stage with records of its length") {
  const PaperSettings settings = shortened(PaperSettings(), 128);
  PaperRuntime row = paper_runtimes()[1];
  row.decode_tokens /= 128;
  const auto model = model_of_shape("tiny", Arithmetic::tensor_core);
  // One step of each part.
  const auto cut = measure_runtime(*model, row, settings, 3, 1e-9);
  CHECK_FALSE(cut.complete);
  CHECK_FALSE(cut.seconds_per_problem());
  REQUIRE(cut.parts.size() == 8);
  ExpectedTokens all;
  Decoded decoded;
  for (std::size_t i = 0; i < 8; ++i) {
    const MeasuredPart& part = cut.parts[i];
    CAPTURE(i);
    CHECK(part.stage == i / 2);
    CHECK(part.is_extension == (i % 2 == 0));
    CHECK_FALSE(part.is_whole);
    CHECK(part.decoded.steps == 1);
    CHECK(part.decoded.tokens == 12);
    const std::size_t horizon = (part.stage + 1) * settings.block;
    // An extension draws the first token after the stage before; a move may draw any.
    const double position = part.decoded.mean_position();
    if (part.is_extension)
      CHECK(position == static_cast<double>(settings.prompt + part.stage * settings.block + 1));
    else
      CHECK(position <= static_cast<double>(settings.prompt + horizon));
    all += part.expected;
    decoded += part.decoded;
  }
  CHECK(std::abs(all.tokens - cut.expected.tokens) < 1e-6);
  CHECK(decoded.tokens == cut.decoded.tokens);
  CHECK(cut.cache_bytes >= 12 * (settings.horizon / page_tokens) * model->pages().page_bytes());
  // The last stage's records are whole in its moves.
  CHECK(cut.longest > settings.prompt + 3 * settings.block);
}

TEST_CASE("moves that are cut off begin where a long run's are") {
  PaperSettings settings = shortened(PaperSettings(), 128);
  PaperRuntime row = paper_runtimes()[0];
  row.decode_tokens /= 128;
  const auto model = model_of_shape("tiny", Arithmetic::tensor_core);
  const auto cut = measure_runtime(*model, row, settings, 200, 1e-9);
  REQUIRE(cut.parts.size() == 8);
  for (std::size_t i = 1; i < 8; i += 2) {
    const MeasuredPart& part = cut.parts[i];
    const double horizon = static_cast<double>((part.stage + 1) * settings.block);
    // Places have probabilities in proportion to themselves: their mean is (2 T + 1) / 3, and that
    // of 200 differs by less than five of its standard deviations, T / sqrt(18 · 200).
    const double expected = static_cast<double>(settings.prompt) + (2 * horizon + 1) / 3;
    CHECK(std::abs(part.decoded.mean_position() - expected) < 5 * horizon / std::sqrt(18.0 * 200));
  }
}

TEST_CASE("the seconds of a problem are those of its parts, each by its own rate, or none") {
  MeasuredRuntime measured;
  measured.problems = 2;
  // 100 tokens at 50 a second, and 30 at 10.
  measured.parts = {{0, true, {100, 1000}, {200, 10, 2000, 4.0}, true},
                    {0, false, {30, 600}, {20, 5, 400, 2.0}, true}};
  CHECK(measured.seconds_per_problem() == 5.0);
  measured.parts[1].is_whole = false;
  CHECK_FALSE(measured.seconds_per_problem());
}

TEST_CASE("the least bytes of a problem are its weights once a step, and its keys and values") {
  // 10 tokens in steps of 2 rows, at places 3 and 5: attending to 2 and 4 tokens.
  const ExpectedTokens expected{10, 40};
  CHECK(expected.least_bytes(2, 100, 7) == 5 * 100 + 30 * 7);
  const Decoded decoded{10, 5, 40, 1.0};
  CHECK(decoded.bytes(100, 7) == expected.least_bytes(2, 100, 7));
  CHECK(decoded.rows_of_a_step() == 2.0);
  CHECK(decoded.mean_position() == expected.mean_position());
}

TEST_CASE("parts that have seen a round give the seconds of a problem") {
  const PaperSettings settings = shortened(PaperSettings(), 128);
  PaperRuntime row = paper_runtimes()[1];
  row.decode_tokens /= 128;
  const auto model = model_of_shape("tiny", Arithmetic::tensor_core);
  // However long it takes: a part ends with its rounds.
  const auto measured = measure_runtime(*model, row, settings, 2, 1e6);
  CHECK_FALSE(measured.complete);
  REQUIRE(measured.parts.size() == 8);
  for (const MeasuredPart& part : measured.parts) CHECK(part.is_whole);
  CHECK(measured.seconds_per_problem().value_or(0.0) > 0.0);
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
  const CudaIntegerKernels integer(3);
  const auto whole = filled_qwen3(tiny.config, 1, integer);
  CHECK(measure_runtime(*whole, row, settings, 1, 0.0).graph_replays > 0);
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
  // A problem of K = 4 takes 1 + 4 · 5 pages.
  const WithPlantedFault small({{}, 50 * model->pages().page_bytes()});
  CHECK(problems_that_fit(*model, settings, 4) == 2);
  CHECK(problems_that_fit(*model, settings, 1) == 7);
  require_bad_input([&] { measure_runtime(*model, paper_runtimes()[1], settings, 3, 0.0); },
                    {"--problems: 3 problems of 4 rungs take 63 pages", "give at most 2"});
}

TEST_CASE("the shapes have the parameters of their models") {
  // Qwen3-8B: 8.19e9 in all, 0.62e9 in the embedding; 4B: 4.02e9, the head tied to it.
  const ModelShape& large = *find_model_shape("qwen3-8b");
  CHECK(large.step_weights() + 151936ULL * 4096 == 8190427136ULL);
  CHECK(find_model_shape("qwen3-4b")->step_weights() == 4022272000ULL);
  CHECK(large.token_bytes() == 147456);
  CHECK(find_model_shape("135m")->step_weights() > 134'000'000);
  CHECK(find_model_shape("135m")->step_weights() < 136'000'000);
  CHECK(find_model_shape("none") == nullptr);
}
