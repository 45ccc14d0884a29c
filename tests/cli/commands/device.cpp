#include "gpu/device/device_system.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::device_test {

using namespace tempera::test;

namespace {

const std::string model = " --model " TEMPERA_SOURCE_DIR "/toy_models/worked_sum";

}  // namespace

TEST_CASE("a device that this build or machine lacks is refused in one line, and never replaced") {
  REQUIRE(tempera::gpu::device_system() != "CUDA");
  for (const std::string& command : {"sample 4+7?" + model, "score --tokens 4,11,10" + model,
                                     std::string("bench paper --shape tiny")}) {
    const CommandResult refused = run_command(command + " --device cuda");
    CHECK(refused.exit_code == 2);
    CHECK(refused.out.empty());
    CHECK(refused.err ==
          "tempera: --device cuda: this build has no CUDA; leave it out, or use the build of cmake "
          "--preset cuda\n");
    for (const char* strange : {"gpu", "cuda:", "cuda:x", "cuda:01", "cuda:-1", "host:0"}) {
      const CommandResult unknown = run_command(command + " --device " + strange);
      CHECK(unknown.exit_code == 2);
      CHECK_THAT(unknown.err, Catch::Contains("is unknown; give host or cuda"));
    }
    check_refusal(command + " --device cuda:1", "--device cuda:1: this build has no CUDA");
  }
  const CommandResult host = run_command("score --tokens 4,11,10 --device host --json" + model);
  CHECK(host.exit_code == 0);
  CHECK(host.out == run_command("score --tokens 4,11,10 --json" + model).out);
}

}  // namespace tempera::device_test
