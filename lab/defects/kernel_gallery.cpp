#include "lab/defects/kernel_gallery.hpp"

#include "lab/defects/gallery.hpp"
#include "lab/defects/public_steps.hpp"
#include "lab/enumerate/compiled_space.hpp"

namespace tempera::lab {
namespace {

using reference::FiniteModel;
using reference::Rational;
using reference::to_string;
using reference::TokenRow;

Rational q(int a, int b) { return Rational(a) / Rational(b); }

/// The smallest entry in which two kernels differ; nothing if they agree.
std::optional<ShownPair> difference_of(const JudgedKernel& kernel, const JudgedKernel& said_to_be,
                                       const JudgedCase& judged) {
  std::optional<ShownPair> found;
  std::size_t smallest = 0;
  for (std::size_t x = 0; x < judged.size(); ++x) {
    const JudgedState from = judged.state(x);
    KernelRow is = kernel(judged, from);
    KernelRow ought = said_to_be(judged, from);
    for (std::size_t y = 0; y < judged.size(); ++y) {
      const JudgedState to = judged.state(y);
      const std::size_t tokens = judged.tokens(x) + judged.tokens(y);
      if (is[to] == ought[to] || (found && tokens >= smallest)) continue;
      smallest = tokens;
      found = ShownPair{ShownPair::What::entry, judged.name(from), judged.name(to),
                        to_string(is[to]), to_string(ought[to])};
    }
  }
  return found;
}

/// The pair of states that a verdict names.
std::optional<ShownPair> pair_of(const KernelVerdict& verdict) {
  if (const auto& escape = verdict.escape)
    return ShownPair{ShownPair::What::escape, escape->from, escape->to,
                     to_string(escape->probability), ""};
  if (const auto& pair = verdict.unbalanced)
    return ShownPair{ShownPair::What::flows, pair->from, pair->to, to_string(pair->forward_flow),
                     to_string(pair->reverse_flow)};
  return {};
}

}  // namespace

JudgedCase small_case() {
  return {FiniteModel({"small",
                       {{"a", "b", "e"}, "gallery"},
                       {2},
                       {{{0}, TokenRow{q(1, 4), q(1, 4), q(1, 2)}},
                        {{1}, TokenRow{q(2, 3), q(0, 1), q(1, 3)}}},
                       TokenRow{q(1, 2), q(1, 3), q(1, 6)}},
                      "gallery"),
          3,
          {{reference::Power(2)}, {}}};
}

JudgedCase small_case(const std::vector<int>& powers) {
  JudgedTarget target;
  for (const int power : powers) target.powers.emplace_back(Rational(power));
  return {FiniteModel({"small",
                       {{"a", "e"}, "gallery"},
                       {1},
                       {{{}, TokenRow{q(2, 3), q(1, 3)}}},
                       TokenRow{q(1, 4), q(3, 4)}},
                      "gallery"),
          2, std::move(target)};
}

PlantedDefect planted(const std::string& name, const std::string& description,
                      const std::function<void(SmallMove&)>& plant) {
  SmallMove move;
  plant(move);
  return {name, description, kernel_of(move), small_case()};
}

std::vector<PlantedDefect> planted_defects() {
  std::vector<PlantedDefect> all;
  for (auto* const some :
       {planted_in_moves, planted_in_rounds, planted_around, planted_in_public_steps})
    for (PlantedDefect& defect : some()) all.push_back(std::move(defect));
  return all;
}

DefectFound hunt(const PlantedDefect& defect) {
  const auto begin = std::chrono::steady_clock::now();
  DefectFound found{defect.name, defect.description, false, "", 0, "", 0.0};
  if (defect.said_to_be) {
    found.pair = difference_of(defect.kernel, defect.said_to_be, defect.judged);
    found.caught = found.pair.has_value();
    if (const auto& pair = found.pair)
      found.counterexample = "from (" + pair->from + ") to (" + pair->to + ") with probability " +
                             pair->there + " for " + pair->back;
    found.model = model_json(defect.judged.model());
    found.horizon = defect.judged.horizon();
  } else if (!judge_kernel(defect.kernel, defect.judged).sound()) {
    const FailingCase smallest = shrink(defect.kernel, defect.judged);
    found.caught = true;
    found.counterexample = explanation(smallest.verdict);
    found.pair = pair_of(smallest.verdict);
    found.model = model_json(smallest.judged.model());
    found.horizon = smallest.judged.horizon();
  }
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return found;
}

std::vector<DefectFound> found_in_production(const FiniteModel& four_tokens) {
  const FiniteLogits logits(four_tokens);
  std::vector<DefectFound> found;
  const auto begin = std::chrono::steady_clock::now();
  const auto exhibits = defect_gallery(logits.enumerable(), four_tokens.name(), 3, {1.0, 3.0});
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  for (const Exhibit& exhibit : exhibits) {
    DefectFound one{exhibit.defect + " (production)",
                    "planted in the compiled kernel that sample runs, one line of it replaced",
                    exhibit.caught.has_value(),
                    model_json(four_tokens),
                    3,
                    "",
                    time.count() / static_cast<double>(exhibits.size())};
    if (const auto& caught = exhibit.caught) {
      one.counterexample = caught->kernel + ": (" + caught->x + ") to (" + caught->y +
                           "): " + caught->compiled + " for " + caught->exact;
      one.pair =
          ShownPair{ShownPair::What::entry, caught->x, caught->y, caught->compiled, caught->exact};
    }
    found.push_back(std::move(one));
  }
  return found;
}

std::vector<DefectFound> hunt_all(
    const FiniteModel& four_tokens,
    const std::function<void(std::size_t, std::size_t, const std::string&)>& next) {
  constexpr std::size_t in_production = 5;
  const auto planted = planted_defects();
  next(0, planted.size() + in_production, "production's own kernels");
  std::vector<DefectFound> all = found_in_production(four_tokens);
  for (const PlantedDefect& defect : planted) {
    next(all.size(), planted.size() + in_production, defect.name);
    all.push_back(hunt(defect));
  }
  return all;
}

}  // namespace tempera::lab
