#include "gpu/device/tile_permission.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tempera::gpu {

#if defined(__x86_64__) && defined(__linux__)

bool processor_has_tiles() {
  constexpr unsigned bfloat16 = 1U << 22;
  constexpr unsigned tiles = 1U << 24;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & bfloat16) != 0 &&
         (edx & tiles) != 0;
}

bool tiles_are_permitted() {
  // Linux's names for these are in headers that older systems lack.
  constexpr int request_permission = 0x1023;
  constexpr int tile_data = 18;
  static const bool permitted = syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  return permitted;
}

#else

bool processor_has_tiles() { return false; }
bool tiles_are_permitted() { return false; }

#endif

}  // namespace tempera::gpu
