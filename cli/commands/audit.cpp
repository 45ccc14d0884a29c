#include "runs/audit/audit.hpp"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/open_model.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/thread_limit.hpp"
#include "gpu/llm/models/model_digest.hpp"
#include "gpu/llm/models/named_model.hpp"

namespace tempera::cli {
namespace {

constexpr const char* audit_examples = R"(Examples:
  tempera sample '4+7+9?' --model toy_models/worked_sum --auditable --out run
  tempera audit run
  tempera audit response.json --model toy_models/worked_sum --json)";

struct AuditOptions {
  std::string record;
  std::string model;
  std::string device;
  std::size_t threads = 0;  ///< 0: as many as there are
  gpu::AuditLayout layout;
  bool json = false;
};

/// The difference that a digest shows, if the record has one.
std::optional<gpu::AuditDifference> other_model(const gpu::SamplingSettings& settings,
                                                const std::string& path) {
  if (!settings.audit || !settings.audit->model) return std::nullopt;
  const std::string digest = gpu::model_digest(path);
  if (digest == *settings.audit->model) return std::nullopt;
  return gpu::AuditDifference{
      0, "the model",
      "recorded is one of digest " + *settings.audit->model + ", and " + path + " has " + digest};
}

void print(const gpu::AuditFinding& found) {
  if (found.difference)
    std::printf("not equal: %s: %s\n", found.difference->place.c_str(),
                found.difference->what.c_str());
  else
    std::printf("equal: %zu answer%s, every token, decision and line\n", found.answers,
                found.answers == 1 ? "" : "s");
  std::printf("%llu tokens were drawn; %llu computed in %llu passes, %.2f s\n",
              static_cast<unsigned long long>(found.drawn_tokens),
              static_cast<unsigned long long>(found.computed_tokens),
              static_cast<unsigned long long>(found.passes), found.seconds);
}

void print_json(const gpu::AuditFinding& found) {
  nlohmann::ordered_json report{{"equal", !found.difference}};
  if (found.difference)
    report["first"] = {{"place", found.difference->place}, {"what", found.difference->what}};
  else
    report["first"] = nullptr;
  report["answers"] = found.answers;
  report["drawn_tokens"] = found.drawn_tokens;
  report["computed_tokens"] = found.computed_tokens;
  report["passes"] = found.passes;
  report["seconds"] = found.seconds;
  std::cout << report.dump() << '\n';
}

void run_audit(AuditOptions options) {
  const gpu::CurrentDevice here(gpu::require_device(options.device));
  std::optional<gpu::ThreadLimit> limit;
  if (options.threads > 0) limit.emplace(options.threads);
  const gpu::AuditRecord record = gpu::read_audit_record(options.record);
  const gpu::SamplingSettings& settings = record.settings;
  if (settings.foreign)
    throw BadInput(options.record, "is of a model of Python's, " + settings.model,
                   "tempera computes models that it opens itself");
  const std::string path = options.model.empty() ? settings.model_path : options.model;
  gpu::AuditFinding found;
  // Another model may have no arithmetic to choose, so that opening it as the run's would fail.
  found.difference = other_model(settings, gpu::resolve_model(path));
  if (!found.difference) {
    const gpu::OpenedModel model = open_model(path, settings.arithmetic, settings.rope_factors);
    ProgressLine line;
    options.layout.on_pass = [&](std::size_t ended, std::size_t answers) {
      line.show_step(ended, answers, "answers compared");
    };
    found = gpu::audit(model.model(), model.text(), record, options.layout);
    line.clear();
  }
  if (options.json)
    print_json(found);
  else
    print(found);
  if (found.difference) throw CLI::RuntimeError(1);
}

}  // namespace

void add_audit(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "audit",
      "Compute the answers of a run again from its tokens, and compare every token, "
      "decision and number");
  auto options = std::make_shared<AuditOptions>();
  CLI::Option* record =
      command->add_option("RUN", options->record,
                          "Run folder, or a file with a response of the server or its \"audit\"");
  add_text(*command, "--model", options->model, "MODEL",
           "The model (default: at the path that the run names)");
  add_bytes(*command, "--cache-memory", options->layout.session.cache_memory,
            "The most that keys and values may take, such as 8GiB (default: half of the memory "
            "that is free)");
  add_device(*command, options->device);
  const CLI::Option* threads = add_threads(*command, options->threads);
  command->add_flag("--json", options->json,
                    "Print {\"equal\", \"first\": {\"place\", \"what\"} or null, \"answers\", "
                    "\"drawn_tokens\", \"computed_tokens\", \"passes\", \"seconds\"}");
  command->footer(audit_examples);
  command->callback([=] {
    require(*record, "give a run folder, or a file with a response of the server");
    refuse_idle_threads(*threads);
    run_audit(*options);
  });
}

}  // namespace tempera::cli
