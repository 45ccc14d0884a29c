#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::test {

/// What the built command answered.
struct CommandResult {
  int exit_code;
  std::string out, err;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Runs a program with these arguments, as a shell reads them, and this standard input.
inline CommandResult run_program(const std::string& program, const std::string& arguments,
                                 const std::string& input = "") {
  const TemporaryFile in(input), out(""), err("");
  const std::string line =
      program + " " + arguments + " >" + out.path() + " 2>" + err.path() + " <" + in.path();
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, bytes_of(out.path()), bytes_of(err.path())};
}

/// Runs the built command so.
inline CommandResult run_command(const std::string& arguments, const std::string& input = "") {
  return run_program(TEMPERA_BINARY, arguments, input);
}

/// What a command that takes long printed, if it succeeded: computed once for all processes that
/// share the folder TEMPERA_ANSWERS, as the parts of this program do under ./test. `name` is that
/// of the file there.
inline CommandResult run_command_once(const std::string& name, const std::string& arguments) {
  const char* const folder = std::getenv("TEMPERA_ANSWERS");
  if (folder == nullptr) return run_command(arguments);
  const std::string kept = std::string(folder) + '/' + name;
  // One asks, and the others wait for the answer.
  const int lock = ::open((kept + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  REQUIRE(lock >= 0);
  REQUIRE(::flock(lock, LOCK_EX) == 0);
  CommandResult result{0, bytes_of(kept), ""};
  if (result.out.empty()) {
    result = run_command(arguments);
    if (result.exit_code == 0 && result.err.empty())
      std::ofstream(kept, std::ios::binary) << result.out;
  }
  ::close(lock);
  return result;
}

/// Runs the built command with its standard output sent to `target`, as a shell writes it.
inline CommandResult run_command_to(const std::string& target, const std::string& arguments) {
  const TemporaryFile err("");
  const std::string line = std::string(TEMPERA_BINARY) + " " + arguments + " >" + target + " 2>" +
                           err.path() + " </dev/null";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, "", bytes_of(err.path())};
}

/// Whether a refusal is what it must be: exit code 2, silence on stdout, and one line on stderr.
inline bool is_refusal(const CommandResult& result) {
  return result.exit_code == 2 && result.out.empty() && result.err.rfind("tempera: ", 0) == 0 &&
         result.err.find('\n') + 1 == result.err.size();
}

/// A command's arguments that must be refused, and what the refusal must say.
struct Refusal {
  std::string arguments, message;
};

/// Checks that this command line is refused with this message.
inline void check_refusal(const std::string& arguments, const std::string& message) {
  const CommandResult result = run_command(arguments);
  CAPTURE(arguments, result.exit_code, result.out, result.err);
  CHECK(is_refusal(result));
  CHECK_THAT(result.err, Catch::Contains(message));
}

}  // namespace tempera::test
