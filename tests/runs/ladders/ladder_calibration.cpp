#include "runs/ladders/ladder_calibration.hpp"

#include <cmath>
#include <random>

#include "gpu/core/model/table_model.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/session/naive_run.hpp"

namespace tempera::gpu::ladder_calibration_test {
namespace {

/// Two tokens, one far likelier than the other, at every position of a record that never ends: log
/// p0 spreads most at small powers.
std::vector<float> leaning_row(std::span<const TokenId> prefix) {
  return {prefix.size() % 3 == 0 ? 1.25F : 2.5F, 0.0F, -30.0F};
}

CalibrationSettings small_calibration() {
  CalibrationSettings settings;
  settings.from = 0.1;
  settings.to = 4.0;
  settings.replicas = 4;
  settings.plan = {make_stages(12, 7, {8, 30}, {2}, {1}), Schedule::adj, 3};
  settings.terminal = {2};
  settings.seed = 77;
  settings.samples = 12;
  settings.pilots = 3;
  return settings;
}

const std::vector<Prompt> prompts{{{1, 0, 1}, {5, 0}}, {{0}, {6, 0x1234}}};
/// A horizon of their own makes the last stage shorter, and the first the last.
const std::vector<Prompt> cut_prompts{
    {{1, 0, 1}, {5, 0}, 11}, {{0}, {6, 0x1234}}, {{0, 1}, {7, 0}, 5}};

/// The replay of one pilot's runs.
std::vector<naive::Chain> replays_of(const CalibrationSettings& settings, const Pilot& pilot,
                                     std::size_t number, const std::vector<Prompt>& of) {
  std::vector<naive::Chain> runs;
  for (const Prompt& prompt : of)
    for (std::size_t sample = 0; sample < settings.samples; ++sample) {
      naive::Question asked;
      asked.row = leaning_row;
      asked.prompt = prompt.tokens;
      asked.terminal = settings.terminal;
      asked.powers = pilot.powers;
      const std::size_t horizon = prompt.horizon.value_or(12);
      for (const Stage& stage : settings.plan.stages) {
        if (!asked.horizons.empty() && asked.horizons.back() == horizon) break;
        asked.horizons.push_back(std::min(stage.horizon, horizon));
        asked.rounds.push_back(stage.rounds);
        asked.moves.push_back(stage.local_moves);
        asked.sweeps.push_back(stage.sweeps);
      }
      asked.seed = naive::seed_of(settings.seed, {prompt.number.in_address, prompt.number.in_seed});
      asked.prompt_number = prompt.number.in_address;
      asked.sample = sample;
      asked.pilot = number;
      runs.emplace_back(asked);
    }
  return runs;
}

}  // namespace

TEST_CASE("a geometric ladder has equal ratios and the ends that were asked for") {
  const auto powers = geometric_ladder(1.5, 3.0, 4);
  REQUIRE(powers.size() == 4);
  CHECK(powers.front() == 1.5);
  CHECK(powers.back() == 3.0);
  for (std::size_t k = 1; k < 3; ++k)
    CHECK(std::abs(powers[k] * powers[k] / (powers[k - 1] * powers[k + 1]) - 1.0) < 1e-14);
  require_bad_input([] { geometric_ladder(1.0, 2.0, 1); }, {"replicas"});
  require_bad_input([] { geometric_ladder(2.0, 2.0, 3); }, {"to"});
  require_bad_input([] { geometric_ladder(0.0, 2.0, 3); }, {"from"});
}

TEST_CASE("the neighbours of an equidistant ladder are equally far apart") {
  const std::vector<double> powers{0.5, 1.0, 2.5, 3.0, 7.0};
  const std::vector<double> deviations{9.0, 4.0, 0.5, 2.0, 1.0};
  const auto sigma = [&](double s) {
    std::size_t i = 0;
    while (i + 2 < powers.size() && s > powers[i + 1]) ++i;
    const double t = (s - powers[i]) / (powers[i + 1] - powers[i]);
    return (1.0 - t) * deviations[i] + t * deviations[i + 1];
  };
  // Midpoints of a million parts: the error is far below the tolerance, 1e-5 of the whole.
  const auto length = [&](double a, double b) {
    constexpr int parts = 100000;
    double sum = 0.0;
    for (int i = 0; i < parts; ++i) sum += sigma(a + (b - a) * (i + 0.5) / parts);
    return sum * (b - a) / parts;
  };
  const auto placed = equidistant_ladder(powers, deviations);
  REQUIRE(placed.size() == powers.size());
  CHECK(placed.front() == 0.5);
  CHECK(placed.back() == 7.0);
  const double whole = length(0.5, 7.0);
  for (std::size_t k = 0; k + 1 < placed.size(); ++k)
    CHECK(std::abs(length(placed[k], placed[k + 1]) - whole / 4.0) < 1e-5 * whole);
  CHECK(equidistant_ladder(powers, std::vector<double>(5, 0.0)) == powers);
}

TEST_CASE("pilots measure what a replay gives, with words of their own, and even the ladder out") {
  TableModel model(3, leaning_row);
  const CalibrationSettings settings = small_calibration();
  const bool cut = GENERATE(false, true);
  const std::vector<Prompt>& of = cut ? cut_prompts : prompts;
  CAPTURE(cut);
  // A part has a position of every first stage: 7, or as many as the least horizon.
  const std::size_t parts = cut ? 5 : 7;
  std::size_t told = 0;
  const auto pilots = calibrate_ladder(model, of, settings, [&](const Pilot&) { ++told; });
  CHECK(told == pilots.size());
  REQUIRE(pilots.size() > 1);
  CHECK(pilots.front().powers == geometric_ladder(0.1, 4.0, 4));
  for (std::size_t n = 0; n < pilots.size(); ++n) {
    const Pilot& pilot = pilots[n];
    const auto runs = replays_of(settings, pilot, n + 1, of);
    std::vector<std::uint64_t> attempts(3), accepted(3), restarts(parts), changes(parts);
    REQUIRE(pilot.runs.size() == runs.size());
    std::vector<double> deviations(4);
    for (std::size_t p = 0; p < of.size(); ++p) {
      std::vector<std::vector<naive::Real>> values(4);
      const std::size_t horizon = of[p].horizon.value_or(12);
      for (std::size_t sample = 0; sample < settings.samples; ++sample) {
        RunSwaps swaps{std::vector<std::uint64_t>(3), std::vector<std::uint64_t>(3)};
        const std::size_t run_index = p * settings.samples + sample;
        for (const naive::Moment& moment : runs[run_index].moments) {
          // The second half of the 30 rounds of the second stage, or of the 8 of the first.
          if (moment.stage != (horizon > 7 ? 1 : 0) || moment.round <= (horizon > 7 ? 15 : 4))
            continue;
          for (std::size_t k = 0; k < 4; ++k) values[k].push_back(moment.log_p0[k]);
          for (const Event& event : moment.events)
            if (event.kind == Event::Kind::swap) {
              ++swaps.attempts[event.rung];
              swaps.accepted[event.rung] += event.accepted ? 1 : 0;
            } else if (event.kind == Event::Kind::local_move) {
              // Part i of n, from 0, has the positions r with i T <= n (r − 1) < (i + 1) T.
              std::size_t part = 0;
              while ((part + 1) * horizon <= parts * (event.restart - 1)) ++part;
              ++restarts[part];
              changes[part] += event.changed ? 1 : 0;
            }
        }
        CHECK(pilot.runs[run_index].attempts == swaps.attempts);
        CHECK(pilot.runs[run_index].accepted == swaps.accepted);
        for (std::size_t k = 0; k < 3; ++k) {
          attempts[k] += swaps.attempts[k];
          accepted[k] += swaps.accepted[k];
        }
      }
      for (std::size_t k = 0; k < 4; ++k) {
        naive::Real mean = 0, squares = 0;
        for (const auto& value : values[k]) mean += value / values[k].size();
        for (const auto& value : values[k]) squares += (value - mean) * (value - mean);
        deviations[k] += sqrt(naive::Real(squares / (values[k].size() - 1))).convert_to<double>() /
                         static_cast<double>(of.size());
      }
    }
    CHECK(pilot.attempts == attempts);
    CHECK(pilot.accepted == accepted);
    CHECK(pilot.restarts == restarts);
    CHECK(pilot.changes == changes);
    // 180 numbers below 2^8 with a spread above 1: each rounded to 2^-45 at most, a few times.
    for (std::size_t k = 0; k < 4; ++k) CHECK(std::abs(pilot.deviations[k] - deviations[k]) < 1e-9);
  }
  // The defect that a calibration is for, and that it is gone.
  CHECK(pilots.front().lowest_acceptance() < (cut ? 0.2 : 0.15));
  CHECK(best_pilot(pilots).lowest_acceptance() > pilots.front().lowest_acceptance() + 0.05);
  CHECK(best_pilot(pilots).powers.front() == 0.1);
  CHECK(best_pilot(pilots).powers.back() == 4.0);
}

namespace {

/// A pilot whose runs accept at the edges with probabilities of their own: those that are given,
/// and half of the time all of a run's attempts by one word, as if its records stayed.
Pilot drawn_pilot(std::mt19937& words, std::size_t runs, const std::vector<double>& probabilities) {
  Pilot pilot;
  const std::size_t edges = probabilities.size();
  pilot.attempts.resize(edges);
  pilot.accepted.resize(edges);
  std::uniform_real_distribution<double> uniform;
  for (std::size_t i = 0; i < runs; ++i) {
    RunSwaps& run =
        pilot.runs.emplace_back(RunSwaps{pilot.attempts, std::vector<std::uint64_t>(edges)});
    for (std::size_t k = 0; k < edges; ++k) {
      run.attempts[k] = 10;
      const bool stays = uniform(words) < 0.5;
      const bool accepts = uniform(words) < probabilities[k];
      for (int attempt = 0; attempt < 10; ++attempt)
        run.accepted[k] += (stays ? accepts : uniform(words) < probabilities[k]) ? 1 : 0;
      pilot.accepted[k] += run.accepted[k];
    }
  }
  for (std::size_t k = 0; k < edges; ++k) pilot.attempts[k] = 10 * runs;
  return pilot;
}

std::size_t told_to_differ(std::size_t runs, const std::vector<double>& probabilities) {
  std::mt19937 words(97);
  std::size_t told = 0;
  for (int n = 0; n < 2000; ++n)
    told += acceptances_are_equal(drawn_pilot(words, runs, probabilities)).value() ? 0 : 1;
  return told;
}

}  // namespace

// Of 2000 pilots one in twenty is 100, and three standard deviations are below 30.
TEST_CASE("pilots of equal acceptances are told to differ once in twenty at most, others always") {
  for (const std::size_t runs : {2, 3, 8, 12, 40})
    for (const std::size_t edges : {2, 3, 7}) {
      CAPTURE(runs, edges);
      CHECK(told_to_differ(runs, std::vector<double>(edges, 0.4)) < 130);
    }
  CHECK(told_to_differ(8, {0.4, 0.4}) > 50);
  CHECK(told_to_differ(40, {0.3, 0.3, 0.7}) > 1990);
  CHECK(told_to_differ(12, {0.1, 0.8}) > 1900);
}

TEST_CASE("whether acceptances are equal is held against how the runs differ") {
  // Both edges vary alike from run to run: u = (±2)/20 each and no difference to tell.
  Pilot pilot;
  pilot.attempts = {20, 20};
  pilot.accepted = {8, 8};
  pilot.runs = {{{10, 10}, {6, 6}}, {{10, 10}, {2, 2}}};
  CHECK(acceptances_are_equal(pilot) == true);
  // The second accepts one more in each run: no noise to explain it.
  pilot.accepted = {8, 10};
  pilot.runs = {{{10, 10}, {6, 7}}, {{10, 10}, {2, 3}}};
  CHECK(acceptances_are_equal(pilot) == false);
  // D = 2 (1/20)², and in each run the second edge is 1 ∓ 1/10 ahead: V' = 2 · 2 · 2 (1/400)² …
  // so t² = D/V' is 100, and 12.706² is beyond it.
  pilot.attempts = {200, 200};
  pilot.accepted = {80, 100};
  pilot.runs = {{{100, 100}, {40, 51}}, {{100, 100}, {40, 49}}};
  CHECK(acceptances_are_equal(pilot) == true);
  // Of three such runs t² is 300 at 4.303².
  pilot.attempts = {300, 300};
  pilot.accepted = {120, 150};
  pilot.runs = {{{100, 100}, {40, 51}}, {{100, 100}, {40, 49}}, {{100, 100}, {40, 50}}};
  CHECK(acceptances_are_equal(pilot) == false);
  pilot.runs.resize(1);
  CHECK_FALSE(acceptances_are_equal(pilot).has_value());
  pilot.runs.resize(3, pilot.runs.front());
  pilot.attempts[1] = 0;
  CHECK_FALSE(acceptances_are_equal(pilot).has_value());
  pilot.attempts = {7};
  pilot.runs.resize(1);
  CHECK(acceptances_are_equal(pilot) == true);
}

TEST_CASE(
    "calibration goes on while the runs tell the acceptances apart, or says why it does not") {
  // Six swaps an edge look equal by their number alone; two runs that agree tell them apart.
  Pilot pilot;
  pilot.powers = {1.0, 2.0, 3.0};
  pilot.deviations = {4.0, 2.0, 1.0};
  pilot.attempts = {6, 6};
  pilot.accepted = {0, 4};
  pilot.runs = {{{3, 3}, {0, 2}}, {{3, 3}, {0, 2}}};
  const std::vector<Pilot> one{pilot};
  CHECK(acceptances_are_equal(pilot) == false);
  CHECK_FALSE(why_calibration_ends(one, 4).has_value());
  CHECK(why_calibration_ends(one, 1) == CalibrationEnd::exhausted);
  CHECK(why_calibration_ends(std::vector<Pilot>(4, pilot), 4) == CalibrationEnd::exhausted);
  pilot.deviations = {1.0, 1.0, 1.0};
  CHECK(why_calibration_ends(std::vector{pilot}, 4) == CalibrationEnd::same);
  pilot.accepted = {3, 3};
  pilot.runs = {{{3, 3}, {1, 2}}, {{3, 3}, {2, 1}}};
  CHECK(why_calibration_ends(std::vector{pilot}, 4) == CalibrationEnd::equal);
  pilot.runs.resize(1);
  CHECK(why_calibration_ends(std::vector{pilot}, 4) == CalibrationEnd::equal);
}

TEST_CASE("suggested restart weights are the shares that changed the record, and never 0") {
  Pilot pilot;
  pilot.restarts = {10, 20, 0, 8, 100};
  pilot.changes = {5, 4, 0, 0, 1};
  CHECK(suggested_restart_weights(pilot) == std::vector<std::uint64_t>{64, 26, 1, 1, 1});
  pilot.changes = {0, 0, 0, 0, 0};
  CHECK(suggested_restart_weights(pilot) == std::vector<std::uint64_t>(5, 1));
  pilot.restarts = {8};
  pilot.changes = {3};
  CHECK(suggested_restart_weights(pilot).empty());
}

TEST_CASE("a pilot's draws are not a run's, whatever its number") {
  CalibrationSettings settings = small_calibration();
  for (const std::size_t number : {1, 2, 255}) {
    const DrawSettings draw = pilot_settings(settings, {1.0, 2.0}, number);
    CHECK(draw.pilot == number);
    CHECK(draw.seed == settings.seed);
  }
  TableModel model(3, leaning_row);
  settings.pilots = 0;
  require_bad_input([&] { calibrate_ladder(model, prompts, settings); }, {"pilots"});
  settings.pilots = 256;
  require_bad_input([&] { calibrate_ladder(model, prompts, settings); }, {"pilots"});
  settings = small_calibration();
  for (const std::size_t samples : {std::size_t{0}, addressable_samples + 1, SIZE_MAX}) {
    settings.samples = samples;
    require_bad_input([&] { calibrate_ladder(model, prompts, settings); }, {"samples"});
  }
  settings = small_calibration();
  settings.plan.stages.back().sweeps = 0;
  require_bad_input([&] { calibrate_ladder(model, prompts, settings); }, {"rounds"});
}

}  // namespace tempera::gpu::ladder_calibration_test
