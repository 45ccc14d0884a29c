#pragma once

#include <functional>
#include <memory>

namespace tempera::gpu {

/// Times what a device does: by two of its events around the work on the default stream, which come
/// when all other streams' work is done; in a build for the host by a steady clock.
class DeviceClock {
 public:
  DeviceClock();
  ~DeviceClock();
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;

  /// Seconds from the beginning of what work() queues to its end.
  /// @throw std::runtime_error if the device refuses
  double seconds_of(const std::function<void()>& work) const;

 private:
  struct Events;
  std::unique_ptr<Events> events_;
};

/// How long a figure may take to be measured.
struct Timing {
  DeviceClock clock;
  double group_seconds = 0.0;
};

/// Seconds that one call takes: one call to warm up, one to see how many fill group_seconds, then
/// five groups of that many, and the median group's mean. So a figure costs about six times
/// group_seconds, or seven calls if one is longer.
double seconds_per_call(const Timing& timing, const std::function<void()>& call);

}  // namespace tempera::gpu
