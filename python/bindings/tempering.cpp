#include <nanobind/stl/function.h>
#include <nanobind/stl/tuple.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "gpu/core/statistics/kept_share.hpp"
#include "gpu/core/statistics/stepping_stones.hpp"
#include "python/bindings/bindings.hpp"
#include "runs/coupling/certificate.hpp"
#include "runs/ladders/resolve_ladder.hpp"

namespace tempera::python {
namespace {

struct Calibration {
  std::vector<gpu::Pilot> pilots;
  std::string end;
};

Calibration calibrate(const SharedModel& model, const std::vector<Prompt>& prompts,
                      const std::vector<std::string>& ids, const std::string& arguments,
                      double from, double to, std::size_t replicas,
                      std::optional<std::size_t> horizon, std::optional<std::size_t> block,
                      std::optional<std::size_t> rounds, std::optional<std::size_t> samples,
                      std::optional<std::uint64_t> seed, std::optional<std::size_t> pilots,
                      std::size_t cache_memory,
                      const std::function<void(std::size_t, std::size_t)>& done) {
  const nb::gil_scoped_release others;
  std::vector<gpu::RunPrompt> given;
  for (std::size_t number = 0; number < prompts.size(); ++number)
    given.push_back({ids[number], wished(prompts[number]), "prompt " + std::to_string(number)});
  gpu::LadderWish wish{from, to, replicas, horizon, block, rounds, samples, pilots};
  if (seed) wish.seed = *seed;
  wish.session.cache_memory = cache_memory;
  gpu::ResolvedLadder resolved =
      gpu::resolve_ladder(wish, model->opened(), given, chat_arguments(arguments));
  Turn turn(model->turns());
  resolved.settings.before_pass = [&] {
    const Pause pause(turn);
    const nb::gil_scoped_acquire python;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
  std::size_t ended = 0;
  Calibration found;
  found.pilots = gpu::calibrate_ladder(model->opened().model(), resolved.prompts, resolved.settings,
                                       [&](const gpu::Pilot& /*pilot*/) {
                                         const Pause pause(turn);
                                         const nb::gil_scoped_acquire python;
                                         done(++ended, resolved.settings.pilots);
                                       });
  const auto end = gpu::why_calibration_ends(found.pilots, resolved.settings.pilots);
  found.end = end ? gpu::name_of(*end) : "";
  return found;
}

std::string certify_run(const SharedModel& model, const Prompt& prompt,
                        const std::string& arguments, const nb::dict& wishes,
                        std::optional<std::size_t> pairs, std::optional<std::size_t> lag,
                        std::optional<std::size_t> most_rounds, std::optional<double> until_tv,
                        std::optional<double> confidence, std::optional<std::size_t> token_limit,
                        const std::optional<std::string>& ending,
                        const std::function<bool(const std::string&)>& is_answer,
                        std::size_t cache_memory,
                        const std::function<void(std::size_t, std::size_t, std::size_t)>& done) {
  gpu::SampleWish wish{wished(prompt), chat_arguments(arguments), {}, sampler_wish(wishes)};
  const nb::gil_scoped_release others;
  const gpu::SampleRequest request = gpu::resolve(model->opened(), wish);
  gpu::SessionOptions session;
  session.cache_memory = cache_memory;
  gpu::CertificateWish certificate{pairs, lag, most_rounds, until_tv, confidence, token_limit, {}};
  if (ending) certificate.is_answer = gpu::ends_with(*ending, gpu::Spelling::keys);
  if (is_answer)
    certificate.is_answer = [&](const std::string& text) {
      // In the turn: a step is half made.
      const nb::gil_scoped_acquire python;
      return is_answer(text);
    };
  Turn turn(model->turns());
  return gpu::certify_run(
             model->opened(), request, certificate, session, gpu::Spelling::keys,
             [&](std::size_t ended, std::size_t met, std::size_t all) {
               const Pause pause(turn);
               const nb::gil_scoped_acquire python;
               done(ended, met, all);
             },
             [&] {
               const Pause pause(turn);
               const nb::gil_scoped_acquire python;
               if (PyErr_CheckSignals() != 0) throw nb::python_error();
             })
      .to_json()
      .dump();
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
             nb::arg("arguments"), nb::arg("first"), nb::arg("last"), nb::arg("replicas"),
             nb::arg("horizon").none(), nb::arg("block").none(), nb::arg("rounds").none(),
             nb::arg("samples").none(), nb::arg("seed").none(), nb::arg("pilots").none(),
             nb::arg("cache_memory"), nb::arg("done"));
  module.def("certify_run", &certify_run, nb::arg("model"), nb::arg("prompt"), nb::arg("arguments"),
             nb::arg("wishes"), nb::arg("pairs").none(), nb::arg("lag").none(),
             nb::arg("most_rounds").none(), nb::arg("until_tv").none(),
             nb::arg("confidence").none(), nb::arg("token_limit").none(), nb::arg("ending").none(),
             nb::arg("is_answer").none(), nb::arg("cache_memory"), nb::arg("done"));
  module.def(
      "stepping_stone_errors",
      [](const std::vector<std::vector<double>>& log_means) {
        gpu::StoneErrors errors = gpu::stepping_stone_errors(log_means);
        return std::pair(std::move(errors.of_ratios), std::move(errors.of_sums));
      },
      nb::arg("log_means"));
  module.def(
      "kept_share",
      [](std::uint64_t kept, std::uint64_t proposals, double confidence) {
        const gpu::KeptShare share = gpu::kept_share(kept, proposals, confidence);
        return std::tuple(share.estimate, share.low, share.high);
      },
      nb::arg("kept"), nb::arg("proposals"), nb::arg("confidence"));
  module.def("geometric_ladder", &gpu::geometric_ladder, nb::arg("first"), nb::arg("last"),
             nb::arg("replicas"));
}

}  // namespace tempera::python
