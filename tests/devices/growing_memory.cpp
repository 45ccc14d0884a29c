#include "gpu/device/growing_memory.hpp"

#include "gpu/device/device_system.hpp"
#include "tests/catch.hpp"
#include "tests/devices/device_bytes.hpp"

using namespace tempera::gpu;

TEST_CASE("the device's memory grows without a second copy of what it holds") {
  const bool stays = MappedMemory::make() != nullptr;
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  GrowingMemory memory;
  std::vector<std::byte> expected;
  std::byte* before = nullptr;
  for (const std::size_t size : {mebibyte + 3, 3 * mebibyte, 40 * mebibyte, 129 * mebibyte}) {
    const auto had = device_memory_size();
    memory.grow(size);
    if (stays && before != nullptr) CHECK(memory.data() == before);
    before = memory.data();
    // A copy would have taken as much again for a while, and kept it in the driver's pool or not.
    const auto has = device_memory_size();
    if (stays && had && has) CHECK(had->free - has->free <= size - expected.size() + 4 * mebibyte);
    const std::size_t held = expected.size();
    expected.resize(size);
    CHECK(read_from_device(memory.data(), size) == expected);
    for (std::size_t i = held; i < size; ++i) expected[i] = static_cast<std::byte>(i % 251);
    write_to_device(std::span(expected).subspan(held), memory.data() + held);
    CHECK(read_from_device(memory.data(), size) == expected);
  }
}
