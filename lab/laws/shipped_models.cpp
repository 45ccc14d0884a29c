#include "lab/laws/shipped_models.hpp"

#include <nlohmann/json.hpp>

#include "base/json_document.hpp"
#include "base/text_file.hpp"

namespace tempera::lab {

reference::Ladder ShippedUse::ladder() const {
  std::vector<reference::Power> rungs;
  for (const unsigned rung : powers) rungs.emplace_back(reference::Rational(rung));
  return reference::Ladder(rungs);
}

reference::RestartLaw ShippedUse::restart_law() const {
  return restart.empty() ? reference::RestartLaw::uniform(horizon) : reference::RestartLaw(restart);
}

std::size_t joint_states(std::size_t records, std::size_t rungs) {
  constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
  std::size_t states = 1;
  for (std::size_t rung = 0; rung < rungs; ++rung)
    states = records != 0 && states > largest / records ? largest : states * records;
  return states;
}

bool WalkedSize::allows(const reference::FiniteModel& model, std::size_t of,
                        std::size_t rungs) const {
  if (of > horizon) return false;
  // Without a limit nothing is enumerated here: the walk refuses what is too large in its own
  // words.
  return states == std::numeric_limits<std::size_t>::max() ||
         joint_states(reference::FixedHorizonSpace(model, of).size(), rungs) <= states;
}

std::vector<ShippedUse> read_shipped_uses(const std::string& tree) {
  const std::string folder = tree + "/toy_models/";
  const std::string file = folder + "models.json";
  const nlohmann::json document =
      parse_json(read_text_file(file, "name the tree of tempera with --tree"), file);
  constexpr std::uint64_t largest = 1'000'000;
  std::vector<ShippedUse> uses;
  for (const auto& entry :
       objects_of(document, file, "see docs/reference/finite_models.md for its form")) {
    entry.check_keys({"file", "horizon", "power", "powers"}, {"restart"});
    const std::string name = entry.text("file");
    ShippedUse use{name,
                   reference::load_finite_model(folder + name),
                   entry.whole_number("horizon", 1, largest),
                   static_cast<unsigned>(entry.whole_number("power", 1, largest)),
                   {},
                   {}};
    for (const std::uint64_t power : entry.whole_numbers("powers", 1, largest))
      use.powers.push_back(static_cast<unsigned>(power));
    if (entry.has("restart"))
      for (const std::string& weight : entry.texts("restart"))
        use.restart.push_back(
            reference::parse_rational(weight, file + ": " + entry.path_of("restart")));
    uses.push_back(std::move(use));
  }
  return uses;
}

}  // namespace tempera::lab
