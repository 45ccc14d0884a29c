// The command `tempera exact`: rational laws and matrices of a finite model.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/exact_output.hpp"
#include "cli/commands/fractions.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/report/mixing_report.hpp"

namespace tempera::cli {
namespace {

constexpr const char* exact_description =
    "Exact transition matrix, laws and verdicts of one rung (--power) or of the joint chain "
    "(--powers) on a finite model, as rationals";

constexpr const char* exact_footer = R"(Examples:
  tempera exact toy_models/four_state.json --horizon 2 --power 2
  tempera exact toy_models/four_state.json --horizon 2 --power 2 \
    --kernel truncating --start "a a"
  tempera exact toy_models/four_state.json --horizon 2 --powers 1,2 \
    --schedule deo --start "e|a a"

Without --start there is no total-variation curve ("tv" is empty in --json).
Exit code 0; 2 when the input is wrong, with one line that says where.)";

// Everything stays text until it is checked, so that a wrong flag ends in one line.
struct ExactFlags {
  std::string model, horizon, power, powers, kernel, restart, start, steps, round_trips, mixing;
  std::optional<gpu::Schedule> schedule;
  std::optional<gpu::RestartRange> restart_range;
  bool json = false;
  bool no_matrix = false;
  bool gap = false;
  bool cuts = false;
};

void refuse_with(bool is_given, const char* flag, const char* other) {
  if (is_given) {
    throw BadInput(flag, std::string("has no meaning with ") + other, "leave one of the two out");
  }
}

reference::ExactQuestion question(const ExactFlags& flags) {
  reference::ExactQuestion asked;
  if (flags.horizon.empty()) throw BadInput("--horizon", "is missing", "give --horizon T");
  asked.horizon = parse_whole_number(flags.horizon, "--horizon", {1, 1'000'000});
  if (flags.power.empty() == flags.powers.empty()) {
    throw BadInput("--power", "exactly one of --power and --powers is needed",
                   "give --power 2 for one rung or --powers 1,2,4 for the joint chain");
  }
  if (flags.start.empty() && !flags.steps.empty()) {
    throw BadInput("--steps", "has no effect without --start", "give --start \"RECORD\"");
  }
  if (!flags.start.empty()) asked.start = {flags.start, "--start"};
  if (!flags.steps.empty()) asked.steps = parse_whole_number(flags.steps, "--steps", {0, 10'000});
  if (!flags.restart.empty()) {
    parse_fractions(flags.restart, "--restart");
    asked.restart = reference::parse_restart_law(flags.restart, asked.horizon, "--restart");
  }
  if (flags.restart_range == gpu::RestartRange::record)
    asked.range = reference::RestartRange::record;
  return asked;
}

void print(const nlohmann::ordered_json& json) { std::cout << json.dump() << '\n'; }

/// The distance of --mixing, or the usual one at which a chain counts as mixed.
MixingHeading mixing_heading(const ExactFlags& flags, bool is_joint) {
  if (flags.mixing.empty()) return {is_joint, reference::Rational(1, 4)};
  const reference::Rational within = parse_fraction(flags.mixing, "--mixing");
  if (within <= 0 || within >= 1)
    throw BadInput("--mixing", "is " + flags.mixing,
                   "give a distance between 0 and 1, such as 1/4");
  return {is_joint, within};
}

/// The answer to --gap, --mixing and --cuts; nothing if none is given.
std::optional<reference::MixingReport> mixing_of(const ExactFlags& flags,
                                                 const MixingHeading& about,
                                                 reference::AskedChain& chain) {
  if (!flags.gap && !flags.cuts && flags.mixing.empty()) return std::nullopt;
  reference::MixingQuestion question{flags.gap, std::nullopt, flags.cuts};
  if (!flags.mixing.empty()) question.within = about.within;
  ProgressLine line;
  question.progress = [&](const std::string& next) { line.show(next); };
  return reference::report_mixing(chain, question);
}

void report_rung(const ExactFlags& flags, const reference::ExactQuestion& asked) {
  refuse_with(flags.schedule.has_value(), "--schedule", "--power");
  refuse_with(!flags.round_trips.empty(), "--round-trips", "--power");
  const reference::Power power(parse_fraction(flags.power, "--power"), "--power");
  const std::string kernel = flags.kernel.empty() ? "fixed" : flags.kernel;
  if (kernel == "truncating") {
    refuse_with(!flags.restart.empty(), "--restart",
                "--kernel truncating, whose restart is uniform");
    refuse_with(flags.restart_range.has_value(), "--restart-range",
                "--kernel truncating, whose range is the record's");
    const char* const why = "--kernel truncating, which does not preserve its target";
    refuse_with(flags.gap, "--gap", why);
    refuse_with(!flags.mixing.empty(), "--mixing", why);
    refuse_with(flags.cuts, "--cuts", why);
  }
  const auto model = reference::load_finite_model(flags.model);
  const RungHeading heading{model.name(), asked.horizon, power, kernel};
  const MixingHeading about = mixing_heading(flags, false);
  reference::AskedChain chain(model, reference::Ladder({power}), reference::Schedule::adj, asked);
  std::optional<reference::MixingReport> mixing;
  if (kernel == "fixed") {
    const bool is_carried = reference::is_carried(model, asked.horizon, 1);
    if (is_carried && flags.gap) refuse_with(true, "--gap", "a space that has no matrix");
    if (is_carried) refuse_with(!flags.mixing.empty(), "--mixing", "a space that has no matrix");
    if (is_carried && !flags.no_matrix)
      throw BadInput("--no-matrix", "is missing: there are too many states for a matrix",
                     "give it for the laws and verdicts alone");
    // The record's own restart positions are computed from the matrix.
    const bool asks_matrix = asked.range == reference::RestartRange::record;
    mixing = mixing_of(flags, about, chain);
    if (flags.no_matrix && (is_carried || !asks_matrix)) {
      const auto report = reference::report_carried(model, reference::Ladder({power}),
                                                    reference::Schedule::adj, asked);
      if (!flags.json) {
        print_exact(std::cout, heading, report);
        if (mixing) print_exact(std::cout, about, *mixing);
        return;
      }
      nlohmann::ordered_json json = exact_json(heading, report);
      if (!is_carried) json.erase("size");
      if (mixing) json.update(exact_json(about, *mixing));
      return print(json);
    }
  }
  const auto report = kernel == "fixed" ? reference::report_fixed_horizon(chain)
                      : flags.no_matrix ? reference::report_carried_truncating(model, power, asked)
                                        : reference::report_truncating(model, power, asked);
  const auto matrix = flags.no_matrix ? PrintedMatrix::no : PrintedMatrix::yes;
  if (flags.json) {
    nlohmann::ordered_json json = exact_json(heading, report, matrix);
    if (mixing) json.update(exact_json(about, *mixing));
    return print(json);
  }
  print_exact(std::cout, heading, report, matrix);
  if (mixing) print_exact(std::cout, about, *mixing);
}

void report_joint(const ExactFlags& flags, const reference::ExactQuestion& asked) {
  refuse_with(!flags.kernel.empty(), "--kernel", "--powers");
  if (flags.no_matrix) refuse_with(true, "--no-matrix", "--powers, which prints none");
  parse_fractions(flags.powers, "--powers");
  const auto ladder = reference::parse_ladder(flags.powers, "--powers");
  const gpu::Schedule schedule = flags.schedule.value_or(gpu::Schedule::adj);
  const auto model = reference::load_finite_model(flags.model);
  const JointHeading heading{model.name(), asked.horizon, ladder,
                             std::string(gpu::name_of(schedule))};
  const auto sweep =
      schedule == gpu::Schedule::adj ? reference::Schedule::adj : reference::Schedule::deo;
  std::optional<reference::RoundTripReport> round_trips;
  if (!flags.round_trips.empty())
    round_trips = reference::report_round_trips(
        model, ladder, sweep, asked,
        parse_whole_number(flags.round_trips, "--round-trips", {1, 10'000}));
  const MixingHeading about = mixing_heading(flags, true);
  reference::AskedChain chain(model, ladder, sweep, asked);
  const auto mixing = mixing_of(flags, about, chain);
  const auto answer = [&](const auto& report) {
    if (flags.json) {
      nlohmann::ordered_json json = exact_json(report);
      if (round_trips) json["round_trips"] = exact_json(*round_trips);
      if (mixing) json.update(exact_json(about, *mixing));
      return print(json);
    }
    print_exact(std::cout, heading, report);
    if (round_trips) print_exact(std::cout, *round_trips);
    if (mixing) print_exact(std::cout, about, *mixing);
  };
  if (reference::is_carried(model, asked.horizon, ladder.rungs()))
    answer(reference::report_carried(model, ladder, sweep, asked));
  else
    answer(reference::report_joint(chain));
}

void run_exact(const ExactFlags& flags) {
  const reference::ExactQuestion asked = question(flags);
  flags.power.empty() ? report_joint(flags, asked) : report_rung(flags, asked);
}

}  // namespace

void add_exact(CLI::App& app) {
  auto flags = std::make_shared<ExactFlags>();
  CLI::App* command = app.add_subcommand("exact", exact_description);
  command->footer(exact_footer);
  CLI::Option* model = add_text(*command, "MODEL", flags->model, "",
                                "Finite model, a JSON file (docs/reference/exact.md)");
  add_text(*command, "--horizon", flags->horizon, "N", "Horizon T, at least 1");
  add_text(*command, "--power", flags->power, "P", "One rung: its power, such as 2 or 3/2");
  add_choice(*command, "--kernel", flags->kernel, {"fixed", "truncating"},
             "One rung: fixed (horizon, default) or truncating (restart and regeneration capped by "
             "the current length)");
  add_text(*command, "--powers", flags->powers, "P[,P...]",
           "Joint chain: the ladder, increasing, such as 1,2,4");
  add_schedule(
      *command, flags->schedule,
      "Joint chain: adj (local sweep, then ordered sweep; default) or deo (local sweep, then "
      "one parity layer, odd edges first)");
  add_text(*command, "--restart", flags->restart, "P,P...",
           "Restart law over positions 1..T, such as 1/2,1/4,1/4 (default: uniform)");
  add_restart_range(*command, flags->restart_range);
  add_text(*command, "--start", flags->start, "RECORD",
           "Record to start the total-variation curve from, tokens joined by one space; with "
           "--powers one record for each rung, joined by '|'");
  add_text(*command, "--steps", flags->steps, "N",
           "Steps N of the curve" + default_text(reference::ExactQuestion{}.steps));
  add_text(*command, "--round-trips", flags->round_trips, "N",
           "Joint chain: expected round trips of a tagged replica in N steps from equilibrium");
  command->add_flag("--no-matrix", flags->no_matrix,
                    "One rung: without the matrix, which is then never built");
  command->add_flag("--gap", flags->gap,
                    "Enclose the spectral gap and the relaxation time; of the joint chain, those "
                    "of its multiplicative reversibilisation");
  add_text(*command, "--mixing", flags->mixing, "EPS",
           "Mixing time: the steps after which the total variation from the worst start is at most "
           "EPS, such as 1/4");
  command->add_flag("--cuts", flags->cuts,
                    "The narrowest cut between first tokens, and the bounds that follow from it");
  command->add_flag("--json", flags->json, "Print JSON, rationals in lowest terms");
  command->callback([flags, model] {
    require(*model, "name a finite model, such as toy_models/four_state.json");
    run_exact(*flags);
  });
}

}  // namespace tempera::cli
