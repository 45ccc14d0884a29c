// Part 6: whole steps of a model, what is between them, and rounds of PPT.

#include <algorithm>
#include <map>

#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/sampler/chain.hpp"
#include "gpu/core/sampler/extend.hpp"
#include "gpu/core/sampler/local_move.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/kernels/product_input_memory.hpp"
#include "gpu/llm/transformer/weights/filled_tensors.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/devices/speed.hpp"
#include "tests/devices/step_times.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"

namespace tempera::gpu {

namespace {

std::unique_ptr<Transformer> measured_model(const DecoderConfig& config) {
  FilledTensors tensors(3);
  return std::make_unique<Transformer>(
      std::make_unique<Qwen3>(config, tensors, default_kernels(own_arithmetic())));
}

/// Records of `context` tokens whose pages and states are their own, and not computed.
std::vector<std::unique_ptr<Cache>> filled_caches(Transformer& model, std::size_t rows,
                                                  std::size_t context) {
  std::vector<std::unique_ptr<Cache>> caches;
  for (std::size_t row = 0; row < rows; ++row) {
    caches.push_back(model.empty_cache());
    fill_cache(*caches.back(), context);
  }
  return caches;
}

const std::vector<double>& four_powers() {
  static const std::vector<double> powers{1.8, 2.0, 2.2, 2.4};
  return powers;
}

/// What an engine does for a batch: one token a row, computed and drawn, on a device as one step.
class Decoding {
 public:
  Decoding(Transformer& model, std::size_t rows, std::size_t context)
      : model_(model),
        caches_(filled_caches(model, rows, context)),
        rows_(make_device_row_lottery()) {}

  void step() {
    std::vector<Pass> passes;
    std::vector<RowDraw> draws;
    for (std::uint32_t row = 0; row < caches_.size(); ++row) {
      passes.push_back({caches_[row].get(), {&token_, 1}});
      const DrawAddress address{row, 0, 0, 0, steps_, Purpose::extension_token};
      draws.push_back({four_powers(), row % 4, {1, address}});
    }
    ++steps_;
    model_.next_tokens(passes, draws, *rows_, lottery_, logits_);
  }

