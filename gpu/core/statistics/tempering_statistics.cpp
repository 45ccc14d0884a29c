#include "gpu/core/statistics/tempering_statistics.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "gpu/core/lottery/exponential.hpp"
#include "gpu/core/statistics/foreign_state.hpp"
#include "gpu/core/statistics/state_text.hpp"

namespace tempera::gpu {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Adds `sum` at scale exp(shift), `terms` terms, to an edge's estimate.
void add_terms(EdgeCounts& edge, double shift, double sum, std::uint64_t terms) {
  if (terms == 0) return;
  if (edge.terms == 0 || shift > edge.shift) {
    const double down = edge.terms == 0 ? 0.0 : exponential(edge.shift - shift);
    edge.sum = edge.sum * down + sum;
    edge.shift = shift;
  } else {
    edge.sum += sum * exponential(shift - edge.shift);
  }
  edge.terms += terms;
}

}  // namespace

std::optional<double> expected_round_trip(std::span<const EdgeCounts> edges, Schedule schedule) {
  if (edges.empty()) return std::nullopt;
  double delay = 0.0;
  for (const EdgeCounts& edge : edges) {
    if (edge.accepted == 0) return std::nullopt;
    delay += ratio(edge.attempts - edge.accepted, edge.accepted);
  }
  const double rungs = static_cast<double>(edges.size()) + 1.0;
  return (schedule == Schedule::deo ? 2.0 : 1.0) * rungs * (1.0 + delay);
}

TemperingStatistics::TemperingStatistics(const Ladder& ladder, const Plan& plan)
    // Particles that rise up the ladder are counted together, at its last power.
    : powers_(plan.particles == 0 ? ladder.powers() : std::vector{ladder.powers().back()}),
      rungs_(powers_.size()),
      edges_(powers_.size() - 1),
      replica_at_(powers_.size()),
      direction_(powers_.size(), 0U),
      series_(powers_.size(), plan) {
  std::iota(replica_at_.begin(), replica_at_.end(), std::size_t{0});
  direction_.front() = 1;
}

void TemperingStatistics::count(std::span<const Event> events) {
  for (const Event& event : events) {
    if (event.kind == Event::Kind::swap) {
      EdgeCounts& edge = edges_[event.rung];
      ++edge.attempts;
      if (!event.accepted) continue;
      ++edge.accepted;
      std::swap(replica_at_[event.rung], replica_at_[event.rung + 1]);
      visit_endpoints();
    } else if (event.kind != Event::Kind::resampling) {
      // The particles of a run of one power are counted together.
      RungCounts& rung = rungs_[rungs_.size() == 1 ? 0 : event.rung];
      rung.tokens += event.tokens;
      if (event.kind == Event::Kind::extension) continue;
      rung.moves += event.proposals;
      if (event.proposed) rung.proposed += event.proposals;
      if (event.accepted) ++rung.accepted;
      rung.proposal_tokens += event.tokens;
      if (event.accepted) rung.kept_tokens += event.tokens;
      if (event.early) {
        ++rung.early;
        rung.unspent += event.horizon - (event.restart - 1 + event.tokens);
      }
      if (!event.proposed || event.horizon == 0) continue;
      DecileCounts& decile = rung.deciles.at(10 * (event.restart - 1) / event.horizon);
      decile.proposed += event.proposals;
      if (event.accepted) ++decile.accepted;
    }
  }
}

void TemperingStatistics::visit_endpoints() {
  unsigned& at_bottom = direction_[replica_at_.front()];
  if (at_bottom == 2) ++round_trips_;
  at_bottom = 1;
  unsigned& at_top = direction_[replica_at_.back()];
  if (at_top == 1) at_top = 2;
}

