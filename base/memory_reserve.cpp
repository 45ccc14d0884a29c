#include "base/memory_reserve.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

namespace tempera {
namespace {

constexpr std::size_t unit = 256;
constexpr std::size_t units = MemoryReserve::bytes / unit;

/// Null until the system has given it. A command that is not a server has none of it: it may have
/// less address space than that.
constinit std::atomic<std::byte*> memory = nullptr;
/// The length of the piece that begins at a unit; 0 where none begins. `mutex` guards these.
constinit std::array<std::uint32_t, units> lengths{};
constinit std::size_t units_taken = 0;
/// No unit before this one is free.
constinit std::size_t least_free = 0;
constinit std::mutex mutex;

thread_local constinit MemoryReserve::Purpose purpose = MemoryReserve::Purpose::none;

struct Allowance {
  std::size_t units_of_a_piece = 0;
  std::size_t units_in_all = 0;  ///< that may be taken after it, by everybody
};

Allowance allowance() {
  using enum MemoryReserve::Purpose;
  switch (std::uncaught_exceptions() > 0 ? answers : purpose) {
    case none:
      return {};
    case connections:
      return {(std::size_t{64} << 10) / unit, units / 4};
    case books:
      return {(std::size_t{1} << 20) / unit, units / 4 * 3};
    case answers:
      return {units, units};
  }
  return {};
}

/// The first unit of as many free ones; `units` if there are none.
std::size_t first_free(std::size_t needed) {
  std::size_t begin = least_free;
  for (std::size_t i = begin; i < units && i - begin < needed;) {
    if (lengths[i] == 0) {
      ++i;
      continue;
    }
    i += lengths[i];
    begin = i;
  }
  return begin + needed <= units ? begin : units;
}

}  // namespace

MemoryReserve::MemoryReserve() : before_(std::set_new_handler(nullptr)) {
  const std::scoped_lock lock(mutex);
  if (memory != nullptr) return;
  void* const taken =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (taken != MAP_FAILED) memory = static_cast<std::byte*>(taken);
}
MemoryReserve::~MemoryReserve() { std::set_new_handler(before_); }

MemoryReserve::Use::Use(Purpose now) : before_(std::exchange(purpose, now)) {}
MemoryReserve::Use::~Use() { purpose = before_; }

void* MemoryReserve::take(std::size_t size) noexcept {
  const Allowance may = allowance();
  if (size > may.units_of_a_piece * unit) return nullptr;
  const std::size_t needed = size == 0 ? 1 : (size + unit - 1) / unit;
  const std::scoped_lock lock(mutex);
  if (memory == nullptr || units_taken + needed > may.units_in_all) return nullptr;
  const std::size_t first = first_free(needed);
  if (first == units) return nullptr;
  lengths[first] = static_cast<std::uint32_t>(needed);
  if (first == least_free) least_free += needed;
  units_taken += needed;
  return memory + first * unit;
}

bool MemoryReserve::give_back(void* piece) noexcept {
  const auto* const at = static_cast<const std::byte*>(piece);
  const std::byte* const begin = memory;
  if (begin == nullptr || std::less{}(at, begin) || !std::less{}(at, begin + bytes)) return false;
  const std::scoped_lock lock(mutex);
  const std::size_t first = static_cast<std::size_t>(at - begin) / unit;
  units_taken -= std::exchange(lengths[first], 0);
  least_free = std::min(least_free, first);
  return true;
}

bool MemoryReserve::is_low() noexcept {
  const std::scoped_lock lock(mutex);
  return units_taken > units / 2;
}

}  // namespace tempera
