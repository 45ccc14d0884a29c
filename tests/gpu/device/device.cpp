#include "gpu/device/device.hpp"

#include "gpu/device/device_system.hpp"
#include "gpu/device/missing_device.hpp"
#include "tests/bad_input.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

TEST_CASE("a device is named as it is written") {
  for (const Device& device :
       {Device{}, Device{Device::Kind::cuda, 0}, Device{Device::Kind::cuda, 7}})
    CHECK(device_named(name_of(device)) == device);
  CHECK(device_named("cuda") == Device{Device::Kind::cuda, 0});
  CHECK(name_of({Device::Kind::cuda, 12}) == "cuda:12");
  for (const char* text : {"", "gpu", "Host", "host:0", "cuda:", "cuda: 1", "cuda:1x", "cuda:01",
                           "cuda:-1", "cuda:99999999999999999999"})
    CHECK_FALSE(device_named(text));
}

TEST_CASE("in a build for the host every thread works on the host, and no other device is taken") {
  REQUIRE(device_system() != "CUDA");
  CHECK(current_device() == Device{});
  CHECK(require_device("") == Device{});
  CHECK(require_device("host") == Device{});
  {
    const CurrentDevice here{Device{}};
    CHECK(current_device() == Device{});
    const CurrentDevice other{Device{Device::Kind::host, 3}};
    CHECK(current_device().index == 3);
  }
  CHECK(current_device() == Device{});
  CHECK_THROWS_AS(CurrentDevice(Device{Device::Kind::cuda, 1}), Bug);
  // A name that is one: what is wrong is the build or the machine, and no input.
  CHECK_THROWS_AS(require_device("cuda:1"), DeviceError);
  CHECK_THROWS_WITH(require_device("cuda:1", "device"),
                    "device cuda:1: this build has no CUDA; leave it out, or use the build of "
                    "cmake --preset cuda");
  CHECK_THROWS_AS(require_devices("cuda:0,cuda:1", "--devices"), MissingDevice);
  require_bad_input([] { require_devices("host,gpu", "--devices"); }, {"\"gpu\" is unknown"});
  require_bad_input([] { require_device("gpu"); }, {"--device", "\"gpu\" is unknown", "cuda:1"});
}

}  // namespace tempera::gpu
