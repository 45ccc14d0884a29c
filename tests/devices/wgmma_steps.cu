// Compiled for sm_90a alone, an object of its own: no other code of tempera needs what only that
// architecture has. Everywhere else it says why it takes no step.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include "gpu/device/device_memory.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/simt/warpgroup_steps.hpp"
#include "tests/devices/tensor_core_steps.hpp"
#include "tests/devices/wgmma_operands.hpp"

namespace tempera::gpu {

#if defined(TEMPERA_HAS_SM_90A)

inline namespace TEMPERA_SIMT_FORM {

constexpr unsigned warpgroup_threads = 128;
constexpr std::uint32_t rows_of_wgmma = 64;
constexpr std::uint32_t wgmma_operand_bytes = rows_of_wgmma * 16 * 2;

/// Launch: {tiles} blocks of one warpgroup, shared memory for A [64, 16] and after it B [8, 16].
/// The 16 rows of a tile are in A four times, and the warps take turns to answer for it.
/// results: [tiles, 16, 8], bits of float32.
TEMPERA_KERNEL(warpgroup_threads) take_wgmma(std::uint32_t* results) {
  const std::uint32_t tile = simt::block().x;
  auto* const a = simt::shared_memory<unsigned char>();
  auto* const b = a + wgmma_operand_bytes;
  for (unsigned i = simt::thread(); i < (rows_of_wgmma + 8) * 16; i += warpgroup_threads) {
    const unsigned row = i / 16;
    const unsigned k = i % 16;
    const bool is_a = row < rows_of_wgmma;
    auto* const target =
        is_a ? a + wgmma_operand_offset(row, k) : b + wgmma_operand_offset(row - rows_of_wgmma, k);
    *reinterpret_cast<std::uint16_t*>(target) =
        is_a ? operand_bits(tile, 0, row % 16, k) : operand_bits(tile, 1, row - rows_of_wgmma, k);
  }
  // wgmma reads shared memory by another way than threads write to it.
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  simt::barrier();

  const unsigned g = simt::lane() / 4;
  const unsigned t = simt::lane() % 4;
  float d[4];
  TEMPERA_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t bits = accumulator_bits(tile, g + i / 2 * 8, 2 * t + i % 2);
    memcpy(&d[i], &bits, sizeof bits);
  }
  const std::uint64_t descriptor_a =
      wgmma_descriptor(static_cast<std::uint32_t>(__cvta_generic_to_shared(a)));
  const std::uint64_t descriptor_b =
      wgmma_descriptor(static_cast<std::uint32_t>(__cvta_generic_to_shared(b)));
  // Named here, so that no accumulator is written after the fence.
  asm volatile("wgmma.fence.sync.aligned;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  // D is added to (the predicate), no sign is turned, both operands have K innermost.
  asm volatile(
      "{\n"
      ".reg .pred adds;\n"
      "setp.ne.b32 adds, %6, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, adds, 1, 1, 0, "
      "0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(descriptor_a), "l"(descriptor_b), "r"(1)
      : "memory");
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  if (simt::warp() != tile % 4) return;
  TEMPERA_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    std::uint32_t bits = 0;
    memcpy(&bits, &d[i], sizeof bits);
    results[(std::size_t{tile} * 16 + g + i / 2 * 8) * 8 + 2 * t + i % 2] = bits;
  }
}

/// Launch: any blocks of two groups of four warps, shared memory for 256 tokens of 16 inputs. Steps
/// on ones, whose operands are never waited for.
TEMPERA_KERNEL(2 * warpgroup_threads, 1) repeat_warpgroup_steps(std::uint32_t repeats, float* out) {
  auto* const inputs = simt::shared_memory<simt::Vector16>();
  for (unsigned i = simt::thread(); i < 256 * 2; i += 2 * warpgroup_threads)
    inputs[i] = {0x3F803F80U, 0x3F803F80U, 0x3F803F80U, 0x3F803F80U};
  simt::show_copies_to_steps();
  simt::barrier();
  const simt::Vector16 weights{0x3F803F80U, 0x3F803F80U, 0x3F803F80U, 0x3F803F80U};
  float sums[128] = {};
  for (std::uint32_t i = 0; i < repeats; ++i) {
    simt::begin_warpgroup_steps(sums);
    TEMPERA_UNROLL
    for (unsigned step = 0; step < 8; ++step)
      simt::warpgroup_step(sums, weights, inputs, 2 * simt::core_matrix_bytes);
    simt::commit_warpgroup_steps();
    simt::wait_warpgroup_steps<0>(sums);
  }
  if (sums[0] == 1.0F) out[0] = sums[1];
}

}  // namespace TEMPERA_SIMT_FORM

std::optional<double> warpgroup_peak(const DeviceClock& clock) {
  if (!why_no_wgmma().empty()) return std::nullopt;
  int device = 0;
  int multiprocessors = 0;
  simt::require_success(cudaGetDevice(&device), "the device");
  simt::require_success(
      cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
      "the device's multiprocessors");
  constexpr std::uint32_t repeats = 4000;
  DeviceMemory<float> out(1);
  simt::Stream stream;
  double best = 0.0;
  for (int i = 0; i < 6; ++i) {
    const double seconds = clock.seconds_of([&] {
      simt::launch({.blocks = {static_cast<unsigned>(multiprocessors)},
                    .threads = 2 * warpgroup_threads,
                    .shared_bytes = 256 * 16 * 2},
                   stream, repeat_warpgroup_steps, repeats, out.data());
    });
    const double operations = 2.0 * 64 * 256 * 16 * 8 * repeats * 2 * multiprocessors;
    if (i > 0) best = std::max(best, operations / seconds);  // the first one warms up
  }
  return best;
}

std::string why_no_wgmma() {
  const auto capability = compute_capability();
  if (capability && capability->major == 9) return {};
  return "wgmma is Hopper's alone, and this device is another";
}

void take_wgmma_steps(std::uint32_t tiles, std::uint32_t* results) {
  DeviceMemory<std::uint32_t> memory(std::size_t{tiles} * 128);
  simt::Stream stream;
  simt::launch({.blocks = {tiles, 1, 1},
                .threads = warpgroup_threads,
                .shared_bytes = wgmma_operand_bytes + 8 * 16 * 2},
               stream, take_wgmma, memory.data());
  const std::vector<std::uint32_t> downloaded = memory.download(0, memory.size());
  std::copy(downloaded.begin(), downloaded.end(), results);
}

#else

std::string why_no_wgmma() {
  return device_system() == "CUDA" ? "this build has no code for sm_90a" : "this build has no CUDA";
}

std::optional<double> warpgroup_peak(const DeviceClock&) { return std::nullopt; }

void take_wgmma_steps(std::uint32_t, std::uint32_t*) { throw std::runtime_error(why_no_wgmma()); }

#endif

}  // namespace tempera::gpu
