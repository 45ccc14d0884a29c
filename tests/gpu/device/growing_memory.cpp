#include "gpu/device/growing_memory.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "tests/catch.hpp"

namespace tempera::gpu {

TEST_CASE("memory that grows keeps its bytes, and the new ones are zero") {
  GrowingMemory memory;
  CHECK(memory.size() == 0);
  std::size_t written = 0;
  for (const std::size_t size : {100, 4096, 4097, 5000, 100000, 1 << 22, (1 << 23) + 1}) {
    memory.grow(size);
    REQUIRE(memory.size() == size);
    for (std::size_t i = 0; i < size; ++i) {
      const auto expected = static_cast<std::byte>(i < written ? i % 251 : 0);
      if (memory.data()[i] != expected) FAIL("byte " << i << " of " << size);
    }
    for (std::size_t i = written; i < size; ++i) memory.data()[i] = static_cast<std::byte>(i % 251);
    written = size;
  }
  memory.grow(written);
  CHECK(memory.data()[100] == std::byte{100});
}

// In a process of its own, whose largest memory is its own. A second copy of 192 MB would show.
TEST_CASE("memory that grows is never held twice") {
  constexpr std::size_t most = std::size_t{192} << 20;
  const pid_t child = fork();
  if (child == 0) {
    GrowingMemory memory;
    std::size_t written = 0;
    for (std::size_t size = most / 8; size <= most; size += most / 8) {
      memory.grow(size);
      std::memset(memory.data() + written, 1, size - written);
      written = size;
    }
    _exit(memory.data()[most - 1] == std::byte{1} ? 0 : 1);
  }
  int status = 0;
  struct rusage usage {};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  CHECK(status == 0);
  struct rusage own {};
  getrusage(RUSAGE_SELF, &own);
  // What the test program holds itself, and half of a second copy to spare.
  CHECK(usage.ru_maxrss < own.ru_maxrss + static_cast<long>((most + most / 2) >> 10));
}

}  // namespace tempera::gpu
