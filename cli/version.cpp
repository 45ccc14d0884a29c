#include "cli/version.hpp"

#include "gpu/device/instruction_set.hpp"

namespace tempera::cli {
namespace {

constexpr const char* device_system =
#if defined(TEMPERA_DEVICE_CUDA)
    "CUDA";
#elif defined(TEMPERA_DEVICE_TBB)
    "TBB";
#elif defined(TEMPERA_DEVICE_OMP)
    "OpenMP";
#else
    "C++, one thread";
#endif

}  // namespace

std::string version_text() {
  return std::string("tempera " TEMPERA_VERSION "\ncommit          " TEMPERA_COMMIT
                     "\ndevice system   ") +
         device_system + "\ninstruction set " +
         std::string(gpu::name_of(gpu::chosen_instruction_set())) + '\n';
}

}  // namespace tempera::cli
