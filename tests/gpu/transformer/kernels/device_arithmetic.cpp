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

TEST_CASE("who computes by float32 on a GPU is told of the fast arithmetic, in one line") {
  const std::string on_hopper = faster_arithmetic(Arithmetic::float32, ComputeCapability{9, 0});
  CHECK_THAT(on_hopper, Catch::Contains("--arithmetic tensor-core is many times as fast here"));
  CHECK(on_hopper.find('\n') == std::string::npos);
  CHECK_THAT(faster_arithmetic(Arithmetic::float32, ComputeCapability{8, 9}),
             Catch::Contains("tensor-core needs compute capability 9.0 or newer"));
  CHECK(faster_arithmetic(Arithmetic::tensor_core, ComputeCapability{9, 0}).empty());
  CHECK(faster_arithmetic(Arithmetic::float32, std::nullopt).empty());
}

TEST_CASE("bfloat16-pairs is refused on every GPU, and computed by every host") {
  for (const int major : {7, 9, 10})
    CHECK_THAT(why_device_lacks(Arithmetic::bfloat16_pairs, ComputeCapability{major, 0}),
               Catch::Contains("no form of it is for a GPU"));
  CHECK(why_device_lacks(Arithmetic::bfloat16_pairs, std::nullopt).empty());
}
