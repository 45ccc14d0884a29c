#pragma once

#include <cstddef>
#include <cstdint>

namespace tempera::serve {

/// Memory that is kept for the moment at which a `new` fails. Otherwise the command ends at the
/// first that fails: unwinding needs memory too.
///
/// On a thread that draws it throws std::bad_alloc, and the reserve is for the answer to whoever
/// asked. On one that reads bodies it throws as well, and gives the reserve back first. While an
/// exception is on its way, whose destructors may not throw, and on any other thread it has the
/// reserve, and is tried again.
///
/// As the handler that it installs, it is the process's: one at a time.
class MemoryReserve {
 public:
  static constexpr std::size_t bytes = std::size_t{4} << 20;

  MemoryReserve();
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  /// Gives it back to the system, for whatever comes next. Returns whether there was one.
  static bool give_back();
  /// Keeps it again, if it is gone and the system has as much. May be called now and then.
  static void restore();

  enum class Thread : std::uint8_t { other, draws, reads };
  /// Says what the calling thread does from now on.
  static void set_thread(Thread thread);

 private:
  using Handler = void (*)();
  Handler before_;
};

}  // namespace tempera::serve
