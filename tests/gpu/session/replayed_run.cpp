// What runs draw, answer and write, against a replay of Algorithm 1 that shares no line with them:
// every event, every bit of every ratio and answer, every file.
#include <bit>
#include <map>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"
#include "tests/gpu/session/naive_run.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu::replayed_run_test {
namespace {

using nlohmann::json;

/// Rows of multiples of 1/8 in [-4, 4), another for each prefix. Token 1 is now and then forbidden,
/// and the terminal tokens 0 and 3 are as rare as `ending` says.
naive::Row scattered_row(std::size_t vocabulary, std::uint64_t seed, float ending) {
  return [=](std::span<const TokenId> prefix) {
    naive::Limbs state{static_cast<std::uint32_t>(prefix.size()), 0, 0, 0};
    for (const TokenId token : prefix) {
      state[3] = token;
      state = naive::philox(state, seed);
    }
    std::vector<float> row;
    for (std::size_t v = 0; v < vocabulary; ++v) {
      state[3] = static_cast<std::uint32_t>(v);
      const naive::Limbs drawn = naive::philox(state, seed);
      row.push_back(static_cast<float>(drawn[0] % 64U) / 8.0F - 4.0F);
      if (v == 1 && drawn[1] % 4 == 0) row[v] = -std::numeric_limits<float>::infinity();
      if (v == 0 || v == 3) row[v] += ending;
    }
    return row;
  };
}

const std::vector<TokenId> terminal{0, 3};
constexpr std::uint64_t long_seed = 0x9E3779B97F4A7C15U;

/// Compares what a listener is told, as it is told, with the replay of its run.
class Compared final : public DrawListener {
 public:
  Compared(std::vector<naive::Chain> runs, Rung output) : runs_(std::move(runs)), output_(output) {}

  void round_ended(RequestId run_index, std::size_t, const Progress& progress,
                   std::span<const Event> events) override {
    const naive::Chain& run = runs_.at(run_index);
    const std::size_t number = told_[run_index]++;
    CAPTURE(run_index, number);
    REQUIRE(number < run.moments.size());
    const naive::Moment& moment = run.moments[number];
    REQUIRE(progress.stage == moment.stage);
    REQUIRE(progress.round == moment.round);
    REQUIRE(events.size() == moment.events.size());
    for (std::size_t i = 0; i < events.size(); ++i) same_event(events[i], moment.events[i]);
    REQUIRE(progress.replicas.size() == moment.log_p0.size());
    for (std::size_t k = 0; k < moment.log_p0.size(); ++k)
      REQUIRE(to_bits(progress.replicas[k].log_p0()) == to_bits(moment.log_p0[k]));
  }
  void sampler_ended(RequestId run_index, std::size_t, const Progress& progress) override {
    CAPTURE(run_index);
    const naive::Chain& run = runs_.at(run_index);
    REQUIRE(told_[run_index] == run.moments.size());
    for (std::size_t k = 0; k < run.replicas.size(); ++k) {
      const naive::Record& record = run.replicas[k];
      REQUIRE(progress.replicas[k].token_ids() == naive::ids_of(record));
      for (std::size_t t = 1; t <= record.size(); ++t) {
        REQUIRE(to_bits(progress.replicas[k].tokens().log_p(t)) == to_bits(record[t - 1].log_p));
        const auto log_z = progress.replicas[k].tokens().log_z(t);
        REQUIRE(std::equal(log_z.begin(), log_z.end(), record[t - 1].log_z.begin(),
                           record[t - 1].log_z.end()));
      }
    }
  }
  void drawn(std::size_t run_index, const Answer& answer) override {
    CAPTURE(run_index);
    const naive::Record& record = runs_.at(run_index).replicas[output_];
    REQUIRE(run_index == answers++);
    REQUIRE(answer.tokens == naive::ids_of(record));
    REQUIRE(to_bits(answer.log_p0) == to_bits(naive::log_p0(record)));
    REQUIRE(answer.terminated == runs_.at(run_index).ended(record));
  }
  std::size_t answers = 0;
  const std::vector<naive::Chain>& runs() const { return runs_; }

