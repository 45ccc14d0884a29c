#include "gpu/device/planted_fault.hpp"

#include <new>
#include <vector>

#include "base/error.hpp"
#include "gpu/device/device_memory.hpp"
#include "gpu/device/device_system.hpp"
#include "tests/catch.hpp"

using namespace tempera::gpu;

TEST_CASE("a device that is lost fails every copy from then on, and says so") {
  const std::vector<float> values{1.0F, 2.0F};
  DeviceMemory<float> memory{std::span<const float>(values)};
  CHECK(device_failure().empty());
  {
    const WithPlantedFault lost({2, {}});
    memory.upload(values);
    CHECK(device_failure().empty());
    CHECK(memory.download(0, 2) == values);
    CHECK_THROWS_AS(memory.download(0, 2), tempera::DeviceError);
    CHECK_THROWS_AS(memory.upload(values), tempera::DeviceError);
    CHECK(device_failure() == "planted: the device is lost");
  }
  CHECK(device_failure().empty());
  CHECK(memory.download(0, 2) == values);
}

TEST_CASE("memory beyond what there is is refused, and what was there stays") {
  const WithPlantedFault small({{}, 16});
  DeviceMemory<float> memory(4);
  CHECK_THROWS_AS(memory.resize(5), std::bad_alloc);
  CHECK(memory.size() == 4);
  CHECK_THROWS_AS(DeviceMemory<double>(3), std::bad_alloc);
  REQUIRE(device_memory_size());
  CHECK(device_memory_size()->free == 16);
}

TEST_CASE("the host's memory is what the system says") {
  const auto memory = device_memory_size();
  REQUIRE(memory);
  CHECK(memory->free > 0);
  CHECK(memory->free <= memory->total);
  CHECK(in_gibibytes(std::size_t{3} << 29) == "1.5 GiB");
}
