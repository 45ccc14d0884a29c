#include "bench/speed/paper_runtime.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <stdexcept>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/model/accounted_model.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/default_kernels.hpp"
#include "gpu/llm/transformer/kernels/device_arithmetic.hpp"
#include "gpu/llm/transformer/kernels/token_step.hpp"

namespace tempera::gpu {

namespace {

constexpr std::size_t batch_rows = 256;

/// The time is up.
struct TimeIsUp {};

/// A model whose caller is stopped when the time is up, after one step at the least.
class TimedModel final : public ForwardingModel {
 public:
  TimedModel(Transformer& model, double end)
      : ForwardingModel(model), pages_(model.pages()), end_(end) {}
  std::size_t longest() const { return longest_; }
  std::size_t most_pages() const { return most_pages_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t positions() const { return positions_; }

 private:
  void before(std::span<const Pass> /*passes*/) override {
    if (steps_ > 0 && seconds_now() >= end_) throw TimeIsUp{};
  }
  void after(std::span<const Pass> passes) override {
    ++steps_;
    for (const Pass& pass : passes) {
      positions_ += pass.cache->length() + 1;  // of the token that is drawn
      longest_ = std::max(longest_, pass.cache->length());
    }
    most_pages_ = std::max(most_pages_, pages_.pages() - pages_.free_pages());
  }

  const PagePool& pages_;
  double end_;
  std::size_t longest_ = 0;
  std::size_t most_pages_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t positions_ = 0;
};

/// Counts the steps of CUDA kernels, of which `sample` makes each a graph: a figure of steps that
/// go another way would not be that of what is shipped. Of other kernels it counts nothing.
class GraphsOfSteps {
 public:
  explicit GraphsOfSteps(const Kernels& kernels)
      : kernels_(dynamic_cast<const CountsSteps*>(&kernels)) {
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
  const CountsSteps* kernels_;
  std::uint64_t steps_ = 0;
  std::uint64_t replays_ = 0;
};

/// Pages for a problem of K rungs: its prompt, and a record of each rung. Proposals take those of
/// their records' suffixes (CacheAccount).
std::size_t pages_of_problem(const PaperSettings& settings, std::size_t rungs) {
  const auto pages = [](std::size_t tokens) { return (tokens + page_tokens - 1) / page_tokens; };
  return pages(settings.prompt) + rungs * (pages(settings.horizon) + 1);
}

std::size_t stages_of(const PaperSettings& settings) {
  return (settings.horizon + settings.block - 1) / settings.block;
}

std::size_t horizon_of(const PaperSettings& settings, std::size_t stage) {
  return std::min((stage + 1) * settings.block, settings.horizon);
}

/// Expected tokens of a problem.
ExpectedTokens expected_of_problem(const PaperSettings& settings, std::size_t rungs,
                                   std::span<const std::size_t> rounds) {
  ExpectedTokens all;
  for (std::size_t stage = 0; stage < rounds.size(); ++stage) {
    for (const bool is_extension : {true, false})
      all += expected_of_part(settings, rungs, stage, is_extension, rounds[stage]);
  }
  return all;
}

/// A problem's tokens, which no other has.
std::vector<TokenId> prompt_of(std::size_t problem, std::size_t length, std::size_t vocabulary) {
  std::vector<TokenId> tokens(length);
  for (std::size_t i = 0; i < length; ++i)
    tokens[i] = static_cast<TokenId>((i * 7919 + problem * 104729) % vocabulary);
  return tokens;
}

/// Computes every prompt into a cache of its own. Returns the seconds that it takes.
double compute_prompts(LanguageModel& model, const std::vector<Context>& contexts,
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

Decoded& Decoded::operator+=(const Decoded& other) {
  tokens += other.tokens;
  steps += other.steps;
  positions += other.positions;
  seconds += other.seconds;
  return *this;
}

ExpectedTokens& ExpectedTokens::operator+=(const ExpectedTokens& other) {
  tokens += other.tokens;
  positions += other.positions;
  return *this;
}

std::optional<double> MeasuredRuntime::seconds_per_problem() const {
  if (complete) return decoded.seconds / static_cast<double>(problems);
  double sum = 0.0;
  for (const MeasuredPart& part : parts) {
    if (!part.is_whole) return std::nullopt;
    sum += part.expected.tokens / part.decoded.tokens_per_second();
  }
  return sum;
}

ExpectedTokens expected_of_part(const PaperSettings& settings, std::size_t rungs, std::size_t stage,
                                bool is_extension, std::size_t rounds) {
  const std::size_t horizon = horizon_of(settings, stage);
  ExpectedTokens part;
  for (std::size_t x = is_extension ? stage * settings.block + 1 : 1; x <= horizon; ++x) {
    const double times = static_cast<double>(rungs) *
                         (is_extension ? 1.0
                                       : static_cast<double>(rounds) * static_cast<double>(x) /
                                             static_cast<double>(horizon));
    part += {times, times * static_cast<double>(settings.prompt + x)};
  }
  return part;
}

std::vector<std::size_t> rounds_for(const PaperSettings& settings, std::size_t rungs,
                                    std::uint64_t decode_tokens) {
  std::vector<std::size_t> rounds(stages_of(settings), 0);
  const auto distance = [&] {
    return std::abs(expected_of_problem(settings, rungs, rounds).tokens -
                    static_cast<double>(decode_tokens));
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

namespace {

/// The problems of a row, and what they share.
struct Problems {
  Transformer& model;
  CacheAccount& account;  ///< of all caches
  const Ladder& ladder;
  const PaperSettings& settings;
  const std::vector<std::size_t>& rounds;  ///< of each stage
  RowLottery& rows;
  const std::vector<Context>& contexts;
  const std::vector<std::shared_ptr<Cache>>& prompts;
  bool early_rejection;

  /// Scores that the model has given tokens of each rung: of which records are made that nobody
  /// draws.
  std::vector<std::vector<ScoredToken>> scores = {};
};

/// Keeps the scores of the tokens that a part has drawn.
void keep_scores(Problems& problems, const std::vector<Progress>& progress) {
  problems.scores.resize(problems.ladder.rungs());
  for (const Progress& of_problem : progress) {
    for (Rung k = 0; k < of_problem.replicas.size(); ++k) {
      const ScoredSequence& tokens = of_problem.replicas[k].tokens();
      for (std::size_t t = 1; t <= tokens.size(); ++t) {
        const std::span<const double> log_z = tokens.log_z(t);
        problems.scores[k].push_back(
            {tokens.token(t), tokens.log_p(t), {log_z.begin(), log_z.end()}});
      }
    }
  }
}

/// The replicas of a problem at a length, their pages held and not computed.
std::vector<Record> filled_replicas(const Problems& problems, std::size_t problem,
                                    std::size_t length) {
  std::vector<Record> replicas;
  const Context& context = problems.contexts[problem];
  for (Rung k = 0; k < problems.ladder.rungs(); ++k) {
    auto cache = problems.prompts[problem]->fork(context.prompt.size());
    // The model has yet to compute a record's last token.
    if (length > 0) fill_cache(*cache, context.prompt.size() + length - 1);
    Record& record = replicas.emplace_back(context, std::move(cache));
    record.raise_horizon(length);
    const auto& scores = problems.scores[k];
    for (std::size_t t = 0; t < length; ++t)
      record.append(scores[(t * 7919 + problem * 104729) % scores.size()]);
  }
  return replicas;
}

/// How a part of a run is drawn: of one problem, from where `progress` is.
using DrawPart = std::function<Task(Chain&, Progress&, std::size_t problem)>;

/// What drawing has shown.
struct Drawn {
  Decoded decoded;
  bool complete = false;
  std::size_t longest = 0;
  std::size_t most_pages = 0;
  std::uint64_t recomputed = 0;
  EngineTimes times;
};

/// Draws a part of all problems for at most so long.
Drawn draw(const Problems& problems, std::vector<Progress>& progress, std::uint64_t seed,
           double most_seconds, const DrawPart& part) {
  PhiloxLottery lottery;
  Drawn drawn;
  const double begin = seconds_now();
  TimedModel timed(problems.model, most_seconds > 0.0 ? begin + most_seconds : HUGE_VAL);
  const std::size_t replicas = progress.size() * problems.ladder.rungs();
  Engine engine(timed, problems.rows, lottery, std::max(batch_rows, replicas));
  engine.keep_within(problems.account);
  std::vector<Chain> chains;
  for (std::uint32_t problem = 0; problem < progress.size(); ++problem) {
    chains.push_back({engine, problems.contexts[problem], problems.ladder, seed});
    chains.back().prompt_index = problem;
    chains.back().prompt_cache = problems.prompts[problem];
    chains.back().options.early_rejection = problems.early_rejection;
  }
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < progress.size(); ++i)
    tasks.push_back(part(chains[i], progress[i], i));
  try {
    engine.run(tasks);
    drawn.complete = true;
  } catch (const TimeIsUp&) {
    // What was drawn until then gives the rate.
  }
  drawn.decoded = {engine.decode_tokens(), timed.steps(), timed.positions(), seconds_now() - begin};
  drawn.times = engine.times();
  drawn.recomputed = engine.tokens_recomputed();
  drawn.longest = timed.longest();
  drawn.most_pages = timed.most_pages();
  return drawn;
}

/// Adds what a part has shown to that of a row.
void add(const Drawn& drawn, MeasuredRuntime& measured, std::size_t page_bytes) {
  measured.decoded += drawn.decoded;
  measured.recomputed_tokens += drawn.recomputed;
  measured.times.forward += drawn.times.forward;
  measured.times.draw += drawn.times.draw;
  measured.times.accept += drawn.times.accept;
  measured.times.swap += drawn.times.swap;
  measured.longest = std::max(measured.longest, drawn.longest);
  measured.cache_bytes = std::max(measured.cache_bytes, drawn.most_pages * page_bytes);
}

/// A stage of its own, with so many rounds.
Plan plan_of_stage(std::size_t horizon, std::size_t rounds, std::size_t rungs) {
  return {{{horizon, rounds, 1, 1}}, Schedule::adj, rungs - 1};
}

/// The local moves of a stage, from records of its length on: a round of what is in flight in a run
/// that has gone on for long, then rounds from their beginning.
Task stage_moves(Chain& chain, const Plan& in_flight, const Plan& whole, Progress& progress,
                 bool& is_past_first) {
  progress.extended = true;
  co_await parallel_power_tempering(chain, in_flight, progress);
  is_past_first = true;
  progress.stage = 0;
  progress.extended = true;
  co_await parallel_power_tempering(chain, whole, progress);
}

/// Local moves before those of a stage.
std::size_t moves_before(const Problems& problems, std::size_t stage) {
  std::size_t moves = 0;
  for (std::size_t i = 0; i < stage; ++i) moves += problems.rounds[i] + 1;
  return moves;
}

/// Draws one part of a stage for at most so long.
MeasuredPart measure_part(Problems& problems, std::size_t stage, bool is_extension,
                          std::uint64_t seed, double most_seconds, MeasuredRuntime& measured) {
  const std::size_t rungs = problems.ladder.rungs();
  const std::size_t horizon = horizon_of(problems.settings, stage);
  const std::size_t rounds = problems.rounds[stage];
  const std::size_t length = is_extension ? stage * problems.settings.block : horizon;
  std::vector<Progress> progress(measured.problems);
  for (std::size_t problem = 0; problem < progress.size(); ++problem) {
    if (length > 0 || !problems.scores.empty())
      progress[problem].replicas = filled_replicas(problems, problem, length);
    progress[problem].local_moves = moves_before(problems, stage);
  }
  const Plan extension = plan_of_stage(horizon, 0, rungs);
  const Plan whole = plan_of_stage(horizon, rounds, rungs);
  Plan in_flight = plan_of_stage(horizon, 1, rungs);
  for (std::uint64_t weight = 1; weight <= std::min<std::size_t>(horizon, 64); ++weight)
    in_flight.restart_weights.push_back(weight);
  auto past_first = std::make_unique<bool[]>(progress.size());
  const Drawn drawn = draw(
      problems, progress, seed, most_seconds,
      [&](Chain& chain, Progress& of_problem, std::size_t problem) {
        return is_extension ? parallel_power_tempering(chain, extension, of_problem)
                            : stage_moves(chain, in_flight, whole, of_problem, past_first[problem]);
      });
  if (problems.scores.empty()) keep_scores(problems, progress);
  add(drawn, measured, problems.model.pages().page_bytes());
  MeasuredPart part{stage, is_extension,
                    expected_of_part(problems.settings, rungs, stage, is_extension, rounds),
                    drawn.decoded, drawn.complete};
  if (is_extension || drawn.complete) return part;
  part.is_whole = true;
  for (std::size_t problem = 0; problem < progress.size(); ++problem) {
    const bool has_ended_one = progress[problem].stage > 0 || progress[problem].round > 0;
    part.is_whole = part.is_whole && past_first[problem] && has_ended_one;
  }
  return part;
}

/// Draws all parts of all stages, each for its share of the time: an eighth of a stage's for its
/// extension.
void measure_parts(Problems& problems, std::uint64_t seed, double most_seconds,
                   MeasuredRuntime& measured) {
  {
    // One step beforehand: a device times its plans and captures the step's graph then.
    std::vector<Progress> progress(measured.problems);
    const Plan first = plan_of_stage(problems.settings.block, 0, problems.ladder.rungs());
    constexpr double no_time = 1e-9;
    draw(problems, progress, seed, no_time, [&](Chain& chain, Progress& of_problem, std::size_t) {
      return parallel_power_tempering(chain, first, of_problem);
    });
  }
  const double of_stage = most_seconds / static_cast<double>(problems.rounds.size());
  for (std::size_t stage = 0; stage < problems.rounds.size(); ++stage) {
    for (const bool is_extension : {true, false}) {
      if (!is_extension && problems.rounds[stage] == 0) continue;
      measured.parts.push_back(measure_part(problems, stage, is_extension, seed,
                                            of_stage * (is_extension ? 0.125 : 0.875), measured));
    }
  }
}

}  // namespace

MeasuredRuntime measure_runtime(Transformer& model, const PaperRuntime& row,
                                const PaperSettings& settings, std::size_t problems,
                                double most_seconds, bool early_rejection) {
  const Ladder ladder(row.powers);
  const auto rounds = rounds_for(settings, ladder.rungs(), row.decode_tokens);
  MeasuredRuntime measured;
  measured.rungs = ladder.rungs();
  measured.problems = problems;
  measured.early_rejection = early_rejection;
  measured.expected = expected_of_problem(settings, ladder.rungs(), rounds);
  for (const std::size_t stage_rounds : rounds) measured.sweeps += stage_rounds;
  if (ladder.rungs() == 1) measured.sweeps = 0;

  const std::size_t pages = problems * pages_of_problem(settings, ladder.rungs());
  try {
    model.reserve_pages(pages);
  } catch (const std::bad_alloc&) {
    throw BadInput(
        "--problems",
        std::to_string(problems) + " problems of " + std::to_string(ladder.rungs()) +
            " rungs take " + std::to_string(pages) + " pages (" +
            in_gibibytes(pages * model.pages().page_bytes()) +
            "), for which the device has no room",
        "give at most " + std::to_string(problems_that_fit(model, settings, ladder.rungs())));
  }
  std::vector<Context> contexts;
  for (std::size_t problem = 0; problem < problems; ++problem)
    contexts.push_back({prompt_of(problem, settings.prompt, model.vocabulary_size()), {}});
  std::vector<std::shared_ptr<Cache>> caches;
  const auto account =
      std::make_shared<CacheAccount>(CacheBudget{pages * model.pages().page_bytes(), true});
  AccountedModel accounted(model, account);
  measured.prompt_seconds = compute_prompts(accounted, contexts, caches);
  const GraphsOfSteps graphs(model.kernels());
  const auto rows = graphs.make_rows();
  Problems all{model, *account, ladder, settings, rounds, *rows, contexts, caches, early_rejection};
  if (most_seconds > 0.0) {
    measure_parts(all, settings.seed, most_seconds, measured);
  } else {
    const Plan plan{make_stages(settings.horizon, settings.block, rounds, {1}, {1}), Schedule::adj,
                    ladder.rungs() - 1};
    std::vector<Progress> progress(problems);
    add(draw(all, progress, settings.seed, 0.0,
             [&](Chain& chain, Progress& of_problem, std::size_t) {
               return parallel_power_tempering(chain, plan, of_problem);
             }),
        measured, model.pages().page_bytes());
    measured.complete = true;
  }
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
