// The worst that a thread may see of global memory, by the words of global_memory.hpp: two blocks
// of two threads, one of which writes what the other reads.
#include "lab/ptx/global_memory.hpp"

#include <cstring>

#include "gpu/device/simt/simt.hpp"
#include "tests/catch.hpp"

namespace tempera::lab::ptx {
namespace {

using Load = GlobalMemory::Load;

/// A launch of two blocks, in which any thread can act next.
struct TwoBlocks {
  TwoBlocks() { memory.begin_launch(); }
  GlobalMemory& as(unsigned block, unsigned thread) {
    gpu::simt::coordinates = {thread, 2, {block, 0, 0}, {2, 1, 1}, nullptr};
    return memory;
  }
  void write(unsigned block, unsigned thread, std::uint32_t value) {
    as(block, thread).store(&word, sizeof word);
    word = value;
  }
  std::uint32_t read(unsigned block, unsigned thread, Load load = Load::past) {
    std::uint32_t seen = word;
    as(block, thread).look(&word, sizeof word, load, reinterpret_cast<unsigned char*>(&seen));
    return seen;
  }
  void all_pass_barrier(unsigned block) {
    for (const unsigned thread : {0U, 1U}) as(block, thread).pass_barrier();
  }

  GlobalMemory memory;
  alignas(16) std::uint32_t word = 7;
};

}  // namespace

TEST_CASE("a store is seen by its own block at once, and by others after two fences") {
  TwoBlocks run;
  run.write(0, 0, 8);
  CHECK(run.read(0, 1) == 8);
  CHECK(run.read(1, 0) == 7);
  run.as(1, 0).hear();
  run.as(1, 0).fence();
  CHECK(run.read(1, 0) == 7);  // the writer has not fenced
  run.as(0, 0).fence();
  CHECK(run.read(1, 0) == 7);  // the reader fenced before
  run.as(1, 0).fence();
  CHECK(run.read(1, 0) == 7);  // it has not heard of the store
  run.as(1, 0).hear();
  CHECK(run.read(1, 0) == 7);  // and not fenced since
  run.as(1, 0).fence();
  CHECK(run.read(1, 0) == 8);
  CHECK(run.read(1, 1) == 7);  // another thread of the block, with no barrier between
  run.all_pass_barrier(1);
  CHECK(run.read(1, 1) == 8);
  CHECK(run.read(1, 0, Load::plain) == 7);  // the first-level cache may have had it
  CHECK(run.memory.stale_loads() == 7);
}

TEST_CASE("a fence covers another thread's store where a barrier is between") {
  TwoBlocks run;
  run.write(0, 0, 8);
  run.as(0, 1).fence();
  run.as(1, 0).hear();
  run.as(1, 0).fence();
  CHECK(run.read(1, 0) == 7);
  run.all_pass_barrier(0);
  run.as(0, 1).fence();
  run.as(1, 0).hear();
  run.as(1, 0).fence();
  CHECK(run.read(1, 0) == 8);
}

TEST_CASE("what one thread of a block has heard, another fences for beyond a barrier") {
  TwoBlocks run;
  run.write(0, 0, 8);
  run.as(0, 0).fence();
  run.as(1, 0).hear();
  run.as(1, 1).fence();
  CHECK(run.read(1, 1) == 7);
  run.all_pass_barrier(1);
  CHECK(run.read(1, 1) == 7);
  run.as(1, 1).fence();
  CHECK(run.read(1, 1) == 8);
  CHECK(run.read(1, 0) == 7);  // no barrier since that fence
}

TEST_CASE("an atomic releases its block's stores, and acquires what it has heard of itself") {
  TwoBlocks run;
  run.write(0, 0, 8);
  const auto hear = [&](unsigned thread, bool acquires) {
    run.as(1, thread).hear();
    if (acquires) run.as(1, thread).acquire();
  };
  hear(0, true);
  CHECK(run.read(1, 0) == 7);  // nothing is released
  run.as(0, 1).release();
  hear(0, true);
  CHECK(run.read(1, 0) == 7);  // another thread's store, with no barrier between
  run.all_pass_barrier(0);
  run.as(0, 1).release();
  CHECK(run.read(1, 0) == 7);  // heard of before
  hear(0, false);
  CHECK(run.read(1, 0) == 7);  // not acquired
  run.all_pass_barrier(1);
  run.as(1, 1).acquire();
  CHECK(run.read(1, 1) == 7);  // what another thread has heard
  hear(0, true);
  CHECK(run.read(1, 0) == 8);
  CHECK(run.read(1, 0, Load::plain) == 7);
  CHECK(run.read(1, 1) == 7);
  run.all_pass_barrier(1);
  CHECK(run.read(1, 1) == 8);
  // A release covers no load, and an acquisition no store.
  TwoBlocks other;
  other.write(0, 0, 8);
  other.as(0, 0).acquire();
  other.as(1, 0).hear();
  other.as(1, 0).acquire();
  CHECK(other.read(1, 0) == 7);
  other.as(0, 0).release();
  other.as(1, 0).hear();
  other.as(1, 0).release();
  CHECK(other.read(1, 0) == 7);
}

TEST_CASE("what a launch before has written is there") {
  TwoBlocks run;
  run.write(0, 0, 8);
  CHECK(run.read(1, 1) == 7);
  run.memory.begin_launch();
  CHECK(run.read(1, 1) == 8);
}

TEST_CASE("a copy of 16 bytes brings what the thread may see, word by word") {
  GlobalMemory memory;
  memory.begin_launch();
  alignas(16) std::uint32_t words[4] = {1, 2, 3, 4};
  gpu::simt::coordinates = {0, 2, {0, 0, 0}, {2, 1, 1}, nullptr};
  CHECK(memory.vector_as_seen(words) == words);
  memory.store(&words[2], sizeof words[2]);
  words[2] = 9;
  CHECK(memory.vector_as_seen(words) == words);
  gpu::simt::coordinates = {0, 2, {1, 0, 0}, {2, 1, 1}, nullptr};
  std::uint32_t seen[4];
  std::memcpy(seen, memory.vector_as_seen(words), sizeof seen);
  CHECK((seen[0] == 1 && seen[1] == 2 && seen[2] == 3 && seen[3] == 4));
}

}  // namespace tempera::lab::ptx
