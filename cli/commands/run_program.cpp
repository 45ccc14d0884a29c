#include "cli/commands/run_program.hpp"

#include <exception>
#include <iostream>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/nearest_name.hpp"
#include "cli/commands/all_commands.hpp"
#include "cli/terminal/arguments.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "cli/terminal/version.hpp"

namespace tempera::cli {
namespace {

CLI::App& command_named(CLI::App& program, const std::string& name) {
  std::vector<std::string> names{"help", "--version"};
  for (CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == name) return *command;
    names.push_back(command->get_name());
  }
  const auto nearest = nearest_name(name, names);
  throw BadInput(in_quotes(name), "is not a command of tempera",
                 nearest ? "did you mean tempera " + *nearest + "?" : "tempera help lists them");
}

void refuse_beyond(const std::vector<std::string>& arguments, std::size_t most) {
  if (arguments.size() > most)
    throw BadInput(in_quotes(arguments[most]), "is one argument too many", "leave it out");
}

/// @throw whatever run_program says one line about
void run(CLI::App& program, std::vector<std::string> arguments) {
  if (arguments.empty()) {
    std::cout << program_help(program);
    return;
  }
  const std::string name = arguments.front();
  if (name == "--version") {
    const bool are_licences_asked = arguments.size() > 1 && arguments[1] == "--licences";
    refuse_beyond(arguments, are_licences_asked ? 2 : 1);
    std::cout << (are_licences_asked ? licences_text() : version_text());
    return;
  }
  if (name == "help" || name == "--help" || name == "-h") {
    refuse_beyond(arguments, 2);
    std::cout << (arguments.size() == 1 ? program_help(program)
                                        : command_help(command_named(program, arguments[1])));
    return;
  }
  const CLI::App& command = command_named(program, name);
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (!(rest.size() == 1 && asks_for_help(command, rest))) run_if_another_program(name, rest);
  if (asks_for_help(command, rest)) {
    std::cout << command_help(command);
    return;
  }
  check_arguments(command, rest);
  // The library takes them last first.
  program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
  reserve_standard_streams();
  install_terminate_handler();
  int code = 0;
  try {
    CLI::App program{
        "tempera: Parallel Power Tempering for language models, and the proof that it is"};
    program.set_help_flag();
    add_commands(program);
    run(program, arguments);
  } catch (...) {
    code = report(std::current_exception());
  }
  try {
    flush_output();
  } catch (...) {
    // One line is enough: a command that has already failed says why itself.
    if (code < 2) code = report(std::current_exception());
  }
  return code;
}

}  // namespace tempera::cli
