#include "python/bindings/exact/bindings.hpp"

NB_MODULE(TEMPERA_MODULE, module) {
  module.doc() = "The compiled half of tempera.exact, tempera.check and tempera.law.";
  tempera::python::raise_errors_of_tempera();
  tempera::python::bind_finite_model(module);
  tempera::python::bind_judge(module);
  tempera::python::bind_laws(module);
}
