#include "gpu/device/device_system.hpp"
#include "gpu/input/bad_input.hpp"

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

std::string why_no_device() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) return {};
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    return "no NVIDIA driver on this machine; install one that serves CUDA " +
           version_of(CUDART_VERSION) + " or newer";
  if (error == cudaErrorInsufficientDriver)
    return "the NVIDIA driver serves CUDA " + version_of(driver) + " and this build needs CUDA " +
           version_of(CUDART_VERSION) + "; update the driver";
  if (error == cudaErrorNoDevice || error == cudaSuccess) return "no NVIDIA GPU on this machine";
  return std::string("the NVIDIA GPU does not answer: ") + cudaGetErrorString(error);
}

std::string device_failure() {
  const cudaError_t error = cudaPeekAtLastError();
  return error == cudaSuccess ? std::string() : cudaGetErrorString(error);
}

void require_device(const std::string& requested) {
  if (requested == "host")
    throw BadInput("--device host", "this build runs on an NVIDIA GPU",
                   "use the build of cmake --preset release; it gives the same bits");
  if (const std::string why = why_no_device(); !why.empty())
    throw BadInput(requested.empty() ? "the device" : "--device cuda", why,
                   "or use the build of cmake --preset release, which runs on the host");
}

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

std::string why_no_device() { return {}; }

std::string device_failure() { return {}; }

void require_device(const std::string& requested) {
  if (requested == "cuda")
    throw BadInput("--device cuda", "this build has no CUDA",
                   "leave it out, or use the build of cmake --preset cuda");
}

std::optional<std::string> device_description() { return "the host, through " + device_system(); }
#endif

}  // namespace tempera::gpu
