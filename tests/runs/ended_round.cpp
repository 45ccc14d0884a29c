// The rounds of a journal at their bounds: each number's last value that such a run can have, and
// the first that it cannot.
#include "runs/ended_round.hpp"

#include <nlohmann/json.hpp>

#include "gpu/core/lottery/draw_address.hpp"
#include "gpu/core/sampler/stages.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu::ended_round_test {
namespace {

using nlohmann::json;

// The places of the numbers of an event, and the kinds.
constexpr std::size_t kind = 0, rung = 1, restart = 3, tokens = 4, flags = 5, horizon = 6,
                      proposals = 9;
constexpr std::uint64_t extension = 0, local_move = 1, swap = 2, resampling = 3;

/// An event of this kind: it proposed and accepted, at position 1 of 5.
std::vector<std::uint64_t> event_of(std::uint64_t of_kind) {
  return {of_kind, 0, 7, 1, 2, 3, 5, 0, 0, 1};
}

}  // namespace

TEST_CASE("a round of a journal has numbers that its run can have, up to the last one") {
  // Two rungs; stages of 3 and 5 tokens, with 2 rounds and 1, each of one local move and one sweep.
  const SamplingSettings settings = small_settings();
  const DrawSettings draw = settings.draw_settings();
  const std::vector<Prompt> prompts = settings.numbered_prompts();
  const PromptPlans plans(draw.plan, prompts);
  const PossibleRuns runs{draw, plans, prompts, 10};
  EndedRound round;
  round.run_index = 2;
  round.progress.stage = 1;
  round.progress.extended = true;
  round.progress.round = 1;
  round.progress.local_moves = 3;
  round.progress.sweeps = 3;
  round.progress.replicas = {{7}, {8, 9}};
  round.progress.log_p0 = {1, 2};
  const json said = json::parse(journal_line(round));
  const auto is_taken = [&](const json& document) {
    try {
      const EndedRound read = ended_round_of(document, runs, "journal, line 3");
      CHECK(json::parse(journal_line(read)) == document);
      return true;
    } catch (const BadInput& error) {
      CHECK_THAT(error.what(), Catch::StartsWith("journal, line 3"));
      return false;
    }
  };
  REQUIRE(is_taken(said));

  const std::vector<std::tuple<const char*, std::uint64_t, std::uint64_t>> bounds{
      {"/place", 2, 3},
      {"/progress/stage", 1, 2},
      {"/progress/round", 1, 2},
      {"/progress/local_moves", 3, 4},
      {"/progress/sweeps", 3, 4},
      {"/progress/resampled", 5, 6},
      {"/progress/replicas/1/0", 9, 10}};
  for (const auto& [place, last, first_refused] : bounds) {
    CAPTURE(place);
    auto document = said;
    document[json::json_pointer(place)] = last;
    CHECK(is_taken(document));
    document[json::json_pointer(place)] = first_refused;
    CHECK_FALSE(is_taken(document));
  }
  // The stage before has two rounds, and as many moves and sweeps.
  for (const std::uint64_t rounds : {0U, 1U, 2U, 3U})
    for (const std::uint64_t moves : {rounds, rounds + 1}) {
      auto document = said;
      document["progress"].update(
          {{"stage", 0U}, {"round", rounds}, {"local_moves", moves}, {"sweeps", rounds}});
      CHECK(is_taken(document) == (rounds <= 2 && moves == rounds));
    }
  for (const char* list : {"replicas", "log_p0"}) {
    auto document = said;
    document["progress"][list].push_back(said["progress"][list][0]);
    CHECK_FALSE(is_taken(document));
    document["progress"][list].erase(0);
    document["progress"][list].erase(0);
    CHECK_FALSE(is_taken(document));
  }

  struct Bound {
    std::uint64_t of_kind;
    std::size_t place;
    std::uint64_t least;
    std::uint64_t most;
  };
  constexpr std::uint64_t any = 1000;  // of what is not looked at
  std::vector<Bound> all{
      {extension, rung, 0, 1},          {local_move, rung, 0, 1},    {swap, rung, 0, 0},
      {resampling, rung, 0, 1},         {local_move, restart, 1, 5}, {swap, restart, 0, any},
      {local_move, kind, 0, resampling}};
  for (const std::uint64_t of_kind : {extension, local_move, swap, resampling}) {
    all.push_back({of_kind, proposals, 1, addressable_turns});
    all.push_back({of_kind, tokens, 0, longest_horizon});
    all.push_back({of_kind, horizon, 1, longest_horizon});
  }
  for (const auto& [of_kind, place, least, most] : all) {
    const auto with = [&, of_kind = of_kind, place = place](std::uint64_t number) {
      auto event = event_of(of_kind);
      event[place] = number;
      auto document = said;
      document["events"] = {event};
      return is_taken(document);
    };
    CAPTURE(of_kind, place, least, most);
    CHECK(with(least));
    CHECK(with(most));
    if (least > 0 && place != horizon) CHECK_FALSE(with(least - 1));
    if (most != any) CHECK_FALSE(with(most + 1));
  }
  // A move that proposed nothing has restarted nowhere; each proposal draws up to a whole text.
  auto event = event_of(local_move);
  const auto is_taken_with = [&] {
    auto document = said;
    document["events"] = {event_of(swap), event};
    return is_taken(document);
  };
  event[flags] = 0;
  event[restart] = 0;
  CHECK(is_taken_with());
  event[restart] = 6;
  CHECK(is_taken_with());
  event = event_of(local_move);
  event[proposals] = 3;
  event[tokens] = 3 * longest_horizon;
  CHECK(is_taken_with());
  ++event[tokens];
  CHECK_FALSE(is_taken_with());
  event = event_of(local_move);
  event.pop_back();
  CHECK_FALSE(is_taken_with());
}

TEST_CASE(
    "a round of a journal has a confidence of each record if they are measured, and else none") {
  for (const bool is_measured : {false, true}) {
    SamplingSettings settings = small_settings();
    settings.options.confidence = is_measured;
    const DrawSettings draw = settings.draw_settings();
    const std::vector<Prompt> prompts = settings.numbered_prompts();
    const PromptPlans plans(draw.plan, prompts);
    const PossibleRuns runs{draw, plans, prompts, 10};
    for (const std::size_t count : {0U, 1U, 2U, 3U}) {
      CAPTURE(is_measured, count);
      EndedRound round;
      round.progress.replicas = {{7}, {8, 9}};
      round.progress.log_p0 = {1, 2};
      round.confidence.assign(count, 0.25);
      const auto read = [&] {
        return ended_round_of(json::parse(journal_line(round)), runs, "journal, line 3");
      };
      if (count == (is_measured ? 2 : 0))
        CHECK(read().confidence == round.confidence);
      else
        require_bad_input(read, {"journal, line 3", "is not as tempera writes it"});
    }
  }
}

}  // namespace tempera::gpu::ended_round_test
