// This process's open files and mappings, which it has to give back.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace tempera::test {

/// Counts the files, sockets and pipes that are open.
inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");  // its own is always one of them
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Counts the mappings of files whose names begin so.
inline std::size_t mappings_of(const std::filesystem::path& beginning) {
  std::ifstream all("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(all, line);)
    count += line.find(" " + beginning.string()) != std::string::npos ? 1 : 0;
  return count;
}

}  // namespace tempera::test