 private:
  Transformer& model_;
  std::vector<std::unique_ptr<Cache>> caches_;
  std::unique_ptr<RowLottery> rows_;
  PhiloxLottery lottery_;
  DeviceMemory<float> logits_;
  TokenId token_ = 7;
  std::uint32_t steps_ = 0;
};

/// The figures of a step's graph: the device's time for it, against the sum of its kernels and
/// against the whole step, whose rest the device is idle.
void measure_graph(SpeedRun& run, const std::string& at, Decoding& decoding,
                   const Transformer& model, double step, double floor) {
  const std::string of_kernels = at + ", a step's graph against the sum of its kernels";
  const std::string idle = at + ", idle between steps";
  const auto* kernels = dynamic_cast<const CudaKernels*>(&model.kernels());
  const auto times =
      kernels == nullptr ? std::nullopt : step_times(*kernels, [&] { decoding.step(); });
  if (!times) {
    const std::string why = kernels == nullptr ? "a host has no CUDA graph"
                                               : "the host does not queue a step before the device "
                                                 "has worked it off";
    run.figures.not_measured(of_kernels, why);
    run.figures.not_measured(idle, why);
    return;
  }
  run.figures.note(at + ", the kernels of a step, one by one", times->kernels * 1e3, "ms");
  run.figures.note(at + ", their floor", floor / times->kernels, "of them");
  run.figures.judge(of_kernels, times->graph / times->kernels, "of them",
                    {Goal::Side::at_most, 1.02});
  run.figures.judge(idle, std::max(0.0, 1.0 - times->graph / step), "of the step, by its graph",
                    {Goal::Side::at_most, 0.02});
}

/// A whole step of a dense decoder whose layers are one kernel, against its floor and against
/// `step` seconds of one whose layers are several.
void measure_joined(SpeedRun& run, const std::string& at, Decoding& decoding,
                    const Transformer& model, double step, double floor) {
  const std::string of_floor = at + ", layers in one kernel, their floor";
  const std::string of_step = at + ", layers in one kernel";
  const auto* kernels = dynamic_cast<const CudaKernels*>(&model.kernels());
  double seconds = 0.0;
  const auto measure = [&] { seconds = seconds_per_call(run.timing, [&] { decoding.step(); }); };
  if (kernels != nullptr && with_joined_layers(*kernels, measure)) {
    run.figures.judge(of_floor, floor / seconds, "of the step", {Goal::Side::at_least, 0.80});
    run.figures.note(of_step, seconds / step, "of a step whose layers are several kernels");
  } else {
    run.figures.not_measured(of_floor, "it takes a device");
    run.figures.not_measured(of_step, "it takes a device");
  }
}

struct RoundTimes {
  double round = 0.0;  ///< seconds of a round of all runs
  double swaps = 0.0;  ///< seconds of them in sweeps
};

Task extend_all(Chain& run, std::vector<Record>& replicas, std::size_t horizon) {
  co_await initialize_replicas(run, replicas);
  std::vector<Task> extensions;
  for (Rung k = 0; k < replicas.size(); ++k)
    extensions.push_back(extend(replicas[k], Turn(run, k, 0, Purpose::extension_token), horizon));
  co_await all(std::move(extensions));
}

Task one_round(Chain& run, std::vector<Record>& replicas, std::size_t round, const RestartLaw& law,
               double& swap_seconds) {
  std::vector<Task> moves;
  for (Rung k = 0; k < replicas.size(); ++k)
    moves.push_back(local_move(replicas[k], Turn(run, k, round, Purpose::proposal_token), law));
  co_await all(std::move(moves));
  const double begin = seconds_now();
  sweep(replicas, run, Schedule::adj, round);
  swap_seconds += seconds_now() - begin;
}

/// Rounds in which every rung regenerates its whole record: as many steps for any K.
RoundTimes round_times(LanguageModel& model, std::size_t runs, std::size_t rungs,
                       std::size_t prompt, std::size_t regenerated) {
  std::vector<double> powers = four_powers();
  powers.erase(powers.begin(), powers.end() - static_cast<std::ptrdiff_t>(rungs));
  const Ladder ladder(powers);
  const Context context{std::vector<TokenId>(prompt, 5), {}};
  std::vector<std::uint64_t> first(regenerated);
  first.front() = 1;
  const RestartLaw law{std::move(first)};
  const auto rows = make_device_row_lottery();
  PhiloxLottery lottery;
  Engine engine(model, *rows, lottery, 64);
  std::vector<Chain> all_runs;
  for (std::uint32_t sample = 0; sample < runs; ++sample) {
    all_runs.push_back({engine, context, ladder, 3});
    all_runs.back().sample_index = sample;
  }
  std::vector<std::vector<Record>> replicas(runs);
  std::vector<Task> begin;
  for (std::size_t i = 0; i < runs; ++i)
    begin.push_back(extend_all(all_runs[i], replicas[i], regenerated));
  engine.run(begin);
  constexpr std::size_t rounds = 3;
  RoundTimes least{1e300, 0.0};
  for (std::size_t round = 0; round < rounds; ++round) {
    double swaps = 0.0;
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < runs; ++i)
      tasks.push_back(one_round(all_runs[i], replicas[i], round, law, swaps));
    const double start = seconds_now();
    engine.run(tasks);
    const double seconds = seconds_now() - start;
    if (seconds < least.round) least = {seconds, swaps};
  }
  return least;
}

void measure_rounds(SpeedRun& run, const ModelShape& shape, Transformer& model,
                    const StepsToMeasure& what) {
  for (const std::size_t runs : what.runs) {
    const std::size_t prompt = page_tokens;
    const RoundTimes one = round_times(model, runs, 1, prompt, what.regenerated);
    const RoundTimes four = round_times(model, runs, 4, prompt, what.regenerated);
    const std::string name = std::string(shape.name) + ", " + std::to_string(runs) + " runs";
    run.figures.judge(name + ", a round of K = 4", four.round / one.round,
                      "of a round of K = 1, as many tokens a rung", {Goal::Side::at_most, 1.05});
    run.figures.judge(name + ", swaps", four.swaps / four.round, "of a round of K = 4",
                      {Goal::Side::at_most, 0.001});
  }
}

}  // namespace

