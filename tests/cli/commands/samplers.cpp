// tempera sample --sampler NAME: each sampler on a finite model and on a transformer.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "settings/named_sampler.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::samplers_test {

using nlohmann::json;
using namespace tempera::test;

namespace {

const std::string bimodal =
    " --model " TEMPERA_SOURCE_DIR "/toy_models/bimodal.json --horizon 4 --block 2 ";
const std::string worked_sum = " --model " TEMPERA_SOURCE_DIR
                               "/toy_models/worked_sum --horizon 6 "
                               "--block 3 ";

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& named : tempera::gpu::named_samplers()) all.emplace_back(named.name);
  return all;
}

json settings_of(const std::string& arguments) {
  const auto result = run_command("sample '' " + arguments + bimodal + "--json");
  CAPTURE(arguments, result.err);
  REQUIRE(result.exit_code == 0);
  return json::parse(result.out)["settings"];
}

}  // namespace

TEST_CASE("every sampler answers, in a run folder too, and goes on where it was cut") {
  for (const std::string& name : names()) {
    CAPTURE(name);
    const TemporaryFolder folder;
    const std::string run = (folder / "run").string();
    const std::string arguments =
        "sample '3+9+2?' --sampler " + name + worked_sum + "--samples 3 --seed 5";
    const auto alone = run_command(arguments);
    CAPTURE(alone.err);
    REQUIRE(alone.exit_code == 0);
    CHECK(std::count(alone.out.begin(), alone.out.end(), '\n') == 3);
    const auto kept = run_command(arguments + " --out " + run);
    CHECK(kept.out == alone.out);
    const json config = json::parse(bytes_of(run + "/config.json"));
    CHECK(config.value("sampler", "ppt") == name);
    CHECK(config.contains("particles") ==
          tempera::gpu::sampler_named(name, "test").takes_particles);
    CHECK(run_command("sample --resume " + run).out == alone.out);
    const json summary = json::parse(bytes_of(run + "/summary.json"));
    CHECK(summary["samples"] == 3);
    CHECK(summary["decode_tokens"] > 0);
    // What is printed on a finite model, with a table.
    CHECK(run_command("sample '' --sampler " + name + bimodal + "--summary").exit_code == 0);
  }
}

TEST_CASE("a sampler's settings are what it takes, and no other") {
  CHECK_FALSE(settings_of("").contains("sampler"));
  CHECK(settings_of("--sampler standard")["powers"] == json({1.0}));
  CHECK(settings_of("--sampler best-of-n")["powers"] == json({1.0}));
  CHECK(settings_of("--sampler best-of-n")["particles"] == 8);
  CHECK(settings_of("--sampler best-of-n --particles 3 --powers 2")["powers"] == json({2.0}));
  CHECK(settings_of("--sampler low-temperature")["powers"] == json({4.0}));
  const json smc = settings_of("--sampler power-smc --particles 5");
  CHECK(smc["particles"] == 5);
  CHECK(smc["rounds"] == json({0}));
  const json uncoupled = settings_of("--sampler uncoupled-ladder --rounds 2");
  CHECK(uncoupled["powers"] == json({1.0, 2.0, 4.0}));
  CHECK(uncoupled["rounds"] == json({2}));
  CHECK(uncoupled["sweeps"] == json({0}));
}

TEST_CASE("exact rejection gives no answer that is not exact: within its tokens, or not drawn") {
  CHECK_FALSE(settings_of("--sampler exact-rejection").contains("most_tokens"));
  CHECK(settings_of("--sampler exact-rejection --most-tokens 999999")["most_tokens"] == 999999);
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const std::string arguments =
      "sample '3+9+2?' --sampler exact-rejection --powers 1.5" + worked_sum + "--seed 5 ";
  const auto drawn = run_command(arguments + "--json");
  CAPTURE(drawn.err);
  REQUIRE(drawn.exit_code == 0);
  // A limit that is not met changes nothing, and one that is met names what it takes.
  const auto limited = run_command(arguments + "--json --most-tokens 1000000");
  CHECK(json::parse(limited.out)["answers"] == json::parse(drawn.out)["answers"]);
  const auto ended = run_command("sample '3+9+2?' --sampler exact-rejection --powers 1000" +
                                 worked_sum + "--most-tokens 6 --seed 1 --out " + run);
  CHECK(ended.exit_code == 2);
  CHECK(ended.out.empty());
  CHECK_THAT(ended.err, Catch::Contains("sample 0 is not drawn: none of ") &&
                            Catch::Contains("more than 2^40 tokens are needed"));
  // The limit that it names is enough.
  const std::string few = "sample '3+9+2?' --sampler exact-rejection --powers 4" + worked_sum +
                          "--seed 1 --most-tokens ";
  const auto too_few = run_command(few + "28");
  CHECK(too_few.exit_code == 2);
  const std::size_t at = too_few.err.find("a limit of ");
  CAPTURE(too_few.err);
  REQUIRE(at != std::string::npos);
  CHECK(run_command(few + std::to_string(std::stoull(too_few.err.substr(at + 11)))).exit_code == 0);
  CHECK(run_command("sample --resume " + run).err == ended.err);
}