void TemperingStatistics::count_round(std::span<const double> log_p0,
                                      std::span<const double> confidence) {
  for (std::size_t k = 0; k < edges_.size(); ++k)
    add_terms(edges_[k], (powers_[k + 1] - powers_[k]) * log_p0[k], 1.0, 1);
  is_confidence_measured_ = is_confidence_measured_ || !confidence.empty();
  for (std::size_t i = 0; i < log_p0.size(); ++i) {
    RungCounts& rung = rungs_[rungs_.size() == 1 ? 0 : i];
    ++rung.records;
    rung.log_p0 += log_p0[i];
    if (!confidence.empty()) rung.confidence += confidence[i];
  }
}

void TemperingStatistics::add(const TemperingStatistics& other) {
  for (std::size_t k = 0; k < rungs_.size(); ++k) {
    rungs_[k].moves += other.rungs_[k].moves;
    rungs_[k].proposed += other.rungs_[k].proposed;
    rungs_[k].accepted += other.rungs_[k].accepted;
    rungs_[k].tokens += other.rungs_[k].tokens;
    rungs_[k].proposal_tokens += other.rungs_[k].proposal_tokens;
    rungs_[k].kept_tokens += other.rungs_[k].kept_tokens;
    rungs_[k].early += other.rungs_[k].early;
    rungs_[k].unspent += other.rungs_[k].unspent;
    for (std::size_t d = 0; d < rungs_[k].deciles.size(); ++d) {
      rungs_[k].deciles[d].proposed += other.rungs_[k].deciles[d].proposed;
      rungs_[k].deciles[d].accepted += other.rungs_[k].deciles[d].accepted;
    }
    rungs_[k].records += other.rungs_[k].records;
    rungs_[k].log_p0 += other.rungs_[k].log_p0;
    rungs_[k].confidence += other.rungs_[k].confidence;
  }
  is_confidence_measured_ = is_confidence_measured_ || other.is_confidence_measured_;
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    edges_[k].attempts += other.edges_[k].attempts;
    edges_[k].accepted += other.edges_[k].accepted;
    add_terms(edges_[k], other.edges_[k].shift, other.edges_[k].sum, other.edges_[k].terms);
  }
  round_trips_ += other.round_trips_;
  series_.add(other.series_);
}

std::uint64_t TemperingStatistics::decode_tokens() const {
  std::uint64_t tokens = 0;
  for (const RungCounts& rung : rungs_) tokens += rung.tokens;
  return tokens;
}

std::vector<double> TemperingStatistics::log_z_ratios() const {
  std::vector<double> ratios;
  for (const EdgeCounts& edge : edges_)
    ratios.push_back(edge.terms == 0 ? std::numeric_limits<double>::quiet_NaN()
                                     : edge.shift + logarithm(edge.sum) -
                                           logarithm(static_cast<double>(edge.terms)));
  return ratios;
}

nlohmann::ordered_json TemperingStatistics::report() const {
  nlohmann::ordered_json json;
  json["decode_tokens"] = decode_tokens();
  auto& rungs = json["rungs"] = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < rungs_.size(); ++k) {
    rungs.push_back({{"power", powers_[k]},
                     {"local_moves", rungs_[k].moves},
                     {"proposed", rungs_[k].proposed},
                     {"accepted", rungs_[k].accepted},
                     {"acceptance", ratio(rungs_[k].accepted, rungs_[k].proposed)},
                     {"decode_tokens", rungs_[k].tokens},
                     {"proposal_tokens", rungs_[k].proposal_tokens},
                     {"kept_tokens", rungs_[k].kept_tokens},
                     {"rejected_early", rungs_[k].early},
                     {"saved_tokens_at_most", rungs_[k].unspent}});
    if (rungs_[k].records > 0) {
      const auto records = static_cast<double>(rungs_[k].records);
      rungs.back()["mean_log_p0"] = rungs_[k].log_p0 / records;
      if (is_confidence_measured_) rungs.back()["mean_confidence"] = rungs_[k].confidence / records;
    }
    auto& deciles = rungs.back()["restart_deciles"] = nlohmann::ordered_json::array();
    for (const DecileCounts& decile : rungs_[k].deciles)
      deciles.push_back({{"proposed", decile.proposed}, {"accepted", decile.accepted}});
  }
  auto& edges = json["edges"] = nlohmann::ordered_json::array();
  const std::vector<double> log_z = log_z_ratios();
  for (std::size_t k = 0; k < edges_.size(); ++k) {
    edges.push_back({{"powers", {powers_[k], powers_[k + 1]}},
                     {"attempts", edges_[k].attempts},
                     {"accepted", edges_[k].accepted},
                     {"acceptance", ratio(edges_[k].accepted, edges_[k].attempts)}});
    if (edges_[k].terms > 0) edges.back()["log_z_ratio"] = log_z[k];
  }
  json["round_trips"] = round_trips_;
  series_.report(json);
  return json;
}

