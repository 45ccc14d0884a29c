#include "runs/run_speed.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

using nlohmann::json;

json speed_of(const std::filesystem::path& run) {
  return json::parse(read_bytes(run / "speed.json"));
}

SamplingSettings longer_settings() {
  SamplingSettings settings = small_settings();
  settings.rounds = {3, 4};
  settings.samples = 4;
  return settings;
}

}  // namespace

TEST_CASE("the figures of processes add up, and the most bytes at once stay the most") {
  RunSpeed one{1, 2.0, {100, 30, {1.0, 0.5, 0.25, 0.125}}, 7, 4096};
  const RunSpeed other{1, 3.0, {50, 20, {2.0, 0.25, 0.5, 0.0625}}, 5, 1024};
  one.add(other);
  const json sum = one.to_json();
  CHECK(sum == json{{"processes", 2},
                    {"seconds", 5.0},
                    {"decode_tokens", 150},
                    {"discarded_tokens", 12},
                    {"tokens_per_second", 30.0},
                    {"forward_passes", 50},
                    {"seconds_forward", 3.0},
                    {"seconds_draw", 0.75},
                    {"seconds_accept", 0.75},
                    {"seconds_swap", 0.1875},
                    {"cache_bytes", 4096}});
  CHECK(json(RunSpeed::from_json(sum, "speed.json").to_json()) == sum);
  CHECK(RunSpeed().to_json()["tokens_per_second"] == 0.0);
  json older = sum;
  older.erase("processes");
  CHECK(RunSpeed::from_json(older, "speed.json").processes == 1);
}

TEST_CASE("figures that are none are refused, the file named") {
  const json good = RunSpeed{1, 2.0, {100, 30, {}}, 7, 4096}.to_json();
  const auto refuse = [&](const char* key, const json& value) {
    json wrong = good;
    wrong[key] = value;
    require_bad_input([&] { RunSpeed::from_json(wrong, "run/speed.json"); },
                      {"run/speed.json", key});
  };
  refuse("seconds", -1.0);
  refuse("seconds_swap", 1e13);
  refuse("decode_tokens", "many");
  refuse("cache_bytes", std::uint64_t{1} << 60);
  refuse("other", 1);
}

TEST_CASE("the largest batch that is asked for is the largest of a run's passes") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  const SamplingSettings settings = longer_settings();
  const auto drawn_by = [&](std::size_t largest_batch) {
    const auto path = work / std::to_string(largest_batch);
    RunFolder folder = RunFolder::create(path, settings.to_json());
    JobLayout layout{.checkpoint_seconds = 1e9};
    layout.session.largest_batch = largest_batch;
    Job(*model, settings, numbers_of, &folder, {}, layout).run();
    return speed_of(path);
  };
  const json one = drawn_by(1), many = drawn_by(64);
  CHECK(one["decode_tokens"] == many["decode_tokens"]);
  // A pass of one record gives one token, and a prompt's pass none or one.
  CHECK(one["forward_passes"] >= one["decode_tokens"]);
  CHECK(2 * many["forward_passes"].get<std::size_t>() < many["decode_tokens"]);
}

// What is drawn for events is the same, wherever a run was cut: the rest was wasted.
TEST_CASE("speed.json of a run that was resumed tells of all processes") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  const SamplingSettings settings = longer_settings();
  begin_run(*model, settings, work / "whole");
  const json whole = speed_of(work / "whole");
  CHECK(whole["processes"] == 1);
  CHECK(whole["discarded_tokens"] == 0);
  const auto tokens = json::parse(Left(work / "whole").summary)["decode_tokens"].get<std::size_t>();
  CHECK(whole["decode_tokens"] == tokens);

  const auto path = work / "run";
  KilledModel killed(*model, 12);
  CHECK_THROWS_AS(begin_run(killed, settings, path), Killed);
  const json first = speed_of(path);
  CHECK(first["processes"] == 1);
  CHECK(first["decode_tokens"] > 0);
  CHECK(first["decode_tokens"] < tokens);
  {
    // Asked to stop at its 12th pass: it leaves what is in flight.
    RunFolder folder = RunFolder::open(path);
    std::size_t left = 12;
    Job stopped(*model, settings, numbers_of, &folder, {{}, {}, [&] { return left-- == 0; }},
                {1e9});
    CHECK_THROWS_AS(stopped.run(), RunStopped);
  }
  const json second = speed_of(path);
  CHECK(second["processes"] == 2);
  resume_run(*model, path);
  const json last = speed_of(path);
  CHECK(last["processes"] == 3);
  CHECK(last["decode_tokens"].get<std::size_t>() - last["discarded_tokens"].get<std::size_t>() ==
        tokens);
  CHECK(last["discarded_tokens"] > 0);
  for (const char* sum :
       {"seconds", "seconds_forward", "seconds_draw", "forward_passes", "decode_tokens"}) {
    CAPTURE(sum);
    CHECK(first[sum] > 0);
    CHECK(first[sum] < second[sum]);
    CHECK(second[sum] < last[sum]);
  }
  CHECK(last["tokens_per_second"] ==
        last["decode_tokens"].get<double>() / last["seconds"].get<double>());
  CHECK(Left(path) == Left(work / "whole"));
  // A finished run is only read.
  resume_run(*model, path);
  CHECK(speed_of(path) == last);
}

TEST_CASE("a run goes on without the figures of earlier processes, missing or damaged") {
  const auto model = random_qwen3(small_config(), 4);
  for (const bool is_there : {false, true}) {
    const test::TemporaryFolder work;
    const auto path = work / "run";
    KilledModel killed(*model, 12);
    CHECK_THROWS_AS(begin_run(killed, longer_settings(), path), Killed);
    std::filesystem::remove(path / "speed.json");
    if (is_there) std::ofstream(path / "speed.json") << "{}";
    resume_run(*model, path);
    CHECK(speed_of(path)["processes"] == 1);
  }
}

}  // namespace tempera::gpu
