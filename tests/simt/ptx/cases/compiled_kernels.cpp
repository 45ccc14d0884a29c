// Makes this program run what nvcc compiled, and says which cases of the text are none of its own.
#include "gpu/llm/transformer/kernels/cuda/rows.cuh"
#include "tests/catch.hpp"
#include "tests/simt/ptx/run_compiled.hpp"

namespace tempera::lab::ptx {
namespace {

const bool runs_compiled = [] {
  run_compiled();
  return true;
}();

}  // namespace

TEST_CASE("a kernel that is launched runs what nvcc compiled, and is counted") {
  REQUIRE(runs_compiled);
  REQUIRE(launches().compiled.size() == 122);
  const auto count_of = [](const std::string& part) {
    std::uint64_t count = 0;
    for (const auto& [name, launched] : launches().compiled)
      if (name.find(part) != std::string::npos) count += launched;
    return count;
  };
  const std::uint64_t before = count_of("14normalize_rows");
  constexpr unsigned size = 5;
  const std::vector<float> states{1.0F, -2.0F, 3.0F, 0.5F, 0.25F};
  const std::vector<float> weight(size, 1.0F);
  std::vector<std::uint16_t> normed(16);
  gpu::simt::Stream stream;
  gpu::simt::launch(
      {.blocks = {}, .threads = gpu::row_threads, .shared_bytes = gpu::row_threads * sizeof(float)},
      stream, gpu::normalize_rows, states.data(), weight.data(), size, 1e-6F, normed.data());
  CHECK(count_of("14normalize_rows") == before + 1);
  CHECK(normed[1] > 0x8000U);  // of -2
}

}  // namespace tempera::lab::ptx
