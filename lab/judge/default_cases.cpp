#include "lab/judge/default_cases.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "base/text_file.hpp"

namespace tempera::lab {

std::vector<DefaultCase> default_cases(const std::string& tree, std::size_t rungs) {
  const std::string file = tree + "/toy_models/check/models.json";
  return default_cases_of(read_text_file(file, "name the tree of tempera with --tree"), file,
                          rungs);
}

std::vector<DefaultCase> default_cases_of(const std::string& list, const std::string& file,
                                          std::size_t rungs) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const nlohmann::json document = parse_json(list, file);
  std::vector<DefaultCase> cases;
  for (const auto& entry :
       objects_of(document, file, "see docs/reference/finite_models.md for its form")) {
    entry.check_keys({"file", "horizon", "most_rungs"}, {"least_rungs", "at_any_horizon"});
    const std::uint64_t least =
        entry.has("least_rungs") ? entry.whole_number("least_rungs", 1, 64) : 1;
    if (rungs < least || rungs > entry.whole_number("most_rungs", least, 64)) continue;
    const std::filesystem::path path = folder / entry.text("file");
    cases.push_back({path.lexically_normal().string(), entry.whole_number("horizon", 1, 128),
                     entry.boolean_or("at_any_horizon", false)});
  }
  if (cases.empty())
    throw BadInput("--target",
                   "asks for a ladder of " + std::to_string(rungs) +
                       " powers, for which no models are shipped",
                   "name small models with --model");
  return cases;
}

}  // namespace tempera::lab
