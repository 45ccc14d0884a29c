#include "lab/shipped_models.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "reference/bad_input.hpp"

namespace tempera::lab {

reference::Ladder ShippedUse::ladder() const {
  std::vector<reference::Power> rungs;
  for (const unsigned rung : powers) rungs.emplace_back(reference::Rational(rung));
  return reference::Ladder(rungs);
}

reference::RestartLaw ShippedUse::restart_law() const {
  return restart.empty() ? reference::RestartLaw::uniform(horizon) : reference::RestartLaw(restart);
}

std::vector<ShippedUse> read_shipped_uses(const std::string& tree) {
  const std::string folder = tree + "/toy_models/";
  const std::string file = folder + "models.json";
  std::ifstream in(file);
  if (!in)
    throw reference::BadInput(file, "cannot be read", "name the tree of tempera with --tree");
  std::vector<ShippedUse> uses;
  try {
    for (const auto& entry : nlohmann::json::parse(in)) {
      const std::string name = entry.at("file");
      ShippedUse use{name,
                     reference::load_finite_model(folder + name),
                     entry.at("horizon"),
                     entry.at("power"),
                     entry.at("powers").get<std::vector<unsigned>>(),
                     {}};
      if (entry.contains("restart"))
        for (const std::string weight : entry.at("restart"))
          use.restart.push_back(reference::parse_rational(weight, file));
      uses.push_back(std::move(use));
    }
  } catch (const nlohmann::json::exception& error) {
    throw reference::BadInput(file, error.what(), "see toy_models/README.md for its form");
  }
  return uses;
}

}  // namespace tempera::lab
