#include <exception>

#include "base/error.hpp"
#include "python/bindings/bindings.hpp"

namespace nb = nanobind;

namespace {

/// Raises the Python exception of this name of tempera.errors with the one line.
void raise(const char* name, const char* line) {
  const nb::object type = nb::module_::import_("tempera.errors").attr(name);
  const nb::object error = type(line);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(const std::exception_ptr& error, void* /*nothing*/) {
  try {
    std::rethrow_exception(error);
  } catch (const tempera::BadInput& e) {
    raise("BadInput", e.what());
  } catch (const tempera::ModelError& e) {
    raise("ModelError", e.what());
  } catch (const tempera::DeviceError& e) {
    raise("DeviceError", e.what());
  } catch (const tempera::Bug& e) {
    raise("Bug", e.what());
  }
}

}  // namespace

NB_MODULE(_tempera, module) {
  module.doc() = "The compiled half of tempera; use the package tempera.";
  nb::register_exception_translator(translate, nullptr);
  tempera::python::bind_model(module);
  tempera::python::bind_session(module);
}
