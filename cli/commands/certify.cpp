// The command `tempera certify`: what was decided of an operator, for others to check.
#include <iostream>
#include <memory>

#include "base/error.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/fractions.hpp"
#include "cli/terminal/option_values.hpp"
#include "lab/judge/certificate.hpp"

namespace tempera::cli {
namespace {

constexpr const char* certify_examples = R"(Examples:
  tempera certify toy_models/four_state.json --horizon 2 --power 2 >local.json
  python3 proofs/check_certificate.py local.json
  tempera certify toy_models/four_state.json --horizon 2 --powers 1,2,4 \
    >round.json

The checker is plain Python, knows the definitions alone and imports nothing
of tempera.)";

struct CertifyOptions {
  std::string model, power, powers, kernel, restart;
  std::size_t horizon = 0;
};

void run_certify(const CertifyOptions& options) {
  if (options.power.empty() == options.powers.empty())
    throw BadInput("--power", "exactly one of --power and --powers is needed",
                   "give --power 2 for one rung or --powers 1,2,4 for a round");
  const bool is_round = options.power.empty();
  if (is_round && !options.kernel.empty())
    throw BadInput("--kernel", "has no meaning with --powers", "leave one of the two out");
  if (options.kernel == "truncating" && !options.restart.empty())
    throw BadInput("--restart", "has no meaning with --kernel truncating, whose restart is uniform",
                   "leave one of the two out");
  parse_fractions(is_round ? options.powers : options.power, is_round ? "--powers" : "--power");
  const auto ladder = is_round
                          ? reference::parse_ladder(options.powers, "--powers")
                          : reference::Ladder({reference::parse_power(options.power, "--power")});
  auto restart = reference::RestartLaw::uniform(options.horizon);
  if (!options.restart.empty()) {
    parse_fractions(options.restart, "--restart");
    restart = reference::parse_restart_law(options.restart, options.horizon, "--restart");
  }
  const auto model = reference::load_finite_model(options.model);
  const std::string op = is_round                         ? "round"
                         : options.kernel == "truncating" ? "truncating"
                                                          : "local";
  std::cout << lab::certify(model, options.horizon, ladder, op, restart).json() << '\n';
}

}  // namespace

void add_certify(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "certify",
      "Print what was decided of an operator on a finite model, with its matrix in rationals, for "
      "proofs/check_certificate.py to check");
  auto options = std::make_shared<CertifyOptions>();
  CLI::Option* model = add_text(*command, "MODEL", options->model, "",
                                "Finite model, a JSON file (docs/reference/exact.md)");
  CLI::Option* horizon =
      add_whole_number(*command, "--horizon", options->horizon, {1, 128}, "Horizon T in tokens");
  add_text(*command, "--power", options->power, "P", "One rung: its power, such as 2 or 3/2");
  add_choice(*command, "--kernel", options->kernel, {"fixed", "truncating"},
             "One rung: fixed (default) or truncating");
  add_text(*command, "--powers", options->powers, "P[,P...]",
           "A round of a ladder: local sweep, then ordered sweep");
  add_text(*command, "--restart", options->restart, "P,P...",
           "Restart law over positions 1..T (default: uniform)");
  command->footer(certify_examples);
  command->callback([=] {
    require(*model, "name a finite model, such as toy_models/four_state.json");
    require(*horizon, "give --horizon T");
    run_certify(*options);
  });
}

}  // namespace tempera::cli
