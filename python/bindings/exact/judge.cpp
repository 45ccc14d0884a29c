#include "python/bindings/exact/bindings.hpp"
#include "tempera/check.hpp"

namespace tempera::python {
namespace {

/// A kernel over Python's step. Draw is called within the step alone.
check::Kernel kernel_of(const nb::callable& step) {
  return [step](const check::Case& judged, const check::State& state, check::Lottery& lottery) {
    const auto draw = nb::cpp_function([&lottery](const std::vector<std::string>& weights) {
      return lottery.draw(fractions(weights));
    });
    const auto merge = nb::cpp_function([&lottery](const std::string& key) { lottery.merge(key); });
    return nb::cast<check::State>(step(nb::cast(judged.model), judged.horizon, texts(judged.powers),
                                       nb::cast(state), draw, merge));
  };
}

check::Case case_of(const exact::FiniteModel& model, std::size_t horizon,
                    const std::vector<std::string>& powers) {
  return {model, horizon, fractions(powers)};
}

}  // namespace

void bind_judge(nb::module_& module) {
  nb::class_<check::Verdict>(module, "Verdict")
      .def_ro("stochastic", &check::Verdict::stochastic)
      .def_ro("invariant", &check::Verdict::invariant)
      .def_ro("reversible", &check::Verdict::reversible)
      .def_ro("irreducible", &check::Verdict::irreducible)
      .def_ro("states", &check::Verdict::states)
      .def_ro("explanation", &check::Verdict::explanation)
      .def_prop_ro("tv_one_step",
                   [](const check::Verdict& verdict) { return verdict.tv_one_step.text(); })
      .def_prop_ro("matrix", [](const check::Verdict& verdict) { return texts(verdict.matrix); });
  nb::class_<check::Failure>(module, "Failure")
      .def_prop_ro("model", [](const check::Failure& failure) { return failure.judged.model; })
      .def_prop_ro("horizon", [](const check::Failure& failure) { return failure.judged.horizon; })
      .def_prop_ro("powers",
                   [](const check::Failure& failure) { return texts(failure.judged.powers); })
      .def_ro("verdict", &check::Failure::verdict)
      .def_ro("tried", &check::Failure::tried);
  module.def(
      "judge",
      [](const nb::callable& step, const exact::FiniteModel& model, std::size_t horizon,
         const std::vector<std::string>& powers, const std::string& within) {
        return check::judge(kernel_of(step), case_of(model, horizon, powers),
                            exact::Fraction(within));
      },
      nb::arg("step"), nb::arg("model"), nb::arg("horizon"), nb::arg("powers"), nb::arg("within"));
  module.def(
      "shrink",
      [](const nb::callable& step, const exact::FiniteModel& model, std::size_t horizon,
         const std::vector<std::string>& powers, const std::string& within) {
        return check::shrink(kernel_of(step), case_of(model, horizon, powers),
                             exact::Fraction(within));
      },
      nb::arg("step"), nb::arg("model"), nb::arg("horizon"), nb::arg("powers"), nb::arg("within"));
}

}  // namespace tempera::python
