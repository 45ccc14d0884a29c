#include "gpu/session/draw_answers.hpp"

#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "gpu/session/prompt_plans.hpp"

namespace tempera::gpu {
namespace {

/// Submits the runs in the order of their indices, few at a time, and delivers their answers in it.
class Deliveries final : public Listener {
 public:
  Deliveries(LanguageModel& model, std::span<const Prompt> prompts, SamplerFunction sampler,
             const DrawSettings& settings, DrawObserver& observer, const TokenText* text)
      : prompts_(prompts),
        sampler_(sampler),
        settings_(settings),
        plans_(settings.plan, prompts),
        observer_(observer),
        session_(model, settings, text),
        places_(prompts.size() * settings.samples) {
    for (std::size_t p = 0; p < prompts.size(); ++p)
      session_.require_room(request_of(p * settings.samples), "prompt " + std::to_string(p + 1));
  }

  SessionTotals run() {
    for (submit_more(); !run_index_of_.empty(); submit_more()) {
      observer_.before_batch(session_.totals());
      session_.step();
      if (failure_) std::rethrow_exception(failure_);
    }
    return session_.totals();
  }

 private:
  /// The request of a run.
  SampleRequest request_of(std::size_t run_index) const {
    const Prompt& prompt = prompts_[run_index / settings_.samples];
    SampleRequest request = settings_;
    request.plan = plans_.of(prompt);
    request.prompt = prompt.tokens;
    request.number = prompt.number;
    request.sampler = sampler_;
    request.first_sample = run_index % settings_.samples;
    request.samples = 1;
    return request;
  }

  /// The next run to draw, or nothing where none is left.
  std::optional<std::size_t> take_place() {
    if (settings_.next_run) return settings_.next_run();
    return next_ < places_ ? std::optional(next_++) : std::nullopt;
  }

  void submit_more() {
    const std::size_t most = settings_.ahead > 0 ? settings_.ahead : SIZE_MAX;
    while (!has_taken_all_ && taken_.size() < 4 * settings_.in_flight &&
           run_index_of_.size() < most) {
      const std::optional<std::size_t> next = take_place();
      has_taken_all_ = !next;
      if (!next) return;
      const std::size_t run_index = *next;
      taken_.push_back(run_index);
      if (std::optional<Answer> answer = observer_.ended_before(run_index)) {
        deliver(run_index, std::move(*answer));
        continue;
      }
      std::optional<SavedProgress> saved = observer_.begun_before(run_index);
      const RequestId id = saved ? session_.resume(request_of(run_index), std::move(*saved), *this)
                                 : session_.submit(request_of(run_index), *this);
      run_index_of_.emplace(id, run_index);
    }
  }

  void round_ended(RequestId request, std::size_t /*sample*/, const Progress& progress,
                   std::span<const Event> events) override {
    observer_.advanced(run_index_of_.at(request), progress, events);
  }
  void sampler_ended(RequestId request, std::size_t /*sample*/, const Progress& progress) override {
    observer_.sampler_ended(run_index_of_.at(request), progress);
  }
  void answered(RequestId request, std::size_t /*sample*/, const Answer& answer) override {
    const std::size_t run_index = run_index_of_.at(request);
    run_index_of_.erase(request);
    observer_.ended(run_index, answer);
    deliver(run_index, answer);
  }
  void failed(RequestId request, std::size_t /*sample*/, const std::exception_ptr& why) override {
    run_index_of_.erase(request);
    if (!failure_) failure_ = why;
  }

  void deliver(std::size_t run_index, Answer answer) {
    waiting_.emplace(run_index, std::move(answer));
    while (!taken_.empty() && waiting_.contains(taken_.front())) {
      const auto first = waiting_.find(taken_.front());
      taken_.pop_front();
      const std::size_t its_place = first->first;
      observer_.drawn(its_place, waiting_.extract(first).mapped());
    }
  }

  std::span<const Prompt> prompts_;
  SamplerFunction sampler_;
  const DrawSettings& settings_;
  PromptPlans plans_;
  DrawObserver& observer_;
  Session session_;
  std::size_t places_;
  std::size_t next_ = 0;  ///< without next_run, the next run to take
  bool has_taken_all_ = false;
  std::deque<std::size_t> taken_;                  ///< in their order, those not yet delivered
  std::map<RequestId, std::size_t> run_index_of_;  ///< of the runs that were submitted
  std::map<std::size_t, Answer> waiting_;          ///< answers that others come before
  std::exception_ptr failure_;
};

}  // namespace

SessionTotals draw_answers(LanguageModel& model, std::span<const Prompt> prompts,
                           SamplerFunction sampler, const DrawSettings& settings,
                           DrawObserver& observer, const TokenText* text) {
  if (settings.samples > addressable_samples)
    throw BadInput(
        "samples", "is " + std::to_string(settings.samples),
        "ask for at most " + std::to_string(addressable_samples) + " answers to a prompt");
  return Deliveries(model, prompts, sampler, settings, observer, text).run();
}

}  // namespace tempera::gpu
