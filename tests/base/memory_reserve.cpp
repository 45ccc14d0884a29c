#include "base/memory_reserve.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/catch.hpp"

namespace tempera::memory_reserve_test {
namespace {

using Purpose = MemoryReserve::Purpose;
constexpr std::size_t all = MemoryReserve::bytes;

/// How many pieces of a size the calling thread gets until there is none; all are given back.
std::size_t pieces_of(std::size_t size) {
  std::vector<void*> taken;
  while (void* const piece = MemoryReserve::take(size)) {
    std::memset(piece, 0xff, size);
    taken.push_back(piece);
  }
  CHECK(std::all_of(taken.begin(), taken.end(), MemoryReserve::give_back));
  return taken.size();
}

}  // namespace

TEST_CASE("the reserve gives each purpose its part, and an answer all", "[base]") {
  const MemoryReserve reserve;
  CHECK(pieces_of(1) == 0);
  {
    const MemoryReserve::Use use(Purpose::connections);
    CHECK(pieces_of(256) == all / 4 / 256);
    CHECK(pieces_of(64 << 10) == all / 4 / (64 << 10));
    CHECK(pieces_of((64 << 10) + 1) == 0);
    {
      const MemoryReserve::Use books(Purpose::books);
      CHECK(pieces_of(1 << 20) == 12);
      CHECK(pieces_of((1 << 20) + 1) == 0);
      const MemoryReserve::Use none(Purpose::none);
      CHECK(pieces_of(1) == 0);
    }
    CHECK(pieces_of(256) == all / 4 / 256);
  }
  CHECK(pieces_of(1) == 0);
  const MemoryReserve::Use use(Purpose::answers);
  for (const std::size_t size : {0, 1, 256, 257, 4096, 100'000, 3'000'000})
    CHECK(pieces_of(size) == all / 256 / std::max<std::size_t>(1, (size + 255) / 256));
  CHECK(pieces_of(all) == 1);
  CHECK(pieces_of(all + 1) == 0);
}

TEST_CASE("the reserve gives again what was given back, and knows what is its own", "[base]") {
  const MemoryReserve reserve;
  const MemoryReserve::Use use(Purpose::answers);
  void* const first = MemoryReserve::take(512);
  void* const second = MemoryReserve::take(512);
  CHECK_FALSE(MemoryReserve::is_low());
  void* const third = MemoryReserve::take(all / 2 - 1024);
  CHECK_FALSE(MemoryReserve::is_low());
  void* const fourth = MemoryReserve::take(all / 2);
  CHECK(MemoryReserve::is_low());
  CHECK(MemoryReserve::take(1) == nullptr);
  CHECK(MemoryReserve::give_back(second));
  CHECK(MemoryReserve::take(513) == nullptr);
  CHECK(MemoryReserve::take(512) == second);
  for (void* const piece : {first, second, third, fourth}) CHECK(MemoryReserve::give_back(piece));
  int other = 0;
  CHECK_FALSE(MemoryReserve::give_back(&other));
  CHECK_FALSE(MemoryReserve::give_back(nullptr));
  CHECK_FALSE(MemoryReserve::give_back(static_cast<char*>(first) + all));
  CHECK_FALSE(MemoryReserve::is_low());
}

}  // namespace tempera::memory_reserve_test
