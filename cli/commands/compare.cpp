#include "base/error.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/compare_exactly.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"

namespace tempera::cli {

void add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "compare", "The samplers that the paper compares, exactly, on finite models");
  auto models = std::make_shared<std::vector<std::string>>();
  auto problems = std::make_shared<std::string>();
  auto exact = std::make_shared<ExactCompareOptions>();
  auto json = std::make_shared<bool>(false);
  CLI::Option* model = command->add_option("MODEL", *models, "Finite models (JSON)");
  // Until 0.3 compare answered problems too.
  CLI::Option* old = command->add_option("--problems", *problems)->group("");
  add_exact_compare_options(*command, *exact);
  command->add_flag("--json", *json, "Print the table as JSON");
  command->footer(
      "Examples:\n  tempera compare toy_models/*.json\n"
      "  tempera compare toy_models/bimodal.json --horizon 3 --rounds 2 --json\n"
      "  tempera compare toy_models/bimodal.json toy_models/ties.json --plot curves.svg");
  command->callback([=] {
    require(*model, "name finite models (NAME.json)");
    for (const std::string& name : *models)
      if (name.empty()) throw BadInput("MODEL", "\"\" is empty", "give MODEL, or leave it out");
    if (old->count() > 0)
      throw BadInput("--problems", "is an option of tempera eval",
                     "use tempera eval run --task own --data FILE --grader worked-sum");
    if (exact->ablations && !exact->plot.empty())
      throw BadInput("--plot", "has no effect beside --ablations", "leave one of them out");
    run_exact_compare(*models, *exact, *json);
  });
}

}  // namespace tempera::cli