nlohmann::json TemperingStatistics::state() const {
  nlohmann::json json;
  for (const RungCounts& rung : rungs_) {
    json["rungs"].push_back({rung.moves, rung.proposed, rung.accepted, rung.tokens,
                             rung.proposal_tokens, rung.kept_tokens, rung.early, rung.unspent,
                             rung.records, to_bits(rung.log_p0), to_bits(rung.confidence)});
    for (const DecileCounts& decile : rung.deciles)
      json["deciles"].push_back({decile.proposed, decile.accepted});
  }
  json["edges"] = nlohmann::json::array();
  for (const EdgeCounts& edge : edges_)
    json["edges"].push_back(
        {edge.attempts, edge.accepted, to_bits(edge.shift), to_bits(edge.sum), edge.terms});
  json["replica_at"] = replica_at_;
  json["direction"] = direction_;
  json["round_trips"] = round_trips_;
  json["confidence"] = is_confidence_measured_;
  json["series"] = series_.state();
  return json;
}

void TemperingStatistics::restore(const nlohmann::json& state) { restore_text(text_of(state)); }

void TemperingStatistics::restore_text(std::string_view text) {
  StateText state(text);
  state.pass("{\"confidence\":");
  is_confidence_measured_ = state.boolean();
  state.pass(",\"deciles\":");
  const std::size_t deciles = rungs_.front().deciles.size();
  state.list_of(deciles * rungs_.size(), [&](std::size_t i) {
    DecileCounts& decile = rungs_[i / deciles].deciles[i % deciles];
    state.list_of(
        2, [&](std::size_t j) { (j == 0 ? decile.proposed : decile.accepted) = state.number(); });
  });
  state.pass(",\"direction\":");
  state.list_of(rungs_.size(), [&](std::size_t k) {
    const std::uint64_t direction = state.number();
    if (direction > 2) throw ForeignState("a replica has no such direction");
    direction_[k] = static_cast<unsigned>(direction);
  });
  state.pass(",\"edges\":");
  state.list_of(edges_.size(), [&](std::size_t k) {
    std::array<std::uint64_t, 5> numbers{};
    state.list_of(numbers.size(), [&](std::size_t i) { numbers[i] = state.number(); });
    edges_[k] = {numbers[0], numbers[1], from_bits(numbers[2]), from_bits(numbers[3]), numbers[4]};
  });
  state.pass(",\"replica_at\":");
  state.list_of(rungs_.size(), [&](std::size_t k) {
    replica_at_[k] = state.number();
    if (replica_at_[k] >= rungs_.size()) throw ForeignState("a replica is not there");
  });
  state.pass(",\"round_trips\":");
  round_trips_ = state.number();
  state.pass(",\"rungs\":");
  state.list_of(rungs_.size(), [&](std::size_t k) {
    std::array<std::uint64_t, 11> numbers{};
    state.list_of(numbers.size(), [&](std::size_t i) { numbers[i] = state.number(); });
    RungCounts& rung = rungs_[k];
    rung = {numbers[0], numbers[1], numbers[2], numbers[3],  numbers[4],
            numbers[5], numbers[6], numbers[7], rung.deciles};
    rung.records = numbers[8];
    rung.log_p0 = from_bits(numbers[9]);
    rung.confidence = from_bits(numbers[10]);
  });
  state.pass(",\"series\":");
  series_.restore(state);
  state.pass("}");
  state.end();
}

}  // namespace tempera::gpu
