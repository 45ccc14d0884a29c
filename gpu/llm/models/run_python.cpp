#include "gpu/llm/models/run_python.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

// The environment of this process; POSIX leaves it to programs to declare it.
extern char** environ;  // NOLINT(readability-redundant-declaration): not every libc declares it

namespace tempera::gpu {

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of("\r\n ");
  if (end == std::string::npos) return "";
  const auto newline = text.find_last_of('\n', end);
  const auto begin = newline == std::string::npos ? 0 : newline + 1;
  return text.substr(begin, end + 1 - begin);
}

int run_python(std::vector<std::string> arguments, const std::filesystem::path& log, LogOf what) {
  arguments.insert(arguments.begin(), "python3");
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (what == LogOf::all || ::isatty(STDERR_FILENO) == 0)
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, "python3", &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return 127;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace tempera::gpu
