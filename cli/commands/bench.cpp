#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "bench/speed/paper_runtime.hpp"
#include "cli/commands/bench_host.hpp"
#include "cli/commands/command.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/kernels/device_arithmetic.hpp"

namespace tempera::cli {
namespace {

struct BenchOptions {
  std::string name;
  std::string shape;
  std::string model;
  std::string device;
  std::size_t problems = 0;
  std::size_t seconds = 60;
  std::optional<gpu::Arithmetic> arithmetic;
  bool json = false;
};

/// Lengths of the small shapes are a share of the paper's, so that they end in seconds.
gpu::PaperSettings settings_for(const std::string& shape) {
  const gpu::PaperSettings paper;
  return shape == "tiny" ? gpu::shortened(paper, 128) : paper;
}

/// The parts of a row besides its times.
struct BenchedModel {
  const gpu::ModelShape& shape;
  gpu::Arithmetic arithmetic;

  std::uint64_t weight_bytes() const { return 2 * shape.step_weights(); }
  /// Bytes that a problem of the row reads at least, in all or for some of its tokens.
  double least_bytes(const gpu::MeasuredRuntime& row, const gpu::ExpectedTokens& expected) const {
    return expected.least_bytes(row.problems * row.rungs, weight_bytes(),
                                shape.token_bytes(arithmetic));
  }
  double bytes_per_second(const gpu::Decoded& decoded) const {
    return decoded.bytes(weight_bytes(), shape.token_bytes(arithmetic)) / decoded.seconds;
  }
  /// Another model's time is no fraction of the paper's.
  bool is_the_papers() const { return shape.name == "qwen3-8b"; }
};

const char* name_of_part(const gpu::MeasuredPart& part) {
  return part.is_extension ? "extension" : "moves";
}

nlohmann::ordered_json to_json(const gpu::MeasuredPart& part, const gpu::MeasuredRuntime& row,
                               const BenchedModel& model) {
  return {{"stage", part.stage + 1},
          {"part", name_of_part(part)},
          {"decode_tokens", part.decoded.tokens},
          {"seconds", part.decoded.seconds},
          {"decode_tokens_per_second", part.decoded.tokens_per_second()},
          {"rows_of_a_step", part.decoded.rows_of_a_step()},
          {"mean_position", part.decoded.mean_position()},
          {"bytes_per_second", model.bytes_per_second(part.decoded)},
          {"least_bytes_of_a_problem", model.least_bytes(row, part.expected)},
          {"decode_tokens_of_a_problem", part.expected.tokens},
          {"mean_position_of_a_problem", part.expected.mean_position()},
          {"is_whole", part.is_whole}};
}

nlohmann::ordered_json to_json(const gpu::PaperRuntime& paper, const gpu::MeasuredRuntime& measured,
                               const BenchedModel& model) {
  nlohmann::ordered_json json = {
      {"arithmetic", name_of(model.arithmetic)},
      {"rungs", measured.rungs},
      {"problems_side_by_side", measured.problems},
      {"early_rejection", measured.early_rejection},
      {"decode_tokens", measured.decoded.tokens},
      {"prompt_seconds", measured.prompt_seconds},
      {"seconds", measured.decoded.seconds},
      {"decode_tokens_per_second", measured.tokens_per_second()},
      {"rows_of_a_step", measured.decoded.rows_of_a_step()},
      {"mean_position", measured.decoded.mean_position()},
      {"bytes_per_second", model.bytes_per_second(measured.decoded)},
      {"longest_text", measured.longest},
      {"decode_tokens_of_a_problem", measured.expected.tokens},
      {"mean_position_of_a_problem", measured.expected.mean_position()},
      {"least_bytes_of_a_problem", model.least_bytes(measured, measured.expected)}};
  if (!measured.complete) {
    for (const gpu::MeasuredPart& part : measured.parts)
      json["parts"].push_back(to_json(part, measured, model));
  }
  const auto seconds = measured.seconds_per_problem();
  if (seconds) json["seconds_of_a_problem"] = *seconds;
  json["how"] = measured.complete ? "measured to the end"
                : seconds         ? "each part by its own rate"
                                  : "not seen: a part was cut off before it was whole";
  json["swap_seconds_of_a_problem"] = measured.swap_seconds_per_problem();
  json["cache_bytes"] = measured.cache_bytes;
  json["recomputed_tokens"] = measured.recomputed_tokens;
  json["steps_as_graphs"] = measured.graph_replays;
  json["paper"] = {{"local_update_seconds", paper.local_update_seconds},
                   {"cache_gibibytes", paper.cache_gibibytes},
                   {"decode_tokens", paper.decode_tokens}};
  if (model.is_the_papers() && seconds)
    json["of_the_papers_time"] = *seconds / paper.local_update_seconds;
  if (paper.swap_seconds) json["paper"]["swap_seconds"] = *paper.swap_seconds;
  return json;
}

void print_decoded(const gpu::Decoded& decoded, const gpu::ExpectedTokens& expected,
                   const BenchedModel& model) {
  std::printf("%8llu %7.1f %8.0f %5.1f %6.0f %7.0f %6.0f %6.1f",
              static_cast<unsigned long long>(decoded.tokens), decoded.seconds,
              decoded.tokens_per_second(), decoded.rows_of_a_step(), decoded.mean_position(),
              expected.tokens, expected.mean_position(), model.bytes_per_second(decoded) * 1e-9);
}

void print(const gpu::PaperRuntime& paper, const gpu::MeasuredRuntime& measured,
           const BenchedModel& model) {
  std::printf("%2zu %4zu %-5s ", measured.rungs, measured.problems,
              measured.early_rejection ? "on" : "off");
  print_decoded(measured.decoded, measured.expected, model);
  char seconds[16] = "not seen";
  if (const auto seen = measured.seconds_per_problem())
    std::snprintf(seconds, sizeof seconds, "%.4g", *seen);
  std::printf(" %8.3g %9s %5.1f\n", model.least_bytes(measured, measured.expected) * 1e-12, seconds,
              paper.local_update_seconds);
  for (const gpu::MeasuredPart& part : measured.parts) {
    std::printf(" %zu %-11s", part.stage + 1, name_of_part(part));
    print_decoded(part.decoded, part.expected, model);
    std::printf(" %8.3g\n", model.least_bytes(measured, part.expected) * 1e-12);
  }
  if (paper.swap_seconds)
    std::printf("  swaps of a problem: %.2g s, the paper's %.3g; pages of all: %.2f GiB\n",
                measured.swap_seconds_per_problem(), *paper.swap_seconds,
                static_cast<double>(measured.cache_bytes) * 0x1p-30);
  flush_output();
}

/// Rows of one arithmetic: each K of the table, one problem and as many as fit, with early
/// rejection and without it; or only_full, without it as many as fit.
void measure_rows(const BenchOptions& options, const BenchedModel& benched, gpu::Transformer& model,
                  bool only_full, nlohmann::ordered_json& rows) {
  const gpu::PaperSettings settings = settings_for(options.shape);
  for (const gpu::PaperRuntime& paper : gpu::paper_runtimes()) {
    const std::size_t most = options.problems != 0
                                 ? options.problems
                                 : gpu::problems_that_fit(model, settings, paper.powers.size());
    std::vector<std::size_t> side_by_side{most};
    if (most > 1 && !only_full) side_by_side.insert(side_by_side.begin(), 1);
    gpu::PaperRuntime row = paper;
    // A shape that is no model has a budget that is a share of the paper's, as its lengths are.
    row.decode_tokens = row.decode_tokens * settings.horizon / gpu::PaperSettings().horizon;
    for (const std::size_t problems : side_by_side) {
      for (const bool early_rejection : {false, true}) {
        if (early_rejection && only_full) continue;
        const auto measured = gpu::measure_runtime(
            model, row, settings, problems, static_cast<double>(options.seconds), early_rejection);
        if (options.json)
          rows.push_back(to_json(paper, measured, benched));
        else
          print(paper, measured, benched);
      }
    }
  }
}

void run_bench_paper(BenchOptions options) {
  if (options.shape.empty()) options.shape = "qwen3-8b";
  const auto device_is = gpu::compute_capability();
  const auto arithmetic = options.arithmetic.value_or(
      gpu::fast_arithmetic(device_is).value_or(gpu::Arithmetic::tensor_core));
  const gpu::PaperSettings settings = settings_for(options.shape);
  auto model = gpu::model_of_shape(options.shape, arithmetic);
  const std::string kernels = model->kernels().name();
  const std::string device = gpu::device_description().value_or("unknown");
  const gpu::ModelShape& shape = *gpu::find_model_shape(options.shape);
  const BenchedModel benched{shape, arithmetic};
  const std::string note = benched.is_the_papers()
                               ? "the paper's, of an H100"
                               : "the paper's, of Qwen3-8B on an H100: another model than this";
  if (!options.json) {
    const std::string title =
        "Runtime per problem as in the paper's table: shape " + options.shape +
        ", random weights, " + std::string(name_of(arithmetic)) + " by " + kernels + " on " +
        device + "; prompt " + std::to_string(settings.prompt) +
        ", T = " + std::to_string(settings.horizon) + ", B = " + std::to_string(settings.block) +
        "; no token ends a record.";
    std::printf("%s\n", wrapped(title, table_columns, 2).c_str());
    std::printf("%2s %4s %-5s %8s %7s %8s %5s %6s %7s %6s %6s %8s %9s %5s\n", "K", "side", "early",
                "tokens", "seconds", "tokens/s", "rows", "place", "budget", "place", "GB/s",
                "least TB", "s/problem", "paper");
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  measure_rows(options, benched, *model, false, rows);
  if (!options.arithmetic) {
    // Products take as long, so that the difference is that of the pages.
    const auto eight_bits = gpu::fast_arithmetic(device_is, gpu::PageElements::eight_bits)
                                .value_or(gpu::Arithmetic::tensor_core_8_bit_pages);
    if (!options.json) std::printf("%s, another p0:\n", std::string(name_of(eight_bits)).c_str());
    model.reset();  // the memory has no room for two of the larger ones
    model = gpu::model_of_shape(options.shape, eight_bits);
    measure_rows(options, {shape, eight_bits}, *model, true, rows);
  }
  if (options.json) {
    const nlohmann::ordered_json json = {{"part", 7},
                                         {"name", "tempera bench paper"},
                                         {"shape", options.shape},
                                         {"arithmetic", name_of(arithmetic)},
                                         {"kernels", kernels},
                                         {"device", device},
                                         {"horizon", settings.horizon},
                                         {"block", settings.block},
                                         {"prompt", settings.prompt},
                                         {"paper_is", note},
                                         {"rows", rows}};
    std::cout << json.dump() << '\n';
  } else {
    std::printf(
        "%s\n",
        wrapped(
            "side: problems side by side; early: early rejection, which leaves out tokens of the "
            "budget; tokens, seconds, rows of a step: what was drawn, without the prompts, which "
            "are "
            "computed before; place: the mean place of these tokens in their texts, and of the "
            "budget's, the decode tokens of a problem; GB/s: weights and pages that were read; "
            "least "
            "TB: what a problem reads if every step has all rows; s/problem: of the whole run, "
            "else "
            "of each stage's extension and moves by their own rates, and not seen if --seconds cut "
            "one off before its extension or a round was done; the last rows: pages of 8 bits, if "
            "no "
            "--arithmetic is given; paper: " +
                note,
            table_columns, 2)
            .c_str());
  }
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "bench",
      "Measure how fast the host decodes, beside its own limits, or the paper's runtime table");
  auto options = std::make_shared<BenchOptions>();
  options->name = "host";
  add_text(*command, "BENCH", options->name, "",
           "The measurement: host, how fast the host decodes beside what it can read and "
           "multiply (default), or paper, the paper's runtime table");
  CLI::Option* shape = add_text(*command, "--shape", options->shape, "NAME",
                                "Sizes of a model with random weights: qwen3-8b, qwen3-4b, 135m or "
                                "tiny (default: qwen3-8b, of host 135m)");
  CLI::Option* model = add_text(*command, "--model", options->model, "MODEL",
                                "For host: a folder or GGUF file in place of a shape");
  CLI::Option* problems = add_whole_number(
      *command, "--problems", options->problems, {1, 4096},
      "Problems side by side in the second row of each K (default: as many as fill a "
      "batch and fit the memory)");
  CLI::Option* seconds =
      add_whole_number(*command, "--seconds", options->seconds, {0, 1'000'000},
                       "Measure each row for this time, a part of it for each stage; 0 runs every "
                       "problem to its end" +
                           default_text(options->seconds));
  add_device(*command, options->device);
  add_arithmetic(*command, options->arithmetic,
                 "default: that of the device's tensor cores, of host float32");
  command->add_flag("--json", options->json, "Print the table as JSON");
  command->footer(
      "Examples:\n  tempera bench\n"
      "  tempera bench paper\n"
      "  tempera bench paper --shape tiny --seconds 5 --json\n"
      "  tempera bench host --model smollm2");
  command->callback([options, shape, model, problems, seconds] {
    const auto refuse = [&](const CLI::Option* option) {
      if (option->count() > 0)
        throw BadInput(option->get_name(), "has no effect on bench " + options->name,
                       "leave it out");
    };
    const gpu::CurrentDevice here(gpu::require_device(options->device));
    if (options->name == "paper") {
      refuse(model);
      return run_bench_paper(*options);
    }
    if (options->name != "host")
      throw BadInput(in_quotes(options->name), "is nothing that tempera bench measures",
                     "give paper, the paper's runtime table, or host");
    refuse(problems);
    refuse(seconds);
    refuse_beside(*shape, *model, "give one of them");
    run_bench_host(options->shape.empty() && options->model.empty() ? "135m" : options->shape,
                   options->model, options->arithmetic.value_or(gpu::Arithmetic::float32),
                   options->json);
  });
}

}  // namespace tempera::cli
