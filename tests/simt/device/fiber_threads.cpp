#include "gpu/device/simt/fiber_threads.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gpu/device/simt/resident_blocks.hpp"
#include "gpu/device/simt/simt.hpp"
#include "gpu/device/tensor_core.hpp"
#include "tests/catch.hpp"

using namespace tempera::gpu;

namespace {

/// What a launch fails with; empty if it does not fail.
template <class Kernel, class... Arguments>
std::string failure_of(const simt::LaunchShape& shape, Kernel kernel, Arguments... arguments) {
  simt::Stream stream;
  try {
    simt::launch(shape, stream, kernel, arguments...);
  } catch (const simt::LaunchFailure& failure) {
    return failure.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEMPERA_KERNEL(64) record_order(std::vector<unsigned>* order) {
  order->push_back(simt::block().x * 1000 + simt::thread());
}

/// Notes after each of some atomics how many blocks are under way.
TEMPERA_KERNEL(32) count_blocks_under_way(std::uint32_t* under_way, std::uint32_t* most) {
  if (simt::thread() == 0) simt::atomic_add(under_way, 1U);
  simt::barrier();
  for (int turn = 0; turn < 8; ++turn) simt::atomic_max(most, *under_way);
  simt::barrier();
  if (simt::thread() == 0) simt::atomic_add(under_way, ~0U);
}

/// Thread t passes its number to its neighbour through shared memory.
template <bool Barrier>
TEMPERA_KERNEL(64)
pass_to_neighbour(unsigned* result) {
  auto* shared = simt::shared_memory<unsigned>();
  shared[simt::thread()] = simt::thread();
  if constexpr (Barrier) simt::barrier();
  result[simt::thread()] = shared[(simt::thread() + 1) % simt::threads()];
}

TEMPERA_KERNEL(64) half_reach_a_barrier() {
  if (simt::thread() < 32) simt::barrier();
}
TEMPERA_KERNEL(64) wait_at_two_barriers() {
  if (simt::thread() < 32) {
    simt::barrier();
  } else {
    simt::barrier();
  }
}
TEMPERA_KERNEL(32) half_reach_a_shuffle(unsigned* result) {
  if (simt::lane() < 16) result[simt::lane()] = simt::shuffle_xor(simt::lane(), 1);
}
TEMPERA_KERNEL(32) meet_at_two_collectives(unsigned* result) {
  if (simt::lane() < 16) {
    result[simt::lane()] = simt::shuffle_xor(simt::lane(), 1);
  } else {
    result[simt::lane()] = simt::ballot(true);
  }
}
TEMPERA_KERNEL(32) barrier_against_shuffle(unsigned* result) {
  if (simt::lane() < 16) {
    simt::barrier();
  } else {
    result[simt::lane()] = simt::shuffle_xor(simt::lane(), 1);
  }
}

/// Lane l brings its 16 bytes by a copy of its own and waits until `Groups` are in flight.
template <int Groups>
TEMPERA_KERNEL(32)
copy_three_groups(const simt::Vector16* from, simt::Vector16* to) {
  auto* shared = simt::shared_memory<simt::Vector16>();
  const unsigned lane = simt::lane();
  for (unsigned group = 0; group < 3; ++group) {
    simt::copy_async(shared + group * 32 + lane, from + group * 32 + lane);
    simt::commit_copies();
  }
  simt::wait_copies<Groups>();
  for (unsigned group = 0; group < 3; ++group) to[group * 32 + lane] = shared[group * 32 + lane];
}

TEMPERA_KERNEL(32) write_target_in_flight(const simt::Vector16* from) {
  auto* shared = simt::shared_memory<simt::Vector16>();
  simt::copy_async(shared + simt::lane(), from);
  simt::commit_copies();
  shared[simt::lane()].x = 7;
  simt::wait_copies<0>();
}
TEMPERA_KERNEL(32) write_source_in_flight(simt::Vector16* from) {
  auto* shared = simt::shared_memory<simt::Vector16>();
  simt::copy_async(shared + simt::lane(), from + simt::lane());
  simt::commit_copies();
  from[simt::lane()].x = 7;
  simt::wait_copies<0>();
}
TEMPERA_KERNEL(32) copy_from_odd_address(const unsigned char* from) {
  simt::copy_async(simt::shared_memory<simt::Vector16>() + simt::lane(), from + 1);
}
TEMPERA_KERNEL(32) write_after_shared(unsigned bytes) {
  simt::shared_memory<unsigned char>()[bytes] = 0;
}

TEMPERA_KERNEL(64) collectives(unsigned* result) {
  const unsigned t = simt::thread();
  result[4 * t] = simt::shuffle(t, (simt::lane() + 5) % 32);
  result[4 * t + 1] = simt::shuffle_xor(t, 3);
  result[4 * t + 2] = simt::ballot(simt::lane() % 3 == 0);
  result[4 * t + 3] = (simt::any(t == 40) ? 1U : 0U) + (simt::all(t < 40) ? 2U : 0U);
  simt::warp_barrier();
}

TEMPERA_KERNEL(64) count_up(std::uint32_t* sum, std::uint64_t* largest) {
  simt::atomic_add(sum, simt::thread());
  simt::atomic_max(largest, std::uint64_t{simt::thread()});
}

TEMPERA_KERNEL(32) one_step(const std::uint16_t* a, const std::uint16_t* b, float* d) {
  // Registers as PTX lays them out for m16n8k16.
  const unsigned g = simt::lane() / 4;
  const unsigned t = simt::lane() % 4;
  const auto pair = [](const std::uint16_t* row, unsigned column) {
    return row[column] | static_cast<std::uint32_t>(row[column + 1]) << 16;
  };
  const simt::Vector16 words = {pair(a + g * 16, 2 * t), pair(a + (g + 8) * 16, 2 * t),
                                pair(a + g * 16, 2 * t + 8), pair(a + (g + 8) * 16, 2 * t + 8)};
  float own[4] = {d[g * 8 + 2 * t], d[g * 8 + 2 * t + 1], d[(g + 8) * 8 + 2 * t],
                  d[(g + 8) * 8 + 2 * t + 1]};
  simt::tensor_core_step(own, words, pair(b + g * 16, 2 * t), pair(b + g * 16, 2 * t + 8));
  d[g * 8 + 2 * t] = own[0];
  d[g * 8 + 2 * t + 1] = own[1];
  d[(g + 8) * 8 + 2 * t] = own[2];
  d[(g + 8) * 8 + 2 * t + 1] = own[3];
}

/// b as ldmatrix brings it from rows of 32 elements: the words of two steps of 16.
TEMPERA_KERNEL(32) load_rows(const std::uint16_t* rows, simt::Vector16* words) {
  auto* shared = simt::shared_memory<std::uint16_t>();
  for (unsigned i = simt::lane(); i < 8 * 32; i += 32) shared[i] = rows[i];
  simt::warp_barrier();
  const unsigned lane = simt::lane();
  words[lane] = simt::load_matrices(shared + lane % 8 * 32 + lane / 8 * 8);
}

constexpr simt::LaunchShape one_block{.blocks = {}, .threads = 64, .shared_bytes = 1024};
constexpr simt::LaunchShape one_warp{.blocks = {}, .threads = 32, .shared_bytes = 32 * 3 * 16};

}  // namespace

TEST_CASE("two blocks of a launch are under way, or where a test asks for it up to eight") {
  const auto most_of = [](std::uint64_t seed) {
    std::uint32_t under_way = 0;
    std::uint32_t most = 0;
    simt::Stream stream{seed};
    simt::launch({.blocks = {12}, .threads = 32}, stream, count_blocks_under_way, &under_way,
                 &most);
    CHECK(under_way == 0);
    return most;
  };
  std::set<std::uint32_t> of_two;
  std::set<std::uint32_t> of_eight;
  const std::size_t of_this_program = simt::most_resident_blocks;
  simt::most_resident_blocks = simt::resident_blocks;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) of_two.insert(most_of(seed));
  simt::most_resident_blocks = 8;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) of_eight.insert(most_of(seed));
  simt::most_resident_blocks = of_this_program;
  CHECK(*of_two.rbegin() == 2);
  CHECK(*of_eight.rbegin() == 8);
  CHECK(of_eight.size() >= 4);
}

