#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <tuple>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "gpu/device/simt/launch_shape.hpp"

// The host's meaning of the names that simt.hpp lists. The threads of a block are fibers, each run
// until it waits, in an order that a seed gives; blocks run one after another, in such an order
// too. Shared memory begins as poison (all bits set: a NaN). An asynchronous copy lands at the last
// moment that the waits of its thread allow, and until then its target is poison.

namespace tempera::gpu::simt::inline on_fibers {

/// What a device would not survive, or not show: a barrier or a collective that not all reach,
/// shared memory overrun, a copy in flight that is written over.
class LaunchFailure : public Bug {
 public:
  using Bug::Bug;
};

/// Poison and copies: what shared memory holds before anything is written to it, byte by byte.
constexpr unsigned char poison = 0xFF;

/// A defect that tests plant into every launch of a stream, to see that it shows.
struct PlantedDefect {
  unsigned barrier_line = 0;    ///< the barriers on this line of a kernel's source let all pass
  bool wait_one_short = false;  ///< waits for copies leave one group more in flight
};

/// Blocks of a launch that run at the same time.
constexpr unsigned resident_blocks = 2;

/// An order of launches. Each launch takes its thread order from the seed and from how many there
/// were before it.
struct Stream {
  std::uint64_t seed = 1;
  std::uint64_t launches = 0;  ///< how many kernels have been queued
  PlantedDefect planted = {};
  std::set<unsigned> barrier_lines = {};  ///< of all barriers that were reached
  Queueing queueing = Queueing::run;
  std::vector<std::function<void(Stream&)>> recorded = {};  ///< launches, with their arguments
  std::uint64_t waits = 0;                                  ///< how often the host has waited
  /// Whether a step is replayed from its graph; else its kernels are launched. It changes no bit.
  bool graphs = true;
  bool joined = false;        ///< whether what can go together goes as one kernel
  bool times_forms = false;   ///< whether a step's first replays decide that
  std::uint64_t replays = 0;  ///< how many graphs have been replayed
  /// Is called, if it is there, before and after each kernel and each graph that is run.
  std::function<void()> watch = {};
  /// The kernel that is watched; null of a graph.
  const void* watched = nullptr;
  /// Whether tensor cores are those of Ampere and Ada, not Hopper's.
  bool takes_ampere_steps = false;
};

/// Where the running fiber is.
struct Coordinates {
  unsigned thread;
  unsigned threads;
  Extent block;
  Extent blocks;
  unsigned char* shared;
};
inline thread_local constinit Coordinates coordinates{};

inline unsigned thread() { return coordinates.thread; }
inline unsigned threads() { return coordinates.threads; }
inline unsigned lane() { return coordinates.thread % warp_lanes; }
inline unsigned warp() { return coordinates.thread / warp_lanes; }
inline Extent block() { return coordinates.block; }
inline Extent blocks() { return coordinates.blocks; }

template <class T>
T* shared_memory(std::size_t offset = 0) {
  return reinterpret_cast<T*>(coordinates.shared + offset);
}

/// The line of a kernel's source that a barrier or a collective is on. (clang-tidy 14 knows no
/// std::source_location.)
struct Where {
  int number;
  unsigned line() const { return static_cast<unsigned>(number); }
};

void barrier(Where where = {__builtin_LINE()});
void warp_barrier(Where where = {__builtin_LINE()});

/// The value of lane sources[l] for every lane l; a warp collective.
std::uint64_t exchange(std::uint64_t value, unsigned source, Where where);

template <class T>
T shuffle(T value, unsigned source, Where where = {__builtin_LINE()}) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = exchange(bits, source % warp_lanes, where);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
T shuffle_xor(T value, unsigned mask, Where where = {__builtin_LINE()}) {
  return on_fibers::shuffle(value, lane() ^ mask, where);
}
unsigned ballot(bool vote, Where where = {__builtin_LINE()});
inline bool any(bool vote, Where where = {__builtin_LINE()}) { return ballot(vote, where) != 0; }
inline bool all(bool vote, Where where = {__builtin_LINE()}) { return ballot(!vote, where) == 0; }

/// Now and then ends the turn of the running block here: atomics are where blocks meet.
void end_turn();

template <class T>
T atomic_add(T* target, std::type_identity_t<T> value) {
  static_assert(std::is_unsigned_v<T>, "the order of atomic additions is free");
  const T before = *target;
  *target = before + value;
  end_turn();
  return before;
}
template <class T>
T atomic_max(T* target, std::type_identity_t<T> value) {
  const T before = *target;
  *target = before < value ? value : before;
  end_turn();
  return before;
}
inline void fence() {}
/// Adds after all that the thread's block has written before its last barrier.
inline std::uint32_t atomic_add_releasing(std::uint32_t* target, std::uint32_t value) {
  return on_fibers::atomic_add(target, value);
}
/// The same, and what those had written who have added so before is seen beyond a barrier.
inline std::uint32_t atomic_add_exchanging(std::uint32_t* target, std::uint32_t value) {
  return on_fibers::atomic_add(target, value);
}

/// If it is there: how many floats each block of all launches, by its number, has read of what
/// other blocks have written. For tests, which hold it against what a plan says.
inline thread_local constinit std::vector<std::uint64_t>* loads_shared_by_blocks = nullptr;
inline void count_loads_shared_by_blocks(std::size_t floats) {
  if (loads_shared_by_blocks == nullptr) return;
  const std::size_t number =
      (std::size_t{coordinates.block.z} * coordinates.blocks.y + coordinates.block.y) *
          coordinates.blocks.x +
      coordinates.block.x;
  if (number >= loads_shared_by_blocks->size()) loads_shared_by_blocks->resize(number + 1);
  (*loads_shared_by_blocks)[number] += floats;
}

/// Reads what other blocks of this launch have written.
inline float load_shared_by_blocks(const float* source) {
  count_loads_shared_by_blocks(1);
  return *source;
}

/// The same of any type, where what was written may also be of a launch before.
template <class T>
T load_written(const T* source) {
  return *source;
}
/// Reads a counter that other blocks change by atomics, for a thread that waits for them: each time
/// the turn of its block ends.
std::uint32_t load_counter(const std::uint32_t* counter);
/// The same, of those that add by atomic_add_releasing.
inline std::uint32_t load_counter_acquiring(const std::uint32_t* counter) {
  return load_counter(counter);
}

/// Copies 16 bytes, or writes 16 zero bytes and reads nothing if `there` is false.
void copy_async(void* shared, const void* global, bool there = true);
inline void copy_stream_async(void* shared, const void* global) { copy_async(shared, global); }
/// If it is there: what the blocks of all launches, by their numbers in x, have asked the
/// second-level cache for. For tests.
struct AskedAhead {
  std::vector<std::uint64_t> bytes;
  std::uint64_t with_copies = 0;  ///< of them by threads that had copies in flight
};
inline thread_local constinit AskedAhead* asked_ahead = nullptr;
void note_asked_ahead(unsigned bytes);
/// Asks for what will be read; by a whole warp. bytes: a multiple of 16. What is asked for must be
/// there.
void prefetch(const void* global, unsigned bytes);
void commit_copies();
/// Waits until at most `groups` committed groups of this thread's copies are in flight.
void wait_for_copies(std::size_t groups);
template <int Groups>
void wait_copies() {
  wait_for_copies(Groups);
}

/// D = A B + D by the stream's step, hopper_step or ampere_step; a warp collective. Operands that
/// are no finite numbers fail.
void tensor_core_step(float (&d)[4], const Vector16& a, std::uint32_t b0, std::uint32_t b1,
                      Where where = {__builtin_LINE()});

/// Lane l's words of four matrices: lanes 8 m … 8 m + 7 give the rows of matrix m, 16 bytes each.
Vector16 load_matrices(const void* shared_row, Where where = {__builtin_LINE()});

/// to_bfloat16 of both, the first in the lower half; not of NaN.
std::uint32_t round_to_bfloat16s(float first, float second);

/// Byte i of the result is byte (selector >> 4 i) % 8 of the eight of both, first's before
/// second's.
inline std::uint32_t select_bytes(std::uint32_t first, std::uint32_t second,
                                  std::uint32_t selector) {
  const std::uint64_t both = first | std::uint64_t{second} << 32;
  std::uint32_t selected = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t byte = both >> (selector >> 4 * i) % 8 * 8 & 0xFF;
    selected |= byte << 8 * i;
  }
  return selected;
}

