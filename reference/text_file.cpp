#include "reference/text_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "reference/bad_input.hpp"

namespace tempera::reference {

std::string read_text_file(const std::string& path, const std::string& remedy,
                           std::size_t largest) {
  const auto unreadable = [&](int error) {
    return BadInput(path, "cannot be read: " + std::generic_category().message(error), remedy);
  };
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
  if (!file) throw unreadable(errno);
  std::string text;
  std::array<char, 1 << 16> chunk;
  while (text.size() <= largest && std::feof(file.get()) == 0) {
    const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), file.get());
    if (std::ferror(file.get()) != 0) throw unreadable(errno);
    text.append(chunk.data(), count);
  }
  if (text.size() > largest)
    throw BadInput(path, "has more than " + std::to_string(largest >> 20) + " MiB", remedy);
  return text;
}

}  // namespace tempera::reference
