#include "gpu/llm/transformer/kernels/device_arithmetic.hpp"

#include "tests/catch.hpp"

using namespace tempera::gpu;

TEST_CASE("an arithmetic of tensor cores is refused on a GPU whose own take other steps") {
  const auto why = [](Arithmetic arithmetic, int major, int minor) {
    return why_device_lacks(arithmetic, ComputeCapability{major, minor});
  };
  for (const auto arithmetic : arithmetics) {
    if (!takes_tensor_core_steps(arithmetic)) continue;
    CHECK_THAT(why(arithmetic, 7, 5), Catch::Contains("compute capability 7.5 know no bfloat16"));
  }
  for (const int minor : {0, 6, 9}) {
    for (const auto hopper : {Arithmetic::tensor_core, Arithmetic::tensor_core_8_bit_pages})
      CHECK_THAT(why(hopper, 8, minor), Catch::Contains("take other steps than Hopper's"));
    CHECK(why(Arithmetic::tensor_core_ampere, 8, minor).empty());
    CHECK(why(Arithmetic::tensor_core_ampere_8_bit_pages, 8, minor).empty());
  }
  for (const int major : {9, 10, 12}) {
    CHECK(why(Arithmetic::tensor_core, major, 0).empty());
    CHECK(why(Arithmetic::tensor_core_8_bit_pages, major, 0).empty());
    for (const auto ampere :
         {Arithmetic::tensor_core_ampere, Arithmetic::tensor_core_ampere_8_bit_pages})
      CHECK_THAT(why(ampere, major, 0),
                 Catch::Contains("take other steps than Ampere's and Ada's"));
  }
  // Every GPU computes float32, and the host computes everything.
  CHECK(why_device_lacks(Arithmetic::float32, ComputeCapability{7, 0}).empty());
  for (const auto arithmetic : arithmetics)
    CHECK(why_device_lacks(arithmetic, std::nullopt).empty());
}

TEST_CASE("who asks for an arithmetic that the GPU has not is told its own, which it then has") {
  for (const auto asked : {Arithmetic::tensor_core, Arithmetic::tensor_core_8_bit_pages})
    CHECK(arithmetics_instead(asked, ComputeCapability{7, 5}) == "use --arithmetic float32");
  for (const int major : {8, 9, 10, 12}) {
    const ComputeCapability device{major, 0};
    const auto own = fast_arithmetic(device);
    REQUIRE(own);
    CHECK(*own == (major == 8 ? Arithmetic::tensor_core_ampere : Arithmetic::tensor_core));
    CHECK(why_device_lacks(*own, device).empty());
    const auto other = major == 8 ? Arithmetic::tensor_core : Arithmetic::tensor_core_ampere;
    CHECK(arithmetics_instead(other, device) ==
          "use --arithmetic " + std::string(name_of(*own)) +
              ", which is this GPU's own, or --arithmetic float32");
    CHECK(arithmetics_instead(Arithmetic::bfloat16_pairs, device) ==
          arithmetics_instead(other, device));
  }
  // Whoever asked for pages of 8 bits has them.
  CHECK_THAT(
      arithmetics_instead(Arithmetic::tensor_core_8_bit_pages, ComputeCapability{8, 0}),
      Catch::Contains("--arithmetic tensor-core-ampere-8-bit-pages, which is this GPU's own"));
  CHECK_THAT(
      arithmetics_instead(Arithmetic::tensor_core_ampere_8_bit_pages, ComputeCapability{9, 0}),
      Catch::Contains("--arithmetic tensor-core-8-bit-pages, which is this GPU's own"));
  CHECK_FALSE(fast_arithmetic(ComputeCapability{7, 5}));
  CHECK_FALSE(fast_arithmetic(std::nullopt));
}

TEST_CASE("who computes by float32 on a GPU is told of the fast arithmetic, in one line") {
  const std::string on_hopper = faster_arithmetic(Arithmetic::float32, ComputeCapability{9, 0});
  CHECK_THAT(on_hopper, Catch::Contains("--arithmetic tensor-core is many times as fast here"));
  CHECK(on_hopper.find('\n') == std::string::npos);
  CHECK_THAT(faster_arithmetic(Arithmetic::float32, ComputeCapability{8, 9}),
             Catch::Contains("--arithmetic tensor-core-ampere is many times as fast here"));
  CHECK_THAT(faster_arithmetic(Arithmetic::float32, ComputeCapability{7, 5}),
             Catch::Contains("needs compute capability 8.0 or newer"));
  CHECK(faster_arithmetic(Arithmetic::tensor_core, ComputeCapability{9, 0}).empty());
  CHECK(faster_arithmetic(Arithmetic::float32, std::nullopt).empty());
}

TEST_CASE("bfloat16-pairs is refused on every GPU, and computed by every host") {
  for (const int major : {7, 9, 10})
    CHECK_THAT(why_device_lacks(Arithmetic::bfloat16_pairs, ComputeCapability{major, 0}),
               Catch::Contains("no form of it is for a GPU"));
  CHECK(why_device_lacks(Arithmetic::bfloat16_pairs, std::nullopt).empty());
}

TEST_CASE("integer is computed by every GPU, whatever its tensor cores, and by every host") {
  for (const int major : {7, 8, 9, 10})
    CHECK(why_device_lacks(Arithmetic::integer, ComputeCapability{major, 0}).empty());
  CHECK(why_device_lacks(Arithmetic::integer, std::nullopt).empty());
}
