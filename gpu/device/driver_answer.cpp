#include "gpu/device/driver_answer.hpp"

namespace tempera::gpu {

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string why_no_device(const DriverAnswer& answer) {
  if (answer.devices > 0) return {};
  if (answer.driver == 0)
    return "no NVIDIA driver on this machine; install one that serves CUDA " +
           cuda_version(answer.build) + " or newer";
  if (answer.is_too_old)
    return "the NVIDIA driver serves CUDA " + cuda_version(answer.driver) +
           " and this build needs CUDA " + cuda_version(answer.build) + "; update the driver";
  if (!answer.error.empty()) return "the NVIDIA GPU does not answer: " + answer.error;
  return "no NVIDIA GPU on this machine";
}

}  // namespace tempera::gpu
