#include "runs/ladders/sampler_comparison.hpp"

#include <algorithm>
#include <cmath>

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/temporary_file.hpp"

using namespace tempera;

namespace {

const std::string worked_sum = TEMPERA_SOURCE_DIR "/toy_models/worked_sum";

}  // namespace

// Newcombe (1998), Statistics in Medicine 17, table I, method 3: to four decimals.
TEST_CASE("the interval is Wilson's") {
  const auto interval = [](std::size_t solved, std::size_t problems) {
    gpu::ComparisonRow row;
    row.solved = solved;
    row.problems = problems;
    return row.interval();
  };
  const auto near = [](std::pair<double, double> found, double low, double high) {
    CHECK(std::abs(found.first - low) < 5e-5);
    CHECK(std::abs(found.second - high) < 5e-5);
  };
  near(interval(81, 263), 0.2553, 0.3662);
  near(interval(15, 148), 0.0624, 0.1605);
  near(interval(0, 20), 0.0, 0.1611);
  near(interval(1, 29), 0.0061, 0.1718);
}

TEST_CASE("an answer is solved when it has ended and its last = is followed by the sum") {
  const gpu::OpenedModel model = gpu::OpenedModel::open(worked_sum);
  const auto solved = [&](const std::string& text, bool terminated) {
    return gpu::is_solved(model, model.encode(text, "test"), terminated, "30");
  };
  CHECK(solved("=30<|end|>", true));
  CHECK(solved("<12,14=30<|end|>", true));
  CHECK(solved("=29=30<|end|>", true));
  CHECK_FALSE(solved("=30=29<|end|>", true));
  CHECK_FALSE(solved("=30", false));
  CHECK_FALSE(solved("30<|end|>", true));
  CHECK_FALSE(solved("=3<|end|>", true));
  CHECK_FALSE(solved("=300<|end|>", true));
  CHECK_FALSE(solved("<|end|>", true));
}

TEST_CASE("problems and settings are read, and what is none is refused by its place") {
  CHECK(gpu::read_problems(worked_sum + "/held_out.jsonl").size() == 200);
  const auto settings = gpu::read_comparison(worked_sum + "/comparison.json");
  CHECK(settings.sampler.horizon == 28);
  CHECK(settings.sampler.powers == std::vector<double>{1.0, 1.6, 2.5, 4.0});
  const auto refuse = [](const std::string& text, const std::string& what) {
    const test::TemporaryFile file(text);
    tempera::require_bad_input([&] { gpu::read_problems(file.path()); }, {file.path(), what});
  };
  refuse("", "holds no problem");
  refuse("{\"prompt\": \"1\", \"answer\": \"2\"}\n\n{\"prompt\": \"1\"}\n", ", line 3: ");
  refuse("{\"prompt\": 1, \"answer\": \"2\"}\n", ", line 1: ");
  refuse("not json", ", line 1: ");
  tempera::require_bad_input([] { gpu::read_problems("/nowhere"); }, {"/nowhere: cannot be read"});
  for (const char* text : {"", "{}", "[]", "{\"horizon\": \"x\"}"}) {
    const test::TemporaryFile file(text);
    tempera::require_bad_input([&] { gpu::read_comparison(file.path()); }, {file.path()});
  }
  const auto refuse_settings = [](const std::string& key, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(gpu::read_bytes(worked_sum + "/comparison.json"));
    json[key] = value;
    const test::TemporaryFile file(json.dump());
    tempera::require_bad_input([&] { gpu::read_comparison(file.path()); },
                               {file.path() + ": ", '"' + key + '"'});
  };
  refuse_settings("horizon", 28.7);
  refuse_settings("horizon", -1);
  refuse_settings("block", 1e300);
  refuse_settings("rounds", "3");
  refuse_settings("powers", {1, "4"});
  refuse_settings("powers", {1, -4});
  refuse_settings("sweep", 1);
  const test::TemporaryFile twice(R"({"horizon": 28, "horizon": 29})");
  tempera::require_bad_input([&] { gpu::read_comparison(twice.path()); },
                             {"\"horizon\" occurs twice"});
}

