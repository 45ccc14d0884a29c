#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu/device/simt/launch_shape.hpp"

namespace tempera::lab::ptx {

/// What a thread may see of global memory that another block of its launch has written: the worst
/// that the memory model of PTX allows. What launches before have written is there.
///
/// A store is in memory at once, and what stood there before is kept beside it, word by word.
/// Another block sees what stood there before
///  - until a fence (membar.gl) or an atomic that releases covers the store: one of the storing
///    thread, or of a thread of its block that has passed a barrier since;
///  - until after that a fence covers the load in the same way: one that follows an atomic by which
///    its own thread, or one of its block beyond a barrier, could hear of the store. A fence
///    before that atomic orders nothing. An atomic that acquires covers what it hears of itself;
///  - by a plain load always: the first-level cache may have had the line. A load past it (.cg)
///    sees what fences allow.
class GlobalMemory {
 public:
  /// A kernel is launched: what was written until now is there.
  void begin_launch();
  void store(const void* to, std::size_t bytes);
  enum class Load { plain, past };
  /// Changes what was read to what the running thread may see.
  void look(const void* from, std::size_t bytes, Load load, unsigned char* read);
  /// Where a copy of 16 bytes finds what the running thread may see of them.
  const void* vector_as_seen(const void* from);
  /// A line of the PTX that orders something, and whether by what it acquires.
  using Order = std::pair<unsigned, bool>;
  /// line: of the PTX, where a defect can be planted.
  void fence(unsigned line = 0);
  /// The running thread is about to read, by an atomic, what other blocks have counted.
  void hear();
  /// An atomic of the running thread orders what its block has written before it.
  void release(unsigned line = 0);
  /// And what it has heard of, before what comes after it.
  void acquire(unsigned line = 0);
  void pass_barrier();
  /// Loads that have seen something else than what is in memory.
  std::uint64_t stale_loads() const { return stale_loads_; }
  /// All that threads have reached, in every launch: fences, and atomics that order.
  const std::set<Order>& orders() const { return orders_; }
  /// Plants a defect: this orders nothing.
  void leave_out(Order order) { left_out_ = order; }

 private:
  struct Thread {
    std::size_t epoch = 0;      // barriers that it has passed
    std::uint64_t heard = 0;    // tick of its last atomic
    std::uint64_t covered = 0;  // of the last atomic that its last fence follows
  };
  struct Word {
    std::uint32_t before;
    std::size_t block;
    unsigned thread;
    std::size_t epoch;
    std::uint64_t fenced;    // tick of the fence that covers it; 0: none yet
    bool of_several_blocks;  // neighbours in a word: nobody is held to what it sees of it
  };
  struct Block {
    std::vector<Thread> threads;
    std::map<std::size_t, std::uint64_t> heard;    // the last of each epoch
    std::map<std::size_t, std::uint64_t> covered;  // likewise
    std::vector<std::uintptr_t> uncovered;         // words that no fence covers yet
  };

  /// False if a defect is planted here.
  bool is_there(Order order);
  void cover_stores();
  /// Loads of the running thread, and of its block beyond a barrier, see what was ordered by then.
  void cover_loads(std::uint64_t tick);
  Block& running_block();
  Thread& running_thread();
  /// The last of a tick that the running thread has itself, or others of its block had before a
  /// barrier.
  std::uint64_t last_of(std::uint64_t own, const std::map<std::size_t, std::uint64_t>& of_block);

  std::unordered_map<std::uintptr_t, Word> words_;
  std::map<std::size_t, Block> blocks_;
  std::deque<gpu::simt::Vector16> seen_vectors_;  // of this launch
  std::uint64_t ticks_ = 0;
  std::uint64_t stale_loads_ = 0;
  std::set<Order> orders_;
  std::optional<Order> left_out_;
};

/// What kernels that nvcc compiled go through, if it is set: TEMPERA_PTX_MEMORY=worst.
inline constinit GlobalMemory* global_memory = nullptr;

}  // namespace tempera::lab::ptx
