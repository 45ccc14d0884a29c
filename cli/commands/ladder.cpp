#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/commands/chat_options.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/cut_horizon.hpp"
#include "cli/commands/open_model.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/thread_limit.hpp"
#include "gpu/session/defaults.hpp"
#include "gpu/session/prompt_file.hpp"
#include "lab/enumerate/finite_model_file.hpp"
#include "runs/ladders/resolve_ladder.hpp"
#include "runs/ladders/swap_schedule.hpp"

namespace tempera::cli {
namespace {

constexpr const char* ladder_examples = R"(Examples:
  tempera ladder --model smollm2 --chat --prompts pilots.jsonl \
    --from 1.5 --to 3 --replicas 4 --horizon 128 --rounds 20
  tempera ladder --model toy_models/four_state.json --prompts empty.jsonl \
    --from 1 --to 4 --replicas 3 --horizon 8 --samples 50 --json)";

struct LadderOptions {
  std::string model;
  std::string prompts;
  std::string device;
  std::size_t threads = 0;  ///< 0: as many as there are
  std::vector<double> from;
  std::vector<double> to;
  bool json = false;
  bool download = false;
  ChatOptions chat;
  std::optional<gpu::Arithmetic> arithmetic;
  std::optional<gpu::RopeFactors> rope_factors;
  gpu::LadderWish wish;  ///< all but its powers
};

nlohmann::ordered_json json_of(const gpu::Pilot& pilot) {
  nlohmann::ordered_json json{{"powers", pilot.powers}, {"deviations", pilot.deviations}};
  json["attempts"] = pilot.attempts;
  json["accepted"] = pilot.accepted;
  json["restarts"] = pilot.restarts;
  json["changes"] = pilot.changes;
  auto& acceptances = json["acceptances"] = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < pilot.attempts.size(); ++k)
    acceptances.push_back(pilot.acceptance(k));
  return json;
}

/// "0.53 +- 0.02".
std::string measured(const gpu::Pilot& pilot, std::size_t edge) {
  const double a = pilot.acceptance(edge);
  const double error = std::sqrt(a * (1.0 - a) / static_cast<double>(pilot.attempts[edge]));
  char text[32];
  std::snprintf(text, sizeof text, "%.3f +- %.3f", a, error);
  return text;
}

nlohmann::ordered_json json_of(const gpu::MeasuredSchedule& measured, gpu::Schedule schedule) {
  const auto trips = measured.round_trips_per_second(schedule);
  nlohmann::ordered_json json{{"seconds", measured.seconds},
                              {"attempts", nlohmann::ordered_json::array()},
                              {"accepted", nlohmann::ordered_json::array()}};
  for (const gpu::EdgeCounts& edge : measured.edges) {
    json["attempts"].push_back(edge.attempts);
    json["accepted"].push_back(edge.accepted);
  }
  json["round_trips_per_second"] =
      trips ? nlohmann::ordered_json(*trips) : nlohmann::ordered_json(nullptr);
  return json;
}

const char* name_of(gpu::Schedule schedule) {
  return schedule == gpu::Schedule::adj ? "adj" : "deo";
}

void print(const gpu::ScheduleChoice& choice) {
  std::printf("%-9s %16s  %s\n", "schedule", "s an iteration", "expected round trips a second");
  for (const auto schedule : {gpu::Schedule::adj, gpu::Schedule::deo}) {
    const gpu::MeasuredSchedule& measured =
        schedule == gpu::Schedule::adj ? choice.adj : choice.deo;
    const auto trips = measured.round_trips_per_second(schedule);
    char number[32];
    std::snprintf(number, sizeof number, "%.4g", trips.value_or(0.0));
    std::printf("%-9s %16.4g  %s\n", name_of(schedule), measured.seconds,
                trips ? number : "unknown: an edge has accepted no swap");
  }
  std::printf("--schedule %s\n", name_of(choice.recommended()));
}

/// "64,12,1".
std::string weights_of(const gpu::Pilot& pilot) {
  std::string list;
  for (const std::uint64_t weight : gpu::suggested_restart_weights(pilot))
    list += (list.empty() ? "" : ",") + std::to_string(weight);
  return list;
}

/// Whether the acceptances are even, for people.
std::string evenness(const gpu::Pilot& pilot) {
  if (pilot.attempts.size() == 1) return "there is but one";
  const std::string runs = std::to_string(pilot.runs.size()) + " runs";
  const auto equal = gpu::acceptances_are_equal(pilot);
  if (!equal) return "one run shows no noise to tell by; give --samples 2 or more";
  return *equal ? "equal as far as the noise of " + runs + " can tell"
                : "still unequal, by more than the noise of " + runs;
}

