// gpu_check [--part N] [--quick]: what ./gpu-check runs on a device, and test_devices on the host.
// Every part prints a line for people and a line of JSON when it is done; one that fails does not
// stop the others. --describe prints the device alone.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif
#include <chrono>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

#include "gpu/device/device_system.hpp"
#include "tests/devices/part.hpp"

namespace {

using namespace tempera::gpu;

/// Part 2: the Catch2 cases of this folder.
Finding bits_against_host(Extent extent) {
  Finding finding;
  Catch::Session session;
  if (extent == Extent::quick) {
    const char* const arguments[] = {"gpu_check", "~[long]"};
    session.applyCommandLine(2, arguments);
  }
  const int failed = session.run();
  finding.verdict = failed == 0 ? Finding::Verdict::holds : Finding::Verdict::fails;
  finding.words = failed == 0 ? "lottery, kernels and whole runs have the host's bits"
                              : std::to_string(failed) + " test cases differ; see above";
  return finding;
}

struct Part {
  int number;
  const char* name;
  Finding (*find)(Extent extent);
  bool is_of_all = true;  ///< whether a device runs it if no part is asked for
};

/// What decides most comes first.
constexpr Part parts[] = {
    {1, "tensor core against its model", tensor_core_against_model},
    {2, "bits of device and host", bits_against_host},
    {6, "speed", speed_against_the_device},
    {3, "tapes of a finite model", [](Extent) { return tapes_against_host(); }},
    {4, "law of 10^4 states", [](Extent) { return law_of_ten_thousand_states(); }},
    {5, "short run", [](Extent) { return short_run(); }},
    {8, "plans of products", [](Extent) { return measured_plans(); }},
    // For the calls of ./gpu-check alone.
    {9, "peaks", [](Extent) { return peaks_of_the_device(); }, false},
    {10, "bits at real size", [](Extent) { return bits_at_real_size(); }, false},
    {11, "steps by kernel", [](Extent) { return step_tables(); }, false},
    {12, "attention by rows and context", [](Extent) { return attention_tables(); }, false},
    {13, "forms of a step by turns", [](Extent) { return forms_by_turns(); }, false},
};

/// Whether the part did not fail.
bool run(const Part& part, Extent extent, const std::string& device) {
  const auto begin = std::chrono::steady_clock::now();
  Finding finding;
  try {
    finding = part.find(extent);
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

/// What the program was asked to do.
struct Wish {
  int only = 0;  ///< the part, or 0: all
  Extent extent = Extent::whole;
  bool describe = false;
};

/// Nothing if the arguments are no wish.
std::optional<Wish> wish_of(int argc, char* argv[]) {
  Wish wish;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick") {
      wish.extent = Extent::quick;
    } else if (argument == "--describe") {
      wish.describe = true;
    } else if (argument == "--part" && i + 1 < argc) {
      wish.only = std::atoi(argv[++i]);
      bool known = false;
      for (const Part& part : parts) known = known || part.number == wish.only;
      if (!known) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  return wish;
}

int run_parts(const Wish& wish) {
  if (const std::string why = why_no_device(); !why.empty()) {
    std::printf("NOT RUN: %s\n", why.c_str());
    return 77;
  }
  const std::string device = device_description().value_or("unknown");
  std::printf("device: %s\n", device.c_str());
  std::fflush(stdout);
  if (wish.describe) return 0;
  bool sound = true;
  const bool is_host = device_system() != "CUDA";  // whose shapes are tiny: all of it runs
  for (const Part& part : parts)
    if (wish.only == 0 ? part.is_of_all || is_host : part.number == wish.only)
      sound = run(part, wish.extent, device) && sound;
  return sound ? 0 : 1;
}

}  // namespace

int main(int argc, char* argv[]) {
  const std::optional<Wish> wish = wish_of(argc, argv);
  if (!wish) {
    std::fprintf(
        stderr,
        "gpu_check: give --part with one of 1 to 6 or 8 to 13, --quick, --describe, or nothing\n");
    return 2;
  }
  const int code = run_parts(*wish);
  std::fflush(nullptr);
  // Without the destructors of statics: device memory among them would be freed when CUDA's runtime
  // may have ended already, and an error there would turn a verdict that is printed into a crash.
  std::_Exit(code);
}