TEST_CASE("the comparison runs its seven samplers, the same for the same seed") {
  const gpu::OpenedModel model = gpu::OpenedModel::open(worked_sum);
  auto said = gpu::read_comparison(worked_sum + "/comparison.json");
  said.sampler.rounds = {1};
  said.sampler.seed = 1;
  said.truncating_rounds = said.matched_rounds = 1;
  auto settings = gpu::resolve_comparison({.model = worked_sum, .most = 2});
  settings.contestants = gpu::resolve_contestants(said);
  std::vector<std::string> told;
  std::vector<std::string> under_way;
  const auto rows = gpu::compare_samplers(
      model, settings,
      {[&](const std::string& sampler, const gpu::SamplingProgress& progress) {
         under_way.push_back(sampler);
         CHECK(progress.done > 0.0);
         CHECK(progress.done <= 1.0);
         CHECK(progress.decode_tokens > 0);
       },
       [&](const gpu::ComparisonRow& row) { told.push_back(row.sampler); }});
  CHECK(told == std::vector<std::string>{"base sampling", "tokenwise temperature 1/4",
                                         "truncating power sampling", "fixed horizon, K = 1",
                                         "fixed horizon, K = 1, matched", "K = 4 without swaps",
                                         "PPT, K = 4"});
  // A sampler's first event is always told.
  under_way.erase(std::unique(under_way.begin(), under_way.end()), under_way.end());
  CHECK(under_way == told);
  REQUIRE(rows.size() == 7);
  for (const gpu::ComparisonRow& row : rows) {
    CHECK(row.problems == 2);
    CHECK(row.solved + row.unfinished <= 2);
    CHECK(row.decode_tokens > 0);
  }
  // With equal rounds the matched chain is the chain itself.
  CHECK(rows[3].decode_tokens == rows[4].decode_tokens);
  CHECK(rows[5].decode_tokens > rows[3].decode_tokens);
  const auto again = gpu::compare_samplers(model, settings);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(again[i].decode_tokens == rows[i].decode_tokens);
    CHECK(again[i].solved == rows[i].solved);
  }
}

TEST_CASE("a comparison is resolved as runs are, before any model is opened") {
  const gpu::ComparisonSettings own = gpu::resolve_comparison({.model = worked_sum});
  CHECK(own.problems.size() == 200);
  CHECK(own.problems_file == worked_sum + "/held_out.jsonl");
  CHECK(own.tempering().seed == gpu::defaults::comparison_seed);
  CHECK_FALSE(own.arithmetic.has_value());
  std::vector<std::string> samplers;
  for (const gpu::Contestant& contestant : own.contestants)
    samplers.push_back(contestant.settings.sampler);
  CHECK(samplers == std::vector<std::string>{"standard", "low-temperature", "power-sampling",
                                             "fixed-horizon", "fixed-horizon", "uncoupled-ladder",
                                             "ppt"});
  CHECK(gpu::resolve_comparison({.model = worked_sum, .most = 3}).problems.size() == 3);
  CHECK(gpu::resolve_comparison({.model = worked_sum, .most = 300}).problems.size() == 200);
  // What the file leaves open is what a run's option leaves open.
  const test::TemporaryFile open(R"({"truncating_rounds": 3, "matched_rounds": 5})");
  const auto defaults = gpu::resolve_comparison({.model = worked_sum, .settings = open.path()});
  const gpu::SamplerSettings run = gpu::resolve_sampler({});
  CHECK(defaults.tempering().horizon == run.horizon);
  CHECK(defaults.tempering().block == run.block);
  CHECK(defaults.tempering().powers == run.powers);
  CHECK(defaults.tempering().rounds == run.rounds);
  CHECK(defaults.contestants[4].settings.rounds == std::vector<std::size_t>{5});
  const test::TemporaryFile tensor_core(
      R"({"arithmetic": "tensor-core", "truncating_rounds": 3, "matched_rounds": 5})");
  CHECK(gpu::resolve_comparison({.model = worked_sum, .settings = tensor_core.path()}).arithmetic ==
        gpu::Arithmetic::tensor_core);
  CHECK(gpu::resolve_comparison({.model = worked_sum,
                                 .settings = tensor_core.path(),
                                 .arithmetic = gpu::Arithmetic::float32})
            .arithmetic == gpu::Arithmetic::float32);
  const test::TemporaryFile unordered(
      R"({"powers": [2, 1], "truncating_rounds": 3, "matched_rounds": 5})");
  tempera::require_bad_input(
      [&] { gpu::resolve_comparison({.model = worked_sum, .settings = unordered.path()}); },
      {unordered.path() + ": ", "powers", "see toy_models/worked_sum/comparison.json"});
  tempera::require_bad_input(
      [] { gpu::resolve_comparison({.model = "smollm2"}, gpu::Spelling::flags); },
      {"--problems: is missing"});
  tempera::require_bad_input(
      [] { gpu::resolve_comparison({.model = "smollm2", .problems = "some.jsonl"}); },
      {"settings: is missing"});
}
