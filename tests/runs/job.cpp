#include "runs/job.hpp"

#include <bit>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

using nlohmann::json;

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

bool same_answers(const std::vector<Answer>& a, const std::vector<Answer>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Answer& x, const Answer& y) {
    return x.tokens == y.tokens && x.terminated == y.terminated &&
           std::bit_cast<std::uint64_t>(x.log_p0) == std::bit_cast<std::uint64_t>(y.log_p0);
  });
}

/// How many forward passes an uninterrupted run makes.
std::size_t passes_of(LanguageModel& model, const SamplingSettings& settings) {
  constexpr std::size_t many = 1'000'000;
  struct Counting final : ForwardingModel {
    using ForwardingModel::ForwardingModel;
    void before(std::span<const Pass> /*batch*/) override { ++passes; }
    std::size_t passes = 0;
  } counting(model);
  draw(counting, settings);
  REQUIRE(counting.passes < many);
  return counting.passes;
}

}  // namespace

TEST_CASE("a run folder holds settings, events, answers and summary") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  const SamplingSettings settings = small_settings();
  const auto answers = begin_run(*model, settings, work / "run");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(work / "run"))
    names.insert(entry.path().filename());
  CHECK(names == std::set<std::string>{"config.json", "events.jsonl", "samples.jsonl",
                                       "summary.json", "speed.json", "checkpoint"});
  const Left left(work / "run");
  CHECK(json::parse(left.config) == json(settings.to_json()));

  const auto samples = lines_of(left.samples);
  REQUIRE(samples.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(samples[i]["sample"] == i);
    CHECK(samples[i]["tokens"] == answers[i].tokens);
    CHECK(samples[i]["text"] == numbers_of.decode(answers[i].tokens));
    CHECK(samples[i]["terminated"] == answers[i].terminated);
    CHECK(samples[i]["log_p0"].get<double>() == answers[i].log_p0);
  }

  // Per sample: 2 extensions of 2 rungs, 3 rounds of 2 local moves and one swap; and a line after
  // each of these five.
  const auto events = lines_of(left.events);
  CHECK(events.size() == 3 * (2 * 2 + 3 * 2 + 3 + 5));
  std::map<std::string, std::size_t> kinds;
  std::uint64_t tokens = 0;
  std::size_t sample = 0;
  for (const json& event : events) {
    CHECK(event["sample"] >= sample);
    sample = event["sample"];
    ++kinds[event["kind"]];
    tokens += event.value("tokens", std::uint64_t{0});
    if (event["kind"] == "round") continue;
    CHECK(event["rung"] >= 1);
    if (event["kind"] == "local_move") CHECK(event["r"] >= 1);
  }
  CHECK(kinds == std::map<std::string, std::size_t>{
                     {"extension", 12}, {"local_move", 18}, {"round", 15}, {"swap", 9}});
  const json summary = json::parse(left.summary);
  CHECK(summary["decode_tokens"] == tokens);
  CHECK(summary["samples"] == 3);
  CHECK(summary["edges"][0]["attempts"] == 9);
  CHECK(summary["rungs"].size() == 2);
}

TEST_CASE("with or without a folder, and at any pace of checkpoints, the answers are the same") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  const SamplingSettings settings = small_settings();
  const auto answers = draw(*model, settings);
  CHECK(same_answers(begin_run(*model, settings, work / "each"), answers));
  CHECK(same_answers(begin_run(*model, settings, work / "none", 1e9), answers));
  CHECK(Left(work / "each") == Left(work / "none"));
  SamplingSettings other = settings;
  ++other.seed;
  CHECK_FALSE(same_answers(draw(*model, other), answers));
  // The first answer does not depend on how many there are.
  other = settings;
  other.samples = 1;
  CHECK(same_answers(draw(*model, other), {answers[0]}));
}

