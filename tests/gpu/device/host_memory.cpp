#include "gpu/device/host_memory.hpp"

#include <cstdint>
#include <vector>

#include "gpu/device/device_memory.hpp"
#include "tests/catch.hpp"
#include "tests/law.hpp"

namespace tempera::gpu {

namespace {

struct Taken {
  std::byte* memory;
  std::size_t bytes;
  std::byte written;

  void write() const {
    for (std::size_t i = 0; i < bytes; i += 1000) memory[i] = written;
    memory[bytes - 1] = written;
  }
  bool holds(std::byte value) const {
    for (std::size_t i = 0; i < bytes; i += 1000) {
      if (memory[i] != value) return false;
    }
    return memory[bytes - 1] == value;
  }
};

}  // namespace

TEST_CASE("memory of the host keeps what is written while other arrays come and go") {
  law("taken in any order, given back in any order", [] {
    HostMemory memory;
    std::vector<Taken> taken;
    const int turns = *rc::gen::inRange(1, 40);
    for (int turn = 0; turn < turns; ++turn) {
      if (taken.empty() || *rc::gen::inRange(0, 3) > 0) {
        const auto bytes = *rc::gen::inRange<std::size_t>(1, std::size_t{40} << 20);
        const Taken array{memory.take(bytes), bytes, static_cast<std::byte>(turn + 1)};
        RC_ASSERT(reinterpret_cast<std::uintptr_t>(array.memory) % 4096 == 0U);
        RC_ASSERT(array.holds(std::byte{0}));
        array.write();
        taken.push_back(array);
      } else {
        const auto at = *rc::gen::inRange<std::size_t>(0, taken.size());
        memory.give_back(taken[at].memory, taken[at].bytes);
        taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(at));
      }
      for (const Taken& array : taken) RC_ASSERT(array.holds(array.written));
    }
    for (const Taken& array : taken) memory.give_back(array.memory, array.bytes);
    RC_ASSERT(memory.mapped_bytes() == 0U);
  });
}

TEST_CASE("long arrays of the device keep their contents when they grow") {
  std::vector<std::uint32_t> numbers(HostMemory::least_bytes / sizeof(std::uint32_t) + 3);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i * i);
  DeviceMemory<std::uint32_t> memory{std::span<const std::uint32_t>(numbers)};
  memory.resize(3 * numbers.size());
  CHECK((memory.download(0, numbers.size()) == numbers));
  CHECK(memory.download(numbers.size(), 1) == std::vector<std::uint32_t>{0});
  memory.resize(5);
  CHECK(memory.download(4, 1) == std::vector<std::uint32_t>{16});
}

}  // namespace tempera::gpu
