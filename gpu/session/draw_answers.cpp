#include "gpu/session/draw_answers.hpp"

#include <exception>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "gpu/session/prompt_plans.hpp"

namespace tempera::gpu {
namespace {

/// Submits the runs in the order of their places, few at a time, and delivers their answers in it.
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
        places_(prompts.size() * settings.samples),
        next_(settings.first),
        next_to_deliver_(settings.first) {
    for (std::size_t p = 0; p < prompts.size(); ++p)
      session_.require_room(request_of(p * settings.samples), "prompt " + std::to_string(p + 1));
  }

  SessionTotals run() {
    for (submit_more(); !place_of_.empty(); submit_more()) {
      observer_.before_batch(session_.totals());
      session_.step();
      if (failure_) std::rethrow_exception(failure_);
    }
    return session_.totals();
  }

 private:
  /// The run of a place.
  SampleRequest request_of(std::size_t place) const {
    const Prompt& prompt = prompts_[place / settings_.samples];
    SampleRequest request = settings_;
    request.plan = plans_.of(prompt);
    request.prompt = prompt.tokens;
    request.number = prompt.number;
    request.sampler = sampler_;
    request.first_sample = place % settings_.samples;
    request.samples = 1;
    return request;
  }

  void submit_more() {
    while (next_ < places_ && next_ < next_to_deliver_ + 4 * settings_.in_flight) {
      const std::size_t place = next_++;
      if (std::optional<Answer> answer = observer_.ended_before(place)) {
        deliver(place, std::move(*answer));
        continue;
      }
      std::optional<SavedProgress> saved = observer_.begun_before(place);
      const RequestId id = saved ? session_.resume(request_of(place), std::move(*saved), *this)
                                 : session_.submit(request_of(place), *this);
      place_of_.emplace(id, place);
    }
  }

  void round_ended(RequestId request, std::size_t /*sample*/, const Progress& progress,
                   std::span<const Event> events) override {
    observer_.advanced(place_of_.at(request), progress, events);
  }
  void sampler_ended(RequestId request, std::size_t /*sample*/, const Progress& progress) override {
    observer_.sampler_ended(place_of_.at(request), progress);
  }
  void answered(RequestId request, std::size_t /*sample*/, const Answer& answer) override {
    const std::size_t place = place_of_.at(request);
    place_of_.erase(request);
    observer_.ended(place, answer);
    deliver(place, answer);
  }
  void failed(RequestId request, std::size_t /*sample*/, const std::exception_ptr& why) override {
    place_of_.erase(request);
    if (!failure_) failure_ = why;
  }

  void deliver(std::size_t place, Answer answer) {
    waiting_.emplace(place, std::move(answer));
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_to_deliver_;
         first = waiting_.erase(first))
      observer_.drawn(next_to_deliver_++, first->second);
  }

  std::span<const Prompt> prompts_;
  SamplerFunction sampler_;
  const DrawSettings& settings_;
  PromptPlans plans_;
  DrawObserver& observer_;
  Session session_;
  std::size_t places_;
  std::size_t next_;                           ///< the next place to submit
  std::size_t next_to_deliver_;                ///< the next place whose answer is to be delivered
  std::map<RequestId, std::size_t> place_of_;  ///< of the runs that were submitted
  std::map<std::size_t, Answer> waiting_;      ///< answers that others come before
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
