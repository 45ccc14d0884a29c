#include "gpu/device/driver_answer.hpp"

#include "tests/catch.hpp"

using namespace tempera::gpu;

TEST_CASE("a machine without a driver, with one that is too old or without a GPU is told apart") {
  DriverAnswer none;
  none.build = 13000;
  none.error = "CUDA driver version is insufficient for CUDA runtime version";
  // Without a driver CUDA's runtime calls it too old as well.
  none.is_too_old = true;
  CHECK(why_no_device(none) ==
        "no NVIDIA driver on this machine; install one that serves CUDA 13.0 or newer");

  DriverAnswer old = none;
  old.driver = 12040;
  CHECK(why_no_device(old) ==
        "the NVIDIA driver serves CUDA 12.4 and this build needs CUDA 13.0; update the driver");

  DriverAnswer silent = old;
  silent.is_too_old = false;
  silent.error = "unknown error";
  CHECK(why_no_device(silent) == "the NVIDIA GPU does not answer: unknown error");

  DriverAnswer empty = silent;
  empty.error.clear();
  CHECK(why_no_device(empty) == "no NVIDIA GPU on this machine");

  DriverAnswer sound = empty;
  sound.devices = 1;
  CHECK(why_no_device(sound).empty());
}