TEST_CASE("a run killed at any forward pass is resumed to the same bytes") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  SamplingSettings settings = small_settings();
  settings.samples = 2;
  const bool has_rules = GENERATE(false, true);
  if (has_rules) {
    settings.sampler = "low-temperature";
    settings.powers = {1.5};
    settings.output = 1;
    settings.rounds = settings.local_moves = settings.sweeps = {0};
    static_cast<TokenOptions&>(settings.options) = {
        .repetition_penalty = 1.25, .presence_penalty = 0.5, .min_tokens = 4, .top_p = 0.9};
  } else {
    settings.schedule = Schedule::deo;
  }
  const auto answers = begin_run(*model, settings, work / "whole");
  const Left whole(work / "whole");
  const std::size_t passes = passes_of(*model, settings);
  CHECK(passes > (has_rules ? 4 : 15));
  for (const double checkpoint_seconds : {0.0, 1e9}) {
    for (std::size_t pass = 0; pass < passes; ++pass) {
      CAPTURE(checkpoint_seconds, pass);
      const auto path = work / "run";
      KilledModel killed(*model, pass);
      CHECK_THROWS_AS(begin_run(killed, settings, path, checkpoint_seconds), Killed);
      CHECK_FALSE(std::filesystem::exists(path / "summary.json"));
      REQUIRE(same_answers(resume_run(*model, path), answers));
      REQUIRE(Left(path) == whole);
      std::filesystem::remove_all(path);
    }
  }
}

namespace {

struct RoundCounter final : DrawListener {
  void round_ended(RequestId, std::size_t, const Progress&, std::span<const Event>) override {
    ++ended;
  }
  std::size_t ended = 0;
};

SamplingSettings several_prompts() {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"a", {7, 8, 9}}, {"b", {4}}};
  settings.powers = {1.0, 2.0, 3.0};
  settings.samples = 2;
  return settings;
}

}  // namespace

// The rounds that have ended are in a checkpoint, to the last: of a killed process where each is
// followed by one, of one that was asked to stop at any pace. What is after one is in the journal.
TEST_CASE("a kill loses no round that has ended, and neither does a stop") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  const SamplingSettings settings = several_prompts();
  begin_run(*model, settings, work / "whole");
  const Left whole(work / "whole");
  const std::size_t passes = passes_of(*model, settings);
  const auto ended_rounds = [](const std::string& lines) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = lines.find("\"kind\":\"round\"", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  const auto kept = [&](const std::filesystem::path& path) {
    // What a checkpoint holds is what open leaves of the files.
    { RunFolder::open(path); }
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.path().extension() == ".jsonl") count += ended_rounds(read_bytes(entry.path()));
    return count;
  };
  for (const bool stopped : {false, true}) {
    std::size_t most = 0;
    for (std::size_t pass = 1; pass < passes; pass += 3) {
      CAPTURE(stopped, pass);
      const auto path = work / "run";
      std::size_t ended = 0;
      {
        KilledModel killed(*model, pass);
        RoundCounter rounds;
        const auto prompts = settings.numbered_prompts();
        CHECK_THROWS_AS(draw_answers(killed, prompts, parallel_power_tempering,
                                     settings.draw_settings(), rounds),
                        Killed);
        ended = rounds.ended;
      }
      {
        RunFolder folder = RunFolder::create(path, settings.to_json());
        KilledModel killed(*model, pass);
        std::size_t left = pass;
        const auto stop = [&] { return stopped && left-- == 0; };
        Job sampling(stopped ? static_cast<LanguageModel&>(*model) : killed, settings, numbers_of,
                     &folder, {{}, {}, stop}, {.checkpoint_seconds = stopped ? 1e9 : 0.0});
        if (stopped)
          CHECK_THROWS_AS(sampling.run(), RunStopped);
        else
          CHECK_THROWS_AS(sampling.run(), Killed);
      }
      REQUIRE(kept(path) == ended);
      most = std::max(most, ended);
      resume_run(*model, path);
      REQUIRE(Left(path) == whole);
      std::filesystem::remove_all(path);
    }
    CHECK(most > 15);
  }
}

TEST_CASE("a run killed again and again is resumed to the same bytes") {
  const auto arithmetic = GENERATE(from_range(arithmetics));
  const auto model = random_qwen3(small_config(), 4, default_kernels(arithmetic));
  const test::TemporaryFolder work;
  SamplingSettings settings = small_settings();
  settings.horizon = 16;
  settings.rounds = {3};
  begin_run(*model, settings, work / "whole");
  // A resumed run first scores its records again, at most 3 samples of 2 rungs of 16 tokens; a
  // local move takes at most 16 passes.
  std::size_t kills = 0;
  bool done = false;
  for (std::size_t pass = 3; !done; ++pass) {
    KilledModel killed(*model, kills == 0 ? 3 : 114 + pass % 7);
    try {
      if (kills == 0)
        begin_run(killed, settings, work / "run");
      else
        resume_run(killed, work / "run");
      done = true;
    } catch (const Killed&) {
      ++kills;
    }
    REQUIRE(kills < 100);
  }
  CHECK(kills > 1);
  CHECK(Left(work / "run") == Left(work / "whole"));
}

