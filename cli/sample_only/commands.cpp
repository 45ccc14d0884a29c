#include "cli/commands/all_commands.hpp"
#include "cli/commands/command.hpp"

namespace tempera::cli {

void add_commands(CLI::App& program) {
  program.footer(
      "Examples:\n"
      "  tempera-sample-only models\n"
      "  tempera-sample-only sample '4+7+9+3+8+6+2+5?' --model toy_models/worked_sum --horizon 28\n"
      "This program has no finite models and no exact laws: those are tempera's.");
  add_sample(program);
  add_merge(program);
  add_audit(program);
  add_chat(program);
  add_score(program);
  add_serve(program);
  add_tokens(program);
  add_models(program);
  add_presets(program);
  add_bench(program);
}

void run_if_another_program(const std::string& /*command*/,
                            const std::vector<std::string>& /*arguments*/) {}

}  // namespace tempera::cli
