#include <algorithm>
#include <array>
#include <chrono>

#include "gpu/device/simt/simt.hpp"
#include "tests/devices/device_clock.hpp"

namespace tempera::gpu {

#if defined(TEMPERA_DEVICE_CUDA)

struct DeviceClock::Events {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
};

DeviceClock::DeviceClock() : events_(std::make_unique<Events>()) {
  simt::require_success(cudaEventCreate(&events_->begin), "an event");
  simt::require_success(cudaEventCreate(&events_->end), "an event");
}

DeviceClock::~DeviceClock() {
  cudaEventDestroy(events_->begin);
  cudaEventDestroy(events_->end);
}

double DeviceClock::seconds_of(const std::function<void()>& work) const {
  simt::require_success(cudaEventRecord(events_->begin), "an event");
  work();
  simt::require_success(cudaEventRecord(events_->end), "an event");
  simt::require_success(cudaEventSynchronize(events_->end), "the measured kernels");
  float milliseconds = 0.0F;
  simt::require_success(cudaEventElapsedTime(&milliseconds, events_->begin, events_->end),
                        "an event");
  return static_cast<double>(milliseconds) * 1e-3;
}

#else

struct DeviceClock::Events {};

DeviceClock::DeviceClock() = default;
DeviceClock::~DeviceClock() = default;

double DeviceClock::seconds_of(const std::function<void()>& work) const {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

#endif

double seconds_per_call(const Timing& timing, const std::function<void()>& call) {
  call();
  const double once = std::max(timing.clock.seconds_of(call), 1e-7);
  const auto calls = static_cast<int>(std::clamp(timing.group_seconds / once, 1.0, 1e4));
  std::array<double, 5> groups{};
  for (double& seconds : groups) {
    seconds = timing.clock.seconds_of([&] {
      for (int i = 0; i < calls; ++i) call();
    });
  }
  std::nth_element(groups.begin(), groups.begin() + 2, groups.end());
  return groups[2] / calls;
}

}  // namespace tempera::gpu
