#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif
#include <cstdio>

#include "gpu/device/device_system.hpp"

int main(int argc, char* argv[]) {
  const auto device = tempera::gpu::device_description();
  if (!device) {
    std::printf("NOT RUN: no NVIDIA GPU on this machine\n");
    return 77;
  }
  std::printf("device: %s\n", device->c_str());
  std::fflush(stdout);
  return Catch::Session().run(argc, argv);
}