 private:
  static void same_event(const Event& found, const Event& replayed) {
    CAPTURE(static_cast<int>(replayed.kind), replayed.rung, replayed.turn);
    REQUIRE(found.kind == replayed.kind);
    REQUIRE(found.rung == replayed.rung);
    REQUIRE(found.turn == replayed.turn);
    REQUIRE(found.restart == replayed.restart);
    REQUIRE(found.tokens == replayed.tokens);
    REQUIRE(found.proposed == replayed.proposed);
    REQUIRE(found.early == replayed.early);
    if (found.early) {
      // Both are the bound of numbers below 2^8 in all, the one rounded up by at most
      // (to come + 16) 2^-52 of them, of less than 2^9 tokens.
      REQUIRE(found.log_ratio >= replayed.log_ratio);
      REQUIRE(found.log_ratio < replayed.log_ratio + 0x1p-34);
    } else {
      REQUIRE(to_bits(found.log_ratio) == to_bits(replayed.log_ratio));
    }
    REQUIRE(found.accepted == replayed.accepted);
  }

  std::vector<naive::Chain> runs_;
  Rung output_;
  std::map<std::size_t, std::size_t> told_;
};

/// Draws the answers of a question under two prompts, and holds everything against the replay.
/// `numbers`: of the prompts.
std::vector<naive::Chain> replay(const naive::Question& asked, Rung output, std::size_t samples) {
  const std::vector<std::pair<std::vector<TokenId>, PromptNumber>> prompts{{{2, 4}, {7, 0}},
                                                                           {{5}, {1, 0xABCD1234}}};
  std::vector<naive::Chain> runs;
  std::vector<Prompt> asked_of;
  for (const auto& [tokens, number] : prompts) {
    asked_of.push_back({tokens, number});
    for (std::size_t sample = 0; sample < samples; ++sample) {
      naive::Question own = asked;
      own.prompt = tokens;
      own.seed = naive::seed_of(asked.seed, {number.in_address, number.in_seed});
      own.prompt_number = number.in_address;
      own.sample = sample;
      runs.emplace_back(own);
    }
  }
  const std::size_t vocabulary = asked.row({}).size();
  TableModel model(vocabulary, asked.row);
  Plan plan{{}, asked.deo ? Schedule::deo : Schedule::adj, output};
  for (std::size_t m = 0; m < asked.horizons.size(); ++m)
    plan.stages.push_back({asked.horizons[m], asked.rounds[m], asked.moves[m], asked.sweeps[m]});
  DrawSettings settings{Ladder(asked.powers), plan, asked.terminal};
  settings.seed = asked.seed;
  settings.samples = samples;
  settings.options.early_rejection = asked.early;
  Compared listener(std::move(runs), output);
  const SessionTotals totals = draw_answers(
      model, asked_of, asked.truncating ? truncating_power_sampling : parallel_power_tempering,
      settings, listener);
  CHECK(listener.answers == prompts.size() * samples);
  naive::Totals sum(asked.powers);
  for (const naive::Chain& run : listener.runs()) sum.add(run);
  CHECK(totals.decode_tokens == sum.decode_tokens);
  return listener.runs();
}

std::size_t count(const std::vector<naive::Chain>& runs,
                  const std::function<bool(const Event&)>& counted) {
  std::size_t found = 0;
  for (const naive::Chain& run : runs)
    for (const naive::Moment& moment : run.moments)
      found += static_cast<std::size_t>(
          std::count_if(moment.events.begin(), moment.events.end(), counted));
  return found;
}

/// K = 4, three stages with counts that are all different, answer at rung 2.
naive::Question four_rungs(bool deo) {
  naive::Question asked;
  asked.row = scattered_row(7, 12, 0.5F);
  asked.terminal = terminal;
  asked.powers = {0.6, 1.0, 1.9, 3.7};
  asked.horizons = {3, 6, 7};
  asked.rounds = {9, 4, 13};
  asked.moves = {2, 1, 3};
  asked.sweeps = {1, 3, 2};
  asked.deo = deo;
  asked.seed = long_seed;
  return asked;
}

}  // namespace

