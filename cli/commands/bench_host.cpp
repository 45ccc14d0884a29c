#include "cli/commands/bench_host.hpp"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "bench/speed/host_speed.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/models/opened_model.hpp"

namespace tempera::cli {
namespace {

/// A measured ratio, and what it should reach.
struct Figure {
  const char* key;
  const char* what;
  const char* aim;
  double measured;
};

std::vector<Figure> figures_of(const gpu::HostSpeed& speed, const gpu::MatrixWork& step) {
  std::vector<Figure> figures;
  figures.push_back({"of_read_bandwidth", "one record: weight bytes read, of the bandwidth",
                     ">= 0.85", speed.alone_tokens_per_byte * static_cast<double>(step.bytes)});
  figures.push_back({"of_multiply_adds", "64 records: weights multiplied in passes, of the peak",
                     ">= 0.6",
                     speed.pass_tokens_per_multiply_add * static_cast<double>(step.multiply_adds)});
  figures.push_back({"k4_of_k1", "K = 4, a full batch: time a decode token, of K = 1", "<= 1.1",
                     speed.full_tokens_per_second / speed.full_of_4_tokens_per_second});
  figures.push_back(
      {"draw_of_a_step", "K = 4: the draw, of a step", "<= 0.1", speed.draw_of_a_step});
  figures.push_back(
      {"rest_of_a_run", "K = 4: swaps and bookkeeping, of a run", "<= 0.005", speed.rest_of_a_run});
  return figures;
}

}  // namespace

void run_bench_host(const std::string& shape, const std::string& model, gpu::Arithmetic arithmetic,
                    bool json) {
  std::unique_ptr<gpu::Transformer> filled;
  std::optional<gpu::OpenedModel> opened;
  gpu::Transformer* transformer = nullptr;
  if (model.empty()) {
    filled = gpu::model_of_shape(shape, arithmetic);
    transformer = filled.get();
  } else {
    opened.emplace(gpu::OpenedModel::open(model, {}, arithmetic));
    transformer = dynamic_cast<gpu::Transformer*>(&opened->model());
    if (transformer == nullptr)
      throw BadInput("--model " + in_quotes(model), "its logits are given, not computed",
                     "give a transformer: a folder or a GGUF file");
  }
  const gpu::HostSpeed speed = gpu::measure_host_speed(*transformer);
  const gpu::MatrixWork step = transformer->step_work();
  const std::vector<Figure> figures = figures_of(speed, step);
  const std::string device = gpu::device_description().value_or("unknown");
  if (json) {
    nlohmann::ordered_json report = {
        {"name", "tempera bench host"},
        {"model", model.empty() ? "shape " + shape : model},
        {"arithmetic", gpu::name_of(arithmetic)},
        {"kernels", transformer->kernels().name()},
        {"device", device},
        {"read_bytes_per_second", speed.limits.read_bytes_per_second},
        {"multiply_adds_per_second", speed.limits.multiply_adds_per_second},
        {"weight_bytes_of_a_step", step.bytes},
        {"multiply_adds_of_a_token", step.multiply_adds},
        {"alone_tokens_per_second", speed.alone_tokens_per_second},
        {"full_tokens_per_second", speed.full_tokens_per_second},
        {"pass_tokens_per_second", speed.pass_tokens_per_second},
        {"alone_tokens_per_byte", speed.alone_tokens_per_byte},
        {"pass_tokens_per_multiply_add", speed.pass_tokens_per_multiply_add},
        {"full_of_4_tokens_per_second", speed.full_of_4_tokens_per_second},
        {"prompt_tokens_per_second", speed.prompt_tokens_per_second}};
    for (const Figure& figure : figures)
      report["figures"][figure.key] = {{"measured", figure.measured}, {"aim", figure.aim}};
    std::cout << report.dump() << '\n';
    return;
  }
  const std::string title =
      "Decoding on the host: " + (model.empty() ? "shape " + shape + ", random weights" : model) +
      ", " + std::string(gpu::name_of(arithmetic)) + " by " + transformer->kernels().name() +
      " on " + device + "; prompts of 64 tokens, records of 32.";
  std::printf("%s\n\n", wrapped(title, table_columns, 2).c_str());
  std::printf("%-52s %12.3g\n", "memory: bytes read a second", speed.limits.read_bytes_per_second);
  std::printf("%-52s %12.3g\n", "cores: float32 multiply-adds a second",
              speed.limits.multiply_adds_per_second);
  std::printf("%-52s %12.3g\n", "the model: weight bytes that a step reads",
              static_cast<double>(step.bytes));
  std::printf("%-52s %12.3g\n", "the model: multiply-adds of a token with its weights",
              static_cast<double>(step.multiply_adds));
  std::printf("%-52s %12.1f\n", "one record, K = 1: tokens a second",
              speed.alone_tokens_per_second);
  std::printf("%-52s %12.1f\n", "64 records, K = 1: tokens a second", speed.full_tokens_per_second);
  std::printf("%-52s %12.1f\n", "64 records, all extended: tokens a second of passes",
              speed.pass_tokens_per_second);
  std::printf("%-52s %12.1f\n", "64 replicas, K = 4: tokens a second",
              speed.full_of_4_tokens_per_second);
  std::printf("%-52s %12.1f\n\n", "64 prompts: tokens a second", speed.prompt_tokens_per_second);
  std::printf("%-52s %12s   %s\n", "ratio", "measured", "aim");
  for (const Figure& figure : figures)
    std::printf("%-52s %12.3g   %s\n", figure.what, figure.measured, figure.aim);
}

}  // namespace tempera::cli
