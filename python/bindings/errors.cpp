#include "python/bindings/errors.hpp"

#include <exception>

namespace tempera::python {
namespace {

void translate(const std::exception_ptr& thrown, void* /*nothing*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const nb::object type = nb::module_::import_("tempera.errors").attr(error_name(error));
    const nb::object raised = type(error.what());
    PyErr_SetObject(type.ptr(), raised.ptr());
  }
}

}  // namespace

const char* error_name(const std::exception& error) {
  if (dynamic_cast<const BadInput*>(&error) != nullptr) return "BadInput";
  if (dynamic_cast<const ModelError*>(&error) != nullptr) return "ModelError";
  if (dynamic_cast<const DeviceError*>(&error) != nullptr) return "DeviceError";
  if (dynamic_cast<const Bug*>(&error) != nullptr) return "Bug";
  return dynamic_cast<const Error*>(&error) != nullptr ? "Error" : "";
}

void raise_errors_of_tempera() { nb::register_exception_translator(translate, nullptr); }

}  // namespace tempera::python
