#include "cli/commands/diagnostics_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

namespace tempera::cli {
namespace {

/// The worst of one quantity over prompts.
struct Worst {
  double bulk = HUGE_VAL, tail = HUGE_VAL, r_hat = 0, mcse = 0;
  bool has_r_hat = false;

  void take(const gpu::ChainFigures& figures) {
    bulk = std::min(bulk, figures.ess_bulk);
    tail = std::min(tail, figures.ess_tail);
    mcse = std::max(mcse, figures.mcse);
    if (!figures.r_hat) return;
    has_r_hat = true;
    r_hat = std::max(r_hat, *figures.r_hat);
  }
  std::string text() const {
    char line[80], reduced[16] = "-";
    if (has_r_hat) std::snprintf(reduced, sizeof reduced, "%.4g", r_hat);
    std::snprintf(line, sizeof line, " %8.4g %8.4g %6s %9.3g", bulk, tail, reduced, mcse);
    return line;
  }
};

nlohmann::ordered_json json_of(const gpu::ChainFigures& figures) {
  nlohmann::ordered_json json{{"mean", figures.mean},         {"sd", figures.sd},
                              {"mcse", figures.mcse},         {"ess_bulk", figures.ess_bulk},
                              {"ess_tail", figures.ess_tail}, {"r_hat", nullptr}};
  if (figures.r_hat && std::isinf(*figures.r_hat))
    json["r_hat"] = "inf";
  else if (figures.r_hat)
    json["r_hat"] = *figures.r_hat;
  return json;
}

}  // namespace

std::string diagnostics_table(const std::vector<gpu::RungDiagnostics>& found) {
  if (found.empty()) return "";
  std::size_t rungs = 0;
  std::set<std::size_t> prompts;
  for (const auto& at : found) {
    rungs = std::max(rungs, at.rung);
    prompts.insert(at.prompt);
  }
  char line[200];
  std::snprintf(
      line, sizeof line,
      "  rung  log p0: ESS     tail  R-hat  MC error  length: ESS     tail  R-hat  MC error\n");
  std::string table = line;
  for (std::size_t k = rungs; k > 0; --k) {
    Worst log_p0, length;
    for (const auto& at : found) {
      if (at.rung != k) continue;
      log_p0.take(at.log_p0);
      length.take(at.length);
    }
    std::snprintf(line, sizeof line, "%6zu      %s    %s\n", k, log_p0.text().c_str(),
                  length.text().c_str());
    table += line;
  }
  table += "  rung  commonest answer: share       ESS     tail  R-hat  MC error\n";
  for (std::size_t k = rungs; k > 0; --k) {
    Worst answer;
    double share = 0;
    for (const auto& at : found) {
      if (at.rung != k) continue;
      answer.take(at.answer);
      share += at.answer.mean / static_cast<double>(prompts.size());
    }
    std::snprintf(line, sizeof line, "%6zu %23.4g  %s\n", k, share, answer.text().c_str());
    table += line;
  }
  const auto& first = found.front();
  if (prompts.size() > 1)
    std::snprintf(line, sizeof line, "the worst of %zu prompts, whose chains are their answers",
                  prompts.size());
  else
    std::snprintf(line, sizeof line,
                  "%zu %s of %zu draws, the records after the last stage's rounds", first.chains,
                  first.chains == 1 ? "chain" : "chains", first.draws);
  return table + line + "; ESS: effective sample size;\nR-hat: near 1 if the chains agree\n";
}

nlohmann::ordered_json diagnostics_json(const gpu::SamplingSettings& settings,
                                        const std::vector<gpu::RungDiagnostics>& found) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& at : found) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (const auto& id = settings.prompts.at(at.prompt).id) json["id"] = *id;
    json.update({{"rung", at.rung},
                 {"chains", at.chains},
                 {"draws", at.draws},
                 {"log_p0", json_of(at.log_p0)},
                 {"length", json_of(at.length)},
                 {"answer", json_of(at.answer)}});
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace tempera::cli
