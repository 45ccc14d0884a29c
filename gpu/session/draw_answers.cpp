#include "gpu/session/draw_answers.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/session/prompt_plans.hpp"

namespace tempera::gpu {
namespace {

void add(SessionTotals& sum, const SessionTotals& more) {
  sum.decode_tokens += more.decode_tokens;
  sum.batches += more.batches;
  sum.times.forward += more.times.forward;
  sum.times.draw += more.times.draw;
  sum.times.accept += more.times.accept;
  sum.times.swap += more.times.swap;
  sum.cache_bytes += more.cache_bytes;
  if (!sum.held_back) sum.held_back = more.held_back;
}

/// The runs, which the devices take one after the other, and their answers, which leave in the
/// order in which the runs were taken.
///
/// Whoever calls holds the mutex, except for what is constant: request_of, settings and prompts.
class Runs {
 public:
  Runs(std::size_t devices, std::span<const Prompt> prompts, SamplerFunction sampler,
       const DrawSettings& settings, DrawListener& listener)
      : prompts_(prompts),
        sampler_(sampler),
        settings_(settings),
        plans_(settings.plan, prompts),
        listener_(listener),
        count_(prompts.size() * settings.samples),
        most_taken_(4 * devices * settings.in_flight),
        devices_left_(devices),
        totals_(devices) {}

  std::mutex mutex;
  std::condition_variable changed;  ///< what a device without a run waits for

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
  const DrawSettings& settings() const { return settings_; }
  std::span<const Prompt> prompts() const { return prompts_; }
  DrawListener& listener() { return listener_; }

  /// The run to begin next: one that a lost device has left, or one that nobody has taken. Those
  /// that ended in an earlier process are delivered on the way.
  std::optional<std::size_t> take() {
    if (!left_.empty()) return left_.extract(left_.begin()).value();
    while (!has_taken_all_ && taken_.size() < most_taken_) {
      const std::optional<std::size_t> run_index = next_run();
      has_taken_all_ = !run_index;
      if (!run_index) break;
      taken_.push_back(*run_index);
      std::optional<Answer> answer = listener_.ended_before(*run_index);
      if (!answer) return run_index;
      deliver(*run_index, std::move(*answer));
    }
    return std::nullopt;
  }
  void deliver(std::size_t run_index, Answer answer) {
    waiting_.emplace(run_index, std::move(answer));
    while (!taken_.empty() && waiting_.contains(taken_.front())) {
      const std::size_t first = taken_.front();
      taken_.pop_front();
      listener_.drawn(first, waiting_.extract(first).mapped());
    }
    changed.notify_all();
  }
  /// Whether nothing is left to do for any device.
  bool is_over() const { return failure_ || (has_taken_all_ && taken_.empty()); }

  /// The sum over the devices, of which one has these now.
  SessionTotals totals(std::size_t device, const SessionTotals& of_device) {
    totals_[device] = of_device;
    return totals();
  }
  SessionTotals totals() const {
    SessionTotals sum;
    for (const SessionTotals& each : totals_) add(sum, each);
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
    if (settings_.device_lost) settings_.device_lost(device, why);
    changed.notify_all();
    return true;
  }

 private:
  /// The next run to draw, or nothing if none is left.
  std::optional<std::size_t> next_run() {
    if (settings_.next_run) return settings_.next_run();
    return next_ < count_ ? std::optional(next_++) : std::nullopt;
  }

  std::span<const Prompt> prompts_;
  SamplerFunction sampler_;
  const DrawSettings& settings_;
  PromptPlans plans_;
  DrawListener& listener_;
  std::size_t count_;
  std::size_t next_ = 0;  ///< without settings.next_run, the next run to take
  bool has_taken_all_ = false;
  std::size_t most_taken_;  ///< runs that may be taken and not delivered
  std::size_t devices_left_;
  std::vector<SessionTotals> totals_;      ///< of each device
  std::deque<std::size_t> taken_;          ///< in their order, those not yet delivered
  std::set<std::size_t> left_;             ///< runs that a lost device had under way
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
    const std::size_t samples = runs.settings().samples;
    for (std::size_t p = 0; p < runs.prompts().size(); ++p)
      session_.require_room(runs.request_of(p * samples), "prompt " + std::to_string(p + 1));
  }

  /// @throw what the session and the listener throw
  void run() {
    while (begin_batch()) {
      session_.step();
      if (failure_) std::rethrow_exception(failure_);
    }
  }

  /// What it has taken and not ended.
  std::set<std::size_t> under_way() const {
    std::set<std::size_t> runs;
    for (const auto& [id, run_index] : run_index_of_) runs.insert(run_index);
    return runs;
  }

 private:
  /// Takes what it may, and waits if that is nothing. Returns false at the end.
  bool begin_batch() {
    std::unique_lock lock(runs_.mutex);
    for (submit_more(); run_index_of_.empty() && !runs_.is_over(); submit_more())
      runs_.changed.wait(lock);
    const SessionTotals so_far = runs_.totals(number_, session_.totals());
    if (runs_.is_over()) return false;
    runs_.listener().before_batch(so_far);
    return true;
  }

