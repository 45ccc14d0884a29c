#include "gpu/session/cache_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "gpu/device/device_system.hpp"

namespace tempera::gpu {
namespace {

/// The number in a file of its own, or after the word `name` in it; nothing if there is none
/// ("max" is none).
std::optional<std::size_t> number_in(const std::string& file, const std::string& name = "") {
  std::ifstream in(file);
  for (std::string word; word != name && in >> word;) {
  }
  std::size_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

/// Returns how many bytes this process may still take, if the system has set a limit: of addresses
/// (ulimit -v), or of its container's memory (cgroups, version 2).
std::optional<std::size_t> left_to_process() {
  std::optional<std::size_t> left;
  const auto at_most = [&](std::size_t limit, std::size_t used) {
    const std::size_t rest = limit > used ? limit - used : 0;
    left = left ? std::min(*left, rest) : rest;
  };
  rlimit addresses{};
  const auto pages = number_in("/proc/self/statm");
  if (::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY && pages)
    at_most(addresses.rlim_cur, *pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  // What is kept of files, of weights say, is given up for anything else.
  const auto of_files = number_in("/sys/fs/cgroup/memory.stat", "file");
  if (limit && used) at_most(*limit, *used - std::min(*used, of_files.value_or(0)));
  return left;
}

}  // namespace

CacheBudget resolve_cache_memory(std::size_t given) {
  if (given > 0) return {given, true};
  const auto memory = device_memory_size();
  if (!memory) return {0, false};
  std::size_t free = memory->free;
  if (const auto own = left_to_process(); own && current_device().kind == Device::Kind::host)
    free = std::min(free, *own);
  return {std::max<std::size_t>(1, free / 2), false};
}

}  // namespace tempera::gpu
