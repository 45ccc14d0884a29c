// Part 6: speed, as fractions of what the same run measures of the device itself.
#include "tests/devices/speed.hpp"

#include "gpu/device/device_system.hpp"
#include "tests/devices/part.hpp"

namespace tempera::gpu {

namespace {

/// What issue 10 wants measured and no kernel of this build does yet.
constexpr const char* unmeasured[] = {"products",
                                      "head",
                                      "attention",
                                      "whole step",
                                      "batch invariance",
                                      "graph against the sum of its kernels",
                                      "idle between steps",
                                      "prefill",
                                      "K = 4 against K = 1",
                                      "swaps",
                                      "135 million parameters at B = 1"};

/// Bytes of the weights that a step of Qwen3-8B reads, two for each of 7.57e9 parameters: all but
/// the embedding, of which it reads a row.
constexpr double weight_bytes = 2.0 * 7.57e9;
constexpr double part_of_step = 0.05;

}  // namespace

Finding speed_against_the_device() {
  Finding finding;
  if (device_system() != "CUDA") {
    finding.words = "this build has no CUDA";
    return finding;
  }
  const double bandwidth = read_bandwidth();
  const double peak = matrix_peak();
  finding.numbers["read_bandwidth_GB_per_s"] = bandwidth * 1e-9;
  finding.numbers["matrix_peak_TFLOP_per_s"] = peak * 1e-12;
  finding.verdict = Finding::Verdict::holds;
  const double step_floor = weight_bytes / bandwidth;
  double worst = 0.0;
  // 0.1: every token needs its exponentials at every rung; 3: about what a language model leaves.
  for (const float spread : {0.1F, 3.0F}) {
    for (const std::size_t rows : {1, 4, 16, 64}) {
      const double seconds = draw_seconds(rows, 151936, 6, spread);
      const double share = seconds / step_floor;
      worst = share > worst ? share : worst;
      finding.numbers["draw"].push_back({{"rows", rows},
                                         {"vocabulary", 151936},
                                         {"rungs", 6},
                                         {"spread", spread},
                                         {"microseconds", seconds * 1e6},
                                         {"of_step_floor_8B", share},
                                         {"at_most", part_of_step}});
    }
  }
  if (worst > part_of_step) finding.verdict = Finding::Verdict::fails;
  for (const char* what : unmeasured) finding.numbers["not_measured"].push_back(what);
  char words[200];
  std::snprintf(words, sizeof words,
                "reads %.0f GB/s, mma.sync %.0f TFLOP/s; the draw takes at most %.1f %% of the "
                "weights' time (at most 5 %%); %zu figures not measured",
                bandwidth * 1e-9, peak * 1e-12, worst * 100.0, std::size(unmeasured));
  finding.words = words;
  return finding;
}

}  // namespace tempera::gpu
