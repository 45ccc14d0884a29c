#include "gpu/device/growing_arrays.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <set>

#include "gpu/device/address_range.hpp"
#include "gpu/device/copied_arrays.hpp"
#include "gpu/device/mapped_arrays.hpp"
#include "gpu/device/planted_fault.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

namespace {

const ArraysLayout three_and_one{3, 48, 80};

/// A byte that no other byte of any array is likely to be.
std::byte byte_of(std::size_t array, std::size_t i) {
  return static_cast<std::byte>((i * 7 + array * 101 + i / 256) % 251);
}

void write(ArraysMemory& memory, const ArraysLayout& layout, std::size_t from, std::size_t to) {
  for (std::size_t array = 0; array < layout.arrays(); ++array) {
    const std::size_t bytes = layout.element_bytes_of(array);
    std::byte* const begin = memory.data() + array * memory.pitch();
    for (std::size_t i = from * bytes; i < to * bytes; ++i) begin[i] = byte_of(array, i);
  }
}

/// Bytes that are not as `write` left them, or, from element `written` on, not zero.
std::size_t wrong(ArraysMemory& memory, const ArraysLayout& layout, std::size_t written,
                  std::size_t elements) {
  std::size_t count = 0;
  for (std::size_t array = 0; array < layout.arrays(); ++array) {
    const std::size_t bytes = layout.element_bytes_of(array);
    const std::byte* const begin = memory.data() + array * memory.pitch();
    for (std::size_t i = 0; i < elements * bytes; ++i)
      count += begin[i] != (i < written * bytes ? byte_of(array, i) : std::byte{0});
  }
  return count;
}

/// Every form that this build has.
std::vector<std::unique_ptr<ArraysMemory>> forms(const ArraysLayout& layout) {
  std::vector<std::unique_ptr<ArraysMemory>> all;
  auto range = AddressRange::make(layout.arrays());
  REQUIRE(range != nullptr);
  all.push_back(std::make_unique<MappedArrays>(layout, std::move(range)));
  all.push_back(std::make_unique<CopiedArrays>(layout));
  return all;
}

/// Addresses of an H200, in pieces of 2 MiB, that nothing can be written to. It keeps account of
/// which pieces have memory.
class CountedRange final : public AddressRange {
 public:
  static constexpr std::size_t piece = std::size_t{1} << 21;
  using Pieces = std::set<std::size_t>;

  explicit CountedRange(Pieces& pieces) : pieces_(pieces) {}
  std::byte* begin() override { return reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40); }
  std::size_t memory() const override { return std::size_t{140} << 30; }
  std::size_t granularity() const override { return piece; }
  void map(std::size_t offset, std::size_t bytes) override {
    REQUIRE(offset % piece == 0);
    REQUIRE(bytes % piece == 0);
    for (std::size_t at = offset; at < offset + bytes; at += piece)
      REQUIRE(pieces_.insert(at / piece).second);
  }
  void unmap(std::size_t offset, std::size_t bytes) override {
    for (std::size_t at = offset; at < offset + bytes; at += piece)
      REQUIRE(pieces_.erase(at / piece) == 1);
  }

 private:
  Pieces& pieces_;
};

/// Qwen3-8B's: keys and values of 36 layers, and the final hidden states.
const ArraysLayout large{36, 65536, 131072};

}  // namespace

TEST_CASE("arrays that grow keep their elements, and the new ones are zero") {
  for (const auto& memory : forms(three_and_one)) {
    std::size_t written = 0;
    for (const std::size_t elements : {2, 3, 17, 100, 1000, 90000}) {
      const std::size_t room = memory->grow(std::max(elements, written));
      REQUIRE(room >= elements);
      REQUIRE(wrong(*memory, three_and_one, written, room) == 0);
      write(*memory, three_and_one, written, room);
      REQUIRE(wrong(*memory, three_and_one, room, room) == 0);
      written = room;
    }
  }
}

