#pragma once

#include <vector>

namespace tempera::gpu {

/// exponential(x) of every x, computed by the device system.
std::vector<double> exponentials_on_device(const std::vector<double>& inputs);
/// logarithm(x) of every x, computed by the device system.
std::vector<double> logarithms_on_device(const std::vector<double>& inputs);

}  // namespace tempera::gpu
