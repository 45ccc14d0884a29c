#include "cli/commands/eval.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/shipped_tree.hpp"

namespace tempera::cli {
namespace {

constexpr const char* eval_examples = R"(Examples:
  tempera eval run --help
  tempera eval run --task own --data toy_models/worked_sum/held_out.jsonl \
    --grader worked-sum --model toy_models/worked_sum \
    --powers 1,1.6,2.5,4 --horizon 28 --block 4 --rounds 3 \
    --samplers standard,ppt --seeds 3 --limit 20 --out sums
  tempera eval grade sums
  tempera eval report sums)";

// Says in one line that the package is missing. What else is missing, the package says itself.
constexpr const char* python_program = R"(import sys
try:
    from tempera.eval.command import main
except ModuleNotFoundError as error:
    print(f"tempera: eval: Python has no module {error.name}; "
          "install the package tempera: pip install . in its source tree", file=sys.stderr)
    sys.exit(2)
sys.exit(main())
)";

}  // namespace

void run_eval(const std::vector<std::string>& arguments) {
  std::error_code error;
  const auto command = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) setenv("TEMPERA", command.c_str(), 0);
  offer_python_package();
  std::vector<std::string> words{"python3", "-c", python_program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp("python3", pointers.data());
  throw BadInput("python3", std::string("cannot be started: ") + std::strerror(errno),
                 "tempera eval is a Python package: install Python 3.10 or newer");
}

void add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "eval", "Benchmarks over the samplers: run, grade, report (the Python package)");
  command->footer(eval_examples);
}

}  // namespace tempera::cli
