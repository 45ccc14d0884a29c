#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "gpu/llm/transformer/kernels/cuda/cuda_device.cuh"
#include "gpu/llm/transformer/kernels/cuda/integer_device.cuh"
#if !defined(TEMPERA_DEVICE_CUDA)
#include "lab/ptx/named_kernels.hpp"
#endif
#include "tests/devices/own_arithmetic.hpp"
#include "tests/devices/step_times.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu {

#if defined(TEMPERA_DEVICE_CUDA)

inline namespace TEMPERA_SIMT_FORM {

/// Launch: one block. Lets what is queued after it wait for so many nanoseconds.
TEMPERA_KERNEL(32) hold_stream(std::uint64_t nanoseconds) {
  const auto now = [] {
    std::uint64_t time = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
  };
  const std::uint64_t begin = now();
  while (now() - begin < nanoseconds) {
  }
}

}  // namespace TEMPERA_SIMT_FORM

namespace {

constexpr std::size_t repeats = 5;
constexpr std::uint64_t millisecond = 1000000;

/// Events on a stream, in order.
class Events {
 public:
  Events() = default;
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() {
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
  }

  void record(const simt::Stream& stream) {
    cudaEvent_t event = nullptr;
    simt::require_success(cudaEventCreate(&event), "an event");
    events_.push_back(event);
    simt::require_success(cudaEventRecord(event, stream.stream), "an event");
  }
  std::size_t intervals() const { return events_.size() - 1; }
  /// Seconds from the i-th to the one after it. They are over.
  double seconds_of(std::size_t i) const {
    float milliseconds = 0.0F;
    simt::require_success(cudaEventElapsedTime(&milliseconds, events_[i], events_[i + 1]),
                          "an event");
    return static_cast<double>(milliseconds) * 1e-3;
  }
  /// Whether the stream has not come to the first of them.
  bool are_held() const {
    const cudaError_t answer = cudaEventQuery(events_.front());
    if (answer != cudaErrorNotReady) simt::require_success(answer, "an event");
    return answer == cudaErrorNotReady;
  }
  /// Seconds from the first to the last. They are over.
  double seconds() const {
    float milliseconds = 0.0F;
    simt::require_success(cudaEventElapsedTime(&milliseconds, events_.front(), events_.back()),
                          "an event");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  std::vector<cudaEvent_t> events_;
};

void hold(simt::Stream& stream, std::uint64_t nanoseconds) {
  simt::launch({.blocks = {}, .threads = 32}, stream, hold_stream, nanoseconds);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// From one event to the next, with nothing between them.
double seconds_of_nothing(simt::Stream& stream) {
  std::vector<double> times;
  for (std::size_t i = 0; i < repeats; ++i) {
    Events events;
    hold(stream, millisecond);
    constexpr std::size_t intervals = 40;
    for (std::size_t event = 0; event <= intervals; ++event) events.record(stream);
    simt::require_success(cudaStreamSynchronize(stream.stream), "events");
    times.push_back(events.seconds() / intervals);
  }
  return median(times);
}

/// One event before the first kernel and one after each: a stream has room for about a thousand
/// entries, beyond which the host would wait, and a step has some 300 kernels.
struct Watch {
  explicit Watch(simt::Stream& watched) : stream(watched) {
    stream.watch = [this] {
      const bool is_before = calls++ % 2 == 0;
      if (is_before && calls != 1) return;
      if (!is_before) kernels.push_back(stream.watched);
      events.record(stream);
      held = events.are_held();
    };
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { stream.watch = nullptr; }

  simt::Stream& stream;
  Events events;
  std::vector<const void*> kernels;  // of each interval; null of a graph
  std::size_t calls = 0;
  bool held = false;  // when the last event was queued
};

/// Calls watched(watch, nothing) for each of five steps; false if the host is slower than the
/// longest hold. nothing: the seconds of an interval with nothing in it.
template <class Watched>
bool watch_steps(simt::Stream& stream, const std::function<void()>& step, const Watched& watched) {
  const double nothing = seconds_of_nothing(stream);
  std::uint64_t nanoseconds = 10 * millisecond;
  for (std::size_t steps = 0; steps < repeats;) {
    hold(stream, nanoseconds);
    Watch watch(stream);
    step();
    if (!watch.held) {
      nanoseconds *= 2;
      if (nanoseconds > 80 * millisecond) return false;
      continue;
    }
    watched(watch, nothing);
    ++steps;
  }
  return true;
}

/// The seconds of what step() queues.
std::optional<double> held_seconds(simt::Stream& stream, const std::function<void()>& step) {
  std::vector<double> times;
  const bool is_held = watch_steps(stream, step, [&](const Watch& watch, double nothing) {
    times.push_back(watch.events.seconds() -
                    static_cast<double>(watch.events.intervals()) * nothing);
  });
  return is_held ? std::optional(median(times)) : std::nullopt;
}

/// The kernels of a step and the seconds of each, in order.
using WatchedKernels = std::vector<std::pair<const void*, double>>;
std::optional<WatchedKernels> watched_kernels(simt::Stream& stream,
                                              const std::function<void()>& step) {
  std::vector<WatchedKernels> steps;
  const bool is_held = watch_steps(stream, step, [&](const Watch& watch, double nothing) {
    WatchedKernels& kernels = steps.emplace_back();
    for (std::size_t i = 0; i < watch.events.intervals(); ++i)
      kernels.emplace_back(watch.kernels[i], watch.events.seconds_of(i) - nothing);
  });
  if (!is_held) return std::nullopt;
  WatchedKernels result;
  for (std::size_t i = 0; i < steps.front().size(); ++i) {
    std::vector<double> times;
    for (const WatchedKernels& each : steps) times.push_back(each.at(i).second);
    result.emplace_back(steps.front()[i].first, median(times));
  }
  return result;
}

std::string mangled_name(const void* kernel) {
  const char* name = nullptr;
  simt::require_success(cudaFuncGetName(&name, kernel), "the name of a kernel");
  return name;
}

}  // namespace

std::optional<StepTimes> step_times(const CudaKernels& kernels, const std::function<void()>& step) {
  simt::Stream& stream = kernels.device().stream;
  struct Restore {
    simt::Stream& stream;
    bool graphs;
    ~Restore() { stream.graphs = graphs; }
  } restore{stream, stream.graphs};
  std::optional<double> times[2];
  for (const bool graphs : {false, true}) {
    stream.graphs = graphs;
    step();  // all memory is there, and the graph captured
    times[graphs ? 1 : 0] = held_seconds(stream, step);
  }
  if (!times[0] || !times[1]) return std::nullopt;
  return StepTimes{*times[1], *times[0]};
}

namespace {

#else

std::optional<StepTimes> step_times(const CudaKernels&, const std::function<void()>&) {
  return std::nullopt;
}

namespace {

using WatchedKernels = std::vector<std::pair<const void*, double>>;
std::optional<WatchedKernels> watched_kernels(simt::Stream& stream,
                                              const std::function<void()>& step) {
  WatchedKernels kernels;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  auto begin = now();
  bool is_before = true;
  stream.watch = [&] {
    if (!is_before)
      kernels.emplace_back(stream.watched, std::chrono::duration<double>(now() - begin).count());
    is_before = !is_before;
    begin = now();
  };
  step();
  stream.watch = nullptr;
  return kernels;
}

std::string mangled_name(const void* kernel) { return lab::ptx::name_on_device(kernel); }

#endif

/// "product<1u, 1u, StoreProduct, FragmentWeights>".
std::string kernel_name(const void* kernel) {
  if (kernel == nullptr) return "graph";
  const std::string mangled = mangled_name(kernel);
  int status = 0;
  char* const demangled = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : mangled;
  std::free(demangled);
  name = name.substr(0, name.rfind('('));
  for (const std::string prefix : {"void ", "tempera::gpu::on_device::", "tempera::gpu::"})
    for (std::size_t at = 0; (at = name.find(prefix)) != std::string::npos;)
      name.erase(at, prefix.size());
  return name;
}

}  // namespace

std::optional<std::vector<KernelTime>> kernel_times(const CudaKernels& kernels,
                                                    const std::function<void()>& step) {
  simt::Stream& stream = kernels.device().stream;
  std::optional<WatchedKernels> watched;
  with_form(kernels, StepForm::launches, [&] {
    step();  // all memory is there
    watched = watched_kernels(stream, step);
  });
  if (!watched) return std::nullopt;
  std::vector<KernelTime> times;
  for (const auto& [kernel, seconds] : *watched) {
    const std::string name = kernel_name(kernel);
    auto at = std::ranges::find(times, name, &KernelTime::name);
    if (at == times.end()) at = times.insert(times.end(), {name, 0, 0.0});
    ++at->launches;
    at->seconds += seconds;
  }
  return times;
}

const CudaKernels& measured_kernels() {
  if (const auto* own = dynamic_cast<const CudaKernels*>(&default_kernels(own_arithmetic())))
    return *own;
  static const CudaKernels on_fibers(11);
  return on_fibers;
}

namespace {

void with_form(simt::Stream& stream, StepForm form, const std::function<void()>& work) {
  struct Restore {
    simt::Stream& stream;
    bool graphs, joined;
    ~Restore() {
      stream.graphs = graphs;
      stream.joined = joined;
    }
  } restore{stream, stream.graphs, stream.joined};
  stream.graphs = form != StepForm::launches;
  stream.joined = form == StepForm::joined;
  work();
}

}  // namespace

void with_form(const CudaKernels& kernels, StepForm form, const std::function<void()>& work) {
  with_form(kernels.device().stream, form, work);
}

void with_form(const CudaIntegerKernels& kernels, StepForm form,
               const std::function<void()>& work) {
  with_form(kernels.device().stream, form, work);
}

namespace {

/// Restores what is tried when it ends.
struct Tried {
  explicit Tried(const CudaKernels& kernels) : forms(kernels.device().tried) {}
  Tried(const Tried&) = delete;
  Tried& operator=(const Tried&) = delete;
  ~Tried() { forms = shipped_forms; }
  TriedForms& forms;
};

}  // namespace

void with_trial(const CudaKernels& kernels, JoinedTrial trial, const std::function<void()>& work) {
  const Tried tried(kernels);
  tried.forms.joined = trial;
  with_form(kernels, StepForm::joined, work);
}

void with_slots_by_eights(const CudaKernels& kernels, const std::function<void()>& work) {
  const Tried tried(kernels);
  tried.forms.slots = StepSlots::eights;
  work();
}

bool with_joined_layers(const CudaKernels& kernels, const std::function<void()>& work) {
#if defined(TEMPERA_DEVICE_CUDA)
  with_form(kernels, StepForm::joined, work);
  return true;
#else
  static_cast<void>(kernels);
  static_cast<void>(work);
  return false;
#endif
}

}  // namespace tempera::gpu
