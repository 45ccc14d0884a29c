#pragma once

#include <string>

namespace tempera::gpu {

/// A GPU's compute capability: 9.0 is Hopper.
struct ComputeCapability {
  int major = 0;
  int minor = 0;
  friend bool operator==(const ComputeCapability&, const ComputeCapability&) = default;
};

/// What CUDA's runtime says when it is asked for its devices.
struct DriverAnswer {
  int devices = 0;
  int driver = 0;           ///< the CUDA that the driver serves, 1000 major + 10 minor; 0: none
  int build = 0;            ///< the CUDA of this build, likewise
  bool is_too_old = false;  ///< whether the runtime refuses the driver for its age
  std::string error;        ///< of the runtime, if it is neither of these
};

/// "13.0" of 13000.
std::string cuda_version(int number);

/// Why kernels cannot run on a device whose driver answers so, with the remedy, in one line; empty
/// if they can.
std::string why_no_device(const DriverAnswer& answer);

}  // namespace tempera::gpu