void measure_steps(SpeedRun& run, const ModelShape& shape, const StepsToMeasure& what) {
  const auto model = measured_model(shape.config);
  Transformer& transformer = *model;
  const std::string name(shape.name);
  for (const std::size_t rows : what.batches) {
    const std::string at = name + ", B = " + std::to_string(rows) + " after " +
                           std::to_string(what.context) + " tokens";
    Decoding decoding(transformer, rows, what.context);
    const double step = seconds_per_call(run.timing, [&] { decoding.step(); });
    const double bytes =
        2.0 * static_cast<double>(shape.step_weights()) +
        static_cast<double>(rows * what.context) * static_cast<double>(shape.token_bytes());
    const double floor = bytes / run.rates.bandwidth;
    run.figures.judge(at + ", a whole step's floor of weights and pages", floor / step,
                      "of the step", {Goal::Side::at_least, rows <= 4 ? 0.80 : 0.70});
    if (rows <= 4) measure_joined(run, at, decoding, transformer, step, floor);
    measure_graph(run, at, decoding, transformer, step, floor);
    constexpr std::size_t rungs = 6;
    double draw = 0.0;
    // 0.1: every token needs its exponentials at every rung; 3: about what a language model leaves.
    for (const float spread : {0.1F, 3.0F})
      draw = std::max(draw, draw_seconds(run.timing, rows, shape.config.vocab_size, rungs, spread));
    run.figures.judge(at + ", the draw with 6 rungs", draw / step, "of the step",
                      {Goal::Side::at_most, 0.05});
  }
  {
    const std::vector<TokenId> prompt(what.prefill, 5);
    DeviceMemory<float> logits;
    const double seconds = seconds_per_call(run.timing, [&] {
      const auto cache = transformer.empty_cache();
      const Pass pass{cache.get(), prompt};
      transformer.next_logits({&pass, 1}, logits);
    });
    const auto tokens = static_cast<double>(what.prefill);
    const DecoderConfig& config = shape.config;
    const double operations = 2.0 * static_cast<double>(shape.layer_weights()) * tokens +
                              2.0 * tokens * tokens *
                                  static_cast<double>(config.num_hidden_layers *
                                                      config.num_attention_heads * config.head_dim);
    run.figures.judge(name + ", prefill of " + std::to_string(what.prefill) + " tokens",
                      operations / (seconds * run.rates.matrix_peak), "of the matrix peak",
                      {Goal::Side::at_least, 0.60});
  }
  measure_rounds(run, shape, transformer, what);
}

namespace {

/// Whether so many records of this length leave room for logits and scratch memory beside them.
bool have_room(const Transformer& model, std::size_t rows, std::size_t context) {
  const auto memory = device_memory_size();
  if (!memory) return true;
  const std::size_t held = model.pages().pages() * model.pages().page_bytes();
  const std::size_t needed = rows * model.cache_bytes(context + 64) +
                             rows * model.vocabulary_size() * sizeof(float) +
                             (std::size_t{1} << 30);
  return needed < (memory->free + held) / 10 * 9;
}

void measure_step_at(SpeedRun& run, const ModelShape& shape, Transformer& model,
                     const CudaKernels& kernels, std::size_t rows, std::size_t context) {
  Decoding decoding(model, rows, context);
  const auto seconds_in = [&](StepForm form) {
    double seconds = 0.0;
    with_form(kernels, form,
              [&] { seconds = seconds_per_call(run.timing, [&] { decoding.step(); }); });
    return seconds;
  };
  const double bytes =
      2.0 * static_cast<double>(shape.step_weights()) +
      static_cast<double>(rows * context) * static_cast<double>(shape.token_bytes());
  nlohmann::ordered_json line = {{"shape", shape.name},
                                 {"rows", rows},
                                 {"context", context},
                                 {"floor_seconds", bytes / run.rates.bandwidth},
                                 {"graph_seconds", seconds_in(StepForm::graph)}};
  if (rows <= 8) line["joined_seconds"] = seconds_in(StepForm::joined);
  if (const auto times = kernel_times(kernels, [&] { decoding.step(); })) {
    for (const KernelTime& each : *times)
      line["kernels"].push_back(
          {{"name", each.name}, {"launches", each.launches}, {"seconds", each.seconds}});
  }
  run.figures.row("steps", line);
}

}  // namespace

void measure_step_table(SpeedRun& run, const ModelShape& shape,
                        std::span<const std::size_t> batches,
                        std::span<const std::size_t> contexts) {
  const CudaKernels& kernels = measured_kernels();
  const auto model = filled_qwen3(shape.config, 3, kernels);
  for (const std::size_t context : contexts) {
    for (const std::size_t rows : batches) {
      if (have_room(*model, rows, context))
        measure_step_at(run, shape, *model, kernels, rows, context);
      else
        run.figures.row("steps", {{"shape", shape.name},
                                  {"rows", rows},
                                  {"context", context},
                                  {"not_measured", "the memory has no room"}});
    }
  }
}

