// Part 6: speed, as fractions of what the same run measures of the device itself.
#include "tests/devices/speed.hpp"

#include "gpu/device/device_system.hpp"
#include "tests/devices/part.hpp"

namespace tempera::gpu {

namespace {

void measure_device(SpeedRun& run) {
  const ModelShape& large = *find_model_shape("qwen3-8b");
  const ModelShape& medium = *find_model_shape("qwen3-4b");
  measure_products(run, medium);
  measure_products(run, large);
  measure_attention(run, large, 64, 8192);
  // 2,048 tokens behind 64 rows: 20 GB of pages beside 16 GB of weights, and as much again while
  // the pages grow.
  // All steps that are measured end below 2,048 positions, where another graph would begin.
  const StepsToMeasure what{{1, 2, 4, 64}, 1984, 2048, 24, {1, 4, 16}};
  measure_steps(run, medium, what);
  measure_steps(run, large, what);
  measure_small_step(run, *find_model_shape("135m"));
}

/// That all of it runs, where there is no device: a shape that takes moments.
void measure_host(SpeedRun& run) {
  const ModelShape& tiny = *find_model_shape("tiny");
  measure_products(run, tiny);
  measure_attention(run, tiny, 4, 300);
  measure_steps(run, tiny, {{1, 4}, 40, 32, 5, {1, 2}});
  measure_small_step(run, tiny);
}

}  // namespace

Finding speed_against_the_device() {
  const bool on_device = device_system() == "CUDA";
  SpeedRun run{{{}, on_device ? 0.01 : 0.0}, Figures(!on_device), {}};
  run.rates.bandwidth = read_bandwidth(run.timing.clock);
  run.rates.matrix_peak = matrix_peak(run.timing.clock);
  run.figures.note("streaming reads", run.rates.bandwidth * 1e-9, "GB/s");
  run.figures.note("the matrix peak", run.rates.matrix_peak * 1e-12, "TFLOP/s");
  if (on_device)
    measure_device(run);
  else
    measure_host(run);
  const Figures& figures = run.figures;
  Finding finding;
  finding.numbers = {{"figures", figures.json().size()},
                     {"judged", figures.judged()},
                     {"missed", figures.missed()},
                     {"not_measured", figures.left_out()}};
  if (!on_device) {
    finding.words = "this build has no CUDA: " + std::to_string(figures.json().size()) +
                    " figures of a host, which nothing judges, show that the part runs";
    return finding;
  }
  finding.verdict = figures.missed() == 0 ? Finding::Verdict::holds : Finding::Verdict::fails;
  char words[200];
  std::snprintf(words, sizeof words,
                "reads %.0f GB/s, mma.sync %.0f TFLOP/s; %zu of %zu goals met; %zu figures not "
                "measured",
                run.rates.bandwidth * 1e-9, run.rates.matrix_peak * 1e-12,
                figures.judged() - figures.missed(), figures.judged(), figures.left_out());
  finding.words = words;
  return finding;
}

}  // namespace tempera::gpu
