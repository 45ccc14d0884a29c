#include "gpu/device/simt/fiber_threads.hpp"

#include <algorithm>
#include <memory>

#include "gpu/device/simt/fiber_machine.hpp"
#include "gpu/device/simt/resident_blocks.hpp"
#include "gpu/device/simt/warpgroup_steps.hpp"
#include "gpu/device/tensor_core.hpp"

namespace tempera::gpu::simt::inline on_fibers {

namespace {

Vector16 load_vector(const void* from) {
  Vector16 value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

bool equal(const Vector16& a, const Vector16& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

Vector16 poisoned() {
  Vector16 value;
  std::memset(&value, poison, sizeof value);
  return value;
}

void land_until(Thread& thread, std::size_t group) {
  for (; thread.landed < thread.copies.size(); ++thread.landed) {
    const Copy& copy = thread.copies[thread.landed];
    if (copy.group >= group) return;
    if (!equal(load_vector(copy.target), poisoned())) {
      fail("the target of an asynchronous copy was written while the copy was in flight");
    }
    if (copy.source != nullptr && !equal(load_vector(copy.source), copy.seen)) {
      fail("the source of an asynchronous copy was written while the copy was in flight");
    }
    std::memcpy(copy.target, &copy.seen, sizeof copy.seen);
    const std::size_t vector = vector_of(copy.target);
    if (vector >= machine->block->unshown.size()) continue;  // it fails when the block ends
    machine->block->unshown[vector] = true;
    thread.unshown.push_back(vector);
  }
  thread.copies.clear();
  thread.landed = 0;
}

/// Whether steps of four warps that nobody has waited for may still read what is here.
bool is_read_by_steps(const unsigned char* target) {
  const std::vector<Thread>& threads = machine->block->threads;
  for (std::size_t first = 0; first < threads.size(); first += warp_lanes) {
    for (const PendingStep& step : threads[first].steps) {
      if (target < step.inputs) continue;
      const auto offset = static_cast<std::size_t>(target - step.inputs);
      constexpr std::size_t both_halves =
          std::size_t{2} * core_matrix_bytes;  // of the inputs of 8 tokens
      if (offset / step.next_tokens < step.tokens / 8 && offset % step.next_tokens < both_halves)
        return true;
    }
  }
  return false;
}

void run_thread() {
  machine->running().fiber->entered();
  (*machine->kernel)();
  Thread& self = machine->running();
  self.waiting = Waiting::ended;
  for (;;) give_way();
}

/// Fibers are kept between launches: their stacks are most of what a launch costs.
std::vector<std::unique_ptr<Fiber>>& kept_fibers() {
  thread_local std::vector<std::unique_ptr<Fiber>> fibers;
  return fibers;
}

/// Where nobody can go on: a block's barrier that all have reached opens, all else is a failure.
/// Returns false if every thread has ended.
bool open_barrier(Block& block) {
  const Thread* first = nullptr;
  std::size_t waiting = 0;
  for (const Thread& thread : block.threads) {
    if (thread.waiting == Waiting::ended) continue;
    if (thread.waiting == Waiting::warp) {
      throw LaunchFailure("not all lanes of a warp reach: " + named(thread));
    }
    if (first != nullptr && !same_collective(*first, thread)) {
      throw LaunchFailure("threads of a block wait at different barriers: " + named(*first) +
                          " and " + named(thread));
    }
    first = &thread;
    ++waiting;
  }
  if (waiting == 0) return false;
  if (waiting < block.threads.size()) {
    throw LaunchFailure("not all threads of a block reach: " + named(*first));
  }
  for (Thread& thread : block.threads) thread.waiting = Waiting::nothing;
  return true;
}

// After the block's shared memory is poison that nobody may touch.
constexpr std::size_t guard_bytes = 1024;

void begin_block(Block& block, std::size_t number, const LaunchShape& shape) {
  block.number = number;
  block.shared.resize((shape.shared_bytes + 15 + guard_bytes) / sizeof(Vector16));
  std::memset(block.shared.data(), poison, block.shared.size() * sizeof(Vector16));
  block.unshown.assign(block.shared.size(), false);
  for (Thread& thread : block.threads) {
    thread.fiber->restart();
    thread.waiting = Waiting::nothing;
    thread.copies.clear();
    thread.landed = 0;
    thread.committed = 0;
    thread.unshown.clear();
    thread.steps.clear();
    thread.pending_sums.clear();
    thread.step_groups = 0;
    thread.steps_begun = false;
  }
  std::fill(block.at_collective.begin(), block.at_collective.end(), 0U);
  block.warp_order.clear();
  if (machine->random() % 2 == 0) return;
  for (unsigned w = 0; w < block.at_collective.size(); ++w) block.warp_order.push_back(w);
  std::shuffle(block.warp_order.begin(), block.warp_order.end(), machine->random);
}

/// Keeps the threads of the first warp in the block's order that has any.
void keep_first_warp(std::vector<unsigned>& able, const Block& block) {
  for (const unsigned warp : block.warp_order) {
    const auto of_warp = [&](unsigned t) { return t / warp_lanes == warp; };
    if (std::none_of(able.begin(), able.end(), of_warp)) continue;
    std::erase_if(able, [&](unsigned t) { return !of_warp(t); });
    return;
  }
}

void require_guard_untouched(const Block& block, const LaunchShape& shape) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(block.shared.data());
  if (!std::all_of(bytes + shape.shared_bytes, bytes + block.shared.size() * sizeof(Vector16),
                   [](unsigned char byte) { return byte == poison; })) {
    throw LaunchFailure("block " + std::to_string(block.number) +
                        " writes after its shared memory");
  }
}

/// Lets the threads of the block that can run do so until they wait, in a random order, or until
/// the block's turn ends. Returns false if all have ended.
bool run_round(Block& block, const LaunchShape& shape) {
  std::vector<unsigned> able;
  for (unsigned t = 0; t < shape.threads; ++t) {
    if (block.threads[t].waiting == Waiting::nothing) able.push_back(t);
  }
  if (able.empty()) return open_barrier(block);
  keep_first_warp(able, block);
  std::shuffle(able.begin(), able.end(), machine->random);
  const auto x = static_cast<unsigned>(block.number % shape.blocks.x);
  const auto y = static_cast<unsigned>(block.number / shape.blocks.x % shape.blocks.y);
  const auto z = static_cast<unsigned>(block.number / shape.blocks.x / shape.blocks.y);
  machine->block = &block;
  coordinates = {0,
                 shape.threads,
                 {x, y, z},
                 shape.blocks,
                 reinterpret_cast<unsigned char*>(block.shared.data())};
  for (const unsigned t : able) {
    coordinates.thread = t;
    machine->host.switch_to(*block.threads[t].fiber);
    if (!machine->failure.empty()) throw LaunchFailure(machine->failure);
    if (machine->turn_ended) break;
  }
  return true;
}

}  // namespace

void barrier(Where where) {
  machine->stream->barrier_lines.insert(where.line());
  if (machine->stream->planted.barrier_line == where.line()) return;
  Thread& self = machine->running();
  self.collective = "barrier";
  self.line = where.line();
  self.waiting = Waiting::block;
  give_way();
}

void warp_barrier(Where where) {
  meet("warp_barrier", where, [](Thread*) {});
}

std::uint64_t exchange(std::uint64_t value, unsigned source, Where where) {
  Thread& self = machine->running();
  self.value = value;
  self.source = source;
  meet("shuffle", where, [](Thread* lanes) {
    std::uint64_t given[warp_lanes];
    for (unsigned l = 0; l < warp_lanes; ++l) given[l] = lanes[l].value;
    for (unsigned l = 0; l < warp_lanes; ++l) lanes[l].value = given[lanes[l].source];
  });
  return self.value;
}

unsigned ballot(bool vote, Where where) {
  Thread& self = machine->running();
  self.value = vote ? 1 : 0;
  meet("vote", where, [](Thread* lanes) {
    std::uint64_t votes = 0;
    for (unsigned l = 0; l < warp_lanes; ++l) votes |= lanes[l].value << l;
    for (unsigned l = 0; l < warp_lanes; ++l) lanes[l].value = votes;
  });
  return static_cast<unsigned>(self.value);
}

void end_turn() {
  if (machine->random() % 2 == 0) return;
  machine->turn_ended = true;
  give_way();
}

std::uint32_t load_counter(const std::uint32_t* counter) {
  const std::uint32_t value = *counter;
  machine->turn_ended = true;
  give_way();
  return value;
}

void copy_async(void* shared, const void* global, bool there) {
  auto* const target = static_cast<unsigned char*>(shared);
  const auto* const source = static_cast<const unsigned char*>(global);
  if (reinterpret_cast<std::uintptr_t>(target) % sizeof(Vector16) != 0 ||
      (there && reinterpret_cast<std::uintptr_t>(source) % sizeof(Vector16) != 0)) {
    fail("an asynchronous copy is not aligned to 16 bytes");
  }
  if (is_read_by_steps(target)) fail("a copy goes over inputs of a step of four warps in flight");
  std::memset(target, poison, sizeof(Vector16));
  Thread& self = machine->running();
  self.copies.push_back(
      {target, there ? source : nullptr, self.committed, there ? load_vector(source) : Vector16{}});
}

void note_asked_ahead(unsigned bytes) {
  if (asked_ahead == nullptr) return;
  const std::size_t number = coordinates.block.x;
  if (number >= asked_ahead->bytes.size()) asked_ahead->bytes.resize(number + 1);
  asked_ahead->bytes[number] += bytes;
  const Thread& self = machine->running();
  if (self.landed < self.copies.size()) asked_ahead->with_copies += bytes;
}

void prefetch(const void* global, unsigned bytes) {
  if (lane() != 0) return;
  note_asked_ahead(bytes);
  if (reinterpret_cast<std::uintptr_t>(global) % sizeof(Vector16) != 0 || bytes == 0 ||
      bytes % sizeof(Vector16) != 0) {
    fail("what is asked for ahead is not whole vectors of 16 bytes");
  }
  const auto* const first = static_cast<const unsigned char*>(global);
  machine->asked_ahead += load_vector(first).x + load_vector(first + bytes - sizeof(Vector16)).x;
}

void commit_copies() { ++machine->running().committed; }

void wait_for_copies(std::size_t groups) {
  if (machine->stream->planted.wait_one_short) ++groups;
  Thread& self = machine->running();
  if (self.committed > groups) land_until(self, self.committed - groups);
}

void tensor_core_step(float (&d)[4], const Vector16& a, std::uint32_t b0, std::uint32_t b1,
                      Where where) {
  Thread& self = machine->running();
  self.d = d;
  self.words = a;
  self.value = b0 | static_cast<std::uint64_t>(b1) << 32;
  meet("tensor_core_step", where, [](Thread* lanes) {
    std::uint16_t rows[16][16];
    std::uint16_t columns[8][16];
    bool zero[8];
    std::fill(std::begin(zero), std::end(zero), true);
    const auto put = [](std::uint16_t* pair, std::uint64_t word) {
      pair[0] = static_cast<std::uint16_t>(word & 0xFFFFU);
      pair[1] = static_cast<std::uint16_t>(word >> 16 & 0xFFFFU);
      for (int i = 0; i < 2; ++i) {
        if ((pair[i] & 0x7F80U) == 0x7F80U) {
          fail("an operand of the tensor core is not a finite number: poison, or an overflow");
        }
      }
    };
    for (unsigned l = 0; l < warp_lanes; ++l) {
      const std::size_t g = l / 4;
      const std::size_t t = l % 4;
      const Thread& lane = lanes[l];
      put(&rows[g][2 * t], lane.words.x);
      put(&rows[g + 8][2 * t], lane.words.y);
      put(&rows[g][2 * t + 8], lane.words.z);
      put(&rows[g + 8][2 * t + 8], lane.words.w);
      put(&columns[g][2 * t], lane.value & 0xFFFFFFFFU);
      put(&columns[g][2 * t + 8], lane.value >> 32);
      zero[g] = zero[g] && lane.value == 0;
    }
    for (unsigned l = 0; l < warp_lanes; ++l) {
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned row = l / 4 + i / 2 * 8;
        const unsigned column = l % 4 * 2 + i % 2;
        // A column of zeros, most of a small batch's, adds nothing to a zero.
        if (zero[column] && lanes[l].d[i] == 0.0f) {
          lanes[l].d[i] = 0.0f;
        } else {
          const auto step = machine->stream->takes_ampere_steps ? ampere_step : hopper_step;
          lanes[l].d[i] = step(rows[row], columns[column], lanes[l].d[i]);
        }
      }
    }
  });
}

Vector16 load_matrices(const void* shared_row, Where where) {
  Thread& self = machine->running();
  self.row = shared_row;
  meet("load_matrices", where, [](Thread* lanes) {
    for (unsigned l = 0; l < warp_lanes; ++l) {
      std::uint32_t words[4];
      for (unsigned m = 0; m < 4; ++m) {
        const auto* row = static_cast<const unsigned char*>(lanes[8 * m + l / 4].row);
        std::memcpy(&words[m], row + l % 4 * sizeof words[m], sizeof words[m]);
      }
      lanes[l].words = {words[0], words[1], words[2], words[3]};
    }
  });
  return self.words;
}

std::uint32_t round_to_bfloat16s(float first, float second) {
  return to_bfloat16(first) | static_cast<std::uint32_t>(to_bfloat16(second)) << 16;
}

void run_blocks(const LaunchShape& shape, Stream& stream, const std::function<void()>& kernel) {
  if (machine != nullptr) throw LaunchFailure("a kernel launches a kernel");
  if (shape.threads == 0 || shape.threads % warp_lanes != 0 || shape.threads > 1024) {
    throw LaunchFailure("a block of " + std::to_string(shape.threads) +
                        " threads: give a multiple of 32 up to 1024");
  }
  Machine own;
  own.kernel = &kernel;
  own.stream = &stream;
  own.random.seed(stream.seed * 0x9E3779B97F4A7C15U + ++stream.launches);
  const std::size_t count = std::size_t{shape.blocks.x} * shape.blocks.y * shape.blocks.z;
  std::vector<std::size_t> order(count);
  for (std::size_t b = 0; b < count; ++b) order[b] = b;
  std::shuffle(order.begin(), order.end(), own.random);

  std::size_t resident = resident_blocks;
  if (most_resident_blocks > resident)
    resident += own.random() % (most_resident_blocks - resident_blocks + 1);
  if (shape.together) resident = count;
  std::vector<Block> running(std::min(count, resident));
  auto& kept = kept_fibers();
  const std::size_t fibers = running.size() * shape.threads;
  while (kept.size() < fibers) kept.push_back(std::make_unique<Fiber>(run_thread));
  std::size_t given = 0;
  for (Block& block : running) {
    block.threads.resize(shape.threads);
    block.at_collective.resize(shape.threads / warp_lanes);
    for (Thread& thread : block.threads) thread.fiber = kept[given++].get();
  }
  machine = &own;
  struct Restore {
    ~Restore() { machine = nullptr; }
  } restore;

  std::size_t begun = 0;
  for (Block& block : running) begin_block(block, order[begun++], shape);
  while (!running.empty()) {
    // Turns are of very different lengths, so that a block can be far ahead of another.
    const std::size_t chosen = own.random() % running.size();
    Block& block = running[chosen];
    own.turn_ended = false;
    for (std::size_t rounds = std::size_t{1} << own.random() % 11; rounds > 0; --rounds) {
      if (own.turn_ended) break;
      if (run_round(block, shape)) continue;
      require_guard_untouched(block, shape);
      if (begun < count) {
        begin_block(block, order[begun++], shape);
        continue;
      }
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(chosen));
      break;
    }
  }
}

}  // namespace tempera::gpu::simt::inline on_fibers
