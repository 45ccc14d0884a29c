#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/device/simt/simt.hpp"

// The device's meaning of the names that warpgroup_steps.hpp lists, for sm_90a alone.

namespace tempera::gpu::simt::inline on_device {

__device__ inline void show_copies_to_steps() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Keeps the compiler from moving what reads or writes these registers across this place.
template <unsigned Count>
__device__ inline void hold_in_place(float (&sums)[Count]) {
  TEMPERA_UNROLL
  for (unsigned i = 0; i < Count; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

template <unsigned Count>
__device__ inline void begin_warpgroup_steps(float (&sums)[Count]) {
  hold_in_place(sums);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void commit_warpgroup_steps() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Groups, unsigned Count>
__device__ inline void wait_warpgroup_steps(float (&sums)[Count]) {
  hold_in_place(sums);
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Groups) : "memory");
  hold_in_place(sums);
}

/// In units of 16 bytes the address from bit 0 on, the way to the next 8 inputs from bit 16, and
/// that to the next 8 tokens from bit 32; not swizzled.
__device__ inline std::uint64_t described(const void* shared, unsigned next_tokens) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const auto field = [](unsigned bytes) { return std::uint64_t{bytes >> 4 & 0x3FFFU}; };
  return field(address) | field(core_matrix_bytes) << 16 | field(next_tokens) << 32;
}

// An instruction names each of its registers: 32, 64 or 128 sums, four words of weights, the
// description of the inputs, and whether it adds to the sums.
#define TEMPERA_REGISTERS_0_31                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15" \
  ", "                                                                   \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TEMPERA_REGISTERS_32_63                                                    \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
  ", "                                                                             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TEMPERA_REGISTERS_64_127                                                               \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"             \
  ", "                                                                                         \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"             \
  ", "                                                                                         \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", "                                                                                         \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define TEMPERA_SUMS_8(i)                                                                    \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), \
      "+f"(sums[i + 5]), "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define TEMPERA_SUMS_32(i) \
  TEMPERA_SUMS_8(i), TEMPERA_SUMS_8(i + 8), TEMPERA_SUMS_8(i + 16), TEMPERA_SUMS_8(i + 24)
#define TEMPERA_WARPGROUP_STEP(shape, registers, weights_and_inputs, adds, ...)               \
  asm volatile("{\n.reg .pred %%adds;\nsetp.ne.b32 %%adds, " adds                             \
               ", 0;\nwgmma.mma_async.sync.aligned." shape ".f32.bf16.bf16 {" registers       \
               "}, " weights_and_inputs ", %%adds, 1, 1, 0;\n\t}\n"                           \
               : __VA_ARGS__                                                                  \
               : "r"(weights.x), "r"(weights.y), "r"(weights.z), "r"(weights.w), "l"(inputs), \
                 "r"(1)                                                                       \
               : "memory")

__device__ inline void take_warpgroup_step(float (&sums)[32], const Vector16& weights,
                                           std::uint64_t inputs) {
  TEMPERA_WARPGROUP_STEP("m64n64k16", TEMPERA_REGISTERS_0_31, "{%32, %33, %34, %35}, %36", "%37",
                         TEMPERA_SUMS_32(0));
}
__device__ inline void take_warpgroup_step(float (&sums)[64], const Vector16& weights,
                                           std::uint64_t inputs) {
  TEMPERA_WARPGROUP_STEP("m64n128k16", TEMPERA_REGISTERS_0_31 ", " TEMPERA_REGISTERS_32_63,
                         "{%64, %65, %66, %67}, %68", "%69", TEMPERA_SUMS_32(0),
                         TEMPERA_SUMS_32(32));
}
__device__ inline void take_warpgroup_step(float (&sums)[128], const Vector16& weights,
                                           std::uint64_t inputs) {
  TEMPERA_WARPGROUP_STEP("m64n256k16",
                         TEMPERA_REGISTERS_0_31 ", " TEMPERA_REGISTERS_32_63
                                                ", " TEMPERA_REGISTERS_64_127,
                         "{%128, %129, %130, %131}, %132", "%133", TEMPERA_SUMS_32(0),
                         TEMPERA_SUMS_32(32), TEMPERA_SUMS_32(64), TEMPERA_SUMS_32(96));
}

#undef TEMPERA_REGISTERS_0_31
#undef TEMPERA_REGISTERS_32_63
#undef TEMPERA_REGISTERS_64_127
#undef TEMPERA_SUMS_8
#undef TEMPERA_SUMS_32
#undef TEMPERA_WARPGROUP_STEP

template <unsigned Sums>
__device__ inline void warpgroup_step(float (&sums)[Sums], const Vector16& weights,
                                      const void* inputs, unsigned next_tokens) {
  take_warpgroup_step(sums, weights, described(inputs, next_tokens));
}

}  // namespace tempera::gpu::simt::inline on_device
