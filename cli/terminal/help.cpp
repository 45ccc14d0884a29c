#include "cli/terminal/help.hpp"

#include <algorithm>
#include <sstream>

namespace tempera::cli {
namespace {

constexpr std::size_t help_columns = 80;
constexpr std::size_t names_end = 24;

/// "  name   what it is", the explanation in a column of its own.
std::string entry(const std::string& name, const std::string& explanation) {
  std::string line = "  " + name;
  if (line.size() + 2 > names_end)
    line += '\n' + std::string(names_end, ' ');
  else
    line.resize(names_end, ' ');
  return line + wrapped(explanation, help_columns, names_end) + '\n';
}

std::string name_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  const std::string type = option.get_items_expected_max() == 0 ? "" : ' ' + option.get_type_name();
  return option.get_name() + type;
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  std::istringstream paragraphs(text);
  for (std::string paragraph; std::getline(paragraphs, paragraph);) {
    if (!result.empty()) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    }
    std::istringstream words(paragraph);
    bool is_first = true;
    for (std::string word; words >> word;) {
      // What does not begin a UTF-8 character takes no column.
      const auto length =
          static_cast<std::size_t>(std::count_if(word.begin(), word.end(), [](char c) {
            return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
          }));
      if (!is_first && column + 1 + length > width) {
        result += '\n' + std::string(indent, ' ');
        column = indent;
      } else if (!is_first) {
        result += ' ';
        ++column;
      }
      result += word;
      column += length;
      is_first = false;
    }
  }
  return result;
}

std::string program_help(const CLI::App& program) {
  std::string text = wrapped(program.get_description(), help_columns, 0) +
                     "\n\nUsage: tempera COMMAND [OPTIONS]\n\nCommands:\n";
  for (const CLI::App* command : program.get_subcommands({}))
    text += entry(command->get_name(), command->get_description());
  text += entry("help [COMMAND]", "This text, or that of a command: its options, with examples");
  return text + "\nOptions:\n" + entry("-h, --help", "The same as help") +
         entry("--version",
               "Version, commit, device system and instruction set; with --licences, the licences "
               "of the software of others in it") +
         '\n' + program.get_footer() + '\n';
}

std::string command_help(const CLI::App& command) {
  std::string usage = "Usage: tempera " + command.get_name() + " [OPTIONS]";
  std::string arguments;
  std::string options;
  for (const CLI::Option* option : command.get_options()) {
    (option->get_positional() ? arguments : options) +=
        entry(name_of(*option), option->get_description());
    if (option->get_positional()) usage += " [" + option->get_name(true) + ']';
  }
  if (!arguments.empty()) arguments = "Arguments:\n" + arguments + '\n';
  options += entry("-h, --help", "Print this and exit");
  return usage + "\n\n" + wrapped(command.get_description(), help_columns, 0) + "\n\n" + arguments +
         "Options:\n" + options + '\n' + command.get_footer() + '\n';
}

}  // namespace tempera::cli