/// Blocks of a kernel that a multiprocessor can run at the same time: as on a device whose shared
/// memory has room for two.
template <class... Parameters>
unsigned blocks_at_once(void (*)(Parameters...), unsigned /*threads*/,
                        std::size_t /*shared_bytes*/) {
  return resident_blocks;
}

/// Runs every block of a launch. @throw LaunchFailure
void run_blocks(const LaunchShape& shape, Stream& stream, const std::function<void()>& kernel);

/// A kernel as another compiler has left it, run by the same fibers: it takes the addresses of the
/// kernel's arguments.
using CompiledKernel = void (*)(const void* const* arguments);
/// The compiled kernel that runs in place of this one's text on a stream, or null.
using FindCompiledKernel = CompiledKernel (*)(const void* text, const Stream& on);
/// Set while what nvcc compiled is run (lab/ptx); null elsewhere.
inline constinit FindCompiledKernel find_compiled_kernel = nullptr;

/// Runs the kernel to its end, or records it with its arguments as they are now.
/// @throw LaunchFailure
template <class... Parameters, class... Arguments>
void launch(const LaunchShape& shape, Stream& stream, void (*kernel)(Parameters...),
            Arguments... arguments) {
  if (stream.queueing == Queueing::rehearse) return;
  const std::tuple<std::decay_t<Parameters>...> given{
      static_cast<std::decay_t<Parameters>>(arguments)...};
  const auto run = [=](Stream& on) {
    const CompiledKernel compiled =
        find_compiled_kernel == nullptr
            ? nullptr
            : find_compiled_kernel(reinterpret_cast<const void*>(kernel), on);
    run_blocks(shape, on, [&] {
      if (compiled == nullptr) return std::apply(kernel, given);
      const auto pass_addresses = [&](const auto&... each) {
        const void* const addresses[] = {static_cast<const void*>(&each)..., nullptr};
        compiled(addresses);
      };
      std::apply(pass_addresses, given);
    });
  };
  if (stream.queueing == Queueing::run) {
    stream.watched = reinterpret_cast<const void*>(kernel);
    if (stream.watch) stream.watch();
    run(stream);
    if (stream.watch) stream.watch();
    return;
  }
  ++stream.launches;
  stream.recorded.emplace_back(run);
}

}  // namespace tempera::gpu::simt::inline on_fibers
