// The command `tempera gallery`: known mistakes, planted and caught.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/shipped_tree.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "lab/defects/kernel_gallery.hpp"

namespace tempera::cli {
namespace {

using nlohmann::ordered_json;

struct GalleryOptions {
  std::string only, tree;
  bool json = false;
};

void print(const lab::DefectFound& found) {
  std::printf("  %-6s %8.3f s  %s\n", found.caught ? "caught" : "MISSED", found.seconds,
              fitted(found.name, table_columns - 21).c_str());
  const std::string indent(9, ' ');
  const auto below = [&](const std::string& text) {
    std::printf("%s%s\n", indent.c_str(), wrapped(text, table_columns, indent.size()).c_str());
  };
  below(found.description);
  if (!found.caught) return;
  below(found.counterexample);
  below("horizon " + std::to_string(found.horizon) + ", " + spaced_json(found.model));
}

ordered_json to_json(const lab::DefectFound& found) {
  return {{"defect", found.name},
          {"description", found.description},
          {"caught", found.caught},
          {"horizon", found.horizon},
          {"model", found.caught ? ordered_json::parse(found.model) : ordered_json(nullptr)},
          {"counterexample", found.counterexample},
          {"seconds", found.seconds}};
}

void run_gallery(const GalleryOptions& options) {
  const auto four_tokens =
      reference::load_finite_model(shipped_tree(options.tree) + "/toy_models/four_tokens.json");
  std::vector<lab::DefectFound> all;
  {
    ProgressLine line;
    if (options.only.empty())
      all = lab::hunt_all(four_tokens,
                          [&](std::size_t done, std::size_t number, const std::string& next) {
                            line.show_step(done, number, next);
                          });
    else
      for (const lab::PlantedDefect& defect : lab::planted_defects())
        if (options.only == defect.name) all.push_back(lab::hunt(defect));
  }
  if (all.empty())
    throw BadInput("--only", in_quotes(options.only) + " is not a planted defect",
                   "tempera gallery lists them");
  const auto missed = static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [](const lab::DefectFound& found) { return !found.caught; }));
  if (options.json) {
    ordered_json json{{"defects", ordered_json::array()}};
    for (const lab::DefectFound& found : all) json["defects"].push_back(to_json(found));
    json["caught"] = all.size() - missed;
    json["missed"] = missed;
    std::cout << json.dump() << '\n';
  } else {
    std::printf("planted defects, each with the smallest model that shows it\n");
    for (const lab::DefectFound& found : all) print(found);
    std::printf("%zu defects: %zu caught, %zu missed\n", all.size(), all.size() - missed, missed);
  }
  if (missed > 0) throw CLI::RuntimeError(1);
}

}  // namespace

void add_gallery(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "gallery",
      "Mistakes known from samplers and tempering codes, each planted and caught, with the "
      "smallest model and the counterexample; non-zero exit if one is missed");
  auto options = std::make_shared<GalleryOptions>();
  add_text(*command, "--only", options->only, "NAME", "One defect, by its name");
  add_text(*command, "--tree", options->tree, "FOLDER", tree_help);
  command->add_flag("--json", options->json, "Print the table as JSON");
  command->footer("Examples:\n  tempera gallery\n  tempera gallery --only 'tail slice' --json");
  command->callback([=] { run_gallery(*options); });
}

}  // namespace tempera::cli
