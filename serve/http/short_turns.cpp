#include "serve/http/short_turns.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace tempera::serve {

namespace {

/// The system's struct sched_attr, which the C library of Debian 12 does not have.
struct SchedulingAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime;  ///< of SCHED_OTHER: nanoseconds of a turn
  std::uint64_t deadline;
  std::uint64_t period;
};

constexpr std::uint64_t shortest_turn = 100'000;  // nanoseconds; the least that Linux takes

}  // namespace

void ask_for_short_turns() {
  // Policy and nice level stay as they are. A system that knows no turns ignores them.
  SchedulingAttributes attributes{};
  constexpr unsigned size = sizeof(attributes);
  if (::syscall(SYS_sched_getattr, 0, &attributes, size, 0) != 0) return;
  attributes.size = size;
  attributes.runtime = shortest_turn;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace tempera::serve
