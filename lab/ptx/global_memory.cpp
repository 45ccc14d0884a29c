#include "lab/ptx/global_memory.hpp"

#include <algorithm>
#include <cstring>

#include "gpu/device/simt/simt.hpp"

namespace tempera::lab::ptx {

namespace {

using gpu::simt::coordinates;

constexpr std::uintptr_t word_bytes = sizeof(std::uint32_t);

std::size_t running_block_number() {
  return (std::size_t{coordinates.block.z} * coordinates.blocks.y + coordinates.block.y) *
             coordinates.blocks.x +
         coordinates.block.x;
}

/// Calls visit(word, first, last) for each word that the bytes touch: which of its bytes they are.
template <class Visit>
void for_each_word(const void* at, std::size_t bytes, const Visit& visit) {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t end = begin + bytes;
  for (std::uintptr_t word = begin / word_bytes * word_bytes; word < end; word += word_bytes)
    visit(word, std::max(word, begin), std::min(word + word_bytes, end));
}

}  // namespace

void GlobalMemory::begin_launch() {
  words_.clear();
  blocks_.clear();
  seen_vectors_.clear();
  ticks_ = 0;
}

GlobalMemory::Block& GlobalMemory::running_block() {
  Block& block = blocks_[running_block_number()];
  block.threads.resize(coordinates.threads);
  return block;
}

GlobalMemory::Thread& GlobalMemory::running_thread() {
  return running_block().threads[coordinates.thread];
}

void GlobalMemory::store(const void* to, std::size_t bytes) {
  const std::size_t number = running_block_number();
  Block& block = running_block();
  const std::size_t epoch = block.threads[coordinates.thread].epoch;
  for_each_word(to, bytes, [&](std::uintptr_t word, std::uintptr_t, std::uintptr_t) {
    const auto [at, is_new] = words_.try_emplace(word);
    Word& kept = at->second;
    if (is_new) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): a word is kept by its address.
      std::memcpy(&kept.before, reinterpret_cast<const void*>(word), sizeof kept.before);
      kept.of_several_blocks = false;
    } else if (kept.block != number) {
      kept.of_several_blocks = true;
    }
    kept.block = number;
    kept.thread = coordinates.thread;
    kept.epoch = epoch;
    kept.fenced = 0;
    block.uncovered.push_back(word);
  });
}

std::uint64_t GlobalMemory::last_of(std::uint64_t own,
                                    const std::map<std::size_t, std::uint64_t>& of_block) {
  std::uint64_t last = own;
  const std::size_t epoch = running_thread().epoch;
  for (const auto& [before, tick] : of_block)
    if (before < epoch) last = std::max(last, tick);
  return last;
}

void GlobalMemory::look(const void* from, std::size_t bytes, Load load, unsigned char* read) {
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  if (words_.empty()) return;
  const std::size_t number = running_block_number();
  const std::uint64_t covered = last_of(running_thread().covered, running_block().covered);
  bool is_stale = false;
  for_each_word(from, bytes, [&](std::uintptr_t word, std::uintptr_t first, std::uintptr_t last) {
    const auto at = words_.find(word);
    if (at == words_.end()) return;
    const Word& kept = at->second;
    const bool is_own = kept.block == number || kept.of_several_blocks;
    const bool is_ordered = kept.fenced != 0 && kept.fenced <= covered && load == Load::past;
    if (is_own || is_ordered) return;
    std::memcpy(read + (first - begin),
                reinterpret_cast<const unsigned char*>(&kept.before) + (first - word),
                last - first);
    is_stale = true;
  });
  if (is_stale) ++stale_loads_;
}

const void* GlobalMemory::vector_as_seen(const void* from) {
  gpu::simt::Vector16 seen{};
  std::memcpy(&seen, from, sizeof seen);
  const std::uint64_t before = stale_loads_;
  look(from, sizeof seen, Load::past, reinterpret_cast<unsigned char*>(&seen));
  if (stale_loads_ == before) return from;
  return &seen_vectors_.emplace_back(seen);
}

void GlobalMemory::fence(unsigned line) {
  if (!is_there({line, false})) return;
  cover_stores();
  cover_loads(last_of(running_thread().heard, running_block().heard));
}

void GlobalMemory::release(unsigned line) {
  if (is_there({line, false})) cover_stores();
}

void GlobalMemory::acquire(unsigned line) {
  if (is_there({line, true})) cover_loads(running_thread().heard);
}

bool GlobalMemory::is_there(Order order) {
  orders_.insert(order);
  return order != left_out_;
}

void GlobalMemory::cover_loads(std::uint64_t tick) {
  Thread& thread = running_thread();
  thread.covered = std::max(thread.covered, tick);
  std::uint64_t& of_epoch = running_block().covered[thread.epoch];
  of_epoch = std::max(of_epoch, thread.covered);
}

void GlobalMemory::cover_stores() {
  Block& block = running_block();
  const Thread& thread = block.threads[coordinates.thread];
  ++ticks_;
  const auto is_covered = [&](std::uintptr_t word) {
    Word& kept = words_.at(word);
    const bool covered = kept.thread == coordinates.thread || kept.epoch < thread.epoch;
    if (covered) kept.fenced = ticks_;
    return covered;
  };
  std::erase_if(block.uncovered, is_covered);
}

void GlobalMemory::hear() {
  Block& block = running_block();
  Thread& thread = block.threads[coordinates.thread];
  ++ticks_;
  thread.heard = ticks_;
  block.heard[thread.epoch] = ticks_;
}

void GlobalMemory::pass_barrier() { ++running_thread().epoch; }

}  // namespace tempera::lab::ptx
