#include <algorithm>
#include <vector>

#include "gpu/transformer/kernels/cuda/cuda_device.cuh"
#include "tests/devices/step_times.hpp"

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
      events.record(stream);
      held = events.are_held();
    };
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { stream.watch = nullptr; }

  simt::Stream& stream;
  Events events;
  std::size_t calls = 0;
  bool held = false;  // when the last event was queued
};

/// The seconds of what step() queues; nothing if the host is slower than the longest hold.
std::optional<double> held_seconds(simt::Stream& stream, const std::function<void()>& step) {
  const double nothing = seconds_of_nothing(stream);
  std::vector<double> times;
  std::uint64_t nanoseconds = 10 * millisecond;
  while (times.size() < repeats) {
    hold(stream, nanoseconds);
    Watch watch(stream);
    step();
    if (!watch.held) {
      nanoseconds *= 2;
      if (nanoseconds > 80 * millisecond) return std::nullopt;
      continue;
    }
    times.push_back(watch.events.seconds() -
                    static_cast<double>(watch.events.intervals()) * nothing);
  }
  return median(times);
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

/// Calls work() while this choice of the stream is made.
void with(bool& choice, const std::function<void()>& work) {
  struct Restore {
    bool& choice;
    bool before;
    ~Restore() { choice = before; }
  } restore{choice, choice};
  choice = true;
  work();
}

}  // namespace

bool with_joined_layers(const CudaKernels& kernels, const std::function<void()>& work) {
  with(kernels.device().stream.joined, work);
  return true;
}

#else

std::optional<StepTimes> step_times(const CudaKernels&, const std::function<void()>&) {
  return std::nullopt;
}

bool with_joined_layers(const CudaKernels&, const std::function<void()>&) { return false; }

#endif

}  // namespace tempera::gpu
