// The command `tempera check`: the exact law of a sampler in any language, and a verdict.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/error.hpp"
#include "cli/commands/check_options.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/shipped_tree.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "lab/judge/child_program.hpp"
#include "settings/defaults.hpp"

namespace tempera::cli {
namespace {

constexpr const char* check_examples = R"(Examples:
  tempera check --program "python3 examples/metropolis.py"
  tempera check --program ./my_sampler --target power:4 \
    --model toy_models/four_state.json --horizon 3
  tempera check --program "python3 tempering.py" --target powers:1,2 --json
  tempera check --program "python3 -m tempera.check my.py:sample" --whole \
    --algorithm power-sampling --target power:4 --within 1e-6

A file as --target is {"states": {"a e": "1/3", ...}}, a law over the records.
The program's side is in docs/howto/check_protocol.md.
Exit code 0 if the target is preserved and reached from everywhere on every
model (--whole: if the answers have the law); 1 if not, with the smallest model
that shows it; 2 when the input is wrong or the program misbehaves, with one
line that says how; 3 if --seconds were over before it was decided.)";

void run_check(const CheckOptions& options, bool names_horizon) {
  try {
    if (options.is_whole)
      check_whole_program(options, names_horizon);
    else
      check_kernel(options, names_horizon);
  } catch (const lab::ProgramFailure& failure) {
    constexpr std::size_t most = 10;
    const auto& printed = failure.printed();
    if (!failure.traceback().empty() && !printed.empty()) {
      std::fprintf(stderr, "the program printed%s:\n",
                   printed.size() > most ? ", among other lines" : "");
      for (std::size_t i = 0; i < std::min(most, printed.size()); ++i)
        std::fprintf(stderr, "  | %s\n", printed[i].c_str());
    }
    if (!failure.traceback().empty()) std::fprintf(stderr, "%s\n", failure.traceback().c_str());
    throw;
  }
}

/// What only a whole program takes.
void add_whole_options(CLI::App& command, CheckOptions& options) {
  command.add_flag("--whole", options.is_whole,
                   "The program is not a kernel: it goes from the prompt to an answer");
  add_text(command, "--algorithm", options.algorithm, "NAME",
           "For a whole program: whether it is this sampler, by any name of law --sampler");
  add_text(command, "--powers", options.powers, "P[,P...]",
           "For a whole program: its powers (default: that of --target)");
  add_whole_number(command, "--block", options.wish.block, {1, 128},
                   "For the algorithm: block width B (default: half of the horizon)");
  add_whole_number(
      command, "--rounds", options.wish.rounds, {0, 64},
      "For the algorithm: rounds in each stage" + default_text(gpu::defaults::exact_rounds));
  add_whole_number(
      command, "--local-moves", options.wish.local_moves, {0, 64},
      "For the algorithm: local moves of a round" + default_text(gpu::defaults::local_moves));
  add_whole_number(command, "--sweeps", options.wish.sweeps, {0, 64},
                   "For the algorithm: sweeps in a round" + default_text(gpu::defaults::sweeps));
  add_schedule(command, options.wish.schedule, "For the algorithm: its swaps (default: adj)");
  add_whole_number(command, "--particles", options.wish.particles, {1, 64},
                   "For the algorithm: its particles, or answers to choose from");
  add_whole_number(command, "--output-rung", options.wish.output_rung, {1, 64},
                   "For the algorithm: the rung k* of the answer (default: the last)");
}

/// Refuses what has no effect without --whole, or without --algorithm.
void refuse_idle(const CLI::App& command, const CheckOptions& options) {
  const auto refuse = [&](const char* flag, const char* needs) {
    if (command.get_option(flag)->count() > 0)
      throw BadInput(flag, std::string("has no effect without ") + needs,
                     std::string("give ") + needs + " too, or leave it out");
  };
  for (const char* flag : {"--algorithm", "--powers"})
    if (!options.is_whole) refuse(flag, "--whole");
  for (const char* flag : {"--block", "--rounds", "--local-moves", "--sweeps", "--schedule",
                           "--particles", "--output-rung"})
    if (options.algorithm.empty()) refuse(flag, "--algorithm");
}

}  // namespace

void add_check(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "check",
      "The exact law of a sampler of your own, in any language, by taking every one of its "
      "decisions; a verdict, and the smallest model on which it fails");
  auto options = std::make_shared<CheckOptions>();
  CLI::Option* program = add_text(*command, "--program", options->program, "COMMAND",
                                  "The program, as a shell reads it; it speaks the protocol of "
                                  "docs/howto/check_protocol.md");
  add_text(*command, "--model", options->models, "FILE[,FILE...]",
           "Finite models (docs/reference/exact.md; default: small ones that are shipped)");
  CLI::Option* horizon =
      add_whole_number(*command, "--horizon", options->horizon, {1, 128},
                       "Horizon T in tokens (default: " + std::to_string(options->horizon) +
                           ", less on some of the shipped models)");
  add_whole_number(*command, "--random", options->random, {0, 1000},
                   "Judge it on so many drawn models too, of horizon T or less");
  CLI::Option* seed = add_whole_number(*command, "--seed", options->seed, {0, UINT32_MAX},
                                       "What names the drawn models" + default_text(options->seed));
  add_text(*command, "--target", options->target, "TARGET",
           "What it is to preserve: power:P, powers:P,P,... (a record for each), base, or a file "
           "(default: power:2)");
  add_text(*command, "--within", options->within, "P",
           "How far rounding may move a probability or a flow: 1e-9, a fraction or a decimal "
           "(default: exactly)");
  add_whole_number(*command, "--timeout", options->timeout, {1, 3600},
                   "Seconds that each of its lines is waited for" + default_text(options->timeout));
  add_seconds(*command, "--seconds", options->seconds,
              "Decide what can be decided in this time (default: all)");
  add_whole_number(*command, "--processes", options->processes, {1, 256},
                   "Processes of the program at a time (default: one for each core)");
  command->add_flag("--pure", options->is_pure,
                    "A step is a function of its state and draws: run nothing twice to see that");
  command->add_flag("--every-path", options->is_every_path,
                    "Merge only the paths that the program declares to continue alike");
  add_whole_options(*command, *options);
  add_text(*command, "--tree", options->tree, "FOLDER", tree_help);
  command->add_flag("--json", options->json,
                    "Print verdicts, laws, matrices and the smallest model as JSON");
  command->footer(check_examples);
  command->callback([=] {
    require(*program, "give a command, such as \"python3 my_sampler.py\"");
    if (seed->count() > 0 && options->random == 0)
      throw BadInput("--seed", "has no effect without --random",
                     "say by --random how many models are to be drawn, or leave it out");
    refuse_idle(*command, *options);
    offer_python_package();
    run_check(*options, horizon->count() > 0);
  });
}

}  // namespace tempera::cli
