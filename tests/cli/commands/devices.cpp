// --device and --devices of `tempera sample`, on a machine without a GPU.
#include <algorithm>
#include <filesystem>

#include "gpu/device/device_system.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"
#include "tests/temporary_file.hpp"

using namespace tempera::test;

namespace {

const std::string several_answers =
    "sample '3+9+2?' --model " TEMPERA_SOURCE_DIR
    "/toy_models/worked_sum --horizon 6 --block 3 --rounds 1 --powers 1,2 "
    "--samples 5 --seed 5 ";

}  // namespace

TEST_CASE("sessions on several devices print and leave the bytes of one") {
  if (tempera::gpu::device_system() == "CUDA") return;
  const TemporaryFolder work;
  const auto one = run_command(several_answers + "--out " + (work / "one").string());
  REQUIRE(one.exit_code == 0);
  const auto two =
      run_command(several_answers + "--devices host,host --out " + (work / "two").string());
  CHECK(two.exit_code == 0);
  CHECK(two.out == one.out);
  CHECK(two.err.empty());
  for (const char* file : {"config.json", "events.jsonl", "samples.jsonl", "summary.json"}) {
    INFO(file);
    CHECK(bytes_of(work / "two" / file) == bytes_of(work / "one" / file));
  }
  const auto again = run_command("sample --devices host,host --resume " + (work / "two").string());
  CHECK(again.out == one.out);
}

TEST_CASE("a device that is not there is answered in one line, before anything is read") {
  if (tempera::gpu::device_system() == "CUDA") return;
  const std::pair<const char*, const char*> wrong[] = {
      {"--device cuda:1", "tempera: --device cuda:1: this build has no CUDA"},
      {"--device gpu", "tempera: --device: \"gpu\" is unknown"},
      {"--devices cuda:0,cuda:1", "tempera: --devices cuda:0: this build has no CUDA"},
      {"--devices host,gpu", "tempera: --devices: \"gpu\" is unknown"},
      {"--devices host,", "tempera: --devices: \"host,\" has an empty name"},
      {"--devices host --device host", "tempera: --devices: has no effect beside --device"},
  };
  for (const auto& [options, said] : wrong) {
    INFO(options);
    const auto result = run_command(several_answers + options);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Catch::StartsWith(said));
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  }
}
