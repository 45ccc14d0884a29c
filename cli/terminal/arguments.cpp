#include "cli/terminal/arguments.hpp"

#include <array>
#include <functional>
#include <limits>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/lower_case.hpp"
#include "base/nearest_name.hpp"

namespace tempera::cli {
namespace {

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

/// What other programs call something that has another name here, and what to give instead.
struct OtherName {
  std::string_view name;
  const char* remedy;
};

constexpr const char* of_temperature =
    "give --sampler low-temperature and its power, 1/T, or to sample and chat --temperature T";
constexpr const char* of_length = "give --horizon T, the longest answer in tokens";

constexpr std::array other_names{
    OtherName{"--temperature", of_temperature},
    OtherName{"--temp", of_temperature},
    OtherName{"--max-tokens", of_length},
    OtherName{"--max-new-tokens", of_length},
    OtherName{"--stop", "leave it out: an answer ends at a terminal token or at --horizon"},
};

/// "MODEL" for "--model" if the command takes that as an argument without a flag; else "".
std::string positional_named(const CLI::App& command, const std::string& flag) {
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional() && "--" + in_lower_case(option->get_name()) == flag)
      return option->get_name();
  return "";
}

/// The remedy for an option that another program has; null if it is none, or no command of ours
/// with answers is asked.
const char* remedy_of_other_name(const CLI::App& command, const std::string& name) {
  if (command.get_option_no_throw("--horizon") == nullptr ||
      command.get_option_no_throw("--sampler") == nullptr)
    return nullptr;
  for (const OtherName& other : other_names)
    if (other.name == name) return other.remedy;
  return nullptr;
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
      if (const char* const remedy = remedy_of_other_name(command, argument.name))
        throw BadInput(in_quotes(argument.name),
                       "is not an option of tempera " + command.get_name(), remedy);
      if (const std::string own = positional_named(command, argument.name); !own.empty())
        throw BadInput(in_quotes(argument.name),
                       "is not an option of tempera " + command.get_name(),
                       "give " + own + " alone, as an argument without a flag");
      const auto nearest = nearest_name(argument.name, flags_of(command));
      throw BadInput(in_quotes(argument.name), "is not an option of tempera " + command.get_name(),
                     nearest ? "did you mean " + *nearest + "?"
                             : help + "; an argument that begins with - goes after --");
    }
    if (argument.kind == Argument::Kind::positional) {
      if (++positionals > positionals_of(command))
        throw BadInput(
            in_quotes(argument.name), "is one argument too many",
            positionals > 1
                ? "put quotes around text with spaces, and commas without spaces between "
                  "the numbers of a list"
                : "tempera " + command.get_name() + " takes flags alone; " + help);
      return;
    }
    if (argument.kind != Argument::Kind::option) return;
    const bool wants_value = takes_value(*argument.option);
    const bool may_repeat = argument.option->get_items_expected_max() > 1;
    if (!given.insert(argument.option).second && !may_repeat)
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
