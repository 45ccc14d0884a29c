// gpu_check [--part N]: what ./gpu-check runs on a device, and test_devices on the host. Every part
// prints a line for people and a line of JSON; one that fails does not stop the others.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif
#include <chrono>
#include <cstdlib>
#include <exception>

#include "gpu/device/device_system.hpp"
#include "tests/devices/part.hpp"

namespace {

using namespace tempera::gpu;

/// Part 2: the Catch2 cases of this folder.
Finding bits_against_host() {
  Finding finding;
  const int failed = Catch::Session().run();
  finding.verdict = failed == 0 ? Finding::Verdict::holds : Finding::Verdict::fails;
  finding.words = failed == 0 ? "lottery, kernels and whole runs have the host's bits"
                              : std::to_string(failed) + " test cases differ; see above";
  return finding;
}

struct Part {
  int number;
  const char* name;
  Finding (*find)();
};

constexpr Part parts[] = {
    {1, "tensor core against its model", tensor_core_against_model},
    {2, "bits of device and host", bits_against_host},
    {3, "tapes of a finite model", tapes_against_host},
    {4, "law of 10^4 states", law_of_ten_thousand_states},
    {5, "short run", short_run},
    {6, "speed", speed_against_the_device},
};

/// Whether the part did not fail.
bool run(const Part& part, const std::string& device) {
  const auto begin = std::chrono::steady_clock::now();
  Finding finding;
  try {
    finding = part.find();
  } catch (const std::exception& error) {
    finding.verdict = Finding::Verdict::fails;
    finding.words = error.what();
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const char* verdict = word_for(finding.verdict);
  std::printf("part %d, %s: %s: %s\n", part.number, part.name, verdict, finding.words.c_str());
  nlohmann::ordered_json line = {{"part", part.number}, {"name", part.name},
                                 {"verdict", verdict},  {"words", finding.words},
                                 {"seconds", seconds},  {"device", device}};
  if (!finding.numbers.is_null()) line["numbers"] = finding.numbers;
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
  return finding.verdict != Finding::Verdict::fails;
}

}  // namespace

int main(int argc, char* argv[]) {
  const std::string option = argc > 1 ? argv[1] : "";
  const int only = argc == 3 && option == "--part" ? std::atoi(argv[2]) : 0;
  bool known = argc == 1;
  for (const Part& part : parts) known = known || part.number == only;
  if (!known) {
    std::fprintf(stderr, "gpu_check: give nothing, or --part with one of 1 to 6\n");
    return 2;
  }
  if (const std::string why = why_no_device(); !why.empty()) {
    std::printf("NOT RUN: %s\n", why.c_str());
    return 77;
  }
  const std::string device = device_description().value_or("unknown");
  std::printf("device: %s\n", device.c_str());
  std::fflush(stdout);
  bool sound = true;
  for (const Part& part : parts)
    if (only == 0 || part.number == only) sound = run(part, device) && sound;
  return sound ? 0 : 1;
}
