// A device that is lost in the middle of a run, and memory that is not enough for one.
#include "base/error.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/planted_fault.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

std::unique_ptr<Transformer> tensor_core_model() {
  return random_qwen3(small_config(), 4, default_kernels(Arithmetic::tensor_core));
}

/// Copies between host and device that a whole run makes.
std::uint64_t copies_of(const SamplingSettings& settings) {
  constexpr std::uint64_t many = 1'000'000;
  const auto model = tensor_core_model();
  const WithPlantedFault counted({many, {}});
  draw(*model, settings);
  return many - *planted_fault().copies_until_lost;
}

SamplingSettings tensor_core_settings() {
  SamplingSettings settings = small_settings();
  settings.arithmetic = Arithmetic::tensor_core;
  return settings;
}

}  // namespace

TEST_CASE("a run whose device is lost at any moment is resumed on the host to the same bytes") {
  const auto settings = tensor_core_settings();
  const test::TemporaryFolder work;
  const auto model = tensor_core_model();
  begin_run(*model, settings, work / "whole");
  const Left whole(work / "whole");
  std::size_t taken_up = 0;
  const std::uint64_t in_all = copies_of(settings);
  REQUIRE(in_all > 20);
  for (std::uint64_t copies = 0; copies < in_all; copies += 1 + in_all / 12) {
    INFO("lost after " << copies << " copies");
    const auto path = work / std::to_string(copies);
    {
      const auto on_device = tensor_core_model();
      const WithPlantedFault lost({copies, {}});
      REQUIRE_THROWS_AS(begin_run(*on_device, settings, path), DeviceError);
      REQUIRE_FALSE(device_failure().empty());
    }
    {
      RunFolder folder = RunFolder::open(path);
      REQUIRE_FALSE(folder.finished());
      if (folder.checkpoint()) ++taken_up;
    }
    const auto on_host = tensor_core_model();
    resume_run(*on_host, path);
    CHECK(Left(path) == whole);
  }
  // Most of them in the middle of the run, not before its first checkpoint.
  CHECK(taken_up >= 6);
}

TEST_CASE("a lost device is not an answer of the model: it is not resumed as another model's run") {
  const auto settings = tensor_core_settings();
  const test::TemporaryFolder work;
  const std::uint64_t copies_of_most = copies_of(settings) * 3 / 4;
  {
    const auto model = tensor_core_model();
    const WithPlantedFault lost({copies_of_most, {}});
    REQUIRE_THROWS_AS(begin_run(*model, settings, work / "run"), DeviceError);
  }
  // Lost again while the checkpoint is scored: still no BadInput about another model.
  const auto model = tensor_core_model();
  const WithPlantedFault lost({2, {}});
  bool bad_input = false;
  bool lost_again = false;
  try {
    resume_run(*model, work / "run");
  } catch (const BadInput&) {
    bad_input = true;
  } catch (const DeviceError&) {
    lost_again = true;
  }
  CHECK_FALSE(bad_input);
  CHECK(lost_again);
}

TEST_CASE(
    "a run beyond the memory of the device waits, and where no record fits says how many would") {
  auto settings = tensor_core_settings();
  settings.samples = 80;
  const auto model = tensor_core_model();
  DeviceMemory<float> rows;
  model->logits_at_every_position(std::vector<TokenId>{7, 8, 9}, rows);
  REQUIRE(model->pages().pages() == 64);
  const WithPlantedFault small({{}, 64 * model->pages().page_bytes()});
  CHECK(draw(*model, settings).size() == 80);
  // A bound that is given is taken at its word, though the device has less: what finds no page
  // waits.
  JobLayout layout{.checkpoint_seconds = 0.0};
  layout.session.cache_memory = std::size_t{1} << 40;
  std::size_t answers = 0;
  const JobWatcher watcher{[&](const SampledAnswer&) { ++answers; }, {}, {}};
  Job(*model, settings, numbers_of, nullptr, watcher, layout).run();
  CHECK(answers == 80);
  CHECK(model->pages().pages() == 64);
  // A page for the prompt and none for a record: others hold the rest, outside of the session.
  std::vector<std::unique_ptr<Cache>> others;
  std::vector<Pass> passes;
  const std::vector<TokenId> token{7};
  for (std::size_t i = 1; i < model->pages().pages(); ++i)
    passes.push_back({others.emplace_back(model->empty_cache()).get(), token});
  model->next_logits(passes, rows);
  REQUIRE(model->pages().free_pages() == 1);
  std::string said;
  try {
    Job(*model, settings, numbers_of, nullptr, {}, layout).run();
  } catch (const BadInput& error) {
    said = error.what();
  }
  CAPTURE(said);
  CHECK_THAT(said, Catch::Contains("the memory of the device: holds 64 pages of 16 tokens"));
  CHECK_THAT(said, Catch::Contains("room for keys and values of 64 records of"));
  CHECK_THAT(said, Catch::Contains("lower --horizon, the number of rungs or --samples"));
  CHECK(said.find('\n') == std::string::npos);
}

TEST_CASE("weights beyond the memory of the device are refused by the model's name") {
  const std::string path = TEMPERA_SOURCE_DIR "/toy_models/worked_sum";
  const WithPlantedFault small({{}, 1000});
  require_bad_input([&] { OpenedModel::open(path); },
                    {path + ": its weights do not fit the memory of the device", "are free"});
}

}  // namespace tempera::gpu
