#include "python/bindings/errors.hpp"

#include <exception>

#include "base/in_quotes.hpp"
#include "gpu/device/device_system.hpp"

namespace tempera::python {
namespace {

void translate(const std::exception_ptr& thrown, void* /*nothing*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    const std::string name = error_name(error);
    if (name.empty()) throw;  // what Python calls such an exception is for nanobind to say
    const nb::object type = nb::module_::import_("tempera.errors").attr(name.c_str());
    const nb::object raised = type(error_line(error).c_str());
    PyErr_SetObject(type.ptr(), raised.ptr());
  }
}

}  // namespace

const char* error_name(const std::exception& error) {
  if (dynamic_cast<const BadInput*>(&error) != nullptr) return "BadInput";
  if (dynamic_cast<const ModelError*>(&error) != nullptr) return "ModelError";
  if (dynamic_cast<const DeviceError*>(&error) != nullptr) return "DeviceError";
  if (dynamic_cast<const Bug*>(&error) != nullptr) return "Bug";
  if (dynamic_cast<const Error*>(&error) != nullptr) return "Error";
  return gpu::device_failure().empty() ? "" : "DeviceError";
}

std::string error_line(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return error.what();
  return "the NVIDIA GPU stopped: " + one_line(gpu::device_failure());
}

void raise_errors_of_tempera() { nb::register_exception_translator(translate, nullptr); }

}  // namespace tempera::python
