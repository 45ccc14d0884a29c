#include <nanobind/stl/pair.h>

#include "api/exact/fraction.hpp"
#include "api/exact/model_parts.hpp"
#include "base/error.hpp"
#include "lab/laws/law.hpp"
#include "python/bindings/exact/bindings.hpp"
#include "reference/report/exact_report.hpp"
#include "reference/report/mixing_report.hpp"
#include "reference/report/round_trip_report.hpp"
#include "settings/choices.hpp"

namespace tempera::python {
namespace {

using Texts = std::vector<std::string>;

std::vector<reference::Rational> rationals(const Texts& texts) {
  std::vector<reference::Rational> list;
  for (const std::string& text : texts) list.push_back(reference::parse_rational(text, "fraction"));
  return list;
}

/// What a question says, as Python gives it.
reference::ExactQuestion question_of(std::size_t horizon, const std::optional<Texts>& restart,
                                     const std::string& restart_range,
                                     const std::optional<std::string>& start, std::size_t steps) {
  if (horizon == 0) throw BadInput("horizon", "is 0", "give a horizon of at least 1 token");
  const gpu::RestartRange range = gpu::restart_range_named(restart_range, "restart_range");
  reference::ExactQuestion asked{.horizon = horizon};
  if (restart) {
    if (restart->size() != horizon)
      throw BadInput("restart", "has " + std::to_string(restart->size()) + " weights",
                     "give one for each position up to the horizon, " + std::to_string(horizon));
    asked.restart = reference::RestartLaw(rationals(*restart), "restart");
  }
  if (range == gpu::RestartRange::record) asked.range = reference::RestartRange::record;
  if (start) asked.start = reference::Start{*start};
  asked.steps = steps;
  return asked;
}

reference::Ladder ladder_of(const Texts& powers) {
  std::vector<reference::Power> list;
  for (const auto& power : rationals(powers)) list.emplace_back(power, "powers");
  return reference::Ladder(std::move(list), "powers");
}

bool is_deo(const std::string& schedule) {
  return gpu::schedule_named(schedule, "schedule") == gpu::Schedule::deo;
}

reference::Schedule schedule_of(const std::string& schedule) {
  return is_deo(schedule) ? reference::Schedule::deo : reference::Schedule::adj;
}

/// What breaks a claim, in words; "" if nothing does.
std::string explanation(const reference::ChainVerdict& verdict) {
  std::string said;
  if (verdict.moved)
    said = "not invariant: one step changes the mass of (" + verdict.moved->state + ") from " +
           reference::to_string(verdict.moved->before) + " to " +
           reference::to_string(verdict.moved->after);
  if (verdict.unbalanced)
    said += (said.empty() ? "" : "\n") + std::string("unbalanced: (") + verdict.unbalanced->from +
            ") -> (" + verdict.unbalanced->to + ") flows " +
            reference::to_string(verdict.unbalanced->forward_flow) + ", back " +
            reference::to_string(verdict.unbalanced->reverse_flow);
  if (!verdict.irreducible) said += (said.empty() ? "" : "\n") + std::string("not irreducible");
  return said;
}

nb::dict said_of(const reference::ChainVerdict& verdict) {
  nb::dict said;
  said["invariant"] = verdict.invariant();
  said["reversible"] = verdict.reversible();
  said["irreducible"] = verdict.irreducible;
  said["explanation"] = explanation(verdict);
  return said;
}

nb::dict rung(const exact::FiniteModel& model, std::size_t horizon, const std::string& power,
              const std::string& kernel, const std::optional<Texts>& restart,
              const std::string& restart_range, const std::optional<std::string>& start,
              std::size_t steps) {
  if (kernel != "fixed" && kernel != "truncating")
    throw BadInput("kernel", "\"" + kernel + "\" is not a kernel",
                   "give \"fixed\" or \"truncating\"");
  const auto asked = question_of(horizon, restart, restart_range, start, steps);
  const reference::Power exponent(reference::parse_rational(power, "power"), "power");
  const reference::RungReport report = [&] {
    const nb::gil_scoped_release others;
    return kernel == "fixed" ? reference::report_fixed_horizon(model.parts().model, exponent, asked)
                             : reference::report_truncating(model.parts().model, exponent, asked);
  }();
  nb::dict said = said_of(report.verdict);
  said["states"] = report.states;
  said["base"] = texts(report.base);
  said["target"] = texts(report.target);
  said["matrix"] = texts(report.kernel);
  said["total_variation"] = texts(report.total_variation);
  return said;
}

nb::dict joint(const exact::FiniteModel& model, std::size_t horizon, const Texts& powers,
               const std::string& schedule, const std::optional<Texts>& restart,
               const std::string& restart_range, const std::optional<std::string>& start,
               std::size_t steps) {
  const auto asked = question_of(horizon, restart, restart_range, start, steps);
  const reference::Ladder ladder = ladder_of(powers);
  const reference::Schedule order = schedule_of(schedule);
  reference::JointReport report;
  {
    const nb::gil_scoped_release others;
    report = reference::report_joint(model.parts().model, ladder, order, asked);
  }
  nb::dict said = said_of(report.verdict);
  said["states"] = report.records;
  said["swap_acceptance"] = texts(report.swap_acceptance);
  said["total_variation"] = texts(report.total_variation);
  return said;
}

nb::object cut_of(const std::optional<reference::NamedCut>& named) {
  if (!named) return nb::none();
  nb::dict said;
  said["classes"] = named->classes;
  said["mass"] = reference::to_string(named->cut.mass);
  said["flow"] = reference::to_string(named->cut.flow);
  return said;
}

nb::dict mixing(const exact::FiniteModel& model, std::size_t horizon, const Texts& powers,
                const std::string& schedule, const std::optional<Texts>& restart,
                const std::string& restart_range, const std::optional<std::string>& within,
                bool gap, bool cuts) {
  const auto asked = question_of(horizon, restart, restart_range, std::nullopt, 0);
  const reference::Ladder ladder = ladder_of(powers);
  const reference::Schedule order = schedule_of(schedule);
  reference::MixingQuestion question{gap, std::nullopt, cuts};
  if (within) {
    question.within = reference::parse_rational(*within, "within");
    if (*question.within <= 0 || *question.within >= 1)
      throw BadInput("within", "is " + *within, "give a distance between 0 and 1, such as \"1/4\"");
  }
  reference::MixingReport report;
  {
    const nb::gil_scoped_release others;
    report = reference::report_mixing(model.parts().model, ladder, order, asked, question);
  }
  const auto ends = [](const reference::Rational& lower, const reference::Rational& upper) {
    return std::pair(reference::to_string(lower), reference::to_string(upper));
  };
  nb::dict said;
  said["gap"] = nb::none();
  if (report.second)
    said["gap"] = nb::cast(ends(1 - report.second->upper, 1 - report.second->lower));
  said["steps"] = nb::none();
  if (report.time) {
    said["steps"] = report.time->steps;
    said["worst_start"] = report.worst_start;
    said["before"] = nb::cast(ends(report.time->before.lower, report.time->before.upper));
    said["after"] = nb::cast(ends(report.time->after.lower, report.time->after.upper));
  }
  said["first_token_cut"] = cut_of(report.first_token_cut);
  said["any_cut"] = cut_of(report.any_cut);
  return said;
}

std::pair<Texts, std::string> round_trips(const exact::FiniteModel& model, std::size_t horizon,
                                          const Texts& powers, const std::string& schedule,
                                          std::size_t rounds) {
  const auto asked = question_of(horizon, std::nullopt, "horizon", std::nullopt, 0);
  const reference::Ladder ladder = ladder_of(powers);
  const reference::Schedule order = schedule_of(schedule);
  const nb::gil_scoped_release others;
  const auto report =
      reference::report_round_trips(model.parts().model, ladder, order, asked, rounds);
  return {texts(report.expected), reference::to_string(report.formula)};
}

/// The most digits of a distance that is computed to 50.
constexpr int distance_digits = 40;

nb::dict compiled(const exact::FiniteModel& model, std::size_t horizon,
                  const std::vector<double>& powers, const std::string& schedule,
                  const std::optional<Texts>& restart, const std::string& restart_range) {
  const auto asked = question_of(horizon, restart, restart_range, std::nullopt, 0);
  lab::LawQuestion question{horizon, powers, {}, gpu::Schedule::adj};
  if (restart) question.restart = rationals(*restart);
  if (is_deo(schedule)) question.schedule = gpu::Schedule::deo;
  if (asked.range == reference::RestartRange::record)
    question.restart_range = gpu::RestartRange::record;
  lab::LawReport report;
  {
    const nb::gil_scoped_release others;
    const lab::FiniteLogits logits(model.parts().model);
    report = lab::compiled_law(logits.enumerable(), &model.parts().model, question);
  }
  if (report.stale_records > 0)
    throw Bug(std::to_string(report.stale_records) + " outcomes were not what a fresh record is");
  nb::dict said;
  said["states"] = report.states;
  said["matrix"] = texts(report.matrix);
  said["stationary"] = texts(report.stationary);
  said["tv_to_target"] = lab::to_scientific(report.tv_to_target, distance_digits);
  said["tv_own"] = lab::to_scientific(report.tv_own, distance_digits);
  said["tv_one_step"] = lab::to_scientific(report.tv_one_step, distance_digits);
  said["worst_entry"] = nb::none();
  if (report.worst_entry)
    said["worst_entry"] = lab::to_scientific(*report.worst_entry, distance_digits);
  return said;
}

}  // namespace

void bind_laws(nb::module_& module) {
  module.def("rung", &rung, nb::arg("model"), nb::arg("horizon"), nb::arg("power"),
             nb::arg("kernel"), nb::arg("restart").none(), nb::arg("restart_range"),
             nb::arg("start").none(), nb::arg("steps"));
  module.def("joint", &joint, nb::arg("model"), nb::arg("horizon"), nb::arg("powers"),
             nb::arg("schedule"), nb::arg("restart").none(), nb::arg("restart_range"),
             nb::arg("start").none(), nb::arg("steps"));
  module.def("mixing", &mixing, nb::arg("model"), nb::arg("horizon"), nb::arg("powers"),
             nb::arg("schedule"), nb::arg("restart").none(), nb::arg("restart_range"),
             nb::arg("within").none(), nb::arg("gap"), nb::arg("cuts"));
  module.def("round_trips", &round_trips, nb::arg("model"), nb::arg("horizon"), nb::arg("powers"),
             nb::arg("schedule"), nb::arg("rounds"));
  module.def("compiled", &compiled, nb::arg("model"), nb::arg("horizon"), nb::arg("powers"),
             nb::arg("schedule"), nb::arg("restart").none(), nb::arg("restart_range"));
}

}  // namespace tempera::python
