#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lab/ptx/operations.hpp"

namespace tempera::lab::ptx {

/// The kernels that nvcc compiled for sm_90: the lists that compiled.cmake names.
std::vector<std::span<const CompiledKernel>> all_kernels();

/// The kernels that nvcc compiled otherwise for sm_80 (other_target.py).
std::vector<std::span<const CompiledKernel>> kernels_of_other_target();

/// The kernels that have a defect, by its name (plants.py).
std::map<std::string, std::span<const CompiledKernel>> planted_kernels();

}  // namespace tempera::lab::ptx