TEST_CASE("restart weights and range are written down, decide the answers, and are resumed") {
  CHECK_FALSE(settings_of("").contains("restart_weights"));
  CHECK_FALSE(settings_of("--restart-range horizon").contains("restart_range"));
  const json settings = settings_of("--restart-weights 5,1 --restart-range record");
  CHECK(settings["restart_weights"] == json({5, 1}));
  CHECK(settings["restart_range"] == "record");
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const std::string arguments = "sample '3+9+2?'" + worked_sum + "--samples 4 --seed 5 --rounds 6 ";
  const std::string restarts = "--restart-weights 9,1 --restart-range record ";
  const auto kept = run_command(arguments + restarts + "--out " + run);
  CAPTURE(kept.err);
  REQUIRE(kept.exit_code == 0);
  CHECK(run_command("sample --resume " + run).out == kept.out);
  CHECK(json::parse(bytes_of(run + "/config.json"))["restart_weights"] == json({9, 1}));
  CHECK(bytes_of(run + "/events.jsonl") != "");
  const auto other = run_command(arguments + "--summary");
  const auto weighted = run_command(arguments + restarts + "--summary");
  CHECK(other.out != weighted.out);
}

TEST_CASE("samplers are refused by the nearest name, and what they do not take by its flag") {
  const Refusal refusals[] = {
      {"--sampler powersmc", "did you mean power-smc?"},
      {"--sampler best-of-m", "did you mean best-of-n?"},
      {"--sampler zzz", "give one of ppt, standard"},
      {"--sampler standard --powers 2", "standard sampling has power 1"},
      {"--sampler power-smc --powers 1,2", "power-smc takes one power, not 2"},
      {"--sampler power-smc --particles 0", "--particles"},
      {"--sampler power-smc --rounds 2", "--rounds: has no effect on the sampler power-smc"},
      {"--sampler uncoupled-ladder --sweeps 2",
       "--sweeps: has no effect on the sampler uncoupled-ladder"},
      {"--sampler uncoupled-ladder-by-likelihood --output-rung 1", "--output-rung: has no effect"},
      {"--most-tokens 4", "--most-tokens: has no effect on the sampler ppt"},
      {"--sampler exact-rejection --powers 0.5", "exact-rejection has no power below 1"},
      {"--sampler exact-rejection --powers 1,2", "exact-rejection takes one power, not 2"},
      {"--sampler exact-rejection --rounds 2", "--rounds: has no effect on the sampler exact-re"},
      {"--sampler exact-rejection --most-tokens 3",
       "are 3, and a proposal can take 4, so that none may begin; give at least the horizon"},
      {"--particles 4", "--particles: has no effect on the sampler ppt"},
      {"--sampler power-sampling --restart-weights 2,1",
       "--restart-weights: has no effect on the sampler power-sampling"},
      {"--sampler best-of-n --restart-range record",
       "--restart-range: has no effect on the sampler best-of-n"},
      {"--restart-weights 2", "--restart-weights: one weight makes the uniform law"},
      {"--restart-weights 0,1", "leave position 1 no weight"},
      {"--restart-weights 3,2,1", "are 3 for the 2 positions of the first stage"},
      {"--restart-weights 2,1 --rounds 0", "without local moves"},
      {"--restart-range all", "--restart-range: \"all\" is unknown"},
  };
  for (const auto& [arguments, message] : refusals)
    check_refusal("sample '' " + arguments + bimodal, message);
}

TEST_CASE("a run of particles keeps its resamplings, and has no rungs to plot") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  REQUIRE(run_command("sample '' --sampler power-smc --particles 6 --samples 4" + bimodal +
                      "--out " + run)
              .exit_code == 0);
  std::istringstream lines(bytes_of(run + "/events.jsonl"));
  std::size_t looks = 0;
  for (std::string line; std::getline(lines, line);) {
    const json event = json::parse(line);
    if (event["kind"] == "round") CHECK(event["lengths"].size() == 6);
    if (event["kind"] != "resampling") continue;
    ++looks;
    const double size = event["effective_sample_size"];
    CHECK(size > 0.999);
    CHECK(size < 6.001);
    CHECK(event["resampled"] == (size < 3.0));
    // Every z_α is below 1 here, and so is each weight.
    CHECK(event["log_mean_weight"] < 0.0);
  }
  CHECK(looks == 4 * 2);
  check_refusal("plot " + run, "is a run of particles");
}

}  // namespace tempera::samplers_test
