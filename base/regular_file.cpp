#include "base/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"

namespace tempera {
namespace {

void require_no_special_file(const std::filesystem::path& file, const struct stat& status,
                             const std::string& wanted) {
  if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return;
  const std::string what = S_ISFIFO(status.st_mode)   ? "a pipe"
                           : S_ISSOCK(status.st_mode) ? "a socket"
                                                      : "a device";
  throw BadInput(file.string(), "is " + what + ", and no " + wanted,
                 "give the name of a " + wanted);
}

}  // namespace

void require_no_special_file(const std::filesystem::path& file, const std::string& wanted) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0) require_no_special_file(file, status, wanted);
}

int open_regular_file(const std::filesystem::path& file, int flags) {
  // Before it is opened: opening a pipe would let its writer go on.
  require_no_special_file(file);
  const int descriptor = ::open(file.c_str(), flags | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return descriptor;
  struct stat status {};
  try {
    if (::fstat(descriptor, &status) == 0) require_no_special_file(file, status, "file");
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  return descriptor;
}

}  // namespace tempera
