#include "runs/run_traces.hpp"

#include <fstream>
#include <map>
#include <sstream>

#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu::run_traces_test {
namespace {

using nlohmann::json;

SamplingSettings traced_settings() {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"a,\"b\"", {7, 8, 9}}, {"c\rd", {4}}};
  settings.powers = {1.0, 2.0, 3.5};
  settings.rounds = {3, 5};
  settings.sweeps = {2};
  settings.output = 3;
  settings.samples = 2;
  settings.options.confidence = true;
  return settings;
}

std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row{""};
  bool in_quotes = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (in_quotes && c == '"' && csv[i + 1] == '"') {
      row.back() += '"';
      ++i;
    } else if (c == '"') {
      in_quotes = !in_quotes;
    } else if (!in_quotes && c == ',') {
      row.emplace_back();
    } else if (!in_quotes && (c == '\n' || c == '\r')) {
      rows.push_back(std::move(row));
      row = {""};
    } else {
      row.back() += c;
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("what is read from events.jsonl is what it says, and the tables have all of it") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  const SamplingSettings settings = traced_settings();
  begin_run(*model, settings, work / "run");
  const Left left(work / "run");
  std::vector<RoundTrace> traces;
  const RunTraces run =
      read_traces(work / "run", [&](const RoundTrace& trace) { traces.push_back(trace); });
  CHECK(run.settings.to_json() == settings.to_json());
  std::vector<json> rounds;
  std::istringstream lines(left.events);
  for (std::string line; std::getline(lines, line);)
    if (const json event = json::parse(line); event["kind"] == "round") rounds.push_back(event);
  // Two stages with 3 and 5 rounds and an extension each, of two samples of two prompts.
  REQUIRE(rounds.size() == 4 * (4 + 6));
  REQUIRE(traces.size() == rounds.size());
  std::string csv = rounds_csv_header();
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    CHECK(*settings.prompts[traces[i].prompt].id == rounds[i]["id"]);
    CHECK(traces[i].sample == rounds[i]["sample"]);
    CHECK(traces[i].stage == rounds[i]["stage"]);
    CHECK(traces[i].round == rounds[i]["round"]);
    CHECK(json(traces[i].replicas) == rounds[i]["replicas"]);
    CHECK(json(traces[i].lengths) == rounds[i]["lengths"]);
    CHECK(json(traces[i].log_p0) == rounds[i]["log_p0"]);
    CHECK(json(traces[i].confidence) == rounds[i]["confidence"]);
    csv += rounds_csv_lines(settings, traces[i]);
  }
  const auto table = rows_of(csv);
  REQUIRE(table.size() == 1 + 3 * rounds.size());
  for (std::size_t i = 0; i < rounds.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto& row = table[1 + 3 * i + k];
      const json numbers{rounds[i]["sample"],       rounds[i]["stage"],
                         rounds[i]["round"],        k + 1,
                         settings.powers[k],        rounds[i]["replicas"][k],
                         rounds[i]["lengths"][k],   rounds[i]["log_p0"][k],
                         rounds[i]["confidence"][k]};
      REQUIRE(row.size() == 10);
      CHECK(row[0] == rounds[i]["id"]);
      for (std::size_t n = 0; n < 9; ++n) CHECK(json::parse(row[n + 1]) == numbers[n]);
    }
  const json summary = json::parse(left.summary);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(run.moves[k].tried == summary["rungs"][k]["proposed"]);
    CHECK(run.moves[k].accepted == summary["rungs"][k]["accepted"]);
    if (k == 2) continue;
    CHECK(run.swaps[k].tried == summary["edges"][k]["attempts"]);
    CHECK(run.swaps[k].accepted == summary["edges"][k]["accepted"]);
  }
}

