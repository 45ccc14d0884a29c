#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "gpu/device/simt/simt.hpp"
#include "gpu/device/simt/warpgroup_steps.hpp"
#include "lab/ptx/accesses.hpp"
#include "lab/ptx/global_memory.hpp"

// What the instructions of PTX compute, for the C++ that to_cpp.py writes. A register holds bits;
// these functions take values. By the PTX ISA 9.0, chapter "Instruction Set".

namespace tempera::lab::ptx {

namespace simt = gpu::simt;

/// A kernel as nvcc compiled it. run: takes the addresses of its arguments.
struct CompiledKernel {
  const char* name;
  void (*run)(const void* const* arguments);
};

inline float as_float(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
inline double as_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
inline std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

/// Widens what wraps in sums and products: nothing is promoted to a signed type.
template <class T>
std::uint64_t wide(T value) {
  return static_cast<std::uint64_t>(value);
}

inline const unsigned char* parameter(const void* argument) {
  return static_cast<const unsigned char*>(argument);
}
inline unsigned char* shared_at(std::uint64_t base, std::int64_t offset) {
  // An address of shared memory has 32 bits.
  return simt::coordinates.shared + static_cast<std::uint32_t>(base + wide(offset));
}
inline unsigned char* global_at(std::uint64_t base, std::int64_t offset) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a register of PTX holds an address as a number.
  return reinterpret_cast<unsigned char*>(base + wide(offset));
}
inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

inline void note_shared(unsigned line, const void* at, std::size_t bytes) {
  if (accesses != nullptr) accesses->note(line, Accesses::Space::shared, at, bytes);
}
inline void note_global(unsigned line, const void* at, std::size_t bytes) {
  if (accesses != nullptr) accesses->note(line, Accesses::Space::global, at, bytes);
}

template <class T, std::size_t Count>
std::array<T, Count> load_parameter(const unsigned char* from) {
  std::array<T, Count> all;
  std::memcpy(all.data(), from, sizeof all);
  return all;
}
template <class T, std::size_t Count>
std::array<T, Count> load_shared(const unsigned char* from) {
  return load_parameter<T, Count>(from);
}
template <class T, std::size_t Count>
std::array<T, Count> load_as_seen(const unsigned char* from, GlobalMemory::Load load) {
  auto all = load_parameter<T, Count>(from);
  if (global_memory != nullptr)
    global_memory->look(from, sizeof all, load, reinterpret_cast<unsigned char*>(all.data()));
  return all;
}
template <class T, std::size_t Count>
std::array<T, Count> load_global(const unsigned char* from) {
  return load_as_seen<T, Count>(from, GlobalMemory::Load::plain);
}
template <class T, std::size_t Count>
std::array<T, Count> load_past(const unsigned char* from) {
  simt::count_loads_shared_by_blocks(sizeof(T) * Count / sizeof(float));
  return load_as_seen<T, Count>(from, GlobalMemory::Load::past);
}
template <class T, std::size_t Count>
void store_shared(unsigned char* to, const std::array<T, Count>& values) {
  std::memcpy(to, values.data(), sizeof values);
}
template <class T, std::size_t Count>
void store_global(unsigned char* to, const std::array<T, Count>& values) {
  if (global_memory != nullptr) global_memory->store(to, sizeof values);
  std::memcpy(to, values.data(), sizeof values);
}
/// Atomics meet in memory, past every cache.
template <class T>
T global_atomic_add(T* target, T value) {
  if (global_memory != nullptr) global_memory->hear();
  return simt::atomic_add(target, value);
}
template <class T>
T global_atomic_max(T* target, T value) {
  if (global_memory != nullptr) global_memory->hear();
  return simt::atomic_max(target, value);
}
/// One that releases, and acquires what those have released that it has heard of.
inline std::uint32_t ordered_atomic_add(unsigned line, std::uint32_t* target, std::uint32_t value,
                                        bool acquires) {
  if (global_memory != nullptr) {
    global_memory->release(line);
    global_memory->hear();
    if (acquires) global_memory->acquire(line);
  }
  return simt::atomic_add(target, value);
}
template <class T>
T shared_atomic_add(T* target, T value) {
  return simt::atomic_add(target, value);
}
template <class T>
T shared_atomic_max(T* target, T value) {
  return simt::atomic_max(target, value);
}
/// A counter that a thread reads until others have counted far enough: as good as an atomic.
inline std::uint32_t load_counter(const unsigned char* from) {
  if (global_memory != nullptr) global_memory->hear();
  return simt::load_counter(reinterpret_cast<const std::uint32_t*>(from));
}
inline std::uint32_t load_counter_acquiring(unsigned line, const unsigned char* from) {
  if (global_memory != nullptr) {
    global_memory->hear();
    global_memory->acquire(line);
  }
  return simt::load_counter_acquiring(reinterpret_cast<const std::uint32_t*>(from));
}
/// A line that is asked for ahead must be there.
inline void touch(const unsigned char* line) {
  static_cast<void>(*static_cast<const volatile unsigned char*>(line));
  simt::note_asked_ahead(128);
}
inline void fence(unsigned line) {
  if (global_memory != nullptr) global_memory->fence(line);
  simt::fence();
}
inline void barrier(simt::Where where) {
  simt::barrier(where);
  if (global_memory != nullptr) global_memory->pass_barrier();
}
/// A copy brings what the thread may see, past the first-level cache.
inline void copy_async(unsigned char* shared, const unsigned char* global, bool there) {
  const void* const source =
      global_memory != nullptr && there ? global_memory->vector_as_seen(global) : global;
  simt::copy_async(shared, source, there);
}
/// The bytes that cp.async reads: 16, or none and zeros are written.
inline bool copy_is_there(std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes) != 0; }

