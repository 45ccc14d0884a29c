#pragma once

#include <string>

#include "lab/ptx/operations.hpp"

namespace tempera::lab::ptx {

/// The name that nvcc gives the kernel whose text this is: the text is compiled in namespace
/// on_fibers here, and in on_device there. A function whose name the program does not export is
/// "of_one_test".
std::string name_on_device(const void* text);

}  // namespace tempera::lab::ptx
