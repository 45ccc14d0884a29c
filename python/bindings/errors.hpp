#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "base/error.hpp"

namespace tempera::python {

namespace nb = nanobind;

/// From here on what tempera throws is raised as the class of tempera.errors that has its name.
void raise_errors_of_tempera();

/// The name of that class for an exception of tempera, "" for any other. Whatever is thrown after
/// the device was lost is a DeviceError.
const char* error_name(const std::exception& error);
/// Its one line.
/// @pre error_name(error) is not empty
std::string error_line(const std::exception& error);

}  // namespace tempera::python