TEST_CASE("arrays of which one finds no memory are all as they were") {
  for (const auto& memory : forms(three_and_one)) {
    for (std::size_t written = 0; written < 30000;) {
      std::byte* const data = memory->data();
      const std::size_t pitch = memory->pitch();
      for (std::size_t grown = 0; grown < three_and_one.arrays(); ++grown) {
        PlantedFault full;
        full.arrays_until_full = grown;
        const WithPlantedFault planted(full);
        CHECK_THROWS_AS(memory->grow(written + 10000), std::bad_alloc);
        REQUIRE(memory->data() == data);
        REQUIRE(memory->pitch() == pitch);
        REQUIRE(wrong(*memory, three_and_one, written, written) == 0);
      }
      // What the failures had been given is there for the next growth, and is zero.
      const std::size_t room = memory->grow(written + 10000);
      REQUIRE(wrong(*memory, three_and_one, written, room) == 0);
      write(*memory, three_and_one, written, room);
      written = room;
    }
  }
  GrowingArrays arrays(three_and_one);
  arrays.grow(1000);
  const std::size_t before = arrays.elements();
  PlantedFault full;
  full.arrays_until_full = 2;
  const WithPlantedFault planted(full);
  CHECK_THROWS_AS(arrays.grow(100000), std::bad_alloc);
  CHECK(arrays.elements() == before);
}

TEST_CASE("arrays on a device take the memory of their elements and little more") {
  CountedRange::Pieces pieces;
  {
    MappedArrays arrays(large, std::make_unique<CountedRange>(pieces));
    // 64 pages fill whole pieces of 2 MiB: two of each layer, four of the hidden states.
    CHECK(arrays.grow(64) == 64);
    CHECK(pieces.size() == 36 * 2 + 4);
    CHECK(arrays.grow(4096) == 4096);
    CHECK(pieces.size() * CountedRange::piece == 4096 * large.bytes());
    // One more page takes a piece of each array, which has room for 16 or 32: all 16 are used.
    CHECK(arrays.grow(4097) == 4096 + 16);
    CHECK(pieces.size() * CountedRange::piece == 4096 * large.bytes() + 37 * CountedRange::piece);
    const CountedRange::Pieces before = pieces;
    for (std::size_t grown = 0; grown < large.arrays(); ++grown) {
      PlantedFault full;
      full.arrays_until_full = grown;
      const WithPlantedFault planted(full);
      CHECK_THROWS_AS(arrays.grow(8192), std::bad_alloc);
      REQUIRE(pieces == before);
    }
    // More than the device has is refused before anything is asked for.
    CHECK_THROWS_AS(arrays.grow((std::size_t{141} << 30) / large.bytes()), std::bad_alloc);
    CHECK(pieces == before);
    // Full, no piece is two arrays' and none is past the addresses that were asked for.
    const std::size_t most = (std::size_t{140} << 30) / large.bytes();
    const std::size_t room = arrays.grow(most);
    CHECK(room >= most);
    CHECK(room < most + 16);
    CHECK(*pieces.rbegin() < (std::size_t{140} << 30) / CountedRange::piece + large.arrays());
  }
  CHECK(pieces.empty());
}

// In a process of its own, whose largest memory is its own. A second copy of 192 MB would show.
TEST_CASE("arrays that grow are never held twice, and what is not written takes no memory") {
  constexpr std::size_t most = std::size_t{192} << 20;
  const ArraysLayout layout{3, 16, 16};
  const pid_t child = fork();
  if (child == 0) {
    GrowingArrays arrays(layout);
    std::size_t written = 0;
    for (std::size_t elements = most / 64 / 8; elements <= most / 64; elements += most / 64 / 8) {
      arrays.grow(elements);
      for (std::size_t array = 0; array < 4; ++array) {
        std::memset(arrays.data() + array * arrays.pitch() + written * 16, 1,
                    (elements - written) * 16);
      }
      written = elements;
    }
    arrays.grow(2 * written);
    _exit(arrays.data()[3 * arrays.pitch() + written * 16 - 1] == std::byte{1} ? 0 : 1);
  }
  int status = 0;
  struct rusage usage {};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  CHECK(status == 0);
  struct rusage own {};
  getrusage(RUSAGE_SELF, &own);
  // What the test program holds itself, and half of a second copy to spare.
  CHECK(usage.ru_maxrss < own.ru_maxrss + static_cast<long>((most + most / 2) >> 10));
}

}  // namespace tempera::gpu
