#include "gpu/device/simt/step_graph.cuh"

#include <new>

#include "base/error.hpp"
#include "gpu/device/growing_arrays.hpp"
#include "gpu/device/planted_fault.hpp"
#include "tests/catch.hpp"

namespace tempera::step_graph_test {

using namespace tempera::gpu;

namespace {

constexpr simt::LaunchShape one_warp{.blocks = {}, .threads = 32};

TEMPERA_KERNEL(32) add_and_double(std::uint32_t* value, std::uint32_t added) {
  if (simt::thread() == 0) *value = 2 * (*value + added);
}

}  // namespace

TEST_CASE("a graph replays its launches in their order, with the arguments that they had") {
  simt::Stream stream;
  DeviceMemory<std::uint32_t> memory(1);
  std::uint32_t added = 1;
  simt::StepGraph graph;
  REQUIRE_FALSE(graph.is_sound());
  graph.capture(stream, [&] {
    simt::launch(one_warp, stream, add_and_double, memory.data(), added);
    simt::launch(one_warp, stream, add_and_double, memory.data(), 5U);
  });
  REQUIRE(graph.is_sound());
  REQUIRE(graph.launches() == 2);
  REQUIRE(stream.launches == 0);
  REQUIRE(memory.download(0, 1).front() == 0);  // captured, not run
  added = 100;
  graph.replay(stream);
  REQUIRE(memory.download(0, 1).front() == 14);
  graph.replay(stream);
  REQUIRE(memory.download(0, 1).front() == 70);
  REQUIRE(stream.launches == 4);
  // What is launched afterwards runs at once.
  simt::launch(one_warp, stream, add_and_double, memory.data(), 0U);
  REQUIRE(memory.download(0, 1).front() == 140);
}

TEST_CASE("what is queued is watched: before and after each launch, and each graph as one") {
  simt::Stream stream;
  DeviceMemory<std::uint32_t> memory(1);
  std::vector<std::uint32_t> seen;
  const auto queue = [&] {
    for (const std::uint32_t added : {1U, 5U})
      simt::launch(one_warp, stream, add_and_double, memory.data(), added);
  };
  stream.watch = [&] { seen.push_back(memory.download(0, 1).front()); };
  queue();
  CHECK(seen == std::vector<std::uint32_t>{0, 2, 2, 14});
  seen.clear();
  simt::StepGraph graph;
  graph.capture(stream, queue);
  CHECK(seen.empty());
  CHECK(stream.replays == 0);
  graph.replay(stream);
  CHECK(seen == std::vector<std::uint32_t>{14, 70});
  CHECK(stream.replays == 1);
}

TEST_CASE("a graph has its memory before it is captured, and is no longer sound when some moves") {
  simt::Stream stream;
  DeviceMemory<std::uint32_t> memory;
  simt::StepGraph graph;
  graph.capture(stream, [&] {
    memory.ensure_size(1);
    simt::launch(one_warp, stream, add_and_double, memory.data(), 3U);
  });
  graph.replay(stream);
  REQUIRE(memory.download(0, 1).front() == 6);
  memory.ensure_size(100);
  REQUIRE_FALSE(graph.is_sound());
  // So it is where a pool of pages grows.
  graph.capture(stream, [&] { simt::launch(one_warp, stream, add_and_double, memory.data(), 3U); });
  GrowingArrays pages({1, 1, 0});
  pages.grow(64);
  REQUIRE_FALSE(graph.is_sound());

  std::size_t size = 200;
  REQUIRE_THROWS_AS(graph.capture(stream,
                                  [&] {
                                    memory.resize(size *= 2);
                                    simt::launch(one_warp, stream, add_and_double, memory.data(),
                                                 3U);
                                  }),
                    tempera::Bug);
  REQUIRE_THROWS_AS(graph.capture(stream, [] {}), tempera::Bug);
  REQUIRE_THROWS_AS(graph.capture(stream, [] { throw std::runtime_error("refused"); }),
                    std::runtime_error);
  // The stream runs what it is given again.
  simt::launch(one_warp, stream, add_and_double, memory.data(), 1U);
  REQUIRE(memory.download(0, 1).front() == 14);
}

TEST_CASE("staged bytes reach the device and come back, by one wait") {
  simt::Stream stream;
  simt::StagedBytes bytes;
  const std::uint64_t before = device_allocations();
  bytes.resize(64);
  REQUIRE(device_allocations() > before);
  auto* const value = reinterpret_cast<std::uint32_t*>(bytes.host());
  *value = 20;
  bytes.send(stream, 4);
  simt::launch(one_warp, stream, add_and_double, reinterpret_cast<std::uint32_t*>(bytes.device()),
               1U);
  REQUIRE(*value == 20);
  bytes.read_back(stream, 4);
  REQUIRE(*value == 42);
  REQUIRE(stream.waits == 1);
  {
    const WithPlantedFault lost({1, {}});
    bytes.send(stream, 4);
    CHECK_THROWS_AS(bytes.read_back(stream, 4), tempera::DeviceError);
    CHECK_THROWS_AS(bytes.send(stream, 4), tempera::DeviceError);
  }
  const WithPlantedFault small({{}, 64});
  CHECK_THROWS_AS(bytes.resize(65), std::bad_alloc);
}

}  // namespace tempera::step_graph_test
