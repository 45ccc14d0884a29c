#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tempera::gpu {

/// The part of a program's output that goes to the log.
enum class LogOf : std::uint8_t {
  all,
  errors_if_no_terminal,  ///< all; but a terminal's user sees the progress that errors hold
};

/// Runs python3 with these arguments, what it prints going to `log`. Returns its exit code; 127 if
/// there is none.
int run_python(std::vector<std::string> arguments, const std::filesystem::path& log,
               LogOf what = LogOf::all);

/// The last line of a text that is not empty.
std::string last_line(const std::string& text);

}  // namespace tempera::gpu
