// The command `tempera exact`: rational laws and matrices of a finite model.
#include <iostream>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/exact_report.hpp"
#include "reference/bad_input.hpp"
#include "reference/in_quotes.hpp"
#include "reference/model/finite_model.hpp"

namespace tempera::cli {
namespace {

using reference::BadInput;

constexpr const char* description =
    "Exact transition matrix, laws and verdicts of one rung (--power) or of the joint chain "
    "(--powers) on a finite model, as rationals";

constexpr const char* footer = R"(Examples:
  tempera exact toy_models/four_state.json --horizon 2 --power 2 --kernel truncating --start "a a"
  tempera exact toy_models/four_state.json --horizon 2 --powers 1,2 --schedule adj --start "e|a a"

Without --start there is no total-variation curve ("tv" is empty in --json).
Exit code 0; 2 when the input is wrong, with one line that says where and what to do.)";

// Everything stays text until it is checked, so that a wrong flag ends in one line.
struct ExactFlags {
  std::string model, horizon, power, powers, kernel, schedule, restart, start, steps;
  bool json = false;
};

std::size_t whole_number(const std::string& text, const std::string& flag, std::size_t least,
                         std::size_t most) {
  const bool digits = !text.empty() && text.size() <= 9 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoul(text) < least || std::stoul(text) > most) {
    throw BadInput(
        flag, reference::in_quotes(text) + " is out of range",
        "give a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return std::stoul(text);
}

void refuse_beside(const std::string& value, const char* flag, const char* other) {
  if (!value.empty()) {
    throw BadInput(flag, std::string("has no meaning with ") + other, "leave one of the two out");
  }
}

ExactQuestion question(const ExactFlags& flags) {
  ExactQuestion asked;
  if (flags.horizon.empty()) throw BadInput("--horizon", "is missing", "give --horizon T");
  asked.horizon = whole_number(flags.horizon, "--horizon", 1, 1'000'000);
  if (flags.power.empty() == flags.powers.empty()) {
    throw BadInput("--power", "exactly one of --power and --powers is needed",
                   "give --power 2 for one rung or --powers 1,2,4 for the joint chain");
  }
  if (flags.start.empty() && !flags.steps.empty()) {
    throw BadInput("--steps", "has no effect without --start", "give --start \"RECORD\"");
  }
  if (!flags.start.empty()) asked.start = flags.start;
  if (!flags.steps.empty()) asked.steps = whole_number(flags.steps, "--steps", 0, 10'000);
  if (!flags.restart.empty()) {
    asked.restart = reference::parse_restart_law(flags.restart, asked.horizon, "--restart");
  }
  return asked;
}

void run_exact(const ExactFlags& flags) {
  const ExactQuestion asked = question(flags);
  ExactReport report;
  if (!flags.power.empty()) {
    refuse_beside(flags.schedule, "--schedule", "--power");
    const auto power = reference::parse_power(flags.power, "--power");
    if (flags.kernel.empty() || flags.kernel == "fixed") {
      report = report_fixed_horizon(reference::load_finite_model(flags.model), power, asked);
    } else if (flags.kernel == "truncating") {
      refuse_beside(flags.restart, "--restart", "--kernel truncating, whose restart is uniform");
      report = report_truncating(reference::load_finite_model(flags.model), power, asked);
    } else {
      throw BadInput("--kernel", reference::in_quotes(flags.kernel) + " is unknown",
                     "give fixed or truncating");
    }
  } else {
    refuse_beside(flags.kernel, "--kernel", "--powers");
    const auto ladder = reference::parse_ladder(flags.powers, "--powers");
    const bool ordered = flags.schedule.empty() || flags.schedule == "adj";
    if (!ordered && flags.schedule != "deo") {
      throw BadInput("--schedule", reference::in_quotes(flags.schedule) + " is unknown",
                     "give adj or deo");
    }
    report = report_joint(reference::load_finite_model(flags.model), ladder,
                          ordered ? Schedule::ordered : Schedule::even_odd, asked);
  }
  if (flags.json) {
    std::cout << report.json.dump() << '\n';
  } else {
    print_tables(std::cout, report);
  }
}

}  // namespace

void add_exact(CLI::App& app) {
  auto flags = std::make_shared<ExactFlags>();
  CLI::App* command = app.add_subcommand("exact", description);
  command->footer(footer);
  command->add_option("MODEL", flags->model, "finite model, a JSON file (docs/exact.md)")
      ->required();
  command->add_option("--horizon", flags->horizon, "horizon T, at least 1");
  command->add_option("--power", flags->power, "one rung: its power, such as 2 or 3/2");
  command->add_option("--kernel", flags->kernel,
                      "one rung: fixed (horizon, default) or truncating (restart and "
                      "regeneration capped by the current length)");
  command->add_option("--powers", flags->powers,
                      "joint chain: the ladder, increasing, such as 1,2,4");
  command->add_option("--schedule", flags->schedule,
                      "joint chain: adj (local sweep, then ordered sweep; default) or deo (local "
                      "sweep, then one parity layer, odd edges first)");
  command->add_option("--restart", flags->restart,
                      "restart law over positions 1..T, such as 1/2,1/4,1/4 (default uniform)");
  command->add_option("--start", flags->start,
                      "record to start the total-variation curve from, tokens joined by one "
                      "space; with --powers one record per rung, joined by '|'");
  command->add_option("--steps", flags->steps, "steps N of the curve (default 10)");
  command->add_flag("--json", flags->json, "print JSON, rationals in lowest terms");
  command->callback([flags] { run_exact(*flags); });
}

}  // namespace tempera::cli
