#include "gpu/device/device_system.hpp"

#if defined(TEMPERA_DEVICE_CUDA)
#include <cuda_runtime.h>
#endif

namespace tempera::gpu {

#if defined(TEMPERA_DEVICE_CUDA)
namespace {

std::string version_of(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

std::string device_system() { return "CUDA"; }

std::optional<std::string> device_description() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::nullopt;
  cudaDeviceProp device;
  int driver = 0;
  int runtime = 0;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess ||
      cudaDriverGetVersion(&driver) != cudaSuccess ||
      cudaRuntimeGetVersion(&runtime) != cudaSuccess)
    return std::nullopt;
  return std::string(device.name) + ", compute capability " + std::to_string(device.major) + "." +
         std::to_string(device.minor) + ", driver for CUDA " + version_of(driver) + ", runtime " +
         version_of(runtime);
}
#else
std::string device_system() {
#if defined(TEMPERA_DEVICE_TBB)
  return "TBB";
#elif defined(TEMPERA_DEVICE_OMP)
  return "OpenMP";
#else
  return "C++";
#endif
}

std::optional<std::string> device_description() { return "the host, through " + device_system(); }
#endif

}  // namespace tempera::gpu
