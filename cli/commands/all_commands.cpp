#include "cli/commands/all_commands.hpp"

#include "cli/commands/command.hpp"
#include "cli/commands/eval.hpp"

namespace tempera::cli {
namespace {

constexpr const char* program_examples = R"(Examples:
  tempera verify
  tempera exact toy_models/four_state.json --horizon 2 --power 2
  tempera law toy_models/bimodal.json --horizon 4 --powers 1,4
  tempera sample '4+7+9+3+8+6+2+5?' --model toy_models/worked_sum --horizon 28)";

}  // namespace

void add_commands(CLI::App& program) {
  program.footer(program_examples);
  add_verify(program);
  add_exact(program);
  add_round_trip(program);
  add_law(program);
  add_check(program);
  add_gallery(program);
  add_certify(program);
  add_certify_run(program);
  add_audit(program);
  add_score(program);
  add_serve(program);
  add_sample(program);
  add_merge(program);
  add_chat(program);
  add_compare(program);
  add_tokens(program);
  add_models(program);
  add_presets(program);
  add_ladder(program);
  add_plot(program);
  add_eval(program);
  add_bench(program);
}

void run_if_another_program(const std::string& command, const std::vector<std::string>& arguments) {
  if (command == "eval") run_eval(arguments);
}

}  // namespace tempera::cli
