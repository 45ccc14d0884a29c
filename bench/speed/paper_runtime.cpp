#include "bench/speed/paper_runtime.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <stdexcept>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/lottery/rows/row_lottery.hpp"
#include "gpu/model/forwarding_model.hpp"
#include "gpu/sampler/parallel_power_tempering.hpp"
#include "gpu/sampler/sweep.hpp"
#include "gpu/transformer/default_kernels.hpp"
#include "gpu/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/transformer/kernels/device_arithmetic.hpp"

namespace tempera::gpu {

namespace {

constexpr std::size_t batch_rows = 64;

/// The time is up.
struct TimeIsUp {};

/// A model whose caller is stopped when the time is up.
class TimedModel final : public ForwardingModel {
 public:
  TimedModel(Transformer& model, double end)
      : ForwardingModel(model), pages_(model.pages()), end_(end) {}
  std::size_t longest() const { return longest_; }
  std::size_t most_pages() const { return most_pages_; }

 private:
  void before(std::span<const Pass> /*passes*/) override {
    if (seconds_now() >= end_) throw TimeIsUp{};
  }
  void after(std::span<const Pass> passes) override {
    for (const Pass& pass : passes) longest_ = std::max(longest_, pass.cache->length());
    most_pages_ = std::max(most_pages_, pages_.pages() - pages_.free_pages());
  }

  const PagePool& pages_;
  double end_;
  std::size_t longest_ = 0;
  std::size_t most_pages_ = 0;
};

/// Counts the steps of CUDA kernels, of which `sample` makes each a graph: a figure of steps that
/// go another way would not be that of what is shipped. Of other kernels it counts nothing.
class GraphsOfSteps {
 public:
  explicit GraphsOfSteps(const Kernels& kernels)
      : kernels_(dynamic_cast<const CudaKernels*>(&kernels)) {
    if (kernels_ == nullptr) return;
    steps_ = kernels_->steps();
    replays_ = kernels_->graph_replays();
  }
  /// The lottery with which an engine asks these kernels for whole steps.
  std::unique_ptr<RowLottery> make_rows() const {
    return kernels_ == nullptr ? make_device_row_lottery() : make_cuda_row_lottery();
  }
  std::uint64_t replays() const {
    return kernels_ == nullptr ? 0 : kernels_->graph_replays() - replays_;
  }
  /// @throw Bug if no step was taken, or one that was no graph
  void require_all() const {
    if (kernels_ == nullptr) return;
    const std::uint64_t steps = kernels_->steps() - steps_;
    if (steps > 0 && replays() == steps) return;
    throw Bug("of " + std::to_string(steps) + " steps " + std::to_string(replays()) +
              " were a graph: this is not the way that sample goes, and its speed "
              "is not measured");
  }

