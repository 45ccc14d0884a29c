#include "gpu/session/presets.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include "gpu/session/sampling_settings.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu::presets_test {
namespace {

// The rows of the paper's two tables as its source has them.
const std::string qwen3 = R"(MATH500 & 4 & $\{2.35,2.5,2.7,2.9\}$ & 8192 &4096 & 10\\
AIME 24\&25 & 4 & $\{1.8,1.95,2.15,2.4\}$ & 32768 & 8192 & 10\\
GPQA-Diamond & 3 & $\{1.15,1.3,1.5\}$ & 16384 & 4096 & 6 \\
LiveCodeBench v5 & 4 & $\{1.8,2.0,2.2,2.4\}$ & 8192 & 2048 & 8\\
HumanEval & 3 & $\{1.5, 1.6, 1.8\}$ & 4096 & 2048 & 20\\
GSM8K  & 6 & $\{2.0, 2.3, 2.6, 3.0, 3.5, 4.0\}$ & 3072 & 192 & 10\\)";
const std::string qwen35 =
    R"(GPQA-Diamond & 3 & $\{1.05, \,1.10, \,1.25\}$ & 131{,}072 & 131{,}072 & 10\\
AIME 24\&25 & 3 & $\{1.25,\,1.4,\,1.6\}$ & 65{,}536 & 65{,}536 & 5\\
LiveCodeBench v5 & 3 & $\{1.1,\,1.25,\,1.4\}$ & 131{,}072 & 131{,}072 & 5\\)";

struct Row {
  std::string benchmark;
  std::size_t rungs = 0;
  std::vector<double> powers;
  std::vector<std::size_t> counts;  // T, B, N
};

std::string without(std::string text, const std::string& part) {
  for (std::size_t at; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
  return text;
}

std::vector<Row> rows_of(const std::string& table) {
  std::vector<Row> rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    for (const char* mark : {"{,}", "\\,", "$", "\\{", "\\}", "\\\\", "{", "}"})
      line = without(line, mark);
    if (const auto at = line.find("\\&"); at != std::string::npos) line.replace(at, 2, "and");
    std::istringstream cells(line);
    Row row;
    std::getline(cells, row.benchmark, '&');
    row.benchmark.erase(row.benchmark.find_last_not_of(' ') + 1);
    std::string cell;
    std::getline(cells, cell, '&');
    row.rungs = std::stoul(cell);
    std::getline(cells, cell, '&');
    std::istringstream powers(cell);
    for (std::string power; std::getline(powers, power, ',');)
      row.powers.push_back(std::stod(power));
    while (std::getline(cells, cell, '&')) row.counts.push_back(std::stoul(cell));
    if (const auto at = row.benchmark.find("and"); at != std::string::npos)
      row.benchmark.replace(at, 3, "&");
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("the presets are the rows of the paper's two tables, in their order") {
  std::vector<Row> rows = rows_of(qwen3);
  const std::size_t first = rows.size();
  for (const Row& row : rows_of(qwen35)) rows.push_back(row);
  REQUIRE(presets().size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Preset& preset = presets()[i];
    CAPTURE(preset.name);
    CHECK(preset.name.substr(0, preset.name.find('/')) == (i < first ? "qwen3" : "qwen3.5"));
    CHECK(preset.benchmark == rows[i].benchmark);
    CHECK(preset.powers.size() == rows[i].rungs);
    CHECK(preset.powers == rows[i].powers);
    CHECK(std::vector<std::size_t>{preset.horizon, preset.block, preset.rounds} == rows[i].counts);
    CHECK(find_preset(preset.name) == &preset);
  }
  CHECK(find_preset("qwen3/math50") == nullptr);
}

TEST_CASE("a preset is called by its family and by each of its models, in capitals or not") {
  using Names = std::vector<std::string>;
  CHECK(other_names(*find_preset("qwen3/gpqa")) == Names{"qwen3-4b/gpqa", "qwen3-8b/gpqa"});
  CHECK(other_names(*find_preset("qwen3.5/gpqa")) == Names{"qwen3.5-9b/gpqa"});
  for (const Preset& preset : presets())
    for (const std::string& other : other_names(preset)) CHECK(find_preset(other) == &preset);
  CHECK(find_preset("Qwen3-8B/MATH500") == find_preset("qwen3/math500"));
  for (const char* none :
       {"qwen3.5-9b/math500", "qwen3-8b", "qwen3-8b/", "/math500", "qwen3-14b/math500", ""})
    CHECK(find_preset(none) == nullptr);
  CHECK(nearest_presets("qwen3-8b/math50") == "qwen3-8b/math500");
  CHECK(nearest_presets("qwen3/math50") == "qwen3/math500");
}

TEST_CASE("every preset makes a run of whole stages") {
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    const auto stages = make_stages(preset.horizon, preset.block, {preset.rounds}, {1}, {1});
    CHECK(stages.size() * preset.block == preset.horizon);
    CHECK(Ladder(preset.powers).rungs() >= 3);
  }
}

}  // namespace tempera::gpu::presets_test