TEST_CASE("a finished run that is resumed stays as it is") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  const auto answers = begin_run(*model, small_settings(), work / "run");
  const Left whole(work / "run");
  CHECK(same_answers(resume_run(*model, work / "run"), answers));
  CHECK(Left(work / "run") == whole);
  // Killed between the last checkpoint and the summary.
  std::filesystem::remove(work / "run" / "summary.json");
  resume_run(*model, work / "run");
  CHECK(Left(work / "run") == whole);
}

TEST_CASE("a run is not resumed with another model") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  KilledModel killed(*model, 12);
  CHECK_THROWS_AS(begin_run(killed, small_settings(), work / "run"), Killed);
  const auto other = random_qwen3(small_config(), 5);
  require_bad_input([&] { resume_run(*other, work / "run"); },
                    {"/run: the model no longer gives the probabilities of the checkpoint"});
  const auto tensor_core =
      random_qwen3(small_config(), 4, default_kernels(Arithmetic::tensor_core));
  require_bad_input([&] { resume_run(*tensor_core, work / "run"); },
                    {"/run: the model no longer gives the probabilities of the checkpoint"});
  TableModel forbidding(23, [](std::span<const TokenId>) {
    std::vector<float> row(23, -std::numeric_limits<float>::infinity());
    row[22] = 0.0F;
    return row;
  });
  require_bad_input([&] { resume_run(forbidding, work / "run"); },
                    {"/run: the model no longer gives the probabilities of the checkpoint"});
  // The refused attempts have spoilt nothing.
  begin_run(*model, small_settings(), work / "whole");
  resume_run(*model, work / "run");
  CHECK(Left(work / "run") == Left(work / "whole"));
}

TEST_CASE("settings survive config.json, and a config.json that is none is refused") {
  SamplingSettings settings = small_settings();
  settings.schedule = Schedule::deo;
  settings.seed = std::numeric_limits<std::uint64_t>::max();
  settings.powers = {0.1, 1.0 / 3.0, 7.0};
  const json config = json::parse(settings.to_json().dump());
  CHECK(SamplingSettings::from_json(config, "c").to_json() == settings.to_json());
  for (const auto& item : config.items()) {
    json without = config;
    without.erase(item.key());
    require_bad_input([&] { SamplingSettings::from_json(without, "run/config.json"); },
                      {"run/config.json: ", item.key()});
    json wrong = config;
    wrong[item.key()] = json::object();
    require_bad_input([&] { SamplingSettings::from_json(wrong, "run/config.json"); },
                      {"run/config.json: "});
  }
  settings.options.early_rejection = true;
  settings.options.confidence = true;
  settings.preset = "qwen3/gsm8k";
  const json more = json::parse(settings.to_json().dump());
  CHECK(more["early_rejection"] == true);
  CHECK(more["confidence"] == true);
  CHECK(more["preset"] == "qwen3/gsm8k");
  CHECK(SamplingSettings::from_json(more, "c").to_json() == settings.to_json());
  CHECK(SamplingSettings::from_json(more, "c").draw_settings().options.early_rejection);
  for (const RopeFactors factors : rope_factor_sets) {
    settings.rope_factors = factors;
    const json chosen = json::parse(settings.to_json().dump());
    CHECK(chosen["rope_factors"] == std::string(name_of(factors)));
    CHECK(SamplingSettings::from_json(chosen, "c").rope_factors == factors);
  }
  CHECK_FALSE(more.contains("rope_factors"));
  json unknown = config;
  unknown["rope_factors"] = "middling";
  require_bad_input([&] { SamplingSettings::from_json(unknown, "run/config.json"); },
                    {"run/config.json: ", "rope_factors"});
  unknown = config;
  unknown["schedule"] = "other";
  require_bad_input([&] { SamplingSettings::from_json(unknown, "run/config.json"); },
                    {"run/config.json: ", "schedule"});
}

TEST_CASE("settings that make no run are refused") {
  const auto refuse = [](const std::function<void(SamplingSettings&)>& change,
                         const std::string& message) {
    SamplingSettings settings = small_settings();
    change(settings);
    require_bad_input([&] { settings.plan(); }, {message});
  };
  refuse([](SamplingSettings& s) { s.output = 0; }, "output rung: is 0");
  refuse([](SamplingSettings& s) { s.output = 3; }, "give one of the rungs 1 to 2");
  refuse([](SamplingSettings& s) { s.samples = 0; }, "samples: is 0");
  refuse([](SamplingSettings& s) { s.horizon = 0; }, "horizon: is 0");
  refuse([](SamplingSettings& s) { s.powers = {2.0, 1.0}; }, "powers, rung 2");
}

