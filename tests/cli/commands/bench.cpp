#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using namespace tempera::test;

TEST_CASE("bench paper measures every row of the paper's table, alone and side by side") {
  const auto result =
      run_command("bench paper --shape tiny --problems 3 --seconds 0 --json --device host");
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  const json report = json::parse(result.out);
  CHECK(report["shape"] == "tiny");
  CHECK(report["arithmetic"] == "tensor-core");
  CHECK(report["horizon"] == 64);
  REQUIRE(report["rows"].size() == 10);
  for (std::size_t i = 0; i < 8; ++i) {
    const json& row = report["rows"][i];
    CHECK(row["arithmetic"] == "tensor-core");
    CHECK(row["rungs"] == (i < 4 ? 1 : 4));
    CHECK(row["problems_side_by_side"] == (i / 2 % 2 == 0 ? 1 : 3));
    CHECK(row["early_rejection"] == (i % 2 == 1));
    CHECK(row["how"] == "measured to the end");
    CHECK(row["decode_tokens"] > 0);
    CHECK(row["seconds"] > 0.0);
    CHECK(row["seconds_of_a_problem"] ==
          row["seconds"].get<double>() / row["problems_side_by_side"].get<double>());
    CHECK_FALSE(row.contains("parts"));
    CHECK(row["least_bytes_of_a_problem"] > 0.0);
    CHECK(row["mean_position"] > 4.0);
    CHECK(row["paper"]["local_update_seconds"] == (i < 4 ? 36.1 : 37.2));
    CHECK(row["paper"].contains("swap_seconds") == (i >= 4));
    CHECK_FALSE(row.contains("of_the_papers_time"));
  }
  // Early rejection leaves out tokens and changes no decision.
  for (std::size_t i = 0; i < 8; i += 2)
    CHECK(report["rows"][i + 1]["decode_tokens"] <= report["rows"][i]["decode_tokens"]);
  // The same seed draws as many tokens, in whatever time.
  const json again =
      json::parse(run_command("bench paper --shape tiny --problems 3 --seconds 0 --json").out);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(again["rows"][i]["decode_tokens"] == report["rows"][i]["decode_tokens"]);
}

TEST_CASE("bench paper has rows with pages of 8 bits, whose floor is that of such pages") {
  const json rows = json::parse(
      run_command("bench paper --shape tiny --problems 3 --seconds 0 --json --device host")
          .out)["rows"];
  for (const std::size_t i : {std::size_t{8}, std::size_t{9}}) {
    const json& row = rows[i];
    const json& same = rows[i == 8 ? 2 : 6];  // as many rungs and problems, without early rejection
    CHECK(row["arithmetic"] == "tensor-core-8-bit-pages");
    for (const char* key : {"rungs", "problems_side_by_side", "early_rejection",
                            "decode_tokens_of_a_problem", "mean_position_of_a_problem"})
      CHECK(row[key] == same[key]);
    // Each of two layers has two heads of keys and two of values; a head has 32 numbers of 2 bytes,
    // or of 1 with an exponent.
    const double tokens = row["decode_tokens_of_a_problem"];
    const double attended = (row["mean_position_of_a_problem"].get<double>() - 1) * tokens;
    const double fewer = same["least_bytes_of_a_problem"].get<double>() -
                         row["least_bytes_of_a_problem"].get<double>();
    CHECK(std::abs(fewer - attended * 2 * 4 * (32 * 2 - 33)) < 1e-6 * fewer);
    CHECK(row["cache_bytes"] < same["cache_bytes"]);
  }
  const json one = json::parse(
      run_command("bench paper --shape tiny --problems 3 --seconds 0 --json --device host "
                  "--arithmetic tensor-core-8-bit-pages")
          .out)["rows"];
  REQUIRE(one.size() == 8);
  CHECK(one[2]["least_bytes_of_a_problem"] == rows[8]["least_bytes_of_a_problem"]);
}

TEST_CASE("bench paper gives the rate of each stage, and no seconds that it did not see") {
  const json cut = json::parse(
      run_command("bench paper --shape tiny --problems 40 --seconds 1 --json --device host").out);
  for (const json& row : cut["rows"]) {
    REQUIRE(row["parts"].size() == 8);
    bool is_whole = true;
    double expected = 0.0;
    for (std::size_t i = 0; i < 8; ++i) {
      const json& part = row["parts"][i];
      CHECK(part["stage"] == i / 2 + 1);
      CHECK(part["part"] == (i % 2 == 0 ? "extension" : "moves"));
      CHECK(part["decode_tokens_per_second"] > 0.0);
      CHECK(part["mean_position"] > 0.0);
      CHECK(part["bytes_per_second"] > 0.0);
      expected += part["decode_tokens_of_a_problem"].get<double>();
      is_whole = is_whole && part["is_whole"].get<bool>();
    }
    CHECK(std::abs(expected - row["decode_tokens_of_a_problem"].get<double>()) < 1e-6);
    CHECK(row.contains("seconds_of_a_problem") == is_whole);
    CHECK((row["how"] == "each part by its own rate") == is_whole);
  }
}

