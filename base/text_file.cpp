#include "base/text_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/error.hpp"
#include "base/regular_file.hpp"

namespace tempera {

namespace {

const char* remedy_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "put it there, or correct the name";
    case EISDIR:
      return "name a file";
    case EACCES:
    case EPERM:
      return "allow reading it";
    case ENAMETOOLONG:
      return "give a shorter name";
    default:
      return "name a file that can be read";
  }
}

}  // namespace

void refuse_unreadable(const std::filesystem::path& file, int error, const std::string& remedy) {
  throw BadInput(file.string(), "cannot be read (" + std::generic_category().message(error) + ")",
                 remedy.empty() ? remedy_of(error) : remedy);
}

std::string read_text_file(const std::filesystem::path& file, const std::string& remedy,
                           std::size_t largest) {
  const int descriptor = open_regular_file(file, O_RDONLY);
  if (descriptor < 0) refuse_unreadable(file, errno, remedy);
  std::string text;
  std::array<char, 1 << 16> chunk;
  int error = 0;
  for (bool more = true; more;) {
    const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
    if (count > 0) text.append(chunk.data(), static_cast<std::size_t>(count));
    if (count < 0) error = errno;
    more = (count > 0 && text.size() <= largest) || (count < 0 && error == EINTR);
    if (more) error = 0;
  }
  ::close(descriptor);
  if (error != 0) refuse_unreadable(file, error, remedy);
  if (text.size() > largest)
    throw BadInput(file.string(), "has more than " + std::to_string(largest >> 20) + " MiB",
                   remedy.empty() ? "name a smaller file" : remedy);
  return text;
}

}  // namespace tempera
