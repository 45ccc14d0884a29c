#include "runs/run_diagnostics.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tempera::gpu {
namespace {

/// One rung of [chain][draw][rung].
std::vector<std::vector<double>> rung_of(
    const std::vector<const std::vector<std::vector<double>>*>& chains, std::size_t k) {
  std::vector<std::vector<double>> found;
  for (const auto* chain : chains) {
    found.emplace_back();
    for (const auto& draw : *chain) found.back().push_back(draw[k]);
  }
  return found;
}

using Draws = std::vector<std::vector<double>>;  // [draw][rung]

/// 1 where a rung holds the record that the last rung holds most often, else 0:
/// [chain][draw][rung].
std::vector<Draws> commonest_answer(const std::vector<const Draws*>& log_p0,
                                    const std::vector<const Draws*>& lengths) {
  std::map<std::pair<double, double>, std::size_t> counts;  // by log p0 and length
  for (std::size_t c = 0; c < log_p0.size(); ++c)
    for (std::size_t t = 0; t < log_p0[c]->size(); ++t)
      ++counts[{(*log_p0[c])[t].back(), (*lengths[c])[t].back()}];
  // The map ascends, so that of equal counts the last is the likeliest.
  auto commonest = counts.begin();
  for (auto at = counts.begin(); at != counts.end(); ++at)
    if (at->second >= commonest->second) commonest = at;
  std::vector<Draws> found;
  for (std::size_t c = 0; c < log_p0.size(); ++c) {
    Draws& chain = found.emplace_back(*log_p0[c]);
    for (std::size_t t = 0; t < chain.size(); ++t)
      for (std::size_t k = 0; k < chain[t].size(); ++k)
        chain[t][k] =
            std::pair((*log_p0[c])[t][k], (*lengths[c])[t][k]) == commonest->first ? 1.0 : 0.0;
  }
  return found;
}

}  // namespace

void ChainCollector::take(const RoundTrace& trace) {
  if (trace.stage > last_stage_) chains_.clear();
  last_stage_ = std::max(last_stage_, trace.stage);
  // Round 0 is the state before the first round, which block extension has left.
  if (trace.stage != last_stage_ || trace.round == 0) return;
  Chain& chain = chains_[{trace.prompt, trace.sample}];
  chain.log_p0.push_back(trace.log_p0);
  chain.lengths.emplace_back(trace.lengths.begin(), trace.lengths.end());
}

std::vector<RungDiagnostics> ChainCollector::diagnose() const {
  std::map<std::size_t, std::vector<const Chain*>> by_prompt;
  for (const auto& [name, chain] : chains_) by_prompt[name.first].push_back(&chain);
  std::vector<RungDiagnostics> found;
  for (const auto& [prompt, chains] : by_prompt) {
    std::size_t draws = 0;
    for (const Chain* chain : chains) draws = std::max(draws, chain->log_p0.size());
    if (draws < fewest_draws) continue;
    std::vector<const std::vector<std::vector<double>>*> log_p0, lengths;
    for (const Chain* chain : chains) {
      if (chain->log_p0.size() < draws) continue;
      log_p0.push_back(&chain->log_p0);
      lengths.push_back(&chain->lengths);
    }
    const std::vector<Draws> answers = commonest_answer(log_p0, lengths);
    std::vector<const Draws*> answer;
    for (const Draws& chain : answers) answer.push_back(&chain);
    for (std::size_t k = 0; k < log_p0.front()->front().size(); ++k)
      found.push_back({prompt, k + 1, log_p0.size(), draws, figures_of(rung_of(log_p0, k)),
                       figures_of(rung_of(lengths, k)), figures_of(rung_of(answer, k))});
  }
  return found;
}

std::vector<RungDiagnostics> diagnose_run(const std::filesystem::path& folder) {
  ChainCollector collector;
  read_traces(folder, [&](const RoundTrace& trace) { collector.take(trace); });
  return collector.diagnose();
}

std::string diagnostics_csv(const SamplingSettings& settings,
                            const std::vector<RungDiagnostics>& found) {
  std::string csv = "prompt,rung,quantity,chains,draws,mean,sd,mcse,ess_bulk,ess_tail,r_hat\n";
  for (const RungDiagnostics& at : found) {
    const std::string before = csv_field(settings.prompts.at(at.prompt).id.value_or("")) + ',' +
                               std::to_string(at.rung) + ',';
    const std::string counts = ',' + std::to_string(at.chains) + ',' + std::to_string(at.draws);
    for (const auto& [quantity, figures] :
         {std::pair{"log_p0", &at.log_p0}, std::pair{"length", &at.length},
          std::pair{"answer", &at.answer}}) {
      csv += before + quantity + counts;
      for (const double value :
           {figures->mean, figures->sd, figures->mcse, figures->ess_bulk, figures->ess_tail})
        csv += ',' + nlohmann::json(value).dump();
      csv += ',';
      if (figures->r_hat)
        csv += std::isinf(*figures->r_hat) ? "inf" : nlohmann::json(*figures->r_hat).dump();
      csv += '\n';
    }
  }
  return csv;
}

}  // namespace tempera::gpu
