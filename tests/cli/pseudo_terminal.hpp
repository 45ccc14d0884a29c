// Runs the built command with both of its outputs on a terminal.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>

#include "tests/catch.hpp"

namespace tempera::test {

/// A new pseudo-terminal, or nothing if the machine has none: then the reason is printed as a
/// skip, which ./test shows.
class PseudoTerminal {
 public:
  /// columns: the width that the terminal tells; 0 if it tells none.
  static std::optional<PseudoTerminal> open(unsigned short columns) {
    PseudoTerminal terminal;
    terminal.master_ = posix_openpt(O_RDWR | O_NOCTTY);
    const bool is_ready =
        terminal.master_ >= 0 && grantpt(terminal.master_) == 0 && unlockpt(terminal.master_) == 0;
    if (is_ready) terminal.slave_ = ::open(ptsname(terminal.master_), O_RDWR | O_NOCTTY);
    if (terminal.slave_ < 0) {
      std::cout << "SKIPPED: what is shown on a terminal: no pseudo-terminal here ("
                << std::strerror(errno) << ")\n";
      return std::nullopt;
    }
    const winsize size{24, columns, 0, 0};
    ioctl(terminal.slave_, TIOCSWINSZ, &size);
    return terminal;
  }
  PseudoTerminal(PseudoTerminal&& other) noexcept : master_(other.master_), slave_(other.slave_) {
    other.master_ = other.slave_ = -1;
  }
  PseudoTerminal& operator=(PseudoTerminal&&) = delete;
  ~PseudoTerminal() {
    if (slave_ >= 0) close(slave_);
    if (master_ >= 0) close(master_);
  }

  /// What the command writes, with `settings` ("LANG=C TERM=dumb") in its environment, and what the
  /// terminal echoes of `typed`. The object is good for one run.
  std::string run(const std::string& settings, const std::string& arguments,
                  const std::string& typed = "") {
    const std::string line = "exec env " + settings + " " + TEMPERA_BINARY + " " + arguments;
    const pid_t child = fork();
    if (child == 0) {
      setsid();
      ioctl(slave_, TIOCSCTTY, 0);
      for (const int stream : {0, 1, 2}) dup2(slave_, stream);
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    close(slave_);
    slave_ = -1;
    REQUIRE(write(master_, typed.data(), typed.size()) == static_cast<ssize_t>(typed.size()));
    std::string shown;
    char buffer[4096];
    // The end of the last writer is EIO here, not 0.
    for (ssize_t count = 0; (count = read(master_, buffer, sizeof buffer)) > 0;)
      shown.append(buffer, static_cast<std::size_t>(count));
    int status = 0;
    waitpid(child, &status, 0);
    CAPTURE(arguments, shown);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    return shown;
  }

 private:
  PseudoTerminal() = default;
  int master_ = -1;
  int slave_ = -1;
};

}  // namespace tempera::test
