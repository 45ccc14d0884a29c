#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "gpu/device/device.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/planted_fault.hpp"

#if defined(TEMPERA_DEVICE_CUDA)
#include <cuda_runtime.h>
#endif

namespace tempera::gpu {

namespace {

/// What a planted fault leaves of the device's memory.
DeviceMemorySize with_planted_fault(DeviceMemorySize size) {
  const auto& memory = planted_fault().memory;
  return memory ? DeviceMemorySize{std::min(size.free, *memory), std::min(size.total, *memory)}
                : size;
}

bool planted_loss() {
  const auto& left = planted_fault().copies_until_lost;
  return left && *left == 0;
}

}  // namespace

std::string in_gibibytes(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) * 0x1p-30);
  return text;
}

#if defined(TEMPERA_DEVICE_CUDA)
std::string device_system() { return "CUDA"; }

std::string why_no_device() {
  DriverAnswer answer;
  answer.build = CUDART_VERSION;
  const cudaError_t error = cudaGetDeviceCount(&answer.devices);
  if (cudaDriverGetVersion(&answer.driver) != cudaSuccess) answer.driver = 0;
  answer.is_too_old = error == cudaErrorInsufficientDriver;
  if (error != cudaSuccess && error != cudaErrorNoDevice) answer.error = cudaGetErrorString(error);
  if (error != cudaSuccess) answer.devices = 0;
  return why_no_device(answer);
}

std::string device_failure() {
  if (planted_loss()) return "planted: the device is lost";
  // An error that stays is told by every later call, whoever has read it before.
  cudaError_t error = cudaPeekAtLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  // A machine without a GPU has none to stop.
  const bool none = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
  return error == cudaSuccess || none ? std::string() : cudaGetErrorString(error);
}

std::optional<DeviceMemorySize> device_memory_size() {
  DeviceMemorySize size;
  if (cudaMemGetInfo(&size.free, &size.total) != cudaSuccess) return std::nullopt;
  return with_planted_fault(size);
}

std::optional<ComputeCapability> compute_capability() {
  ComputeCapability capability;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&capability.major, cudaDevAttrComputeCapabilityMajor, device) !=
          cudaSuccess ||
      cudaDeviceGetAttribute(&capability.minor, cudaDevAttrComputeCapabilityMinor, device) !=
          cudaSuccess)
    return std::nullopt;
  return capability;
}

namespace {

/// Of the threads that enter none of their own.
std::atomic<unsigned> chosen_device{0};
thread_local bool has_entered = false;

}  // namespace

void enter_device(const Device& device, const std::string& where) {
  if (device.kind == Device::Kind::host)
    throw BadInput(where, "this build runs on an NVIDIA GPU",
                   "use the build of cmake --preset release; it gives the same bits");
  int devices = 0;
  if (std::string why = why_no_device(); !why.empty())
    throw BadInput(where, why,
                   "or use the build of cmake --preset release, which runs on the host");
  if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 1;
  if (const std::string why = why_no_such_device(device.index, static_cast<unsigned>(devices));
      !why.empty())
    throw BadInput(where, why, "nvidia-smi lists them");
  if (const cudaError_t error = cudaSetDevice(static_cast<int>(device.index)); error != cudaSuccess)
    throw DeviceError(name_of(device) + ": " + cudaGetErrorString(error));
  has_entered = true;
}

void enter_chosen_device() {
  if (has_entered || chosen_device == 0) return;
  enter_device({Device::Kind::cuda, chosen_device}, "the device");
}

unsigned entered_device() {
  int device = 0;
  return cudaGetDevice(&device) == cudaSuccess ? static_cast<unsigned>(device) : 0;
}

void require_device(const std::string& requested) {
  if (requested.empty()) {
    if (const std::string why = why_no_device(); !why.empty())
      throw BadInput("the device", why,
                     "or use the build of cmake --preset release, which runs on the host");
    return;
  }
  const Device device = device_named(requested, "--device");
  enter_device(device, "--device " + requested);
  chosen_device = device.index;
}

std::optional<std::string> device_description() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::nullopt;
  cudaDeviceProp device;
  int driver = 0;
  int runtime = 0;
  if (cudaGetDeviceProperties(&device, static_cast<int>(entered_device())) != cudaSuccess ||
      cudaDriverGetVersion(&driver) != cudaSuccess ||
      cudaRuntimeGetVersion(&runtime) != cudaSuccess)
    return std::nullopt;
  return std::string(device.name) + ", compute capability " + std::to_string(device.major) + "." +
         std::to_string(device.minor) + ", driver for CUDA " + cuda_version(driver) + ", runtime " +
         cuda_version(runtime);
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

std::string device_failure() { return planted_loss() ? "planted: the device is lost" : ""; }

std::optional<DeviceMemorySize> device_memory_size() {
  // What the system would give without swapping; its own files in memory count as free.
  std::ifstream file("/proc/meminfo");
  DeviceMemorySize size;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::size_t kibibytes = 0;
    if (!(words >> name >> kibibytes)) continue;
    if (name == "MemTotal:") size.total = kibibytes * 1024;
    if (name == "MemAvailable:") size.free = kibibytes * 1024;
  }
  if (size.free == 0) return std::nullopt;
  return with_planted_fault(size);
}

std::optional<ComputeCapability> compute_capability() { return std::nullopt; }

void enter_device(const Device& device, const std::string& where) {
  if (device.kind == Device::Kind::cuda)
    throw BadInput(where, "this build has no CUDA",
                   "leave it out, or use the build of cmake --preset cuda");
}

void enter_chosen_device() {}

unsigned entered_device() { return 0; }

void require_device(const std::string& requested) {
  if (!requested.empty())
    enter_device(device_named(requested, "--device"), "--device " + requested);
}

std::optional<std::string> device_description() { return "the host, through " + device_system(); }
#endif

}  // namespace tempera::gpu
