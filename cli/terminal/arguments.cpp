#include "cli/terminal/arguments.hpp"

#include <functional>
#include <limits>
#include <set>

#include "base/nearest_name.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace tempera::cli {
namespace {

using BadInput;
using in_quotes;

/// One argument as the command reads it.
struct Argument {
  enum class Kind { help, option, unknown, positional };
  Kind kind = Kind::positional;
  const CLI::Option* option = nullptr;
  std::string name;                    ///< of an option, or the positional itself
  const std::string* value = nullptr;  ///< the argument after it, for an option that takes one
  bool has_inline_value = false;       ///< --name=value
  bool is_inline_value_empty = false;
};

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() != 0; }

void read(const CLI::App& command, const std::vector<std::string>& arguments,
          const std::function<void(const Argument&)>& each) {
  bool options_may_follow = true;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& text = arguments[i];
    if (options_may_follow && text == "--") {
      options_may_follow = false;
      continue;
    }
    Argument argument;
    if (!options_may_follow || text.size() < 2 || text.front() != '-') {
      argument.name = text;
      each(argument);
      continue;
    }
    const std::size_t equals = text.find('=');
    argument.name = text.substr(0, equals);
    argument.has_inline_value = equals != std::string::npos;
    argument.is_inline_value_empty = equals + 1 == text.size();
    if (text == "-h" || text == "--help") {
      argument.kind = Argument::Kind::help;
    } else if (text.starts_with("--")) {
      argument.option = command.get_option_no_throw(argument.name);
      argument.kind = argument.option == nullptr ? Argument::Kind::unknown : Argument::Kind::option;
    } else {
      argument.kind = Argument::Kind::unknown;
    }
    if (argument.option != nullptr && takes_value(*argument.option) && !argument.has_inline_value &&
        i + 1 < arguments.size())
      argument.value = &arguments[++i];
    each(argument);
  }
}

/// How many arguments without a flag the command takes, a list of them any number.
std::size_t positionals_of(const CLI::App& command) {
  std::size_t count = 0;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    if (option->get_items_expected_max() > 1) return std::numeric_limits<std::size_t>::max();
    ++count;
  }
  return count;
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags{"--help"};
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

}  // namespace

bool asks_for_help(const CLI::App& command, const std::vector<std::string>& arguments) {
  bool asked = false;
  read(command, arguments, [&](const Argument& argument) {
    if (argument.kind == Argument::Kind::help) asked = true;
  });
  return asked;
}

void check_arguments(const CLI::App& command, const std::vector<std::string>& arguments) {
  const std::string help = "see tempera help " + command.get_name();
  std::set<const CLI::Option*> given;
  std::size_t positionals = 0;
  read(command, arguments, [&](const Argument& argument) {
    if (argument.kind == Argument::Kind::unknown) {
      const std::string nearest = nearest_name(argument.name, flags_of(command));
      throw BadInput(in_quotes(argument.name), "is no option of tempera " + command.get_name(),
                     nearest.empty() ? help + "; an argument that begins with - goes after --"
                                     : "did you mean " + nearest + "?");
    }
    if (argument.kind == Argument::Kind::positional) {
      if (++positionals > positionals_of(command))
        throw BadInput(in_quotes(argument.name), "is one argument too many",
                       "put quotes around text with spaces, and commas without spaces between the "
                       "numbers of a list");
      return;
    }
    if (argument.kind != Argument::Kind::option) return;
    const bool wants_value = takes_value(*argument.option);
    if (!given.insert(argument.option).second)
      throw BadInput(argument.name, "is given twice",
                     "give it once; a list is one argument, separated by commas");
    if (wants_value && argument.value == nullptr &&
        (!argument.has_inline_value || argument.is_inline_value_empty))
      throw BadInput(argument.name, "has no value", help);
    if (!wants_value && argument.has_inline_value)
      throw BadInput(argument.name, "takes no value", "give " + argument.name + " alone");
  });
}

}  // namespace tempera::cli