inline std::uint32_t high_product(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(wide(a) * b >> 32);
}
inline std::int32_t high_product(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(std::int64_t{a} * b >> 32);
}
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;
inline std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(UnsignedWide{a} * b >> 64);
}
inline std::int64_t high_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(Wide{a} * b >> 64);
}

/// What a division by zero gives is left open by the ISA: all bits set, as devices do.
template <class T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - wide(a));
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}

/// Shifts; by as many places as it has, or more, the result is zero, or all sign.
template <class T>
std::uint64_t shifted_left(T value, std::uint32_t by) {
  return by >= 8 * sizeof value ? 0 : static_cast<T>(wide(value) << by);
}
template <class T>
T shifted_right(T value, std::uint32_t by) {
  constexpr std::uint32_t width = 8 * sizeof value;
  if (std::is_signed_v<T>) return static_cast<T>(value >> (by >= width ? width - 1 : by));
  return by >= width ? T{0} : static_cast<T>(value >> by);
}
inline std::uint32_t funnel_left(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
  return static_cast<std::uint32_t>((wide(high) << 32 | low) << (by & 31U) >> 32);
}
inline std::uint32_t funnel_right(std::uint32_t low, std::uint32_t high, std::uint32_t by) {
  return static_cast<std::uint32_t>((wide(high) << 32 | low) >> (by & 31U));
}
/// Each of four bytes is one of eight, or its sign.
inline std::uint32_t permuted(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t bytes = wide(b) << 32 | a;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t chosen = selector >> (4 * i) & 15U;
    std::uint32_t byte = static_cast<std::uint32_t>(bytes >> (8 * (chosen & 7U)) & 0xFFU);
    if ((chosen & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0U;
    result |= byte << (8 * i);
  }
  return result;
}
inline std::uint32_t any_logic(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                               std::uint32_t table) {
  std::uint32_t result = 0;
  for (unsigned row = 0; row < 8; ++row) {
    if ((table >> row & 1U) == 0) continue;
    result |= ((row & 4U) != 0 ? a : ~a) & ((row & 2U) != 0 ? b : ~b) & ((row & 1U) != 0 ? c : ~c);
  }
  return result;
}
/// `size` bits from `begin` on; a signed one fills with the last of them, or with the sign.
template <class T>
T field(T value, std::uint32_t begin, std::uint32_t size) {
  constexpr std::uint32_t width = 8 * sizeof value;
  begin &= 0xFFU;
  size &= 0xFFU;
  const std::uint64_t bits = static_cast<std::make_unsigned_t<T>>(value);
  std::uint64_t sign = 0;
  if (std::is_signed_v<T> && size != 0) {
    const std::uint32_t last = begin + size - 1 < width - 1 ? begin + size - 1 : width - 1;
    sign = bits >> last & 1U;
  }
  std::uint64_t result = 0;
  for (std::uint32_t i = 0; i < width; ++i) {
    const bool inside = i < size && begin + i < width;
    result |= (inside ? bits >> (begin + i) & 1U : sign) << i;
  }
  return static_cast<T>(result);
}
template <class T>
T inserted(T value, T into, std::uint32_t begin, std::uint32_t size) {
  begin &= 0xFFU;
  size &= 0xFFU;
  std::uint64_t result = into;
  for (std::uint32_t i = 0; i < size && begin + i < 8 * sizeof value; ++i) {
    const std::uint64_t mask = std::uint64_t{1} << (begin + i);
    result = (wide(value) >> i & 1U) != 0 ? result | mask : result & ~mask;
  }
  return static_cast<T>(result);
}

inline float fused(float a, float b, float c) { return std::fma(a, b, c); }
inline double fused(double a, double b, double c) { return std::fma(a, b, c); }
template <class T>
bool is_unordered(T a, T b) {
  return std::isnan(a) || std::isnan(b);
}
/// The other if one is no number; -0 is less than +0.
template <class T>
T least(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greatest(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
/// Towards zero, and the nearest that there is if it does not fit; 0 for what is no number, but
/// the least of 64 bits' signed ones.
template <class Whole, class T>
Whole whole(T value) {
  using Limits = std::numeric_limits<Whole>;
  if (std::isnan(value)) return sizeof(Whole) == 8 ? Whole{1} << (8 * sizeof(Whole) - 1) : Whole{0};
  if (value <= static_cast<T>(Limits::min())) return Limits::min();
  // 2^31, 2^32, 2^63 or 2^64: the first that does not fit, and exact.
  const T end = std::ldexp(T{1}, Limits::digits);
  return value >= end ? Limits::max() : static_cast<Whole>(value);
}

}  // namespace tempera::lab::ptx
