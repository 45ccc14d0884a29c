#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/missing_device.hpp"
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

/// @throw BadInput if the text names no device
Device asked_device(const std::string& requested, const std::string& option) {
  const auto device = device_named(requested);
  if (!device)
    throw BadInput(option, in_quotes(requested) + " is unknown",
                   "give host or cuda, or of several GPUs one, such as cuda:1");
  return *device;
}

}  // namespace

Device require_device(const std::string& requested, const std::string& option) {
  return require_device(requested, option,
                        "use the build of cmake --preset release, which runs on the host");
}

std::vector<Device> require_devices(const std::string& list, const std::string& option) {
  std::vector<Device> devices;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    if (name.empty())
      throw BadInput(option, in_quotes(list) + " has an empty name",
                     "give devices with commas between them, such as cuda:0,cuda:1");
    const Device device = require_device(name, option);
    if (device.kind != Device::Kind::host &&
        std::find(devices.begin(), devices.end(), device) != devices.end())
      throw BadInput(option, "names " + name_of(device) + " twice", "name it once");
    devices.push_back(device);
    begin = end + 1;
  }
  return devices;
}

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

Device current_device() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) device = 0;
  return {Device::Kind::cuda, static_cast<std::size_t>(device)};
}

CurrentDevice::CurrentDevice(Device device) : before_(current_device()) {
  if (device != before_ && cudaSetDevice(static_cast<int>(device.index)) != cudaSuccess)
    throw DeviceError("the device " + name_of(device) +
                      " cannot be used: " + cudaGetErrorString(cudaGetLastError()));
}

CurrentDevice::~CurrentDevice() { cudaSetDevice(static_cast<int>(before_.index)); }

Device require_device(const std::string& requested, const std::string& option,
                      const std::string& otherwise) {
  const Device device = requested.empty() ? current_device() : asked_device(requested, option);
  const std::string where = requested.empty() ? "the device" : option + " " + requested;
  if (device.kind == Device::Kind::host)
    throw MissingDevice(where, "this build runs on an NVIDIA GPU",
                        "use the build of cmake --preset release; it gives the same bits");
  if (const std::string why = why_no_device(); !why.empty())
    throw MissingDevice(where, why, "or " + otherwise);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess ||
      device.index >= static_cast<std::size_t>(devices))
    throw MissingDevice(where, "this machine has " + std::to_string(devices) + " of them",
                        "give cuda:0 to cuda:" + std::to_string(std::max(devices, 1) - 1));
  return device;
}

std::optional<std::string> device_description() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::nullopt;
  const auto index = static_cast<int>(current_device().index);
  cudaDeviceProp device;
  int driver = 0;
  int runtime = 0;
  if (cudaGetDeviceProperties(&device, index) != cudaSuccess ||
      cudaDriverGetVersion(&driver) != cudaSuccess ||
      cudaRuntimeGetVersion(&runtime) != cudaSuccess)
    return std::nullopt;
  return std::string(device.name) + ", compute capability " + std::to_string(device.major) + "." +
         std::to_string(device.minor) + ", driver for CUDA " + cuda_version(driver) + ", runtime " +
         cuda_version(runtime);
}
#else
std::string device_system() { return "C++"; }

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

namespace {
thread_local Device current;
}  // namespace

Device current_device() { return current; }

CurrentDevice::CurrentDevice(Device device) : before_(current_device()) {
  if (device.kind != Device::Kind::host)
    throw Bug("a build for the host was given the device " + name_of(device));
  current = device;
}

CurrentDevice::~CurrentDevice() { current = before_; }

Device require_device(const std::string& requested, const std::string& option,
                      const std::string& /*otherwise*/) {
  const Device device = requested.empty() ? current_device() : asked_device(requested, option);
  if (device.kind != Device::Kind::host)
    throw MissingDevice(option + " " + requested, "this build has no CUDA",
                        "leave it out, or use the build of cmake --preset cuda");
  return device;
}

std::optional<std::string> device_description() { return "the host, through " + device_system(); }
#endif

}  // namespace tempera::gpu
