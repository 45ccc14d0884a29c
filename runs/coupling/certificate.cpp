#include "runs/coupling/certificate.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/error.hpp"

namespace tempera::gpu {
namespace {

nlohmann::ordered_json json_of(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"mean", estimate->mean}, {"standard_error", estimate->error}};
}

nlohmann::ordered_json json_of(const std::optional<std::size_t>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(nullptr);
}

std::string_view without_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\n\v\f\r");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

AnswerTest ends_with(std::string_view ending, Spelling spelling) {
  const std::string wanted(without_end(ending));
  if (wanted.empty())
    throw BadInput(spelt("answer", spelling), "has no character but white space",
                   "give the text that the answer ends with");
  return [wanted](const std::string& text) { return without_end(text).ends_with(wanted); };
}

std::optional<std::size_t> Certificate::reached() const {
  return rounds_for(pairs, lag, goal->tv, goal->confidence);
}

std::size_t Certificate::met() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      pairs, [](const CoupledPair& pair) { return pair.meeting.has_value(); }));
}

std::optional<Estimate> Certificate::mean(double CoupledValue::*part) const {
  return unbiased_mean(pairs, lag, rounds, [&](const CoupledValue& value) { return value.*part; });
}

std::optional<Estimate> Certificate::answer() const {
  return asks_answer ? mean(&CoupledValue::answer) : std::nullopt;
}

double Certificate::margin(const Estimate& share) const {
  return std::max(errors_of_95 * share.error, missed_share(pairs.size(), 0.95));
}

std::vector<std::size_t> Certificate::reported_rounds() const {
  std::vector<std::size_t> reported{0};
  const std::size_t meeting = last_meeting(pairs).value_or(0);
  const std::size_t last = meeting > lag ? meeting - lag : 0;
  for (std::size_t round = 1; round < last; round *= 2) reported.push_back(round);
  for (const std::size_t round : {rounds, last})
    if (std::ranges::find(reported, round) == reported.end()) reported.push_back(round);
  std::ranges::sort(reported);
  return reported;
}

std::vector<MeetingRound> Certificate::meeting_rounds() const {
  const bool all_met = met() == pairs.size();
  std::set<std::size_t> changes{0, rounds};
  for (const CoupledPair& pair : pairs)
    if (pair.meeting)
      for (std::size_t left = *pair.meeting; left >= lag; left -= lag) changes.insert(left - lag);
  if (!all_met) {
    const std::size_t followed = most_rounds - lag;
    changes.erase(changes.upper_bound(followed), changes.end());
    changes.insert(followed);
  }
  std::vector<MeetingRound> found;
  for (const std::size_t round : changes) {
    const auto apart = std::ranges::count_if(pairs, [&](const CoupledPair& pair) {
      return !pair.meeting || *pair.meeting > round + lag;
    });
    found.push_back({round, static_cast<std::size_t>(apart), tv_bound(pairs, lag, round),
                     upper_tv_bound(pairs, lag, round)});
  }
  return found;
}

std::string meetings_csv(const Certificate& found) {
  std::string csv = "round,apart,pairs,tv_at_most,standard_error,limit\n";
  for (const MeetingRound& at : found.meeting_rounds()) {
    csv += std::to_string(at.round) + ',' + std::to_string(at.apart) + ',' +
           std::to_string(found.pairs.size()) + ',';
    const auto figure = [](double value) { return nlohmann::json(value).dump(); };
    csv += at.bound ? figure(at.bound->mean) + ',' + figure(at.bound->error) + ',' +
                          figure(*at.limit) + '\n'
                    : ",,\n";
  }
  return csv;
}

