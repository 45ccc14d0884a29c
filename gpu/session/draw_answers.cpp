#include "gpu/session/draw_answers.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "gpu/lottery/exponential.hpp"
#include "gpu/session/cache_admission.hpp"
#include "gpu/session/prompt_plans.hpp"
#include "gpu/sampler/score_record.hpp"

namespace tempera::gpu {
namespace {

/// Coroutines that wait until something holds.
class Waiting {
 public:
  struct Awaiter {
    Waiting& waiting;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> coroutine) {
      waiting.coroutines_.push_back(coroutine);
    }
    void await_resume() const noexcept {}
  };
  Awaiter wait() { return {*this}; }
  /// Lets all that wait now look again.
  void wake() {
    for (const std::coroutine_handle<> coroutine : std::exchange(coroutines_, {}))
      coroutine.resume();
  }

 private:
  std::vector<std::coroutine_handle<>> coroutines_;
};

/// A prompt while its samples are under way: computed once, forked by each of them.
struct PromptUnderWay {
  Context context;
  std::shared_ptr<Cache> cache;
  std::size_t samples_left = 0;  ///< those that a lane has taken and not ended
  std::size_t bytes = 0;         ///< taken for its cache; 0 before its first sample begins
};

class Assembly {
 public:
  Assembly(LanguageModel& model, std::span<const Prompt> prompts, Sampler sampler,
           const DrawSettings& settings, DrawObserver& observer)
      : model_(model),
        prompts_(prompts),
        sampler_(sampler),
        settings_(settings),
        plans_(settings.plan, prompts),
        observer_(observer),
        rows_(make_device_row_lottery()),
        engine_(model, *rows_, lottery_, settings.largest_batch, settings.order),
        places_(prompts.size() * settings.samples),
        next_(settings.first),
        next_to_begin_(settings.first),
        front_(settings.first),
        memory_(settings.cache_memory) {
    engine_.measure_entropy(settings.confidence);
    engine_.before_each_batch([this] { observer_.before_batch(totals()); });
    for (std::size_t p = 0; p < prompts.size(); ++p)
      memory_.require_room(bytes_of_prompt(p) + bytes_of_run(p, true),
                           "prompt " + std::to_string(p + 1));
  }

  DrawTotals run() {
    const std::size_t lanes = std::min(settings_.in_flight, places_ - std::min(places_, front_));
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < lanes; ++i) tasks.push_back(lane());
    engine_.run(tasks);
    return totals();
  }

 private:
  DrawTotals totals() const {
    return {engine_.decode_tokens(), engine_.batches(), engine_.times()};
  }
  /// Draws one answer after the other, until there is none left to begin.
  Task lane() {
    while (next_ < places_) {
      const std::size_t place = next_++;
      const std::size_t p = place / settings_.samples;
      const auto prompt = take(p);
      std::optional<Answer> answer = observer_.ended_before(place);
      const std::optional<SavedProgress> saved =
          answer ? std::nullopt : observer_.begun_before(place);
      const std::size_t bytes = answer ? 0 : bytes_of_run(p, saved.has_value());
      while (!may_begin(place, prompt->second, bytes)) co_await room_.wait();
      begin(prompt->second, bytes);
      if (!answer) co_await draw(place, saved, prompt->second, answer.emplace());
      memory_.give_back(bytes);
      if (--prompt->second.samples_left == 0 && next_ >= (p + 1) * settings_.samples) {
        memory_.give_back(prompt->second.bytes);
        under_way_.erase(prompt);
      }
      leave(place, std::move(*answer));
    }
  }

  /// The prompt, for one more sample.
  std::map<std::size_t, PromptUnderWay>::iterator take(std::size_t p) {
    const auto [prompt, is_new] = under_way_.try_emplace(p);
    if (is_new) prompt->second = {{prompts_[p].tokens, settings_.terminal}, model_.empty_cache()};
    ++prompt->second.samples_left;
    return prompt;
  }
  std::size_t bytes_of_prompt(std::size_t p) const {
    return model_.cache_bytes(prompts_[p].tokens.size());
  }
  /// How many proposals of one rung can be ahead: no more than its moves of a stage leave.
  std::size_t most_ahead(const Plan& plan) const {
    std::size_t most = 1;
    for (const Stage& stage : plan.stages) most = std::max(most, stage.rounds * stage.local_moves);
    return std::min(most - 1, settings_.prefetch);
  }
  std::size_t bytes_of_run(std::size_t p, bool restored) const {
    const Plan& plan = plans_.of(prompts_[p]);
    return cache_bytes_of_run(model_, prompts_[p].tokens.size(), plan.stages.back().horizon,
                              plan.replicas(settings_.ladder), 1 + most_ahead(plan), restored);
  }
  /// Whether the run of a place, whose turn must have come, fits beside those under way.
  bool may_begin(std::size_t place, const PromptUnderWay& prompt, std::size_t bytes) const {
    return place == next_to_begin_ && place < front_ + 4 * settings_.in_flight &&
           memory_.has_room(bytes +
                            (prompt.bytes == 0 ? bytes_of_prompt(place / settings_.samples) : 0));
  }
  void begin(PromptUnderWay& prompt, std::size_t bytes) {
    if (prompt.bytes == 0) {
      prompt.bytes = model_.cache_bytes(prompt.context.prompt.size());
      memory_.take(prompt.bytes);
    }
    memory_.take(bytes);
    ++next_to_begin_;
    room_.wake();
  }
  Task draw(std::size_t place, const std::optional<SavedProgress>& saved,
            const PromptUnderWay& prompt, Answer& answer);
  void restore(const SavedProgress& saved, const Plan& plan, const PromptUnderWay& prompt,
               Progress& progress);
  Record rescored(const SavedProgress& saved, std::size_t replica, std::size_t horizon,
                  const PromptUnderWay& prompt);
  void leave(std::size_t place, Answer answer);

