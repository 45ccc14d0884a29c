#include "gpu/session/draw_answers.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/session/prompt_plans.hpp"

namespace tempera::gpu {
namespace {

/// The runs, which the devices take one after the other, and their answers, which leave in order.
/// Whoever calls holds the mutex, but for request_of.
class Runs {
 public:
  Runs(std::size_t devices, std::span<const Prompt> prompts, SamplerFunction sampler,
       const DrawSettings& settings, DrawObserver& observer)
      : prompts_(prompts),
        sampler_(sampler),
        settings_(settings),
        plans_(settings.plan, prompts),
        observer_(observer),
        places_(prompts.size() * settings.samples),
        next_(settings.first),
        next_to_deliver_(settings.first),
        window_(4 * devices * settings.in_flight),
        devices_left_(devices),
        totals_(devices) {}

  std::mutex mutex;
  std::condition_variable changed;  ///< what a device that has no run may wait for

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
  /// How many runs one of so many devices may have taken: none takes what others could begin.
  std::size_t share_of_one(std::size_t devices) const {
    const std::size_t left = places_ - std::min(places_, settings_.first);
    return std::min(std::max<std::size_t>((left + devices - 1) / devices, 1), settings_.in_flight);
  }
  const DrawSettings& settings() const { return settings_; }
  std::span<const Prompt> prompts() const { return prompts_; }
  DrawObserver& observer() { return observer_; }

  /// The run to begin next: one that a lost device has left, or one that nobody has taken. Those
  /// that have ended in an earlier process are delivered on the way.
  std::optional<std::size_t> take() {
    if (!left_.empty()) return left_.extract(left_.begin()).value();
    while (next_ < places_ && next_ < next_to_deliver_ + window_) {
      const std::size_t place = next_++;
      std::optional<Answer> answer = observer_.ended_before(place);
      if (!answer) return place;
      deliver(place, std::move(*answer));
    }
    return std::nullopt;
  }
  void deliver(std::size_t place, Answer answer) {
    waiting_.emplace(place, std::move(answer));
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_to_deliver_;
         first = waiting_.erase(first))
      observer_.drawn(next_to_deliver_++, first->second);
    changed.notify_all();
  }
  /// Whether nothing is left to do for anybody.
  bool is_over() const { return failure_ || next_to_deliver_ == places_; }

  /// Those of all devices, of which one has new ones.
  SessionTotals totals(std::size_t device, const SessionTotals& of_device) {
    totals_[device] = of_device;
    return totals();
  }
  SessionTotals totals() const {
    SessionTotals sum;
    for (const SessionTotals& each : totals_) {
      sum.decode_tokens += each.decode_tokens;
      sum.batches += each.batches;
      sum.times.forward += each.times.forward;
      sum.times.draw += each.times.draw;
      sum.times.accept += each.times.accept;
      sum.times.swap += each.times.swap;
    }
    return sum;
  }

  /// Ends everything.
  void fail(std::exception_ptr why) {
    if (!failure_) failure_ = std::move(why);
    changed.notify_all();
  }
  void require_success() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  /// Takes back what a lost device had under way. Returns whether others are left to do it.
  bool lose(const std::string& device, const std::string& why, std::set<std::size_t> under_way) {
    if (--devices_left_ == 0) return false;
    left_.merge(under_way);
    observer_.device_lost(device, why);
    changed.notify_all();
    return true;
  }

 private:
  std::span<const Prompt> prompts_;
  SamplerFunction sampler_;
  const DrawSettings& settings_;
  PromptPlans plans_;
  DrawObserver& observer_;
  std::size_t places_;
  std::size_t next_;             ///< the next place that nobody has taken
  std::size_t next_to_deliver_;  ///< the next place whose answer is to be delivered
  std::size_t window_;           ///< how far the one may be ahead of the other
  std::size_t devices_left_;
  std::vector<SessionTotals> totals_;      ///< of each device
  std::set<std::size_t> left_;             ///< places that a lost device had under way
  std::map<std::size_t, Answer> waiting_;  ///< answers that others come before
  std::exception_ptr failure_;
};

/// What one device draws: the runs that it takes, through a session of its own.
class Deliveries final : public Listener {
 public:
  /// @param most runs that it may have taken and not ended
  Deliveries(Runs& runs, std::size_t number, std::size_t most, LanguageModel& model,
             const TokenText* text)
      : runs_(runs), number_(number), most_(most), session_(model, runs.settings(), text) {
    const DrawSettings& settings = runs.settings();
    for (std::size_t p = 0; p < runs.prompts().size(); ++p)
      session_.require_room(runs.request_of(p * settings.samples),
                            "prompt " + std::to_string(p + 1));
  }

  /// @throw what the session and the observer throw
  void run() {
    while (begin_batch()) {
      session_.step();
      if (failure_) std::rethrow_exception(failure_);
    }
  }

  /// The places of what it has taken and not ended.
  std::set<std::size_t> under_way() const {
    std::set<std::size_t> places;
    for (const auto& [id, place] : place_of_) places.insert(place);
    return places;
  }

