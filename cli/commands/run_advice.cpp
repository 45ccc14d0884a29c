#include "cli/commands/run_advice.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tempera::cli {
namespace {

/// An edge of a calibrated ladder accepts far more; its delay (1 − a)/a is then 9 sweeps.
constexpr double weak_acceptance = 0.1;
/// A last rung below this seldom has an answer of its own.
constexpr double few_moves = 0.02;
/// Trips vary less than a Poisson number. Of one with this mean, half or fewer are seen in one case
/// of forty.
constexpr double enough_trips = 16.0;
/// The share by which the spread of all draws may exceed that within a chain (Gelman and Rubin,
/// 1992).
constexpr double most_r_hat = 1.1;

/// Sentences, and the advice among them.
class Advice {
 public:
  template <class... Values>
  void say(const char* format, Values... values) {
    char line[240];
    std::snprintf(line, sizeof line, format, values...);
    text_ += std::string("  ") + line + '\n';
  }
  template <class... Values>
  void change(const char* format, Values... values) {
    ++changes_;
    char line[240];
    std::snprintf(line, sizeof line, format, values...);
    text_ += std::string("  -> ") + line + '\n';
  }
  std::string text() const {
    return (changes_ == 0 ? "how good the run was: nothing to change\n"
                          : "how good the run was: what to change follows ->\n") +
           text_;
  }

 private:
  std::string text_;
  std::size_t changes_ = 0;
};

double figure_of(const nlohmann::ordered_json& json, const char* key) {
  return json.at(key).get<double>();
}

void judge_length(const nlohmann::ordered_json& summary, Advice& advice) {
  const double cut = figure_of(summary, "at_horizon");
  const double all = figure_of(summary, "samples");
  if (cut == 0.0) return advice.say("no answer was cut: each ended before the horizon");
  advice.say("the horizon cut %.0f of %.0f answers", cut, all);
  advice.change("raise --horizon, so that answers can end by themselves");
}

/// Whether all neighbours have exchanged records.
bool judge_edges(const nlohmann::ordered_json& edges, Advice& advice) {
  std::size_t weakest = 0;
  for (std::size_t k = 0; k < edges.size(); ++k) {
    if (figure_of(edges.at(k), "attempts") == 0.0) return false;
    if (figure_of(edges.at(k), "acceptance") < figure_of(edges.at(weakest), "acceptance"))
      weakest = k;
  }
  const auto& edge = edges.at(weakest);
  const double acceptance = figure_of(edge, "acceptance");
  const double lower = edge.at("powers").at(0).get<double>();
  const double upper = edge.at("powers").at(1).get<double>();
  if (acceptance == 0.0) {
    advice.say("rungs %zu and %zu, of powers %.4g and %.4g, exchanged no record", weakest + 1,
               weakest + 2, lower, upper);
    advice.change("put a power between them, or more rounds; tempera ladder places powers");
    return false;
  }
  advice.say("the weakest edge, of powers %.4g and %.4g, accepted %.2f of its swaps", lower, upper,
             acceptance);
  if (acceptance < weak_acceptance)
    advice.change("bring these powers closer, or add a rung; tempera ladder places powers");
  return true;
}

void judge_trips(const nlohmann::ordered_json& summary, Advice& advice) {
  if (!summary.contains("round_trips_expected")) return;
  const double expected = figure_of(summary, "round_trips_expected");
  const double trips = figure_of(summary, "round_trips");
  advice.say("round trips: %.0f, where the swaps that were accepted promise %.3g", trips, expected);
  if (expected < 1.0)
    advice.change("the run is short: a round trip takes %.3g sweeps; give more --rounds",
                  figure_of(summary, "sweeps_per_round_trip_expected"));
  else if (expected >= enough_trips && trips <= expected / 2.0)
    advice.change("records change too little between swaps; give more --local-moves");
}

void judge_moves(const nlohmann::ordered_json& rungs, Advice& advice) {
  const auto& rung = rungs.back();
  if (figure_of(rung, "proposed") == 0.0) return;
  const double acceptance = figure_of(rung, "acceptance");
  advice.say("the last rung accepted %.2f of its local moves", acceptance);
  if (acceptance < few_moves)
    advice.change("lower its power, or restart later positions more often (--restart-weights)");
}

/// True if each answer is an exact draw, whose proposals are not moves of a chain.
bool is_exact(const nlohmann::ordered_json& summary) {
  const auto has_z = [](const auto& report) { return report.contains("log_z"); };
  return has_z(summary) ||
         (summary.contains("prompts") && std::ranges::any_of(summary.at("prompts"), has_z));
}

/// The last rung's chains of each prompt, if there are two to compare.
void judge_chains(const std::vector<gpu::RungDiagnostics>& chains, Advice& advice) {
  double worst = 0.0;
  for (const auto& at : chains) {
    const bool is_last = at.rung == chains.back().rung;
    if (!is_last || at.chains < 2) continue;
    for (const auto* figures : {&at.log_p0, &at.length, &at.answer})
      worst = std::max(worst, figures->r_hat.value_or(0.0));
  }
  if (worst == 0.0) return;
  advice.say("the chains of the last rung have an R-hat of %.3g", worst);
  if (worst > most_r_hat)
    advice.change("the chains still differ; give more --rounds, or see tempera certify-run");
}

}  // namespace

std::string run_advice(const nlohmann::ordered_json& summary,
                       const std::vector<gpu::RungDiagnostics>& chains) {
  Advice advice;
  judge_length(summary, advice);
  if (!summary.at("edges").empty() && judge_edges(summary.at("edges"), advice))
    judge_trips(summary, advice);
  if (!is_exact(summary)) judge_moves(summary.at("rungs"), advice);
  judge_chains(chains, advice);
  return advice.text();
}

}  // namespace tempera::cli