/// Why there were no more pilots, for people.
std::string end_of(const std::vector<gpu::Pilot>& pilots, std::size_t most) {
  const auto end = gpu::why_calibration_ends(pilots, most);
  if (end == gpu::CalibrationEnd::equal && gpu::acceptances_are_equal(pilots.back()))
    return "no more are needed";
  if (end == gpu::CalibrationEnd::equal)
    return "so few swaps tell no acceptances apart; more --rounds or --samples may";
  if (end == gpu::CalibrationEnd::same) return "what they measured places no power elsewhere";
  return "as many as --pilots allows; more of them, or more --rounds and --samples, may tell more";
}

void print(const std::vector<gpu::Pilot>& pilots, std::size_t most) {
  const gpu::Pilot& before = pilots.front();
  const gpu::Pilot& after = gpu::best_pilot(pilots);
  std::printf("%4s  %-12s %-16s  %-12s %-16s %s\n", "rung", "geometric", "swaps upwards",
              "calibrated", "swaps upwards", "deviation of log p0");
  for (std::size_t k = after.powers.size(); k-- > 0;) {
    const bool last = k + 1 == after.powers.size();
    std::printf("%4zu  %-12.6g %-16s  %-12.6g %-16s %.4g\n", k + 1, before.powers[k],
                last ? "" : measured(before, k).c_str(), after.powers[k],
                last ? "" : measured(after, k).c_str(), after.deviations[k]);
  }
  std::printf("pilots: %zu; %s\nacceptances: %s\n--powers %s\n", pilots.size(),
              end_of(pilots, most).c_str(), evenness(after).c_str(),
              decimals_of(after.powers).c_str());
  if (after.restarts.size() > 1)
    std::printf("--restart-weights %s\nthese weights fit runs of --block %zu or more\n",
                weights_of(after).c_str(), after.restarts.size());
}

void run_ladder(LadderOptions options) {
  const gpu::CurrentDevice here(gpu::require_device(options.device));
  std::optional<gpu::ThreadLimit> limit;
  if (options.threads > 0) limit.emplace(options.threads);
  obtain_if_asked(options.download, options.model);
  const gpu::OpenedModel model =
      lab::open_model(options.model, options.arithmetic, options.rope_factors);
  std::vector<gpu::RunPrompt> given;
  const auto lines = gpu::read_prompt_file(options.prompts);
  for (const gpu::PromptLine& line : lines)
    given.push_back({line.id, options.chat.prompt_of(line), line.where});
  options.wish.from = options.from.front();
  options.wish.to = options.to.front();
  const gpu::ResolvedLadder resolved = gpu::resolve_ladder(
      options.wish, model, given, options.chat.arguments(), gpu::Spelling::flags);
  const gpu::CalibrationSettings& settings = resolved.settings;
  const std::vector<gpu::Prompt>& prompts = resolved.prompts;
  ProgressLine line;
  std::size_t done = 0;
  line.show_step(0, settings.pilots, "pilot");
  const auto pilots = gpu::calibrate_ladder(
      model.model(), prompts, settings,
      [&](const gpu::Pilot&) { line.show_step(++done, settings.pilots, "pilot"); });
  std::optional<gpu::ScheduleChoice> choice;
  if (options.wish.times_schedules) {
    line.show_step(done, done + 2, "pilots of both schedules");
    choice = gpu::measure_schedules(model.model(), prompts, settings,
                                    gpu::best_pilot(pilots).powers, pilots.size());
  }
  line.clear();
  for (std::size_t p = 0; p < prompts.size(); ++p)
    if (prompts[p].horizon)
      warn_shortened_horizon(lines[p].id, *prompts[p].horizon, resolved.horizon, 0);
  if (!options.json) {
    print(pilots, settings.pilots);
    if (choice) print(*choice);
    return;
  }
  nlohmann::ordered_json report{{"before", json_of(pilots.front())},
                                {"after", json_of(gpu::best_pilot(pilots))}};
  const auto equal = gpu::acceptances_are_equal(gpu::best_pilot(pilots));
  report["end"] = gpu::name_of(gpu::why_calibration_ends(pilots, settings.pilots).value());
  report["acceptances_equal"] =
      equal ? nlohmann::ordered_json(*equal) : nlohmann::ordered_json(nullptr);
  report["powers"] = gpu::best_pilot(pilots).powers;
  report["restart_weights"] = gpu::suggested_restart_weights(gpu::best_pilot(pilots));
  if (choice) {
    report["schedules"] = {{"adj", json_of(choice->adj, gpu::Schedule::adj)},
                           {"deo", json_of(choice->deo, gpu::Schedule::deo)}};
    report["schedule"] = name_of(choice->recommended());
  }
  auto& all = report["pilots"] = nlohmann::ordered_json::array();
  for (const gpu::Pilot& pilot : pilots) all.push_back(json_of(pilot));
  std::cout << report.dump() << '\n';
}

}  // namespace