 private:
  /// Takes what it may, and waits if that is nothing. Returns false at the end.
  bool begin_batch() {
    std::unique_lock lock(runs_.mutex);
    submit_more();
    while (place_of_.empty() && !runs_.is_over()) {
      runs_.changed.wait(lock);
      submit_more();
    }
    const SessionTotals so_far = runs_.totals(number_, session_.totals());
    if (runs_.is_over()) return false;
    runs_.observer().before_batch(so_far);
    return true;
  }

  void submit_more() {
    while (place_of_.size() < most_) {
      const std::optional<std::size_t> place = runs_.take();
      if (!place) return;
      std::optional<SavedProgress> saved = runs_.observer().begun_before(*place);
      const RequestId id = saved
                               ? session_.resume(runs_.request_of(*place), std::move(*saved), *this)
                               : session_.submit(runs_.request_of(*place), *this);
      place_of_.emplace(id, *place);
    }
  }

  void round_ended(RequestId request, std::size_t /*sample*/, const Progress& progress,
                   std::span<const Event> events) override {
    const std::scoped_lock lock(runs_.mutex);
    runs_.observer().advanced(place_of_.at(request), progress, events);
  }
  void sampler_ended(RequestId request, std::size_t /*sample*/, const Progress& progress) override {
    const std::scoped_lock lock(runs_.mutex);
    runs_.observer().sampler_ended(place_of_.at(request), progress);
  }
  void answered(RequestId request, std::size_t /*sample*/, const Answer& answer) override {
    const std::scoped_lock lock(runs_.mutex);
    const std::size_t place = place_of_.at(request);
    place_of_.erase(request);
    runs_.observer().ended(place, answer);
    runs_.deliver(place, answer);
  }
  /// Its place stays: if the device is lost, another goes on with it.
  void failed(RequestId /*request*/, std::size_t /*sample*/,
              const std::exception_ptr& why) override {
    if (!failure_) failure_ = why;
  }

  Runs& runs_;
  std::size_t number_;
  std::size_t most_;
  Session session_;
  std::map<RequestId, std::size_t> place_of_;  ///< of the runs that were taken
  std::exception_ptr failure_;
};

/// What has memory on a device that is lost: to give it back would fail.
void keep_for_good(std::unique_ptr<Deliveries> deliveries) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<std::unique_ptr<Deliveries>>;
  const std::scoped_lock lock(mutex);
  kept.push_back(std::move(deliveries));
}

/// Whether this exception says that the thread's device is lost, and why it is; rethrown inside.
std::optional<std::string> loss_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const DeviceError& error) {
    return error.what();
  } catch (const std::exception& error) {
    if (const std::string why = device_failure(); !why.empty()) return why;
    return std::nullopt;
  } catch (...) {
    return std::nullopt;
  }
}

/// The work of one of several devices, in its thread.
void serve(const DrawDevice& device, std::size_t number, std::size_t most, Runs& runs,
           const TokenText* text) {
  std::unique_ptr<Deliveries> deliveries;
  try {
    if (device.enter) device.enter();
    deliveries = std::make_unique<Deliveries>(runs, number, most, *device.model, text);
    deliveries->run();
  } catch (...) {
    const std::exception_ptr failure = std::current_exception();
    const std::optional<std::string> why = loss_of(failure);
    const std::scoped_lock lock(runs.mutex);
    try {
      const auto under_way = deliveries ? deliveries->under_way() : std::set<std::size_t>();
      if (!why || !runs.lose(device.name, *why, under_way)) runs.fail(failure);
    } catch (...) {
      runs.fail(std::current_exception());  // of the observer
    }
    if (why && deliveries) keep_for_good(std::move(deliveries));
  }
}

void require_addressable(const DrawSettings& settings) {
  if (settings.samples > addressable_samples)
    throw BadInput(
        "samples", "is " + std::to_string(settings.samples),
        "ask for at most " + std::to_string(addressable_samples) + " answers to a prompt");
}

}  // namespace

SessionTotals draw_answers(LanguageModel& model, std::span<const Prompt> prompts,
                           SamplerFunction sampler, const DrawSettings& settings,
                           DrawObserver& observer, const TokenText* text) {
  require_addressable(settings);
  Runs runs(1, prompts, sampler, settings, observer);
  Deliveries(runs, 0, 4 * settings.in_flight, model, text).run();
  return runs.totals();
}

SessionTotals draw_answers(std::span<const DrawDevice> devices, std::span<const Prompt> prompts,
                           SamplerFunction sampler, const DrawSettings& settings,
                           DrawObserver& observer, const TokenText* text) {
  require_addressable(settings);
  Runs runs(devices.size(), prompts, sampler, settings, observer);
  {
    std::vector<std::jthread> threads;
    const std::size_t most = runs.share_of_one(devices.size());
    for (std::size_t d = 0; d < devices.size(); ++d)
      threads.emplace_back([&, d] { serve(devices[d], d, most, runs, text); });
  }
  runs.require_success();
  return runs.totals();
}

}  // namespace tempera::gpu
