#pragma once

#include <string>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/device/device.hpp"

namespace tempera::gpu {

/// A device that is named well, and that this build or this machine cannot run kernels on.
class MissingDevice : public DeviceError {
 public:
  /// "where: what; remedy", as a BadInput says it.
  MissingDevice(const std::string& where, const std::string& what, const std::string& remedy)
      : DeviceError(OneLine(), one_line(where) + ": " + one_line(what) + "; " + one_line(remedy)) {}
};

/// As require_device of device_system.hpp.
/// @param otherwise what else to do on a machine without a GPU, for messages
Device require_device(const std::string& requested, const std::string& option,
                      const std::string& otherwise);

}  // namespace tempera::gpu
