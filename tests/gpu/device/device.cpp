#include "gpu/device/device.hpp"

#include "gpu/device/device_system.hpp"
#include "tests/bad_input.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {
namespace {

constexpr auto cuda = Device::Kind::cuda;
constexpr auto host = Device::Kind::host;

}  // namespace

TEST_CASE("a device is named by its kind, and by its number among several", "[device]") {
  CHECK((device_named("cuda", "--device") == Device{cuda, 0}));
  CHECK((device_named("cuda:7", "--device") == Device{cuda, 7}));
  CHECK((device_named("host", "--device") == Device{host, 0}));
  CHECK(name_of({cuda, 12}) == "cuda:12");
  CHECK((devices_named("cuda:1,cuda", "--devices") == std::vector<Device>{{cuda, 1}, {cuda, 0}}));
  for (const char* wrong :
       {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda:01234567", "CUDA", "host:a"})
    require_bad_input([&] { device_named(wrong, "--device"); },
                      {"--device: \"" + std::string(wrong) + "\" names no device", "cuda:1"});
  require_bad_input([] { devices_named("cuda:0,cuda", "--devices"); },
                    {"--devices: names cuda:0 twice"});
  require_bad_input([] { devices_named("cuda:0,", "--devices"); }, {"names no device"});
}

TEST_CASE("a number beyond those that there are is answered by how many there are", "[device]") {
  CHECK(why_no_such_device(1, 2).empty());
  CHECK(why_no_such_device(3, 2) == "this machine has 2 NVIDIA GPUs; give cuda:0 to cuda:1");
  CHECK(why_no_such_device(1, 1) == "this machine has one NVIDIA GPU; give cuda:0");
}

TEST_CASE("a build for the host enters no GPU, and the host by any number", "[device]") {
  if (device_system() == "CUDA") return;
  enter_device({host, 3}, "--device host:3");
  CHECK(entered_device() == 0);
  require_bad_input(
      [] {
        enter_device({cuda, 1}, "--devices cuda:1");
      },
      {"--devices cuda:1: this build has no CUDA"});
  require_bad_input([] { require_device("cuda:1"); }, {"--device cuda:1: this build has no CUDA"});
}

}  // namespace tempera::gpu
