// Part 6: speed, as fractions of what the same run measures of the device itself.
#include "tests/devices/speed.hpp"

#include "gpu/device/device_system.hpp"
#include "tests/devices/part.hpp"
#include "tests/devices/tensor_core_steps.hpp"

namespace tempera::gpu {

namespace {

/// `layers` layers, every fourth of which attends.
Qwen3_5Config recurrent_config(std::size_t layers) {
  Qwen3_5Config config;
  config.num_hidden_layers = layers;
  for (std::size_t layer = 1; layer <= layers; ++layer) {
    config.full_attention.push_back(layer % 4 == 0);
  }
  config.linear_conv_kernel_dim = 4;
  return config;
}

/// The sizes of Qwen3.5-9B's text model.
Qwen3_5Config qwen3_5_9b() {
  Qwen3_5Config config = recurrent_config(32);
  config.vocab_size = 248320;
  config.hidden_size = 4096;
  config.intermediate_size = 12288;
  config.num_attention_heads = 16;
  config.num_key_value_heads = 4;
  config.head_dim = 256;
  config.rotary_dim = 64;
  config.rope_theta = 1e7;
  config.max_position_embeddings = 262144;
  config.linear_num_key_heads = 16;
  config.linear_num_value_heads = 32;
  config.linear_key_head_dim = 128;
  config.linear_value_head_dim = 128;
  return config;
}

/// One that any machine runs in seconds.
Qwen3_5Config tiny_recurrent() {
  Qwen3_5Config config = recurrent_config(4);
  config.vocab_size = 512;
  config.hidden_size = 64;
  config.intermediate_size = 128;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 32;
  config.rotary_dim = 8;
  config.max_position_embeddings = 512;
  config.linear_num_key_heads = 2;
  config.linear_num_value_heads = 4;
  config.linear_key_head_dim = 16;
  config.linear_value_head_dim = 32;
  return config;
}

constexpr std::size_t product_batches[] = {1, 2, 4, 8, 16, 64};

/// What decides most comes first: the steps of the paper's own model.
void measure_device(SpeedRun& run) {
  const ModelShape& large = *find_model_shape("qwen3-8b");
  const ModelShape& medium = *find_model_shape("qwen3-4b");
  // 2,048 tokens after 64 rows: 20 GB of pages, which grow in place, beside 16 GB of weights.
  // All steps that are measured end below 2,048 positions, where another graph would begin.
  const StepsToMeasure what{{1, 64, 4, 2}, 1984, 2048, 24, {1, 4, 16}};
  measure_steps(run, large, what);
  measure_products(run, large, product_batches);
  measure_attention(run, large, 64, 8192);
  measure_8_bit_attention(run, large, 64, 8192);
  measure_shared_attention(run, large, 64, 8192);
  measure_steps(run, medium, what);
  measure_products(run, medium, product_batches);
  measure_small_step(run, *find_model_shape("135m"));
  // 66 tokens: a second state is begun, and none is completed while it is measured, which would
  // ask for 50 MiB a row.
  measure_recurrent(run, "qwen3.5-9b", qwen3_5_9b(), {1, 64}, 66);
}

/// One figure of each kind, in well under a minute.
void measure_device_quickly(SpeedRun& run) {
  const ModelShape& large = *find_model_shape("qwen3-8b");
  measure_steps(run, large, {{1, 64}, 1984, 2048, 24, {4}});
  constexpr std::size_t batches[] = {64};
  measure_products(run, large, batches);
  measure_attention(run, large, 64, 8192);
  measure_8_bit_attention(run, large, 64, 8192);
  measure_shared_attention(run, large, 64, 8192);
  measure_small_step(run, *find_model_shape("135m"));
}

/// That all of it runs, if there is no device: a shape that takes moments.
void measure_host(SpeedRun& run) {
  const ModelShape& tiny = *find_model_shape("tiny");
  measure_products(run, tiny, product_batches);
  measure_attention(run, tiny, 4, 300);
  measure_8_bit_attention(run, tiny, 4, 300);
  measure_shared_attention(run, tiny, 4, 900);
  measure_steps(run, tiny, {{1, 4}, 40, 32, 5, {1, 2}});
  measure_small_step(run, tiny);
  measure_recurrent(run, "tiny recurrent", tiny_recurrent(), {1, 4}, 66);
}

}  // namespace

namespace {

bool is_on_device() { return device_system() == "CUDA"; }
/// A group of calls of a figure; on a host one call each.
double group_seconds() { return is_on_device() ? 0.01 : 0.0; }

void measure_rates(SpeedRun& run) {
  run.rates.bandwidth = read_bandwidth(run.timing.clock);
  run.rates.matrix_peak = matrix_peak(run.timing.clock);
  run.figures.note("streaming reads", run.rates.bandwidth * 1e-9, "GB/s");
  run.figures.note("the matrix peak", run.rates.matrix_peak * 1e-12, "TFLOP/s");
}

Finding measured(const SpeedRun& run) {
  Finding finding;
  finding.verdict = Finding::Verdict::holds;
  finding.numbers = {{"lines", run.figures.json().size()}};
  finding.words = std::to_string(run.figures.json().size()) + " lines";
  return finding;
}

}  // namespace

Finding peaks_of_the_device() {
  SpeedRun run{{{}, group_seconds()}, Figures(!is_on_device()), {}};
  measure_rates(run);
  const auto wgmma = warpgroup_peak(run.timing.clock);
  if (wgmma)
    run.figures.note("the peak of wgmma", *wgmma * 1e-12, "TFLOP/s");
  else
    run.figures.not_measured("the peak of wgmma", why_no_wgmma());
  return measured(run);
}

Finding step_tables() {
  SpeedRun run{{{}, group_seconds()}, Figures(!is_on_device()), {}};
  measure_rates(run);
  if (!is_on_device()) {
    constexpr std::size_t batches[] = {1, 9};
    constexpr std::size_t contexts[] = {40};
    measure_step_table(run, *find_model_shape("tiny"), batches, contexts);
    return measured(run);
  }
  // Steps that are measured stay below the next power of two, where another graph would begin.
  constexpr std::size_t batches[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  constexpr std::size_t contexts[] = {1984, 8064, 448};
  measure_step_table(run, *find_model_shape("qwen3-8b"), batches, contexts);
  measure_step_table(run, *find_model_shape("qwen3-4b"), batches, contexts);
  return measured(run);
}

Finding forms_by_turns() {
  SpeedRun run{{{}, group_seconds()}, Figures(!is_on_device()), {}};
  measure_rates(run);
  if (!is_on_device()) {
    constexpr std::size_t batches[] = {2};
    constexpr std::size_t contexts[] = {40};
    measure_forms_by_turns(run, *find_model_shape("tiny"), batches, contexts);
    constexpr std::size_t uneven[] = {17};
    measure_slots_by_turns(run, *find_model_shape("tiny"), uneven, 40);
    return measured(run);
  }
  constexpr std::size_t batches[] = {1, 2, 4, 8};
  constexpr std::size_t contexts[] = {1984, 8064, 448};
  // Rows just above a power of two, which multiples of 8 leave fewest slots idle for.
  constexpr std::size_t uneven[] = {17, 33, 65, 90, 129};
  measure_slots_by_turns(run, *find_model_shape("qwen3-8b"), uneven, 1984);
  measure_forms_by_turns(run, *find_model_shape("qwen3-8b"), batches, contexts);
  measure_forms_by_turns(run, *find_model_shape("qwen3-4b"), batches, contexts);
  return measured(run);
}

Finding attention_tables() {
  SpeedRun run{{{}, group_seconds()}, Figures(!is_on_device()), {}};
  measure_rates(run);
  if (!is_on_device()) {
    constexpr std::size_t batches[] = {1, 4};
    constexpr std::size_t contexts[] = {300};
    measure_attention_table(run, *find_model_shape("tiny"), batches, contexts);
    measure_shared_attention(run, *find_model_shape("tiny"), 4, 900);
    return measured(run);
  }
  constexpr std::size_t batches[] = {1, 4, 16, 64, 256};
  constexpr std::size_t contexts[] = {512, 2048, 8192};
  measure_attention_table(run, *find_model_shape("qwen3-8b"), batches, contexts);
  measure_shared_attention(run, *find_model_shape("qwen3-8b"), 64, 8192);
  return measured(run);
}

Finding speed_against_the_device(Extent extent) {
  const bool on_device = is_on_device();
  SpeedRun run{{{}, group_seconds()}, Figures(!is_on_device()), {}};
  measure_rates(run);
  if (!on_device)
    measure_host(run);
  else if (extent == Extent::quick)
    measure_device_quickly(run);
  else
    measure_device(run);
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
  // A goal that is missed says nothing of bits: it is a line of its own.
  finding.verdict = Finding::Verdict::holds;
  std::printf("goals: %zu of %zu met\n", figures.judged() - figures.missed(), figures.judged());
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