nlohmann::ordered_json Certificate::to_json() const {
  nlohmann::ordered_json report{{"lag", lag},
                                {"rounds", rounds},
                                {"most_rounds", most_rounds},
                                {"pairs", pairs.size()},
                                {"met", met()}};
  auto& meetings = report["meetings"] = nlohmann::ordered_json::array();
  for (const CoupledPair& pair : pairs) meetings.push_back(json_of(pair.meeting));
  report["tv_at_most"] = json_of(tv_bound(pairs, lag, rounds));
  auto& by_round = report["tv_at_most_by_round"] = nlohmann::ordered_json::array();
  if (report["tv_at_most"].is_object())
    for (const std::size_t round : reported_rounds()) {
      nlohmann::ordered_json at{{"round", round}};
      at.update(json_of(tv_bound(pairs, lag, round)));
      at["limit"] = *upper_tv_bound(pairs, lag, round);
      by_round.push_back(std::move(at));
    }
  report["rounds_for_0.05"] = json_of(rounds_for(pairs, lag, 0.05));
  if (goal)
    report["until_tv"] = {
        {"tv", goal->tv}, {"confidence", goal->confidence}, {"rounds", json_of(reached())}};
  report["decode_tokens"] = tokens;
  report["log_p0"] = json_of(mean(&CoupledValue::log_p0));
  report["length"] = json_of(mean(&CoupledValue::length));
  if (asks_answer) report["answer"] = json_of(answer());
  return report;
}

Certificate certify_run(
    const OpenedModel& model, const SampleRequest& request, const CertificateWish& wish,
    const SessionOptions& session, Spelling spelling,
    const std::function<void(std::size_t, std::size_t, std::size_t)>& pair_ended,
    const std::function<void()>& before_pass) {
  if (!request.stop.empty())
    throw BadInput(spelt("stop", spelling), "has no effect here",
                   "the bound is that of whole records");
  if (wish.confidence && !wish.until_tv)
    throw BadInput(spelling == Spelling::keys ? "confidence_level" : spelt("confidence", spelling),
                   "has no effect without " + spelt("until_tv", spelling), "give both");
  CouplingSettings settings;
  settings.request = request;
  Certificate found;
  const Stage& last = request.plan.stages.back();
  found.rounds = last.rounds;
  found.lag = wish.lag.value_or(std::max<std::size_t>(found.rounds, 1));
  found.most_rounds = wish.most_rounds.value_or(100 * (found.lag + found.rounds));
  settings.pairs = wish.pairs.value_or(default_pairs);
  if (wish.until_tv) {
    found.goal = TvGoal{*wish.until_tv, wish.confidence.value_or(default_goal_confidence)};
    const std::size_t needed = pairs_for(found.goal->tv, found.goal->confidence);
    settings.pairs = wish.pairs.value_or(needed);
    if (settings.pairs < needed)
      throw BadInput(spelt("pairs", spelling),
                     std::to_string(settings.pairs) + " cannot show what " +
                         spelt("until_tv", spelling) + " asks",
                     "give at least " + std::to_string(needed) + ", or leave it out");
    // As long as the goal asks: the addresses of draws are the end.
    if (!wish.most_rounds)
      found.most_rounds =
          (addressable_turns / 2) / std::max<std::size_t>({last.local_moves, last.sweeps, 1});
  }
  settings.lag = found.lag;
  settings.most_tokens = wish.token_limit.value_or(0);
  settings.most_rounds = found.most_rounds;
  settings.session = session;
  found.asks_answer = static_cast<bool>(wish.is_answer);
  if (wish.is_answer)
    settings.is_answer = [&](std::span<const TokenId> tokens) {
      const bool has_ended =
          !tokens.empty() &&
          std::ranges::find(request.terminal, tokens.back()) != request.terminal.end();
      return has_ended && wish.is_answer(model.decode(tokens.first(tokens.size() - 1)));
    };
  settings.before_pass = before_pass;
  if (pair_ended) {
    pair_ended(0, 0, settings.pairs);
    settings.told = [&](std::size_t ended, std::size_t met) {
      pair_ended(ended, met, settings.pairs);
    };
  }
  found.pairs = run_coupled(model.model(), settings, &found.tokens);
  found.is_cut = settings.most_tokens > 0 && found.tokens >= settings.most_tokens;
  return found;
}

}  // namespace tempera::gpu