TEST_CASE("every thread of every block runs once, in an order that the seed alone decides") {
  std::set<std::vector<unsigned>> orders;
  for (std::uint64_t seed : {1, 1, 2, 3}) {
    std::vector<unsigned> order;
    simt::Stream stream{seed};
    simt::launch({.blocks = {3}, .threads = 64, .shared_bytes = 0}, stream, record_order, &order);
    REQUIRE(std::set<unsigned>(order.begin(), order.end()).size() == 3 * 64);
    REQUIRE(stream.launches == 1);
    orders.insert(order);
  }
  REQUIRE(orders.size() == 3);
}

TEST_CASE("a missing barrier shows under every seed, a barrier that is there under none") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<unsigned> with(64);
    std::vector<unsigned> without(64);
    std::vector<unsigned> expected(64);
    for (unsigned t = 0; t < 64; ++t) expected[t] = (t + 1) % 64;
    simt::Stream stream{seed};
    simt::launch(one_block, stream, pass_to_neighbour<true>, with.data());
    simt::launch(one_block, stream, pass_to_neighbour<false>, without.data());
    REQUIRE(with == expected);
    REQUIRE(without != expected);
  }
}

TEST_CASE("a barrier or collective that not all reach is a failure that names it") {
  std::vector<unsigned> result(64);
  REQUIRE(
      contains(failure_of(one_block, half_reach_a_barrier), "not all threads of a block reach"));
  REQUIRE(contains(failure_of(one_block, wait_at_two_barriers), "different barriers"));
  REQUIRE(contains(failure_of(one_warp, half_reach_a_shuffle, result.data()),
                   "not all lanes of a warp reach: shuffle"));
  REQUIRE(contains(failure_of(one_warp, meet_at_two_collectives, result.data()),
                   "lanes of a warp meet at different places"));
  REQUIRE(contains(failure_of(one_warp, barrier_against_shuffle, result.data()),
                   "not all lanes of a warp reach"));
  // A failure leaves no trace.
  simt::Stream stream;
  simt::launch(one_block, stream, pass_to_neighbour<true>, result.data());
  REQUIRE(result[0] == 1);
}