TEST_CASE("prompts of config.json have their ids, and no two share their draws") {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"a", {3}}, {"b", {4, 5}}};
  const json config = json::parse(settings.to_json().dump());
  CHECK(config["prompts"][1] == json{{"id", "b"}, {"tokens", {4, 5}}});
  CHECK_FALSE(config.contains("prompt"));
  CHECK(SamplingSettings::from_json(config, "c").to_json() == settings.to_json());
  const auto numbered = settings.numbered_prompts();
  REQUIRE(numbered.size() == 2);
  CHECK(numbered[1].number == prompt_number("b"));
  CHECK(small_settings().numbered_prompts().front().number == PromptNumber{});
  // The same id stands for two ids with the same number: no such pair is known.
  settings.prompts[1].id = "a";
  require_bad_input([&] { settings.numbered_prompts(); },
                    {"prompts: the ids", "share their draws"});
  const auto refuse = [&](const std::function<void(json&)>& change, const std::string& what) {
    json changed = config;
    change(changed);
    require_bad_input([&] { SamplingSettings::from_json(changed, "c"); }, {"c", what});
  };
  refuse([](json& c) { c["prompt"] = {1}; }, "\"prompt\"");
  refuse([](json& c) { c["prompts"] = json::array(); }, "prompt");
  refuse([](json& c) { c["prompts"][0]["text"] = "x"; }, "\"text\"");
  refuse([](json& c) { c["rounds"] = {1e300}; }, "\"rounds\"");
  refuse([](json& c) { c["block"] = -1; }, "\"block\"");
  refuse([](json& c) { c["samples"] = -1; }, "\"samples\"");
  refuse([](json& c) { c["horizon"] = 1.5; }, "\"horizon\"");
  refuse([](json& c) { c["seeed"] = 1; }, "\"seeed\"");
}

TEST_CASE("a prompt's own horizon goes through config.json, and is from 1 to T") {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"a", {3}}, {"b", {4, 5}, 4}, {"c", {4}, 1}};
  const json config = json::parse(settings.to_json().dump());
  CHECK(config["prompts"][0] == json{{"id", "a"}, {"tokens", {3}}});
  CHECK(config["prompts"][1] == json{{"id", "b"}, {"tokens", {4, 5}}, {"horizon", 4}});
  const auto read = SamplingSettings::from_json(config, "c");
  CHECK(read.to_json() == settings.to_json());
  const auto numbered = read.numbered_prompts();
  CHECK_FALSE(numbered[0].horizon);
  CHECK(numbered[1].horizon == 4);
  CHECK(numbered[2].horizon == 1);
  CHECK(read.plan().stages.back().horizon == 5);
  const auto refuse = [](json changed, const std::function<void(json&)>& change,
                         const std::string& what) {
    change(changed);
    require_bad_input([&] { SamplingSettings::from_json(changed, "c"); }, {"c", what});
  };
  for (const json& wrong : {json(0), json(6), json(-1), json(2.5), json("4")})
    refuse(
        config, [&](json& c) { c["prompts"][1]["horizon"] = wrong; }, "prompt 2: key \"horizon\"");
  refuse(
      config, [](json& c) { c["prompt_horizon"] = 3; }, "\"prompt_horizon\" and \"prompts\"");
  settings.prompts = {{std::nullopt, {7}, 2}};
  const json single = json::parse(settings.to_json().dump());
  CHECK(single["prompt_horizon"] == 2);
  CHECK(SamplingSettings::from_json(single, "c").to_json() == settings.to_json());
  CHECK(SamplingSettings::from_json(single, "c").numbered_prompts()[0].horizon == 2);
  CHECK_FALSE(json(small_settings().to_json()).contains("prompt_horizon"));
  for (const json& wrong : {json(0), json(6), json("x")})
    refuse(
        single, [&](json& c) { c["prompt_horizon"] = wrong; }, "key \"prompt_horizon\"");
  settings.prompts = {{"a", {3}}, {"b", {4}, 6}};
  require_bad_input([&] { settings.plan(); }, {"prompt \"b\": has a horizon of 6"});
}

}  // namespace tempera::gpu
