#include <nanobind/stl/optional.h>

#include <optional>
#include <string>
#include <utility>

#include "gpu/device/thread_limit.hpp"
#include "gpu/llm/text/template_engine.hpp"
#include "python/bindings/bindings.hpp"
#include "settings/presets.hpp"

namespace {

/// Leaves this many threads of the machine to all computing; none: every one.
void set_threads(std::optional<std::size_t> threads) {
  // Never destroyed: when a process exits, the threads that it would give back have ended before.
  static auto& limit = *new std::optional<tempera::gpu::ThreadLimit>;
  if (threads && *threads == 0)
    throw tempera::BadInput("threads", "is 0", "give at least 1, or None for all");
  limit.reset();
  if (threads) limit.emplace(*threads);
}

/// The paper's settings by name, with the names that `tempera presets --json` gives them.
nanobind::dict presets() {
  nanobind::dict all;
  for (const tempera::gpu::Preset& preset : tempera::gpu::presets()) {
    nanobind::dict one;
    one["powers"] = preset.powers;
    one["horizon"] = preset.horizon;
    one["block"] = preset.block;
    one["rounds"] = preset.rounds;
    one["other_names"] = tempera::gpu::other_names(preset);
    all[std::string(preset.name).c_str()] = one;
  }
  return all;
}

/// Renders chat templates by this function of Python; `say` gets lines for the user.
void use_template_engine(tempera::python::nb::object answer, tempera::python::nb::object say) {
  namespace nb = tempera::python::nb;
  // Never destroyed: Python may be gone when static objects go.
  auto* functions = new std::pair<nb::object, nb::object>(std::move(answer), std::move(say));
  tempera::gpu::use_template_engine({[functions](const std::string& task) {
                                       const nb::gil_scoped_acquire python;
                                       return nb::cast<std::string>(functions->first(task));
                                     },
                                     [functions](const std::string& line) {
                                       const nb::gil_scoped_acquire python;
                                       functions->second(line);
                                     }});
}

}  // namespace

NB_MODULE(TEMPERA_MODULE, module) {
  module.doc() = "The compiled half of tempera; use the package tempera.";
  tempera::python::raise_errors_of_tempera();
  tempera::python::bind_model(module);
  tempera::python::bind_server(module);
  tempera::python::bind_session(module);
  tempera::python::bind_tempering(module);
  tempera::python::bind_run_folder(module);
  module.def("set_threads", &set_threads, tempera::python::nb::arg("threads").none());
  module.def("presets", &presets);
  module.def("describe_settings", &tempera::python::describe_settings);
  module.def("use_template_engine", &use_template_engine, tempera::python::nb::arg("answer"),
             tempera::python::nb::arg("say"));
  module.def("version", [] { return TEMPERA_VERSION; });
  tempera::python::bind_turns(module);
}
