#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "lab/ptx/operations.hpp"

namespace tempera::lab::ptx {

/// What nvcc compiled, as this program has it: the lists that compiled.cmake names.
std::vector<std::span<const CompiledKernel>> all_kernels();

/// The kernels that have a defect, by its name (plants.py).
std::map<std::string, std::span<const CompiledKernel>> planted_kernels();

}  // namespace tempera::lab::ptx
