#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tempera::cli {

/// `text` in lines of at most `width` columns, broken at spaces; every line after the first begins
/// with `indent` spaces, and the first is taken to be after as many already. A word that is
/// longer than a line stays whole. Newlines of the text stay.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

/// The help of the whole program: usage, the commands, examples. At most 80 columns.
std::string program_help(const CLI::App& program);
/// The help of one command: usage, what it does, its arguments and options, its footer (examples).
std::string command_help(const CLI::App& command);

}  // namespace tempera::cli
