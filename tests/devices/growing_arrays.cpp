#include "gpu/device/growing_arrays.hpp"

#include <new>

#include "gpu/device/address_range.hpp"
#include "gpu/device/device.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/planted_fault.hpp"
#include "tests/catch.hpp"
#include "tests/devices/device_bytes.hpp"

using namespace tempera::gpu;

TEST_CASE("the device's arrays grow without a second copy, or stay as they were") {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  // Three arrays, whose elements are no piece of what a device maps.
  const ArraysLayout layout{2, 48 << 10, 80 << 10};
  const bool stays = AddressRange::make(layout.arrays()) != nullptr;
  // Other programs take memory of the host meanwhile.
  const bool counts = stays && current_device().kind == Device::Kind::cuda;
  GrowingArrays arrays(layout);
  std::vector<std::vector<std::byte>> expected(layout.arrays());
  const auto holds = [&] {
    for (std::size_t array = 0; array < expected.size(); ++array) {
      const std::byte* const begin = arrays.data() + array * arrays.pitch();
      if (read_from_device(begin, expected[array].size()) != expected[array]) return false;
    }
    return true;
  };
  std::byte* before = nullptr;
  for (const std::size_t elements : {7, 100, 600, 800}) {
    for (std::size_t grown = 0; grown < layout.arrays() && elements > arrays.elements(); ++grown) {
      const auto had = device_memory_size();
      PlantedFault full;
      full.arrays_until_full = grown;
      const WithPlantedFault planted(full);
      CHECK_THROWS_AS(arrays.grow(elements), std::bad_alloc);
      const auto has = device_memory_size();
      if (counts && had && has) CHECK(has->free + 4 * mebibyte >= had->free);
      CHECK(holds());
    }
    if (elements <= arrays.elements()) continue;
    const std::size_t held = arrays.elements();
    const auto had = device_memory_size();
    arrays.grow(elements);
    if (stays && before != nullptr) CHECK(arrays.data() == before);
    before = arrays.data();
    // A copy would have taken as much again for a while, and kept it in the driver's pool or not.
    const auto has = device_memory_size();
    if (counts && had && has) {
      CHECK(had->free <= has->free + (elements - held) * layout.bytes() + 8 * mebibyte);
    }
    for (std::size_t array = 0; array < expected.size(); ++array) {
      expected[array].resize(arrays.elements() * layout.element_bytes_of(array));
    }
    CHECK(holds());
    for (std::size_t array = 0; array < expected.size(); ++array) {
      const std::size_t first = held * layout.element_bytes_of(array);
      for (std::size_t i = first; i < expected[array].size(); ++i)
        expected[array][i] = static_cast<std::byte>((i + 77 * array) % 251);
      write_to_device(std::span(expected[array]).subspan(first),
                      arrays.data() + array * arrays.pitch() + first);
    }
    CHECK(holds());
  }
}