 private:
  const CudaKernels* kernels_;
  std::uint64_t steps_ = 0;
  std::uint64_t replays_ = 0;
};

/// Pages that a problem of K rungs may hold: its prompt, and a record and a proposal of each rung.
std::size_t pages_of_problem(const PaperSettings& settings, std::size_t rungs) {
  const auto pages = [](std::size_t tokens) { return (tokens + page_tokens - 1) / page_tokens; };
  return pages(settings.prompt) + 2 * rungs * (pages(settings.horizon) + 1);
}

std::size_t stages_of(const PaperSettings& settings) {
  return (settings.horizon + settings.block - 1) / settings.block;
}

/// Expected decode tokens of one local move of one rung in a stage: restart positions are uniform.
double tokens_of_move(const PaperSettings& settings, std::size_t stage) {
  const std::size_t horizon = std::min((stage + 1) * settings.block, settings.horizon);
  return (static_cast<double>(horizon) + 1.0) / 2.0;
}

/// Expected decode tokens of a problem.
double expected_tokens(const PaperSettings& settings, std::size_t rungs,
                       std::span<const std::size_t> rounds) {
  auto tokens = static_cast<double>(settings.horizon);
  for (std::size_t stage = 0; stage < rounds.size(); ++stage)
    tokens += static_cast<double>(rounds[stage]) * tokens_of_move(settings, stage);
  return static_cast<double>(rungs) * tokens;
}

/// A problem's tokens, which no other has.
std::vector<TokenId> prompt_of(std::size_t problem, std::size_t length, std::size_t vocabulary) {
  std::vector<TokenId> tokens(length);
  for (std::size_t i = 0; i < length; ++i)
    tokens[i] = static_cast<TokenId>((i * 7919 + problem * 104729) % vocabulary);
  return tokens;
}

/// Computes every prompt into a cache of its own. Returns the seconds that it takes.
double compute_prompts(Transformer& model, const std::vector<Context>& contexts,
                       std::vector<std::shared_ptr<Cache>>& caches) {
  const double begin = seconds_now();
  std::vector<Pass> passes;
  for (const Context& context : contexts) {
    caches.push_back(model.empty_cache());
    passes.push_back({caches.back().get(), context.prompt});
  }
  DeviceMemory<float> logits;
  model.next_logits(passes, logits);
  // Reading a logit waits for all of it.
  logits.download(0, 1);
  return seconds_now() - begin;
}

/// Seconds of one sweep over replicas of `length` tokens each: its decisions depend on nothing else
/// that takes time.
double seconds_of_sweep(LanguageModel& model, const Ladder& ladder, std::size_t length,
                        std::uint64_t seed) {
  if (ladder.rungs() == 1) return 0.0;
  const auto rows = make_device_row_lottery();
  PhiloxLottery lottery;
  Engine engine(model, *rows, lottery);
  const Context context{{0}, {}};
  Chain run{engine, context, ladder, seed};
  std::vector<Record> replicas;
  for (Rung k = 0; k < ladder.rungs(); ++k) {
    replicas.emplace_back(context, model.empty_cache());
    replicas.back().raise_horizon(length);
    // Scores of a token that is as good as any: what a swap adds up.
    for (std::size_t t = 0; t < length; ++t)
      replicas.back().append({0, -1.0, std::vector<double>(ladder.rungs(), -1.0)});
  }
  constexpr std::size_t sweeps = 100;
  const double begin = seconds_now();
  for (std::size_t i = 0; i < sweeps; ++i) sweep(replicas, run, Schedule::adj, i);
  return (seconds_now() - begin) / sweeps;
}

std::string shapes_that_fit(std::size_t bytes) {
  std::string names;
  for (const ModelShape& shape : model_shapes())
    if (2 * shape.step_weights() < bytes)
      names += (names.empty() ? "" : ", ") + std::string(shape.name);
  return names.empty() ? "none of them fits" : "what fits: " + names;
}

std::string shape_names() {
  std::string names;
  for (const ModelShape& shape : model_shapes())
    names += (names.empty() ? "" : ", ") + std::string(shape.name);
  return names;
}

}  // namespace

std::span<const PaperRuntime> paper_runtimes() {
  static const std::array<PaperRuntime, 2> rows{
      {{{2.4}, 36.1, std::nullopt, 0.86, 213'000},
       {{1.8, 2.0, 2.2, 2.4}, 37.2, 0.037, 3.21, 210'000}}};
  return rows;
}

PaperSettings shortened(const PaperSettings& settings, std::size_t by) {
  PaperSettings result = settings;
  result.horizon /= by;
  result.block /= by;
  result.prompt /= by;
  return result;
}

std::vector<std::size_t> rounds_for(const PaperSettings& settings, std::size_t rungs,
                                    std::uint64_t decode_tokens) {
  std::vector<std::size_t> rounds(stages_of(settings), 0);
  const auto distance = [&] {
    return std::abs(expected_tokens(settings, rungs, rounds) - static_cast<double>(decode_tokens));
  };
  for (std::size_t stage = 0;; stage = (stage + 1) % rounds.size()) {
    const double before = distance();
    ++rounds[stage];
    if (distance() < before) continue;
    --rounds[stage];
    return rounds;
  }
}

std::size_t problems_that_fit(const Transformer& model, const PaperSettings& settings,
                              std::size_t rungs) {
  const std::size_t fill = std::max<std::size_t>(1, batch_rows / rungs);
  const auto memory = device_memory_size();
  if (!memory) return fill;
  const std::size_t bytes = pages_of_problem(settings, rungs) * model.pages().page_bytes();
  // A tenth is left to logits, scratch memory and whoever else is there.
  const std::size_t held = model.pages().pages() * model.pages().page_bytes();
  return std::clamp<std::size_t>((memory->free + held) / 10 * 9 / bytes, 1, fill);
}

MeasuredRuntime measure_runtime(Transformer& model, const PaperRuntime& row,
                                const PaperSettings& settings, std::size_t problems,
                                double most_seconds, bool early_rejection) {
  const Ladder ladder(row.powers);
  const auto rounds = rounds_for(settings, ladder.rungs(), row.decode_tokens);
  const Plan plan{make_stages(settings.horizon, settings.block, rounds, {1}, {1}), Schedule::adj,
                  ladder.rungs() - 1};
  MeasuredRuntime measured;
  measured.rungs = ladder.rungs();
  measured.problems = problems;
  measured.early_rejection = early_rejection;
  measured.budget =
      static_cast<std::uint64_t>(std::llround(expected_tokens(settings, ladder.rungs(), rounds)));
  for (const std::size_t stage_rounds : rounds) measured.sweeps += stage_rounds;
  if (ladder.rungs() == 1) measured.sweeps = 0;

  const std::size_t pages = problems * pages_of_problem(settings, ladder.rungs());
  try {
    model.reserve_pages(pages);
  } catch (const std::bad_alloc&) {
    throw BadInput(
        "--problems",
        std::to_string(problems) + " problems of " + std::to_string(ladder.rungs()) +
            " rungs may hold " + std::to_string(pages) + " pages (" +
            in_gibibytes(pages * model.pages().page_bytes()) +
            "), for which the device has no room",
        "give at most " + std::to_string(problems_that_fit(model, settings, ladder.rungs())));
  }
  std::vector<Context> contexts;
  for (std::size_t problem = 0; problem < problems; ++problem)
    contexts.push_back({prompt_of(problem, settings.prompt, model.vocabulary_size()), {}});
  std::vector<std::shared_ptr<Cache>> caches;
  measured.prompt_seconds = compute_prompts(model, contexts, caches);
  const GraphsOfSteps graphs(model.kernels());
  const auto rows = graphs.make_rows();
  PhiloxLottery lottery;
  const double begin = seconds_now();
  TimedModel timed(model, most_seconds > 0.0 ? begin + most_seconds : HUGE_VAL);
  Engine engine(timed, *rows, lottery, batch_rows);
  std::vector<Chain> runs;
  std::vector<Progress> progress(problems);
  for (std::uint32_t problem = 0; problem < problems; ++problem) {
    runs.push_back({engine, contexts[problem], ladder, settings.seed});
    runs.back().prompt_index = problem;
    runs.back().prompt_cache = caches[problem];
    runs.back().options.early_rejection = early_rejection;
  }
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < problems; ++i)
    tasks.push_back(parallel_power_tempering(runs[i], plan, progress[i]));
  try {
    engine.run(tasks);
    measured.complete = true;
  } catch (const TimeIsUp&) {
    // What was drawn until then gives the rate.
  }
  measured.seconds = seconds_now() - begin;
  measured.decode_tokens = engine.decode_tokens();
  measured.times = engine.times();
  measured.longest = timed.longest();
  measured.cache_bytes = timed.most_pages() * model.pages().page_bytes();
  if (measured.decode_tokens == 0)
    throw BadInput("--seconds", "no token was drawn in this time",
                   "give more of it, or a smaller --shape");
  graphs.require_all();
  measured.graph_replays = graphs.replays();
  measured.sweep_seconds = seconds_of_sweep(model, ladder, settings.horizon, settings.seed);
  return measured;
}

std::unique_ptr<Transformer> model_of_shape(const std::string& name, Arithmetic arithmetic) {
  const ModelShape* shape = find_model_shape(name);
  if (shape == nullptr)
    throw BadInput("--shape", in_quotes(name) + " is unknown", "give one of " + shape_names());
  if (const std::string why = why_device_lacks(arithmetic, compute_capability()); !why.empty())
    throw BadInput("--arithmetic " + std::string(name_of(arithmetic)), why,
                   arithmetics_instead(arithmetic, compute_capability()));
  const std::size_t bytes = 2 * shape->step_weights();
  const auto memory = device_memory_size();
  const auto refuse = [&](std::size_t free) {
    return BadInput("--shape " + name,
                    "its weights take " + in_gibibytes(bytes) + " and the device has " +
                        in_gibibytes(free) + " free",
                    shapes_that_fit(free));
  };
  // The host's memory is promised beyond what there is, so it is asked for beforehand.
  if (memory && memory->free < bytes) throw refuse(memory->free);
  try {
    return filled_qwen3(shape->config, 1, make_default_kernels(arithmetic));
  } catch (const std::bad_alloc&) {
    throw refuse(memory ? memory->free : 0);
  }
}

}  // namespace tempera::gpu
