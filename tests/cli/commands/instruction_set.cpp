// The instruction set is chosen at run time, and chooses no bits.
#include "gpu/device/instruction_set.hpp"

#include <stdlib.h>

#include "tests/cli/run_command.hpp"

using namespace tempera::test;
using tempera::gpu::instruction_sets;

namespace {

const std::string sample = std::string("sample '1+2?' --model ") + TEMPERA_SOURCE_DIR +
                           "/toy_models/worked_sum --powers 1,2,4 --horizon 12 --block 4 "
                           "--rounds 2 --samples 2 --json";

CommandResult run_with(const std::string& set, const std::string& arguments) {
  setenv("TEMPERA_ISA", set.c_str(), 1);
  const auto result = run_command(arguments);
  unsetenv("TEMPERA_ISA");
  return result;
}

}  // namespace

TEST_CASE("every instruction set samples the same answers") {
  const std::string arithmetic =
      GENERATE("float32", "tensor-core", "tensor-core-ampere", "bfloat16-pairs", "integer");
  CAPTURE(arithmetic);
  const std::string arguments = sample + " --arithmetic " + arithmetic;
  const auto expected = run_command(arguments);
  REQUIRE(expected.exit_code == 0);
  REQUIRE_FALSE(expected.out.empty());
  for (const auto set : instruction_sets) {
    const std::string name(name_of(set));
    CAPTURE(name);
    const auto result = run_with(name, arguments);
    if (!tempera::gpu::why_missing(set).empty()) {
      CHECK(is_refusal(result));
      continue;
    }
    CHECK(result.exit_code == 0);
    CHECK(result.out == expected.out);
  }
}

TEST_CASE("an unknown instruction set is refused in one line") {
  const auto result = run_with("sse9", sample);
  CHECK(is_refusal(result));
  CHECK_THAT(result.err, Catch::Contains("TEMPERA_ISA"));
  CHECK_THAT(result.err, Catch::Contains("sse9"));
}
