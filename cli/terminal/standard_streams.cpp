#include "cli/terminal/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "base/error.hpp"

namespace tempera::cli {

void reserve_standard_streams() {
  // Opened the wrong way round, so that the stream's use fails with EBADF.
  for (const auto& [stream, mode] :
       {std::pair{STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}}) {
    // A new file takes the lowest free number, which is this one: those below are open by now.
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) open("/dev/null", mode);
  }
}

void flush_output() {
  errno = 0;
  std::cout.flush();
  const bool is_sound =
      static_cast<bool>(std::cout) && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_sound) return;
  // An earlier write, which filled the buffer, may have failed: then its reason is gone.
  const std::string reason = errno == 0 ? "" : std::string(": ") + std::strerror(errno);
  throw BadInput("standard output", "cannot be written" + reason,
                 "what was printed is not complete; send it where there is room");
}

}  // namespace tempera::cli