TEST_CASE("a wait one short leaves poison, the right one does not") {
  std::vector<simt::Vector16> from(96, {1, 2, 3, 4});
  const auto poisoned = [&](auto kernel) {
    std::vector<simt::Vector16> to(96);
    simt::Stream stream;
    simt::launch(one_warp, stream, kernel, from.data(), to.data());
    int count = 0;
    for (const auto& words : to) count += words.x == 0xFFFFFFFFU ? 1 : 0;
    return count;
  };
  REQUIRE(poisoned(copy_three_groups<0>) == 0);
  REQUIRE(poisoned(copy_three_groups<1>) == 32);
  REQUIRE(poisoned(copy_three_groups<2>) == 64);
  REQUIRE(poisoned(copy_three_groups<3>) == 96);
}

TEST_CASE("a copy in flight whose target or source is written, or that is not aligned, fails") {
  std::vector<simt::Vector16> from(96, {1, 2, 3, 4});
  REQUIRE(contains(failure_of(one_warp, write_target_in_flight, from.data()), "target"));
  REQUIRE(contains(failure_of(one_warp, write_source_in_flight, from.data()), "source"));
  REQUIRE(contains(failure_of(one_warp, copy_from_odd_address,
                              reinterpret_cast<const unsigned char*>(from.data())),
                   "not aligned"));
}