void add_ladder(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "ladder",
      "Place the powers of a ladder so that all swaps are accepted equally often, and suggest "
      "restart weights");
  auto options = std::make_shared<LadderOptions>();
  CLI::Option* model = add_text(*command, "--model", options->model, "MODEL",
                                "Hugging Face folder, name of a model, or finite model (JSON)");
  CLI::Option* prompts =
      add_text(*command, "--prompts", options->prompts, "FILE",
               "File of prompts, one {\"id\": \"...\", \"prompt\": \"...\"} a line");
  add_download(*command, options->download);
  options->chat.add_to(*command);
  add_arithmetic(*command, options->arithmetic);
  add_rope_factors(*command, options->rope_factors);
  CLI::Option* from = add_power(*command, "--from", options->from, "The flattest power");
  CLI::Option* to = add_power(*command, "--to", options->to, "The sharpest power");
  CLI::Option* replicas = add_whole_number(*command, "--replicas", options->wish.replicas,
                                           {2, 65535}, "How many rungs the ladder has");
  gpu::LadderWish& wish = options->wish;
  add_whole_number(*command, "--horizon", wish.horizon, {1, gpu::longest_horizon},
                   "Horizon T of the pilots (default: " + std::to_string(gpu::defaults::horizon) +
                       ", and after a prompt that leaves less room, that)");
  add_whole_number(*command, "--block", wish.block, {1, gpu::longest_horizon},
                   "Block width B of their stages (default: T/4)");
  add_whole_number(*command, "--rounds", wish.rounds, {2, gpu::addressable_turns - 1},
                   "Rounds of each stage; the second half of the last stage's is measured" +
                       default_text(gpu::defaults::pilot_rounds));
  add_whole_number(*command, "--samples", wish.samples, {1, gpu::addressable_samples},
                   "Pilot runs of each prompt" + default_text(gpu::defaults::samples));
  add_whole_number(
      *command, "--pilots", wish.pilots, {1, gpu::addressable_pilots},
      "The most ladders to try, the geometric one first" + default_text(gpu::defaults::pilots));
  add_seed(*command, wish.seed,
           "Seed of the pilots' draws, which no run shares" + default_text(gpu::defaults::seed));
  add_bytes(*command, "--cache-memory", wish.session.cache_memory,
            "The most that keys and values may take, such as 8GiB (default: half of the memory "
            "that is free)");
  add_device(*command, options->device);
  const CLI::Option* threads = add_threads(*command, options->threads);
  command->add_flag("--time-schedules", wish.times_schedules,
                    "Run two more pilots on the calibrated ladder, one under each schedule, and "
                    "print which brings more expected round trips a second (seconds are measured: "
                    "they differ from call to call)");
  command->add_flag(
      "--json", options->json,
      "Print {\"before\", \"after\", \"end\" (why no pilot followed: equal, same ladder or "
      "exhausted), \"acceptances_equal\", \"powers\", \"restart_weights\", "
      "\"pilots\"}: of each ladder its powers, deviations of log p0, swaps attempted and accepted, "
      "restarts and those that changed the record, by part; whether the acceptances after are "
      "equal as far as the noise can tell (null: it cannot be told); with --time-schedules "
      "{\"schedules\", \"schedule\"} too");
  command->footer(ladder_examples);
  command->callback([=] {
    require(*model, "give --model MODEL");
    require(*prompts, "give --prompts FILE");
    require(*from, "give --from A, the flattest power");
    require(*to, "give --to A, the sharpest power");
    require(*replicas, "give --replicas K, the number of rungs");
    options->chat.check();
    refuse_idle_threads(*threads);
    run_ladder(*options);
  });
}

}  // namespace tempera::cli
