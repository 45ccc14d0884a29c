#include "runs/ended_round.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "gpu/core/lottery/exponential.hpp"
#include "gpu/session/json_line.hpp"
#include "runs/run_folder.hpp"
#include "runs/run_lines.hpp"

namespace tempera::gpu {
namespace {

constexpr auto most_of_64_bits = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t numbers_of_event = 10;  // and then the tokens that were drawn, if kept

[[noreturn]] void refuse_round(const std::string& where) {
  throw BadInput(where, "is not as tempera writes it", remedy_for(where));
}

std::array<std::uint64_t, numbers_of_event> numbers_of(const Event& event) {
  const unsigned flags = (event.proposed ? 1U : 0U) | (event.accepted ? 2U : 0U) |
                         (event.changed ? 4U : 0U) | (event.early ? 8U : 0U);
  return {static_cast<std::uint64_t>(event.kind),
          event.rung,
          event.turn,
          event.restart,
          event.tokens,
          flags,
          event.horizon,
          to_bits(event.log_ratio),
          to_bits(event.effective_sample_size),
          event.proposals};
}

Event event_of(std::span<const std::uint64_t> numbers) {
  Event event;
  event.kind = static_cast<Event::Kind>(numbers[0]);
  event.rung = numbers[1];
  event.turn = static_cast<std::uint32_t>(numbers[2]);
  event.restart = numbers[3];
  event.tokens = numbers[4];
  event.proposed = (numbers[5] & 1U) != 0;
  event.accepted = (numbers[5] & 2U) != 0;
  event.changed = (numbers[5] & 4U) != 0;
  event.early = (numbers[5] & 8U) != 0;
  event.horizon = numbers[6];
  event.log_ratio = from_bits(numbers[7]);
  event.effective_sample_size = from_bits(numbers[8]);
  event.proposals = numbers[9];
  const auto drawn = numbers.subspan(numbers_of_event);
  event.drawn.assign(drawn.begin(), drawn.end());
  return event;
}

/// Whether a run can have such an event: what counts it relies on that.
bool is_possible(const Event& event, std::size_t replicas, std::size_t rungs) {
  if (event.proposals < 1 || event.proposals > addressable_turns) return false;
  if (event.horizon > longest_horizon || event.tokens > longest_horizon * event.proposals)
    return false;
  if (event.kind == Event::Kind::swap) return event.rung < rungs - 1;
  const bool has_restart = event.restart >= 1 && event.restart <= event.horizon;
  return event.rung < replicas && (!event.proposed || event.horizon == 0 || has_restart);
}

}  // namespace

EndedRound ended_round(std::size_t run_index, const Progress& progress,
                       std::span<const Event> events, bool is_confidence_measured) {
  EndedRound round{run_index, saved(progress, {}), {}, {events.begin(), events.end()}};
  if (is_confidence_measured)
    for (const Record& record : progress.replicas) round.confidence.push_back(record.confidence());
  return round;
}

std::string journal_line(const EndedRound& round) {
  const SavedProgress& progress = round.progress;
  JsonLine line;
  const auto number = [&](std::uint64_t value) { line << value; };
  const auto bits = [&](double value) { line << to_bits(value); };
  line << "{\"place\":" << round.run_index << ",\"progress\":{\"stage\":" << progress.stage
       << ",\"extended\":" << (progress.extended ? "true" : "false")
       << ",\"round\":" << progress.round << ",\"local_moves\":" << progress.local_moves
       << ",\"sweeps\":" << progress.sweeps;
  if (progress.drawn != 0) line << ",\"drawn\":" << progress.drawn;
  if (progress.resampled != 0) line << ",\"resampled\":" << progress.resampled;
  line << ",\"replicas\":";
  line.list(progress.replicas,
            [&](const std::vector<TokenId>& tokens) { line.list(tokens, number); });
  line << ",\"log_p0\":";
  line.list(progress.log_p0, number) << "}";
  if (!round.confidence.empty()) {
    line << ",\"confidence\":";
    line.list(round.confidence, bits);
  }
  line << ",\"events\":";
  line.list(round.events, [&](const Event& event) {
    const auto numbers = numbers_of(event);
    std::vector<std::uint64_t> all(numbers.begin(), numbers.end());
    all.insert(all.end(), event.drawn.begin(), event.drawn.end());
    line.list(all, number);
  }) << "}";
  return line.take();
}

EndedRound ended_round_of(const nlohmann::json& json, const PossibleRuns& runs,
                          const std::string& where) {
  const DrawSettings& settings = runs.settings;
  const JsonObject object(json, where);
  object.check_keys({"place", "progress", "events"}, {"confidence"});
  EndedRound round;
  round.run_index = object.whole_number("place", 0, runs.runs() - 1);
  round.progress = progress_of(object.at("progress"), where);
  require_possible(round.run_index, round.progress, runs, where);
  const std::size_t replicas = round.progress.replicas.size();
  if (object.has("confidence") != settings.options.confidence) refuse_round(where);
  if (settings.options.confidence)
    for (const std::uint64_t bits : object.whole_numbers("confidence", 0, most_of_64_bits))
      round.confidence.push_back(from_bits(bits));
  if (settings.options.confidence && round.confidence.size() != replicas) refuse_round(where);
  for (const nlohmann::json& event : object.array("events")) {
    const nlohmann::json whole{{"event", event}};
    const auto numbers = JsonObject(whole, where).whole_numbers("event", 0, most_of_64_bits);
    constexpr auto last_kind = static_cast<std::uint64_t>(Event::Kind::resampling);
    if (numbers.size() < numbers_of_event || numbers[0] > last_kind) refuse_round(where);
    round.events.push_back(event_of(numbers));
    if (!is_possible(round.events.back(), replicas, settings.ladder.rungs())) refuse_round(where);
  }
  return round;
}

void require_possible(std::span<const TokenId> tokens, const PossibleRuns& runs,
                      const std::string& where) {
  for (const TokenId token : tokens)
    if (token >= runs.vocabulary) refuse_round(where);
}

void require_possible(std::size_t run_index, const SavedProgress& progress,
                      const PossibleRuns& runs, const std::string& where) {
  const Plan& plan = runs.plan_of(run_index);
  const std::vector<Stage>& stages = plan.stages;
  const std::size_t replicas = plan.replicas(runs.settings.ladder);
  bool is_possible = progress.stage < stages.size() && progress.replicas.size() == replicas &&
                     progress.log_p0.size() == replicas;
  std::size_t local_moves = 0;
  std::size_t sweeps = 0;
  for (std::size_t m = 0; is_possible && m <= progress.stage; ++m) {
    const std::size_t rounds = m < progress.stage ? stages[m].rounds : progress.round;
    is_possible = rounds <= stages[m].rounds;
    local_moves += rounds * stages[m].local_moves;
    sweeps += rounds * stages[m].sweeps;
  }
  // Proposals until one is kept are counted by no stage, and each counts as a token at least.
  if (plan.until_kept)
    local_moves = std::min<std::size_t>(progress.drawn, addressable_turns);
  else if (progress.drawn != 0)
    is_possible = false;
  if (!is_possible || progress.local_moves > local_moves || progress.sweeps > sweeps ||
      progress.resampled > stages[progress.stage].horizon)
    refuse_round(where);
  for (const auto& tokens : progress.replicas) require_possible(tokens, runs, where);
}

}  // namespace tempera::gpu
