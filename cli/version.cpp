#include "cli/version.hpp"

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

/// The widest vectors that this binary was compiled for.
constexpr const char* instruction_set =
#if defined(__AVX512F__)
    "AVX-512";
#elif defined(__AVX2__)
    "AVX2";
#else
    "baseline";
#endif

}  // namespace

std::string version_text() {
  return std::string("tempera " TEMPERA_VERSION "\ncommit          " TEMPERA_COMMIT
                     "\ndevice system   ") +
         device_system + "\ninstruction set " + instruction_set + '\n';
}

}  // namespace tempera::cli