TEST_CASE("figures.csv has every number of the summary, of the run and of each prompt") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  begin_run(*model, traced_settings(), work / "run");
  const auto summary = nlohmann::ordered_json::parse(Left(work / "run").summary);
  const auto speed = nlohmann::ordered_json::parse(read_bytes(work / "run" / "speed.json"));
  std::map<std::string, std::string> figures;
  for (const auto& row : rows_of(figures_csv(summary, speed))) {
    REQUIRE(row.size() == 5);
    CHECK(figures.emplace(row[0] + "|" + row[1] + "|" + row[2] + "|" + row[3], row[4]).second);
  }
  std::size_t numbers = 1 + speed.size();  // the header is a row
  const auto check = [&](const std::string& prompt, const json& report) {
    const auto same = [&](const std::string& label, const json& value) {
      CAPTURE(prompt, label);
      REQUIRE(figures.count(prompt + "|" + label) == 1);
      CHECK(json::parse(figures[prompt + "|" + label]) == value);
      ++numbers;
    };
    for (const auto& [name, value] : report.items())
      if (value.is_number()) same("run||" + name, value);
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string number = std::to_string(k + 1);
      for (const auto& [name, value] : report["rungs"][k].items())
        if (value.is_number()) same("rung|" + number + "|" + name, value);
      for (std::size_t d = 0; d < 10; ++d)
        for (const char* name : {"proposed", "accepted"})
          same("restart_decile|" + number + "/" + std::to_string(d + 1) + "|" + name,
               report["rungs"][k]["restart_deciles"][d][name]);
      if (k == 2) continue;
      for (const auto& [name, value] : report["edges"][k].items())
        if (value.is_number()) same("edge|" + number + "|" + name, value);
    }
    const json& rounds = report["rounds"];
    for (std::size_t i = 0; i < rounds["rounds"].size(); ++i) {
      const std::string label = rounds["stages"][i].dump() + "." + rounds["rounds"][i].dump();
      same("round|" + label + "|records", rounds["records"][i]);
      for (const char* name : {"mean_log_p0", "mean_confidence", "first_answer_replicas"})
        for (std::size_t k = 0; k < 3; ++k)
          same("round|" + label + "/" + std::to_string(k + 1) + "|" + name, rounds[name][k][i]);
    }
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k)
        same("replica|" + std::to_string(j + 1) + "/" + std::to_string(k + 1) + "|rounds",
             report["replica_rounds"][j][k]);
  };
  check("", summary);
  for (const json report : summary["prompts"]) check(report["id"], report);
  CHECK(figures["|speed||decode_tokens"] == summary["decode_tokens"].dump());
  CHECK(figures.size() == numbers);
}

TEST_CASE("a folder that is none, and events that are none, are refused by file and line") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  const auto nobody = [](const RoundTrace&) {};
  require_bad_input([&] { read_traces(work / "nowhere", nobody); },
                    {"nowhere", "is not a run folder"});
  begin_run(*model, traced_settings(), work / "run");
  const std::string events = read_bytes(work / "run" / "events.jsonl");
  const auto refuse = [&](const std::string& bytes, const std::string& message) {
    std::ofstream(work / "run" / "events.jsonl", std::ios::binary) << bytes;
    require_bad_input([&] { read_traces(work / "run", nobody); },
                      {"events.jsonl, line 1", message});
  };
  refuse("{\"kind\"\n", "");
  refuse("{}\n", "is not as tempera writes it");
  refuse(R"({"id":"z","kind":"round"})"
         "\n",
         "is of another run");
  refuse(R"({"id":"c\rd","kind":"swap","rung":3,"accepted":true})"
         "\n",
         "is of another run");
  refuse(R"({"id":"c\rd","sample":0,"kind":"round","stage":1,"round":1,"replicas":[1,2,3],)"
         R"("lengths":[1,1,1],"log_p0":[-1,-1e308,1e308]})"
         "\n",
         "has a log p0 that no record has");
  // A last line that the run has not finished is no error.
  std::ofstream(work / "run" / "events.jsonl", std::ios::binary) << events << "{\"kind";
  std::size_t rounds = 0;
  read_traces(work / "run", [&](const RoundTrace&) { ++rounds; });
  CHECK(rounds == 40);
}

}  // namespace tempera::gpu::run_traces_test