TEST_CASE("the replay's Philox gives the known answers of its authors") {
  CHECK(naive::philox({0, 0, 0, 0}, 0) ==
        naive::Limbs{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(naive::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822U) ==
        naive::Limbs{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("every draw, ratio, acceptance and answer of Algorithm 1 is the replay's, ADJ and DEO") {
  for (const bool deo : {false, true}) {
    CAPTURE(deo);
    const auto runs = replay(four_rungs(deo), 1, 3);
    // The cases in which a defect could hide do occur.
    using Kind = Event::Kind;
    const auto is = [](Kind kind, bool accepted) {
      return [=](const Event& e) { return e.kind == kind && e.proposed && e.accepted == accepted; };
    };
    CHECK(count(runs, is(Kind::local_move, true)) > 100);
    CHECK(count(runs, is(Kind::local_move, false)) > 40);
    CHECK(count(runs, is(Kind::swap, true)) > 50);
    CHECK(count(runs, is(Kind::swap, false)) > 50);
    CHECK(count(runs, [](const Event& e) { return e.kind == Kind::local_move && !e.proposed; }) >
          100);
  }
}

TEST_CASE("early rejection ends a proposal where the replay says, and changes nothing else") {
  for (const bool deo : {false, true}) {
    naive::Question asked = four_rungs(deo);
    asked.row = scattered_row(7, 12, -1.0F);
    asked.powers = {0.6, 1.0, 2.5, 8.0};
    asked.horizons = {9, 20, 24};
    const auto whole = replay(asked, 1, 3);
    asked.early = true;
    const auto early = replay(asked, 1, 3);
    std::uint64_t saved = 0;
    for (std::size_t run = 0; run < whole.size(); ++run) {
      for (std::size_t k = 0; k < asked.powers.size(); ++k)
        REQUIRE(naive::ids_of(whole[run].replicas[k]) == naive::ids_of(early[run].replicas[k]));
      for (std::size_t m = 0; m < whole[run].moments.size(); ++m) {
        const auto& a = whole[run].moments[m].events;
        const auto& b = early[run].moments[m].events;
        REQUIRE(a.size() == b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
          REQUIRE(a[i].accepted == b[i].accepted);
          REQUIRE(a[i].restart == b[i].restart);
          if (!b[i].early) {
            REQUIRE(a[i].tokens == b[i].tokens);
            continue;
          }
          REQUIRE(a[i].log_ratio <= b[i].log_ratio);
          REQUIRE(a[i].rung > 0);
          saved += a[i].tokens - b[i].tokens;
        }
      }
    }
    CHECK(saved > 100);
  }
}

TEST_CASE("the address of a token after the 256th is its own") {
  naive::Question asked;
  asked.row = scattered_row(6, 5, -40.0F);
  asked.terminal = terminal;
  asked.powers = {1.0, 1.5, 2.0};
  asked.horizons = {40, 300};
  asked.rounds = {1, 2};
  asked.moves = {1, 2};
  asked.sweeps = {2, 1};
  asked.seed = long_seed + 1;
  const auto runs = replay(asked, 2, 1);
  for (const naive::Chain& run : runs) CHECK(run.replicas[2].size() == 300);
}

TEST_CASE("the address of a turn after the 4096th is its own") {
  naive::Question asked;
  asked.row = scattered_row(6, 6, 0.0F);
  asked.terminal = terminal;
  asked.powers = {1.0, 3.0};
  asked.horizons = {1, 2};
  asked.rounds = {1, 1400};
  asked.moves = {1, 3};
  asked.sweeps = {2, 3};
  asked.seed = long_seed + 2;
  replay(asked, 0, 1);
}

TEST_CASE("every draw, ratio and answer of the truncating sampler is the replay's") {
  naive::Question asked;
  asked.row = scattered_row(7, 13, -1.0F);
  asked.terminal = terminal;
  asked.powers = {2.5};
  asked.horizons = {3, 6, 8};
  asked.rounds = {3, 5, 4};
  asked.moves = {3, 2, 4};
  asked.sweeps = {1, 1, 1};
  asked.seed = long_seed + 3;
  asked.truncating = true;
  const auto runs = replay(asked, 0, 12);
  // Runs that stop after each stage, and records that a move has shortened.
  std::map<std::size_t, std::size_t> stages;
  for (const naive::Chain& run : runs) {
    CHECK(run.moments.back().round == asked.rounds[run.moments.back().stage]);
    ++stages[run.moments.back().stage];
  }
  CHECK(stages.size() == 3);
}

namespace {

/// Two prompts with ids, two samples, K = 3, DEO, two stages, answer at rung 2: K and every count
/// another number.
SamplingSettings replayed_settings() {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"first", {2, 4}}, {"second", {5}}};
  settings.terminal = terminal;
  settings.powers = {1.0, 1.3, 1.8};
  settings.horizon = 6;
  settings.block = 4;
  settings.rounds = {5, 9};
  settings.local_moves = {2, 1};
  settings.sweeps = {1, 4};
  settings.schedule = Schedule::deo;
  settings.output = 2;
  settings.samples = 2;
  settings.seed = long_seed + 4;
  return settings;
}

/// The same with prompts after which less fits: they have one stage of all its tokens, one of
/// fewer, and two, the last of which ends early.
SamplingSettings settings_of_cut_prompts() {
  SamplingSettings settings = replayed_settings();
  settings.prompts = {{"first", {2, 4}},
                      {"of one block", {5}, 4},
                      {"of less", {4, 2, 5}, 3},
                      {"of more", {5, 5, 2}, 5},
                      {"last", {1}}};
  return settings;
}

std::vector<naive::Chain> replays_of(const SamplingSettings& settings, const naive::Row& row) {
  std::vector<naive::Chain> runs;
  for (const SamplePrompt& prompt : settings.prompts)
    for (std::size_t sample = 0; sample < settings.samples; ++sample) {
      const auto number = naive::number_of(*prompt.id);
      naive::Question asked;
      asked.row = row;
      asked.prompt = prompt.tokens;
      asked.terminal = settings.terminal;
      asked.powers = settings.powers;
      // T_m = min(mB, T), T being the prompt's.
      const std::size_t horizon = prompt.horizon.value_or(settings.horizon);
      for (std::size_t before = settings.block; before < horizon; before += settings.block)
        asked.horizons.push_back(before);
      asked.horizons.push_back(horizon);
      asked.rounds = settings.rounds;
      asked.moves = settings.local_moves;
      asked.sweeps = settings.sweeps;
      for (auto* counts : {&asked.rounds, &asked.moves, &asked.sweeps})
        counts->resize(asked.horizons.size());
      asked.restart_weights = settings.restart_weights;
      asked.deo = settings.schedule == Schedule::deo;
      asked.early = settings.options.early_rejection;
      asked.seed = naive::seed_of(settings.seed, number);
      asked.prompt_number = number.first;
      asked.sample = sample;
      asked.confidence = settings.options.confidence;
      runs.emplace_back(asked);
    }
  return runs;
}

std::vector<json> json_lines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

/// events.jsonl as the replay gives it.
std::vector<json> events_of(const SamplingSettings& settings,
                            const std::vector<naive::Chain>& runs) {
  std::vector<json> lines;
  for (std::size_t run_index = 0; run_index < runs.size(); ++run_index) {
    std::vector<std::size_t> replica_at;
    for (std::size_t k = 1; k <= settings.powers.size(); ++k) replica_at.push_back(k);
    for (const naive::Moment& moment : runs[run_index].moments) {
      for (const Event& event : moment.events) {
        if (event.kind == Event::Kind::swap && event.accepted)
          std::swap(replica_at[event.rung], replica_at[event.rung + 1]);
        json line{{"id", *settings.prompts[run_index / settings.samples].id},
                  {"sample", run_index % settings.samples},
                  {"turn", event.turn},
                  {"rung", event.rung + 1}};
        if (event.kind == Event::Kind::extension) {
          line["kind"] = "extension";
          line["tokens"] = event.tokens;
        } else {
          line["accepted"] = event.accepted;
          line[event.early ? "log_ratio_at_most" : "log_ratio"] = event.log_ratio;
          line["kind"] = "swap";
        }
        if (event.kind == Event::Kind::local_move) {
          line["kind"] = "local_move";
          line["r"] = event.restart;
          line["tokens"] = event.tokens;
          line["proposed"] = event.proposed;
        }
        lines.push_back(line);
      }
      lines.push_back({{"id", *settings.prompts[run_index / settings.samples].id},
                       {"sample", run_index % settings.samples},
                       {"kind", "round"},
                       {"stage", moment.stage + 1},
                       {"round", moment.round},
                       {"replicas", replica_at},
                       {"lengths", moment.lengths},
                       {"log_p0", moment.log_p0}});
    }
  }
  return lines;
}

/// The bounds at which proposals were given up are the replay's but for rounding, as same_event
/// says; and so are confidences. All else is alike.
void check_events(std::vector<json> found, std::vector<json> replayed,
                  const std::vector<naive::Chain>& runs) {
  std::vector<const naive::Moment*> moments;
  for (const naive::Chain& run : runs)
    for (const naive::Moment& moment : run.moments) moments.push_back(&moment);
  REQUIRE(found.size() == replayed.size());
  std::size_t told = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    constexpr const char* bound = "log_ratio_at_most";
    if (replayed[i].contains(bound)) {
      REQUIRE(found[i].contains(bound));
      const double above = found[i][bound].get<double>() - replayed[i][bound].get<double>();
      REQUIRE(above >= 0.0);
      REQUIRE(above < 0x1p-34);
      found[i].erase(bound);
      replayed[i].erase(bound);
    }
    if (found[i]["kind"] == "round") {
      const naive::Moment& moment = *moments.at(told++);
      REQUIRE(found[i]["confidence"].size() == moment.confidences.size());
      // Each of 10 tokens' sums of 6 terms below 2^3: some 2^6 roundings of 2^-50.
      for (std::size_t k = 0; k < moment.confidences.size(); ++k)
        REQUIRE(abs(found[i]["confidence"][k].get<double>() - moment.confidences[k]) < 0x1p-44);
      found[i].erase("confidence");
    }
    REQUIRE(found[i] == replayed[i]);
  }
  REQUIRE(told == moments.size());
}

void check_report(const json& summary, const SamplingSettings& settings,
                  std::span<const naive::Chain> runs) {
  naive::Totals totals(settings.powers);
  for (const naive::Chain& run : runs) totals.add(run);
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  CHECK(summary["decode_tokens"] == totals.decode_tokens);
  CHECK(summary["samples"] == runs.size());
  CHECK(summary["round_trips"] == totals.round_trips);
  std::size_t sweeps = 0, at_horizon = 0;
  for (const naive::Chain& run : runs) {
    for (std::size_t m = 0; m < run.asked.rounds.size(); ++m)
      sweeps += run.asked.rounds[m] * run.asked.sweeps[m];
    if (!run.ended(run.replicas[settings.output - 1])) ++at_horizon;
  }
  CHECK(summary["sweeps"] == sweeps);
  CHECK(summary["at_horizon"] == at_horizon);
  CHECK(summary["hit_capacity"] == share(at_horizon, runs.size()));
  // E T = K(1 + R), twice that under DEO; K replicas each make sweeps / E T trips.
  naive::Real delay = 0;
  for (std::size_t k = 0; k + 1 < settings.powers.size(); ++k) {
    REQUIRE(totals.exchanged[k] > 0);
    const naive::Real a = naive::Real(totals.exchanged[k]) / totals.attempts[k];
    delay += (1 - a) / a;
  }
  const auto rungs = static_cast<double>(settings.powers.size());
  const naive::Real each = (settings.schedule == Schedule::deo ? 2 : 1) * rungs * (1 + delay);
  // A handful of roundings of 2^-53 each.
  const auto is_near = [](const json& found, const naive::Real& exact) {
    return abs(found.get<double>() - exact) < 0x1p-48 * exact;
  };
  CHECK(is_near(summary["sweeps_per_round_trip_expected"], each));
  CHECK(is_near(summary["round_trips_expected"], rungs * naive::Real(sweeps) / each));
  REQUIRE(summary["rungs"].size() == settings.powers.size());
  for (std::size_t k = 0; k < settings.powers.size(); ++k) {
    json found = summary["rungs"][k];
    // A mean of sums in the order of the rounds, each below 2^6 and one rounding of 2^-53 of it.
    const double bound = (static_cast<double>(totals.records) + 1.0) * 0x1p-47;
    CHECK(abs(found["mean_log_p0"].get<double>() - totals.log_p0[k] / totals.records) < bound);
    found.erase("mean_log_p0");
    if (settings.options.confidence) {
      CHECK(abs(found["mean_confidence"].get<double>() - totals.confidence[k] / totals.records) <
            bound + 0x1p-44);
      found.erase("mean_confidence");
    }
    json deciles = json::array();
    for (const auto& [proposed, accepted] : totals.deciles[k])
      deciles.push_back({{"proposed", proposed}, {"accepted", accepted}});
    CHECK(found == json{{"power", settings.powers[k]},
                        {"local_moves", totals.moves[k]},
                        {"proposed", totals.proposed[k]},
                        {"accepted", totals.accepted[k]},
                        {"acceptance", share(totals.accepted[k], totals.proposed[k])},
                        {"decode_tokens", totals.tokens[k]},
                        {"proposal_tokens", totals.proposal_tokens[k]},
                        {"kept_tokens", totals.kept_tokens[k]},
                        {"rejected_early", totals.early[k]},
                        {"saved_tokens_at_most", totals.unspent[k]},
                        {"restart_deciles", deciles}});
  }
  REQUIRE(summary["edges"].size() + 1 == settings.powers.size());
  for (std::size_t k = 0; k + 1 < settings.powers.size(); ++k) {
    json edge = summary["edges"][k];
    // Each of n terms is off by less than 2^-53 of itself times its exponent, here below 64, and
    // their sum by n more; the logarithm and the scale, below 64 too, add as much again.
    const double bound = (static_cast<double>(totals.terms[k]) + 200.0) * 0x1p-53;
    CHECK(std::abs(edge["log_z_ratio"].get<double>() - totals.log_z_ratio(k)) < bound);
    edge.erase("log_z_ratio");
    edge.erase("log_z_ratio_error");  // tests/python/package/test_partition.py computes it again
    CHECK(edge == json{{"powers", {settings.powers[k], settings.powers[k + 1]}},
                       {"attempts", totals.attempts[k]},
                       {"accepted", totals.exchanged[k]},
                       {"acceptance", share(totals.exchanged[k], totals.attempts[k])}});
  }
}

/// The whole run's, and each prompt's.
void check_summary(const json& summary, const SamplingSettings& settings,
                   const std::vector<naive::Chain>& runs) {
  CHECK(summary.size() == 13);  // with the series, which round_series.cpp checks
  check_report(summary, settings, runs);
  REQUIRE(summary["prompts"].size() == settings.prompts.size());
  for (std::size_t p = 0; p < settings.prompts.size(); ++p) {
    CAPTURE(p);
    const json& own = summary["prompts"][p];
    CHECK(own.size() == 13);
    CHECK(own["id"] == *settings.prompts[p].id);
    check_report(own, settings, std::span(runs).subspan(p * settings.samples, settings.samples));
  }
}

}  // namespace

TEST_CASE("events.jsonl, samples.jsonl and summary.json are the replay's, ADJ and DEO") {
  const SamplingSettings asked = GENERATE(replayed_settings(), settings_of_cut_prompts());
  CAPTURE(asked.prompts.size());
  for (const Schedule schedule : {Schedule::adj, Schedule::deo}) {
    const naive::Row row = scattered_row(6, 21, -0.5F);
    TableModel model(6, row);
    const test::TemporaryFolder work;
    SamplingSettings settings = asked;
    settings.schedule = schedule;
    // It is read as when a run is resumed: what config.json does not hold is lost.
    const SamplingSettings read =
        SamplingSettings::from_json(json::parse(settings.to_json().dump()), "config.json");
    begin_run(model, read, work / "run");
    const Left left(work / "run");
    const auto runs = replays_of(settings, row);
    CHECK(json_lines(left.events) == events_of(settings, runs));
    std::vector<json> answers;
    for (std::size_t run_index = 0; run_index < runs.size(); ++run_index) {
      const naive::Record& record = runs[run_index].replicas[settings.output - 1];
      const std::vector<TokenId> tokens = naive::ids_of(record);
      const bool ended = runs[run_index].ended(record);
      answers.push_back(
          {{"id", *settings.prompts[run_index / 2].id},
           {"sample", run_index % 2},
           {"tokens", tokens},
           {"text", numbers_of.decode(tokens)},
           {"answer", numbers_of.decode(std::span(tokens).first(tokens.size() - ended))},
           {"log_p0", naive::log_p0(record)},
           {"terminated", ended}});
    }
    CHECK(json_lines(left.samples) == answers);
    check_summary(json::parse(left.summary), settings, runs);
  }
}

TEST_CASE("the confidence of every record after every round is the replay's, after a kill too") {
  const naive::Row row = scattered_row(6, 23, -0.5F);
  TableModel model(6, row);
  const test::TemporaryFolder work;
  SamplingSettings settings = replayed_settings();
  settings.options.confidence = true;
  const auto runs = replays_of(settings, row);
  KilledModel killed(model, 25);
  CHECK_THROWS_AS(begin_run(killed, settings, work / "run"), Killed);
  resume_run(model, work / "run");
  std::vector<const naive::Moment*> moments;
  for (const naive::Chain& run : runs)
    for (const naive::Moment& moment : run.moments) moments.push_back(&moment);
  std::size_t told = 0;
  for (const json& line : json_lines(Left(work / "run").events)) {
    if (line["kind"] != "round") continue;
    const naive::Moment& moment = *moments.at(told++);
    REQUIRE(line["confidence"].size() == settings.powers.size());
    for (std::size_t k = 0; k < settings.powers.size(); ++k) {
      // Each of 6 tokens' sums of 6 terms below 2^3: some 2^6 roundings of 2^-50.
      REQUIRE(abs(line["confidence"][k].get<double>() - moment.confidences[k]) < 0x1p-44);
      REQUIRE(moment.confidences[k] < -0.01);
    }
  }
  CHECK(told == moments.size());
  check_summary(json::parse(Left(work / "run").summary), settings, runs);
}

TEST_CASE("a run that is cut off anywhere and resumed leaves the replay's events and summary",
          "[long]") {
  const naive::Row row = scattered_row(6, 22, -0.5F);
  TableModel model(6, row);
  const test::TemporaryFolder work;
  const SamplingSettings settings = GENERATE(replayed_settings(), settings_of_cut_prompts());
  CAPTURE(settings.prompts.size());
  const auto runs = replays_of(settings, row);
  naive::Totals totals(settings.powers);
  for (const naive::Chain& run : runs) totals.add(run);
  // Replicas are on their way up and down when the run is cut.
  REQUIRE(totals.round_trips > 3);
  const auto events = events_of(settings, runs);
  std::size_t cuts = 0;
  for (std::size_t passes = 1;; ++passes) {
    CAPTURE(passes);
    const auto path = work / "run";
    KilledModel killed(model, passes);
    bool ended = false;
    try {
      begin_run(killed, settings, path);
      ended = true;
    } catch (const Killed&) {
      ++cuts;
      resume_run(model, path);
    }
    const Left left(path);
    REQUIRE(json_lines(left.events) == events);
    check_summary(json::parse(left.summary), settings, runs);
    std::filesystem::remove_all(path);
    if (ended) break;
  }
  CHECK(cuts > 30);
}

namespace {

/// Every option that a run has: three stages whose moves, rounds and sweeps all grow, restarts that
/// are likelier in the middle, proposals that begin early and end early, confidence. A prompt has
/// a horizon of its own.
SamplingSettings everything_on() {
  SamplingSettings settings = replayed_settings();
  settings.prompts = {{"first", {2, 4}}, {"of less", {5}, 7}, {"third", {1, 1}}};
  settings.powers = {1.0, 2.1, 4.5};
  settings.horizon = 10;
  settings.block = 4;
  settings.rounds = {2, 4, 5};
  settings.local_moves = {1, 2, 3};
  settings.sweeps = {1, 2, 4};
  settings.restart_weights = {2, 5, 1};
  settings.options.early_rejection = true;
  settings.options.prefetch = 2;
  settings.options.confidence = true;
  return settings;
}

/// Ends a run that is killed twice, at these passes of its processes. Between the kills there is no
/// checkpoint but the first: what has ended is in the journal alone.
/// Returns whether it was killed at all.
bool run_killed_twice(LanguageModel& model, const SamplingSettings& settings,
                      const std::filesystem::path& path, std::size_t first, std::size_t second) {
  constexpr double no_checkpoint = 1e9;
  KilledModel killed(model, first);
  try {
    begin_run(killed, settings, path, no_checkpoint);
    return false;
  } catch (const Killed&) {
  }
  KilledModel killed_again(model, second);
  try {
    RunFolder folder = RunFolder::open(path);
    const auto read = SamplingSettings::from_json(folder.config(), path / "config.json");
    draw(killed_again, read, &folder, no_checkpoint);
    return true;
  } catch (const Killed&) {
  }
  resume_run(model, path);
  return true;
}

}  // namespace

TEST_CASE("with every option on, events and summary are the replay's, early rejections included") {
  const naive::Row row = scattered_row(6, 24, -2.0F);
  TableModel model(6, row);
  const test::TemporaryFolder work;
  const SamplingSettings settings = everything_on();
  begin_run(model, settings, work / "run");
  const Left left(work / "run");
  const auto runs = replays_of(settings, row);
  check_events(json_lines(left.events), events_of(settings, runs), runs);
  check_summary(json::parse(left.summary), settings, runs);
  // What is counted of early rejections is not 0, and no two of the numbers are alike.
  naive::Totals totals(settings.powers);
  for (const naive::Chain& run : runs) totals.add(run);
  CHECK(totals.early[0] == 0);
  for (std::size_t k = 1; k < settings.powers.size(); ++k) {
    CHECK(totals.early[k] > 5);
    CHECK(totals.unspent[k] > totals.early[k]);
  }
  CHECK(totals.early[1] != totals.early[2]);
  CHECK(totals.unspent[1] != totals.unspent[2]);
}

TEST_CASE(
    "with every option on, a run that is resumed from its journal alone leaves the same bytes") {
  const naive::Row row = scattered_row(6, 24, -2.0F);
  TableModel model(6, row);
  const test::TemporaryFolder work;
  const SamplingSettings settings = everything_on();
  begin_run(model, settings, work / "whole");
  const Left whole(work / "whole");
  std::size_t kills = 0;
  for (std::size_t pass = 1;; pass += 9) {
    CAPTURE(pass);
    const auto path = work / "run";
    const bool was_killed = run_killed_twice(model, settings, path, pass, 40 + pass / 2);
    REQUIRE(Left(path) == whole);
    std::filesystem::remove_all(path);
    if (!was_killed) break;
    ++kills;
  }
  CHECK(kills > 8);
}

TEST_CASE("particles that are resumed from a journal alone leave the same bytes") {
  const naive::Row row = scattered_row(6, 25, -2.0F);
  TableModel model(6, row);
  const test::TemporaryFolder work;
  SamplingSettings settings = replayed_settings();
  settings.sampler = "power-smc";
  settings.powers = {3.5};
  settings.output = 1;
  settings.particles = 5;
  settings.horizon = 11;
  settings.block = 2;
  settings.rounds = settings.local_moves = settings.sweeps = {1};
  settings.schedule = Schedule::adj;
  settings.options.confidence = true;
  begin_run(model, settings, work / "whole");
  const Left whole(work / "whole");
  // Particles are resampled after some stages and not after others: their weights are then of
  // more than one stage.
  std::map<bool, std::size_t> looks;
  for (const json& line : json_lines(whole.events))
    if (line["kind"] == "resampling") ++looks[line["resampled"].get<bool>()];
  CHECK(looks[true] > 3);
  CHECK(looks[false] > 3);
  std::size_t kills = 0;
  for (std::size_t pass = 1;; ++pass) {
    CAPTURE(pass);
    const auto path = work / "run";
    const bool was_killed = run_killed_twice(model, settings, path, pass, 22 + pass / 3);
    REQUIRE(Left(path) == whole);
    std::filesystem::remove_all(path);
    if (!was_killed) break;
    ++kills;
  }
  CHECK(kills > 10);
}

}  // namespace tempera::gpu::replayed_run_test
