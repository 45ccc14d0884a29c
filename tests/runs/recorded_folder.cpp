// Other cases of recorded folders are in tests/devices/resumed_runs.cpp, which ./test --all alone
// runs: a change of what a folder holds shows here.
#include "tests/gpu/session/recorded_folder.hpp"

#include <utility>

#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/temporary_file.hpp"

using namespace tempera::gpu;

TEST_CASE("a run's folder has the recorded bytes") {
  for (const auto& [arithmetic, expected] :
       {std::pair{Arithmetic::tensor_core, recorded::of_hopper},
        std::pair{Arithmetic::tensor_core_ampere, recorded::of_ampere}}) {
    SamplingSettings settings = recorded::settings_of_runs();
    settings.arithmetic = arithmetic;
    const tempera::test::TemporaryFolder work;
    RunFolder folder = RunFolder::create(work / "run", settings.to_json());
    recorded::run_in_folder(*recorded::model_of(default_kernels(arithmetic)), folder, settings);
    CHECK(recorded::fingerprint_of_folder(work / "run") == expected);
  }
}