  void submit_more() {
    while (run_index_of_.size() < most_) {
      const std::optional<std::size_t> run_index = runs_.take();
      if (!run_index) return;
      std::optional<SavedProgress> saved = runs_.listener().begun_before(*run_index);
      const RequestId id =
          saved ? session_.resume(runs_.request_of(*run_index), std::move(*saved), *this)
                : session_.submit(runs_.request_of(*run_index), *this);
      run_index_of_.emplace(id, *run_index);
    }
  }

  void round_ended(RequestId request, std::size_t sample, const Progress& progress,
                   std::span<const Event> events) override {
    const std::scoped_lock lock(runs_.mutex);
    runs_.listener().round_ended(run_index_of_.at(request), sample, progress, events);
  }
  void tokens_drawn(RequestId request, std::size_t sample, std::span<const TokenId> tokens,
                    std::string_view drawn) override {
    const std::scoped_lock lock(runs_.mutex);
    runs_.listener().tokens_drawn(run_index_of_.at(request), sample, tokens, drawn);
  }
  void sampler_ended(RequestId request, std::size_t sample, const Progress& progress) override {
    const std::scoped_lock lock(runs_.mutex);
    runs_.listener().sampler_ended(run_index_of_.at(request), sample, progress);
  }
  void answered(RequestId request, std::size_t sample, const Answer& answer) override {
    const std::scoped_lock lock(runs_.mutex);
    const std::size_t run_index = run_index_of_.at(request);
    run_index_of_.erase(request);
    runs_.listener().answered(run_index, sample, answer);
    runs_.deliver(run_index, answer);
  }
  /// It stays taken: if the device is lost, another goes on with it.
  void failed(RequestId /*request*/, std::size_t /*sample*/,
              const std::exception_ptr& why) override {
    if (!failure_) failure_ = why;
  }

  Runs& runs_;
  std::size_t number_;
  std::size_t most_;
  Session session_;
  std::map<RequestId, std::size_t> run_index_of_;  ///< of the runs that were taken
  std::exception_ptr failure_;
};

/// Keeps what has memory on a device that is lost, for giving it back would fail.
void keep_for_good(std::unique_ptr<Deliveries> deliveries) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<std::unique_ptr<Deliveries>>;
  const std::scoped_lock lock(mutex);
  kept.push_back(std::move(deliveries));
}

/// Why the thread's device is lost, if this exception or the device says that it is.
std::optional<std::string> loss_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const DeviceError& error) {
    return error.what();
  } catch (const std::exception&) {
    if (const std::string why = device_failure(); !why.empty()) return why;
    return std::nullopt;
  } catch (...) {
    return std::nullopt;
  }
}

/// The work of one of several devices, in its thread.
void work_on(const DrawDevice& device, std::size_t number, std::size_t most, Runs& runs,
             const TokenText* text) {
  std::unique_ptr<Deliveries> deliveries;
  try {
    const CurrentDevice here(device.model->device());
    try {
      deliveries = std::make_unique<Deliveries>(runs, number, most, *device.model, text);
      deliveries->run();
    } catch (...) {
      const std::exception_ptr failure = std::current_exception();
      const std::optional<std::string> why = loss_of(failure);
      const std::scoped_lock lock(runs.mutex);
      const auto under_way = deliveries ? deliveries->under_way() : std::set<std::size_t>();
      if (!why || !runs.lose(device.name, *why, under_way)) runs.fail(failure);
      if (why && deliveries) keep_for_good(std::move(deliveries));
    }
  } catch (...) {  // of the listener, or of a device that cannot be made the thread's
    const std::scoped_lock lock(runs.mutex);
    runs.fail(std::current_exception());
  }
}

void require_addressable(const DrawSettings& settings) {
  if (settings.samples > addressable_samples)
    throw BadInput(
        "samples", "is " + std::to_string(settings.samples),
        "ask for at most " + std::to_string(addressable_samples) + " answers to a prompt");
}

/// How many runs each of the devices may have taken: none takes what others could begin.
std::size_t share_of_one(std::size_t devices, std::size_t runs, const DrawSettings& settings) {
  return std::min(std::max<std::size_t>((runs + devices - 1) / devices, 1), settings.in_flight);
}

}  // namespace

SessionTotals draw_answers(LanguageModel& model, std::span<const Prompt> prompts,
                           SamplerFunction sampler, const DrawSettings& settings,
                           DrawListener& listener, const TokenText* text) {
  require_addressable(settings);
  Runs runs(1, prompts, sampler, settings, listener);
  Deliveries(runs, 0, SIZE_MAX, model, text).run();
  return runs.totals();
}

SessionTotals draw_answers(std::span<const DrawDevice> devices, std::span<const Prompt> prompts,
                           SamplerFunction sampler, const DrawSettings& settings,
                           DrawListener& listener, const TokenText* text) {
  require_addressable(settings);
  Runs runs(devices.size(), prompts, sampler, settings, listener);
  {
    std::vector<std::jthread> threads;
    const std::size_t most =
        share_of_one(devices.size(), prompts.size() * settings.samples, settings);
    for (std::size_t d = 0; d < devices.size(); ++d)
      threads.emplace_back([&, d] { work_on(devices[d], d, most, runs, text); });
  }
  runs.require_success();
  return runs.totals();
}

}  // namespace tempera::gpu