TEST_CASE("bench paper prints a table that fits the screen, and names the device") {
  const auto seconds = GENERATE("0", "1");
  const auto table =
      run_command(std::string("bench paper --shape tiny --problems 2 --seconds ") + seconds);
  CAPTURE(table.err);
  REQUIRE(table.exit_code == 0);
  CHECK((table.out.find(" 4 moves ") != std::string::npos) == (seconds[0] == '1'));
  CHECK_THAT(table.out, Catch::Contains("the host, through"));
  CHECK_THAT(table.out, Catch::Contains("another model than this"));
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 100);
  }
}

TEST_CASE("bench host prints what the host can do and what of it decoding takes") {
  const auto result = run_command("bench host --shape tiny --json");
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  const json report = json::parse(result.out);
  CHECK(report["model"] == "shape tiny");
  CHECK(report["arithmetic"] == "float32");
  for (const char* rate :
       {"read_bytes_per_second", "multiply_adds_per_second", "alone_tokens_per_second",
        "full_tokens_per_second", "pass_tokens_per_second", "full_of_4_tokens_per_second",
        "prompt_tokens_per_second", "alone_tokens_per_byte", "pass_tokens_per_multiply_add"})
    CHECK(report[rate] > 0.0);
  const json& figures = report["figures"];
  REQUIRE(figures.size() == 5);
  // Medians of ratios, which are printed: 147,456 weights of the layers and 32,768 of the head.
  const double weights = 2 * (64 * (4 * 32 + 2 * 2 * 32 + 4 * 32) + 3 * 64 * 128) + 512 * 64;
  CHECK(figures["of_multiply_adds"]["measured"].get<double>() ==
        report["pass_tokens_per_multiply_add"].get<double>() * weights);
  CHECK(report["multiply_adds_of_a_token"] == weights);
  CHECK(report["weight_bytes_of_a_step"] == 2 * weights);
  CHECK(figures["of_read_bandwidth"]["measured"].get<double>() ==
        report["alone_tokens_per_byte"].get<double>() * 2 * weights);
  CHECK(figures["k4_of_k1"]["measured"].get<double>() ==
        report["full_tokens_per_second"].get<double>() /
            report["full_of_4_tokens_per_second"].get<double>());
  CHECK(figures["draw_of_a_step"]["measured"] > 0.0);
  CHECK(figures["draw_of_a_step"]["measured"] < 1.0);
  const auto table = run_command("bench host --shape tiny");
  CHECK_THAT(table.out, Catch::Contains("K = 4: the draw, of a step"));
}

TEST_CASE("bench alone is bench host, and a model's file has its ratios too") {
  // The trained model, with room for the texts that are measured.
  const TemporaryFolder folder;
  std::filesystem::copy(TEMPERA_SOURCE_DIR "/toy_models/worked_sum", folder / "model");
  json config = json::parse(bytes_of((folder / "model/config.json").string()));
  config["max_position_embeddings"] = 128;
  std::ofstream(folder / "model/config.json") << config.dump();
  const auto result = run_command("bench --model " + (folder / "model").string() + " --json");
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const json report = json::parse(result.out);
  CHECK(report["name"] == "tempera bench host");
  CHECK(report["weight_bytes_of_a_step"] > 0);
  const json& figures = report["figures"];
  REQUIRE(figures.size() == 5);
  CHECK(figures["of_read_bandwidth"]["measured"].get<double>() ==
        report["alone_tokens_per_byte"].get<double>() *
            report["weight_bytes_of_a_step"].get<double>());
  CHECK(figures["of_multiply_adds"]["measured"].get<double>() ==
        report["pass_tokens_per_multiply_add"].get<double>() *
            report["multiply_adds_of_a_token"].get<double>());
}

TEST_CASE("what cannot be measured ends in one line and exit code 2") {
  const Refusal refusals[] = {
      {"papers", "\"papers\": is nothing that tempera bench measures; give paper"},
      {"paper --shape qwen3-9b", "--shape: \"qwen3-9b\" is unknown; give one of qwen3-8b"},
      {"paper --model x", "--model: has no effect on bench paper; leave it out"},
      {"--problems 2", "--problems: has no effect on bench host; leave it out"},
      {"host --problems 2", "--problems: has no effect on bench host; leave it out"},
      {"host --seconds 2", "--seconds: has no effect on bench host; leave it out"},
      {"host --shape tiny --model x", "--shape: has no effect beside --model; give one of them"},
      {"host --model no_such_model", "no_such_model"},
      {"paper --shape tiny --problems 0", "--problems: \"0\" is out of range"},
      {"paper --shape tiny --seconds x", "--seconds"},
      {"paper --shape tiny --device cuda", "--device cuda: this build has no CUDA"},
      {"paper --shape tiny --arithmetic float16", "--arithmetic: \"float16\" is unknown"},
  };
  for (const Refusal& refusal : refusals) {
    for (const char* form : {"", " --json"})
      check_refusal("bench " + refusal.arguments + form, refusal.message);
  }
}