void measure_forms_by_turns(SpeedRun& run, const ModelShape& shape,
                            std::span<const std::size_t> batches,
                            std::span<const std::size_t> contexts) {
  const CudaKernels& kernels = measured_kernels();
  const auto model = filled_qwen3(shape.config, 3, kernels);
  std::vector<std::pair<std::string, std::function<void(const std::function<void()>&)>>> forms;
  for (const auto& [form, name] :
       {std::pair{StepForm::graph, "graph"}, std::pair{StepForm::launches, "launches"}})
    forms.emplace_back(name,
                       [&, form = form](const auto& work) { with_form(kernels, form, work); });
  for (const JoinedTrial trial : joined_trials)
    forms.emplace_back(name_of(trial),
                       [&, trial](const auto& work) { with_trial(kernels, trial, work); });
  const std::size_t turns = run.timing.group_seconds > 0 ? 5 : 1;  // times of a host say nothing
  for (const std::size_t context : contexts) {
    for (const std::size_t rows : batches) {
      if (!have_room(*model, rows, context)) continue;
      Decoding decoding(*model, rows, context);
      std::map<std::string, std::vector<double>> seconds;
      for (std::size_t turn = 0; turn < turns; ++turn) {
        for (const auto& [name, with_it] : forms) {
          with_it([&, &form_name = name] {
            seconds[form_name].push_back(seconds_per_call(run.timing, [&] { decoding.step(); }));
          });
        }
      }
      nlohmann::ordered_json line = {{"shape", shape.name}, {"rows", rows}, {"context", context}};
      for (const auto& [name, with_it] : forms) line[name] = seconds[name];
      run.figures.row("forms by turns", line);
    }
  }
}

void measure_slots_by_turns(SpeedRun& run, const ModelShape& shape,
                            std::span<const std::size_t> batches, std::size_t context) {
  const CudaKernels& kernels = measured_kernels();
  const auto model = filled_qwen3(shape.config, 3, kernels);
  const std::size_t turns = run.timing.group_seconds > 0 ? 5 : 1;  // times of a host say nothing
  for (const std::size_t rows : batches) {
    if (!have_room(*model, rows, context)) continue;
    Decoding decoding(*model, rows, context);
    std::vector<double> of_two;
    std::vector<double> eights;
    const auto step = [&] { decoding.step(); };
    for (std::size_t turn = 0; turn < turns; ++turn) {
      of_two.push_back(seconds_per_call(run.timing, step));
      with_slots_by_eights(kernels, [&] { eights.push_back(seconds_per_call(run.timing, step)); });
    }
    run.figures.row("slots by turns", {{"shape", shape.name},
                                       {"rows", rows},
                                       {"context", context},
                                       {"powers of two", of_two},
                                       {"eights", eights}});
  }
}