TEST_CASE("writing after shared memory is a failure, its last byte is not") {
  const auto bytes = static_cast<unsigned>(one_warp.shared_bytes);
  REQUIRE(failure_of(one_warp, write_after_shared, bytes - 1).empty());
  REQUIRE(contains(failure_of(one_warp, write_after_shared, bytes), "after its shared memory"));
}

TEST_CASE("a block of threads that are not warps is refused") {
  REQUIRE(contains(failure_of({.blocks = {}, .threads = 48, .shared_bytes = 0}, collectives,
                              static_cast<unsigned*>(nullptr)),
                   "multiple of 32"));
}

TEST_CASE("warp collectives and atomics give what CUDA's do") {
  std::vector<unsigned> result(4 * 64);
  simt::Stream stream;
  simt::launch(one_block, stream, collectives, result.data());
  for (unsigned t = 0; t < 64; ++t) {
    const unsigned warp = t / 32 * 32;
    REQUIRE(result[4 * t] == warp + (t % 32 + 5) % 32);
    REQUIRE(result[4 * t + 1] == (t ^ 3U));
    REQUIRE(result[4 * t + 2] == 0x49249249U);
    REQUIRE(result[4 * t + 3] == (t < 32 ? 2U : 1U));
  }
  std::uint32_t sum = 0;
  std::uint64_t largest = 0;
  simt::launch({.blocks = {2, 3, 2}, .threads = 64, .shared_bytes = 0}, stream, count_up, &sum,
               &largest);
  REQUIRE(sum == 12 * 63 * 64 / 2);
  REQUIRE(largest == 63);
}

TEST_CASE("a step of the tensor core is its chip's in the registers of m16n8k16") {
  const bool of_ampere = GENERATE(false, true);

  std::vector<std::uint16_t> a(16 * 16);
  std::vector<std::uint16_t> b(8 * 16);
  std::vector<float> d(16 * 8);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = to_bfloat16(0.37f * static_cast<float>(i) - 40);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = to_bfloat16(1.0f / static_cast<float>(i + 1));
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = static_cast<float>(i * i) * 0.01f;
  for (std::size_t i = 0; i < 16; ++i)
    b[5 * 16 + i] = 0;  // a column of zeros, with and without sum
  d[3 * 8 + 5] = 0.0f;
  d[4 * 8 + 5] = -0.0f;
  std::vector<float> expected(d);
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      float& c = expected[row * 8 + column];
      c = (of_ampere ? ampere_step : hopper_step)(&a[row * 16], &b[column * 16], c);
    }
  }
  simt::Stream stream;
  stream.takes_ampere_steps = of_ampere;
  simt::launch(one_warp, stream, one_step, a.data(), b.data(), d.data());
  REQUIRE(std::memcmp(d.data(), expected.data(), d.size() * sizeof(float)) == 0);

  b[3] = 0x7F80;  // infinity
  REQUIRE(contains(failure_of(one_warp, one_step, a.data(), b.data(), d.data()),
                   "is not a finite number"));
}

TEST_CASE("load_matrices gives lane 4 g + t the words t of the rows g") {
  std::vector<std::uint16_t> rows(8 * 32);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint16_t>(i);
  std::vector<simt::Vector16> words(32);
  simt::Stream stream;
  simt::launch(one_warp, stream, load_rows, rows.data(), words.data());
  for (unsigned l = 0; l < 32; ++l) {
    const unsigned first = l / 4 * 32 + l % 4 * 2;
    const auto pair = [](unsigned i) { return i | (i + 1) << 16; };
    REQUIRE(words[l].x == pair(first));
    REQUIRE(words[l].y == pair(first + 8));
    REQUIRE(words[l].z == pair(first + 16));
    REQUIRE(words[l].w == pair(first + 24));
  }
}
