#include <nanobind/stl/function.h>

#include <array>
#include <functional>
#include <optional>

#include "gpu/session/named_sampler.hpp"
#include "gpu/session/prompt_number.hpp"
#include "gpu/tuning/ladder_calibration.hpp"
#include "python/bindings/bindings.hpp"

namespace nb = nanobind;

namespace tempera::python {
namespace {

/// What Python asks of a calibration, resolved as `tempera ladder` resolves its options.
struct Calibration {
  std::vector<gpu::Pilot> pilots;
  std::string end;
};

Calibration calibrate(const SharedModel& model, const std::vector<Prompt>& prompts,
                      const std::vector<std::string>& ids, std::optional<bool> thinking,
                      double from, double to, std::size_t replicas,
                      std::optional<std::size_t> horizon, std::optional<std::size_t> block,
                      std::size_t rounds, std::size_t samples, std::uint64_t seed,
                      std::size_t pilots, std::size_t cache_memory,
                      const std::function<void(std::size_t)>& done) {
  const nb::gil_scoped_release others;
  const gpu::AskedHorizon asked{horizon.value_or(64), horizon.has_value()};
  if (asked.tokens == 0) throw BadInput("horizon", "is 0", "give at least 1 token");
  std::vector<gpu::Prompt> resolved;
  for (std::size_t number = 0; number < prompts.size(); ++number) {
    gpu::ResolvedPrompt prompt =
        gpu::resolve_prompt(*model, wished(prompts[number]), wished(thinking), asked,
                            "prompt " + std::to_string(number));
    resolved.push_back({std::move(prompt.tokens), gpu::prompt_number(ids[number]), prompt.horizon});
  }
  gpu::CalibrationSettings settings;
  settings.from = from;
  settings.to = to;
  settings.replicas = replicas;
  settings.terminal = model->terminal();
  settings.seed = seed;
  settings.samples = samples;
  settings.pilots = pilots;
  settings.session.cache_memory = cache_memory;
  const std::size_t stage = block.value_or(gpu::default_block(asked.tokens));
  settings.restart_parts = std::min<std::size_t>(settings.restart_parts, stage);
  settings.plan = {gpu::make_stages(asked.tokens, stage, {rounds}, {1}, {1}), gpu::Schedule::adj,
                   replicas - 1};
  std::size_t ended = 0;
  Calibration found;
  found.pilots =
      gpu::calibrate_ladder(model->model(), resolved, settings, [&](const gpu::Pilot& /*pilot*/) {
        const nb::gil_scoped_acquire python;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        done(++ended);
      });
  constexpr std::array ends{"equal", "same", "exhausted"};
  const auto end = gpu::why_calibration_ends(found.pilots, pilots);
  found.end = end ? ends[static_cast<std::size_t>(*end)] : "";
  return found;
}

}  // namespace

void bind_tempering(nb::module_& module) {
  nb::class_<gpu::Pilot>(module, "RawPilot")
      .def_ro("powers", &gpu::Pilot::powers)
      .def_ro("deviations", &gpu::Pilot::deviations)
      .def_ro("attempts", &gpu::Pilot::attempts)
      .def_ro("accepted", &gpu::Pilot::accepted)
      .def_prop_ro("restart_weights",
                   [](const gpu::Pilot& pilot) { return gpu::suggested_restart_weights(pilot); })
      .def_prop_ro("equal",
                   [](const gpu::Pilot& pilot) { return gpu::acceptances_are_equal(pilot); });
  nb::class_<Calibration>(module, "Calibration")
      .def_ro("pilots", &Calibration::pilots)
      .def_ro("end", &Calibration::end)
      .def_prop_ro("best", [](const Calibration& found) { return gpu::best_pilot(found.pilots); });
  module.def("calibrate", &calibrate, nb::arg("model"), nb::arg("prompts"), nb::arg("ids"),
             nb::arg("thinking").none(), nb::arg("first"), nb::arg("last"), nb::arg("replicas"),
             nb::arg("horizon").none(), nb::arg("block").none(), nb::arg("rounds"),
             nb::arg("samples"), nb::arg("seed"), nb::arg("pilots"), nb::arg("cache_memory"),
             nb::arg("done"));
  module.def("geometric_ladder", &gpu::geometric_ladder, nb::arg("first"), nb::arg("last"),
             nb::arg("replicas"));
}

}  // namespace tempera::python