  LanguageModel& model_;
  std::span<const Prompt> prompts_;
  Sampler sampler_;
  const DrawSettings& settings_;
  PromptPlans plans_;
  DrawObserver& observer_;
  std::unique_ptr<RowLottery> rows_;
  PhiloxLottery lottery_;
  Engine engine_;
  std::size_t places_;
  std::size_t next_;           ///< the next place for a lane to take
  std::size_t next_to_begin_;  ///< of those taken, the next to begin
  std::size_t front_;          ///< the next place to leave
  CacheAdmission memory_;
  std::map<std::size_t, Answer> ended_;
  std::map<std::size_t, PromptUnderWay> under_way_;
  Waiting room_;
};

/// Hands one run's news on.
class Teller final : public Observer {
 public:
  Teller(DrawObserver& observer, std::size_t place) : observer_(observer), place_(place) {}
  void advanced(const Progress& progress, std::span<const Event> events) override {
    observer_.advanced(place_, progress, events);
  }

 private:
  DrawObserver& observer_;
  std::size_t place_;
};

Task Assembly::draw(std::size_t place, const std::optional<SavedProgress>& saved,
                    const PromptUnderWay& prompt, Answer& answer) {
  const Prompt& asked = prompts_[place / settings_.samples];
  const Plan& plan = plans_.of(asked);
  Progress progress;
  if (saved) restore(*saved, plan, prompt, progress);
  const PromptNumber number = asked.number;
  Run run{engine_,           prompt.context,
          settings_.ladder,  number.seed(settings_.seed),
          number.in_address, static_cast<std::uint32_t>(place % settings_.samples),
          prompt.cache};
  run.early_rejection = settings_.early_rejection;
  run.pilot = settings_.pilot;
  run.prefetch = settings_.prefetch;
  Teller teller(observer_, place);
  co_await sampler_(run, plan, progress, &teller);
  observer_.ended(place, progress);
  const Record& record = answer_of(progress, plan);
  answer = {record.token_ids(), record.log_p0(), record.terminated()};
}

void Assembly::restore(const SavedProgress& saved, const Plan& plan, const PromptUnderWay& prompt,
                       Progress& progress) {
  progress = position_of(saved);
  for (std::size_t k = 0; k < saved.replicas.size(); ++k)
    progress.replicas.push_back(rescored(saved, k, plan.stages.at(saved.stage).horizon, prompt));
}

/// The record of the saved tokens at the horizon of the saved stage, scored again.
Record Assembly::rescored(const SavedProgress& saved, std::size_t replica, std::size_t horizon,
                          const PromptUnderWay& prompt) {
  std::optional<Record> record;
  try {
    record = score_record(model_, *rows_, settings_.ladder, prompt.context, horizon,
                          saved.replicas[replica], settings_.confidence);
  } catch (const std::logic_error&) {
    // A token that the model now forbids, or that its record has no room for.
  }
  if (!record || to_bits(record->log_p0()) != saved.log_p0.at(replica))
    throw BadInput(saved.where, "the model no longer gives the probabilities of the checkpoint",
                   "resume with the model and the program that the run began with");
  return std::move(*record);
}

void Assembly::leave(std::size_t place, Answer answer) {
  ended_.emplace(place, std::move(answer));
  for (auto first = ended_.begin(); first != ended_.end() && first->first == front_;
       first = ended_.erase(first))
    observer_.drawn(front_++, first->second);
  room_.wake();
}

}  // namespace

SavedProgress saved(const Progress& progress, std::string where) {
  SavedProgress kept;
  kept.stage = progress.stage;
  kept.extended = progress.extended;
  kept.round = progress.round;
  kept.local_moves = progress.local_moves;
  kept.sweeps = progress.sweeps;
  kept.resampled = progress.resampled;
  for (const Record& record : progress.replicas) {
    kept.replicas.push_back(record.token_ids());
    kept.log_p0.push_back(to_bits(record.log_p0()));
  }
  kept.where = std::move(where);
  return kept;
}

Progress position_of(const SavedProgress& saved) {
  Progress progress;
  progress.stage = saved.stage;
  progress.extended = saved.extended;
  progress.round = saved.round;
  progress.local_moves = saved.local_moves;
  progress.sweeps = saved.sweeps;
  progress.resampled = saved.resampled;
  return progress;
}

DrawTotals draw_answers(LanguageModel& model, std::span<const Prompt> prompts, Sampler sampler,
                        const DrawSettings& settings, DrawObserver& observer) {
  if (settings.samples > addressable_samples)
    throw BadInput(
        "samples", "is " + std::to_string(settings.samples),
        "ask for at most " + std::to_string(addressable_samples) + " answers to a prompt");
  return Assembly(model, prompts, sampler, settings, observer).run();
}

}  // namespace tempera::gpu
