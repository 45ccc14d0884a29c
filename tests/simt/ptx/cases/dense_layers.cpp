// What orders the blocks of the kernel that takes all layers: that each of its fences and barriers
// is needed, under the worst view of memory.
#include "gpu/device/simt/resident_blocks.hpp"
#include "lab/ptx/global_memory.hpp"
#include "tests/catch.hpp"
#include "tests/simt/transformer/dense_layers_problem.hpp"

namespace tempera::lab::ptx {
namespace {

using namespace tempera::tests;

/// The worst view, while it is there.
struct WorstMemory {
  WorstMemory() : before(global_memory) { global_memory = &own; }
  WorstMemory(const WorstMemory&) = delete;
  WorstMemory& operator=(const WorstMemory&) = delete;
  ~WorstMemory() { global_memory = before; }
  GlobalMemory own;
  GlobalMemory* before;
};

struct Case {
  LayersProblem begin;
  LayersProblem expected;
  unsigned units;
  gpu::Adding adding;
  gpu::JoinedTrial tried = gpu::JoinedTrial::none;
  std::uint64_t orders_of_threads = 2;  // that are tried

  Case(const LayerSizes& sizes, const std::vector<std::uint32_t>& lengths, unsigned job_units,
       gpu::Adding by)
      : begin(sizes, lengths, 6), expected(begin), units(job_units), adding(by) {
    expected.run(gpu::CudaKernels(1), true);
  }
  /// Whether a defect shows, in the results of two runs or by a launch that fails.
  bool shows(std::uint64_t seed, std::optional<GlobalMemory::Order> order, unsigned barrier,
             std::set<GlobalMemory::Order>* orders = nullptr,
             std::set<unsigned>* barriers = nullptr) const {
    WorstMemory worst;
    if (order) worst.own.leave_out(*order);
    const gpu::CudaKernels kernels = joined_kernels(seed);
    kernels.device().tried.joined = tried;
    kernels.device().stream.planted.barrier_line = barrier;
    cut_products(kernels, begin, units, adding);
    bool wrong = false;
    try {
      for (int again = 0; again < 2 && !wrong; ++again) {
        LayersProblem found = begin;
        found.run(kernels, true);
        wrong = differences(found, expected) != 0;
      }
    } catch (const gpu::simt::LaunchFailure&) {
      wrong = true;
    }
    if (orders != nullptr) orders->insert(worst.own.orders().begin(), worst.own.orders().end());
    if (barriers != nullptr)
      barriers->insert(kernels.device().stream.barrier_lines.begin(),
                       kernels.device().stream.barrier_lines.end());
    return wrong;
  }
};

/// Those of which a norm's products are cut, those of which the others are, and of which none is.
std::vector<Case> some_cases() {
  const std::vector<std::uint32_t> lengths{256, 300};
  std::vector<Case> cases;
  for (const gpu::Adding adding : {gpu::Adding::last_block, gpu::Adding::next_kernel}) {
    cases.emplace_back(LayerSizes{520, 16, 2, 1, 16, 2}, lengths, 2, adding);
    cases.emplace_back(LayerSizes{24, 520, 2, 1, 16, 2}, lengths, 1, adding);
  }
  cases.emplace_back(LayerSizes{40, 56, 8, 2, 24, 2}, std::vector<std::uint32_t>{300}, 1,
                     gpu::Adding::own_block);
  // Larger ones, for what these do not show. They take most of the time, and one order is enough.
  for (const gpu::Adding adding : {gpu::Adding::last_block, gpu::Adding::next_kernel}) {
    cases.emplace_back(LayerSizes{520, 520, 2, 1, 16, 2}, lengths, 7, adding);
    cases.back().orders_of_threads = 1;
  }
  return cases;
}

/// True if the defect shows in any of them.
bool shows(const std::vector<Case>& cases, std::optional<GlobalMemory::Order> order,
           unsigned barrier) {
  for (const Case& one : cases) {
    for (std::uint64_t seed = 1; seed <= one.orders_of_threads; ++seed)
      if (one.shows(seed, order, barrier)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("planted: each fence and each barrier of the kernel for all layers, left out, shows") {
  const std::vector<Case> cases = some_cases();
  std::set<GlobalMemory::Order> fences;
  std::set<unsigned> barriers;
  for (const Case& one : cases) REQUIRE_FALSE(one.shows(1, std::nullopt, 0, &fences, &barriers));
  std::vector<GlobalMemory::Order> idle_fences;
  std::vector<unsigned> idle_barriers;
  for (const GlobalMemory::Order& fence : fences)
    if (!shows(cases, fence, 0)) idle_fences.push_back(fence);
  for (const unsigned line : barriers)
    if (!shows(cases, std::nullopt, line)) idle_barriers.push_back(line);
  CAPTURE(fences.size(), barriers.size(), idle_fences, idle_barriers);
  CHECK(fences.size() - idle_fences.size() >= 22);
  // Those with which a block waits that has nothing to do, and so reads nothing: one for each of
  // the three products, and one for attention.
  CHECK(idle_fences.size() == 4);
  // The same, and two that come one after the other, where either is enough.
  CHECK(idle_barriers.size() == 4 + 2);
}

TEST_CASE("planted: each atomic that releases or acquires in their place, left out, shows") {
  std::vector<Case> cases = some_cases();
  std::set<GlobalMemory::Order> orders;
  for (Case& one : cases) {
    one.tried = gpu::JoinedTrial::acquires;
    REQUIRE_FALSE(one.shows(1, std::nullopt, 0, &orders));
  }
  std::vector<GlobalMemory::Order> idle;
  for (const GlobalMemory::Order& order : orders)
    if (!shows(cases, order, 0)) idle.push_back(order);
  CAPTURE(orders.size(), idle);
  CHECK(orders.size() - idle.size() >= 18);
  // The same blocks have nothing to do.
  CHECK(idle.size() == 4);
}

}  // namespace tempera::lab::ptx
