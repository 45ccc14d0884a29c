#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <stdexcept>
#include <system_error>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/nearest_name.hpp"
#include "cli/standard_streams.hpp"
#include "cli/version.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"
#include "reference/bad_input.hpp"

namespace tempera::cli {
namespace {

constexpr const char* examples = R"(Examples:
  tempera verify
  tempera exact toy_models/four_state.json --horizon 2 --power 2
  tempera law toy_models/bimodal.json --horizon 4 --powers 1,4
  tempera sample '4+7+9?' --model toy_models/worked_sum --horizon 28)";

CLI::App& command_named(CLI::App& program, const std::string& name) {
  std::vector<std::string> names{"help", "--version"};
  for (CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == name) return *command;
    names.push_back(command->get_name());
  }
  const std::string nearest = nearest_name(name, names);
  throw gpu::BadInput(
      gpu::in_quotes(name), "is no command of tempera",
      nearest.empty() ? "tempera help lists them" : "did you mean tempera " + nearest + "?");
}

void refuse_beyond(const std::vector<std::string>& arguments, std::size_t most) {
  if (arguments.size() > most)
    throw gpu::BadInput(gpu::in_quotes(arguments[most]), "is one argument too many",
                        "leave it out");
}

/// @throw whatever main says one line about
void run(CLI::App& program, std::vector<std::string> arguments) {
  if (arguments.empty()) {
    std::cout << program_help(program);
    return;
  }
  const std::string name = arguments.front();
  if (name == "--version") {
    refuse_beyond(arguments, 1);
    std::cout << version_text();
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
  if (asks_for_help(command, rest)) {
    std::cout << command_help(command);
    return;
  }
  check_arguments(command, rest);
  // The library takes them last first.
  program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
}

/// One line about what went wrong. Returns the exit code.
int report(std::exception_ptr failure) {
  const auto say = [](const std::string& text, int code) {
    std::cerr << "tempera: " << text << '\n';
    return code;
  };
  try {
    std::rethrow_exception(failure);
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return say(gpu::one_line(error.what()) + "; see tempera help", 2);
  } catch (const reference::BadInput& error) {
    return say(error.what(), 2);
  } catch (const gpu::BadInput& error) {
    return say(error.what(), 2);
  } catch (const std::domain_error& error) {
    // A model that gives no numbers: the message says whose fault that is.
    return say(gpu::one_line(error.what()), 2);
  } catch (const std::filesystem::filesystem_error& error) {
    return say(gpu::one_line(error.path1().string()) + ": " + error.code().message() +
                   "; give a file or folder that can be read",
               2);
  } catch (const std::bad_alloc&) {
    return say("not enough memory; lower the horizon, the samples or the number of rungs", 2);
  } catch (const std::exception& error) {
    if (const std::string why = gpu::device_failure(); !why.empty())
      return say("the NVIDIA GPU stopped: " + gpu::one_line(why) +
                     "; a run folder's checkpoint holds: --resume goes on, on the host too",
                 2);
    return say("internal error: " + gpu::one_line(error.what()), 3);
  }
}

}  // namespace
}  // namespace tempera::cli

int main(int argc, char** argv) {
  using namespace tempera::cli;
  hold_standard_streams();
  int code = 0;
  try {
    CLI::App program{
        "tempera: Parallel Power Tempering for language models, and the proof that it is"};
    program.set_help_flag();
    program.footer(examples);
    add_verify(program);
    add_exact(program);
    add_round_trip(program);
    add_law(program);
    add_check(program);
    add_gallery(program);
    add_certify(program);
    add_score(program);
    add_sample(program);
    add_compare(program);
    add_tokens(program);
    add_models(program);
    run(program, {argv + 1, argv + argc});
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