namespace {

/// One layer between its matrices, one row a record: each reads its memories once and writes them
/// once.
void measure_recurrence(SpeedRun& run, const std::string& name, const Qwen3_5Config& config,
                        std::size_t rows) {
  const Kernels& kernels = default_kernels(own_arithmetic());
  const std::size_t heads = config.linear_num_value_heads;
  const std::size_t answers = heads * config.linear_value_head_dim;
  RecurrentShape shape{config.linear_num_key_heads,
                       heads,
                       config.linear_key_head_dim,
                       config.linear_value_head_dim,
                       config.linear_conv_kernel_dim,
                       0,
                       0,
                       0,
                       0};
  const std::size_t channels = 2 * shape.key_heads * shape.key_dim + answers;
  shape.gate_begin = channels;
  shape.strength_begin = shape.gate_begin + answers;
  shape.decay_begin = shape.strength_begin + heads;
  shape.row_floats = shape.decay_begin + heads;
  const StateShape layout{1, channels, shape.taps, heads, shape.key_dim, shape.value_dim};
  DeviceMemory<float> memory(rows * layout.layout().bytes() / sizeof(float));
  const PageMemory states = pages_at(memory.data(), rows, layout.layout());
  const DeviceMemory<float> weights((shape.taps + 3) * channels);
  DeviceMemory<float> projected(rows * shape.row_floats);
  ProductInputMemory answered(kernels.arithmetic());
  answered.ensure_size(rows * answers);
  // Position 1 of each record, in a state of its own.
  std::vector<std::uint32_t> launch(rows, 1);
  for (std::uint32_t row = 0; row <= rows; ++row) launch.push_back(row);
  for (std::uint32_t row = 0; row < rows; ++row) launch.push_back(row);
  const DeviceMemory<std::uint32_t> uploaded{std::span<const std::uint32_t>(launch)};
  TokenRows batch{rows, 2, nullptr, uploaded.data(), nullptr, nullptr};
  const std::uint32_t* const first_row = uploaded.data() + rows;
  const std::uint32_t* const own = first_row + rows + 1;  // state r of record r
  batch.recurrent = {rows, first_row, own, own, states};
  const double seconds = seconds_per_call(run.timing, [&] {
    kernels.recur(shape, {weights.data(), weights.data(), weights.data(), weights.data(), 1e-6F},
                  batch, {layout.inputs(states, 0), layout.memories(states, 0)}, projected.data(),
                  answered.view());
  });
  const double bytes = 2.0 * static_cast<double>(rows * answers * shape.key_dim * sizeof(float));
  const std::string figure =
      name + ", a recurrent layer between its matrices, B = " + std::to_string(rows);
  const double fraction = bytes / (seconds * run.rates.bandwidth);
  // One row's heads are fewer than the multiprocessors.
  if (rows < 16)
    run.figures.note(figure, fraction, "of the bandwidth");
  else
    run.figures.judge(figure, fraction, "of the bandwidth", {Goal::Side::at_least, 0.75});
}

/// Weights that a step reads: all but the embedding.
double step_weights(const Qwen3_5Config& config) {
  const auto product = [](std::size_t a, std::size_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
  };
  const std::size_t query = config.num_attention_heads * config.head_dim;
  const std::size_t key_value = config.num_key_value_heads * config.head_dim;
  const std::size_t keys = config.linear_num_key_heads * config.linear_key_head_dim;
  const std::size_t values = config.linear_num_value_heads * config.linear_value_head_dim;
  double weights = product(config.vocab_size, config.hidden_size);
  for (const bool attends : config.full_attention) {
    const std::size_t mixing = attends ? 3 * query + 2 * key_value
                                       : 2 * keys + 3 * values + 2 * config.linear_num_value_heads;
    weights += product(config.hidden_size, mixing + 3 * config.intermediate_size);
  }
  return weights;
}

}  // namespace

void measure_recurrent(SpeedRun& run, const std::string& name, const Qwen3_5Config& config,
                       const std::vector<std::size_t>& batches, std::size_t context) {
  for (const std::size_t rows : batches) measure_recurrence(run, name, config, rows);
  FilledTensors tensors(3);
  auto architecture = std::make_unique<Qwen3_5>(config, tensors, default_kernels(own_arithmetic()));
  const auto state_bytes = static_cast<double>(architecture->state_layout().bytes());
  const auto attending =
      std::count(config.full_attention.begin(), config.full_attention.end(), true);
  const double token_bytes = 2.0 * sizeof(std::uint16_t) * static_cast<double>(attending) *
                             static_cast<double>(config.num_key_value_heads * config.head_dim);
  Transformer model(std::move(architecture));
  for (const std::size_t rows : batches) {
    const std::string at =
        name + ", B = " + std::to_string(rows) + " after " + std::to_string(context) + " tokens";
    Decoding decoding(model, rows, context);
    const double step = seconds_per_call(run.timing, [&] { decoding.step(); });
    const auto records = static_cast<double>(rows);
    const double bytes = 2.0 * step_weights(config) + 2.0 * records * state_bytes +
                         records * static_cast<double>(context) * token_bytes;
    const double floor = bytes / run.rates.bandwidth;
    run.figures.judge(at + ", a whole step's floor of weights, states and pages", floor / step,
                      "of the step", {Goal::Side::at_least, rows <= 4 ? 0.80 : 0.70});
    measure_graph(run, at, decoding, model, step, floor);
  }
}

void measure_small_step(SpeedRun& run, const ModelShape& shape) {
  const auto model = measured_model(shape.config);
  Decoding decoding(*model, 1, 256);
  const double step = seconds_per_call(run.timing, [&] { decoding.step(); });
  run.figures.judge(std::string(shape.name) + ", a step at B = 1", step * 1e3, "ms",
                    {Goal::Side::at_most, 0.35});
  // float32 has on a device the form that is written to be read, which Thrust launches.
  const auto readable = filled_qwen3(shape.config, 3, default_kernels(Arithmetic::float32));
  Decoding plain(*readable, 1, 256);
  run.figures.note(std::string(shape.name) + ", a step at B = 1 by the readable form, float32",
                   seconds_per_call(run.timing, [&] { plain.step(); }) * 1e3, "ms");
}

}  // namespace tempera::gpu
