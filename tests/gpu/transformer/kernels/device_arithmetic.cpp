#include "gpu/transformer/kernels/device_arithmetic.hpp"

#include "tests/catch.hpp"

using namespace tempera::gpu;

TEST_CASE("tensor-core is refused on a GPU whose tensor cores take other steps") {
  const auto why = [](int major, int minor) {
    return why_device_lacks(Arithmetic::tensor_core, ComputeCapability{major, minor});
  };
  CHECK_THAT(why(7, 5), Catch::Contains("compute capability 7.5 know no bfloat16"));
  CHECK_THAT(why(8, 0), Catch::Contains("compute capability 8.0 take other steps than Hopper's"));
  CHECK_THAT(why(8, 9), Catch::Contains("compute capability 8.9 take other steps than Hopper's"));
  CHECK(why(9, 0).empty());
  CHECK(why(10, 0).empty());
  // Every GPU computes float32, and the host computes everything.
  CHECK(why_device_lacks(Arithmetic::float32, ComputeCapability{7, 0}).empty());
  CHECK(why_device_lacks(Arithmetic::tensor_core, std::nullopt).empty());
}
