#include "runs/ladders/resolve_comparison.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "base/regular_file.hpp"
#include "gpu/llm/models/model_text.hpp"
#include "gpu/llm/models/named_model.hpp"
#include "settings/read_arithmetic.hpp"

namespace tempera::gpu {

std::vector<Problem> read_problems(const std::string& file) {
  std::istringstream lines(read_text_file(file, "give a file of problems, one a line"));
  std::vector<Problem> problems;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = file + ", line " + std::to_string(++number);
    if (line.empty()) continue;
    const nlohmann::json json = parse_json(line, where);
    const JsonObject problem(json, where);
    problem.only({"prompt", "answer"});
    problems.push_back({problem.text("prompt"), problem.text("answer")});
  }
  if (problems.empty()) throw BadInput(file, "holds no problem", "give at least one");
  return problems;
}

ComparisonFile read_comparison(const std::string& file) {
  const nlohmann::json json =
      parse_json(read_text_file(file, "put a comparison.json beside the model"), file);
  const JsonObject object(json, file);
  object.only({"arithmetic", "horizon", "block", "powers", "rounds", "local_moves", "sweeps",
               "truncating_rounds", "matched_rounds"});
  constexpr std::uint64_t most = addressable_turns;
  ComparisonFile said;
  said.arithmetic = read_arithmetic(object);
  const auto take_counts = [&](const char* key, std::optional<std::vector<std::size_t>>& into) {
    if (object.has(key)) into = {object.whole_number(key, 0, most)};
  };
  if (object.has("horizon"))
    said.sampler.horizon = object.whole_number("horizon", 0, longest_horizon);
  if (object.has("block")) said.sampler.block = object.whole_number("block", 1, longest_horizon);
  if (object.has("powers")) said.sampler.powers = object.positive_numbers("powers");
  take_counts("rounds", said.sampler.rounds);
  take_counts("local_moves", said.sampler.local_moves);
  take_counts("sweeps", said.sampler.sweeps);
  said.truncating_rounds = object.whole_number("truncating_rounds", 0, most);
  said.matched_rounds = object.whole_number("matched_rounds", 0, most);
  return said;
}

std::vector<Contestant> resolve_contestants(const ComparisonFile& said) {
  const SamplerSettings ppt = resolve_sampler(said.sampler);
  const double sharpest = ppt.powers.back();
  SamplerWish tokenwise;
  tokenwise.horizon = ppt.horizon;
  tokenwise.block = ppt.block;
  tokenwise.seed = ppt.seed;
  SamplerWish base = tokenwise;
  base.sampler = "standard";
  tokenwise.sampler = "low-temperature";
  tokenwise.powers = {sharpest};
  const auto chain = [&](const char* sampler, std::size_t rounds) {
    SamplerWish wish = tokenwise;
    wish.sampler = sampler;
    wish.rounds = {rounds};
    wish.local_moves = ppt.local_moves;
    return resolve_sampler(wish);
  };
  SamplerWish unswapped = said.sampler;
  unswapped.sampler = "uncoupled-ladder";
  unswapped.sweeps.reset();
  char temperature[48];
  std::snprintf(temperature, sizeof temperature, "tokenwise temperature 1/%g", sharpest);
  const std::string k = std::to_string(ppt.powers.size());
  return {
      {"base sampling", resolve_sampler(base)},
      {temperature, resolve_sampler(tokenwise)},
      {"truncating power sampling", chain("power-sampling", said.truncating_rounds)},
      {"fixed horizon, K = 1", chain("fixed-horizon", ppt.rounds.front())},
      {"fixed horizon, K = 1, matched", chain("fixed-horizon", said.matched_rounds)},
      {"K = " + k + " without swaps", resolve_sampler(unswapped)},
      {"PPT, K = " + k, ppt},
  };
}

ComparisonSettings resolve_comparison(const ComparisonWish& wish, Spelling spelling) {
  const bool is_folder = find_named_model(wish.model) == nullptr && !is_gguf(wish.model);
  const auto place_of = [&](const std::string& given, const char* key, const char* name) {
    if (!given.empty()) return given;
    if (is_folder) return wish.model + "/" + name;
    throw BadInput(spelt(key, spelling), "is missing",
                   "give it: only a folder has problems and settings of its own");
  };
  const std::string problems = place_of(wish.problems, "problems", "held_out.jsonl");
  const std::string file = place_of(wish.settings, "settings", "comparison.json");
  require_no_special_file(wish.model, "folder");
  ComparisonFile said = read_comparison(file);
  said.sampler.seed = wish.seed;
  ComparisonSettings settings;
  settings.arithmetic = wish.arithmetic ? wish.arithmetic : said.arithmetic;
  try {
    settings.contestants = resolve_contestants(said);
  } catch (const BadInput& error) {
    throw BadInput(file, error.what(), "see toy_models/worked_sum/comparison.json");
  }
  settings.problems_file = problems;
  settings.problems = read_problems(problems);
  if (wish.most && *wish.most < settings.problems.size()) settings.problems.resize(*wish.most);
  return settings;
}

}  // namespace tempera::gpu
