#include "runs/merge.hpp"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/command.hpp"
#include "cli/commands/sample_shard.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "cli/terminal/version.hpp"

namespace tempera::cli {
namespace {

constexpr const char* merge_examples = R"(Examples:
  tempera sample --prompts questions.jsonl --model Qwen3-0.6B --out run --shard 1/2
  tempera sample --prompts questions.jsonl --model Qwen3-0.6B --out run --shard 2/2
  tempera merge run
  tempera plot run/merged)";

struct MergeOptions {
  std::string run;
  std::string out;
  bool json = false;
};

void run_merge(const MergeOptions& options) {
  std::filesystem::path run = options.run;
  if (!run.has_filename()) run = run.parent_path();
  const std::filesystem::path out = options.out.empty() ? merged_folder(run) : options.out.c_str();
  ProgressLine line;
  gpu::MergeOptions how;
  how.version = version_of_bits();
  how.share_done = [&](double done) { line.show({done, 0, 0.0, 0.0}, "merging: "); };
  const gpu::MergedRun merged = gpu::merge_shards(run, out, how);
  line.clear();
  if (options.json)
    std::cout << nlohmann::ordered_json{{"folder", merged.folder.string()},
                                        {"shards", merged.shards},
                                        {"prompts", merged.prompts},
                                        {"answers", merged.answers},
                                        {"was_there", merged.was_there}}
                     .dump()
              << '\n';
  else
    std::cout << merged.answers << " answers to " << merged.prompts << " prompts, of "
              << merged.shards << " shards, " << (merged.was_there ? "were already in " : "are in ")
              << merged.folder.string() << '\n';
}

}  // namespace

void add_merge(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "merge",
      "Make one run folder of the shards of a run: the bytes that a single run would have made");
  auto options = std::make_shared<MergeOptions>();
  CLI::Option* run = command->add_option("RUN", options->run,
                                         "Folder that tempera sample --shard I/N --out RUN filled");
  add_text(*command, "--out", options->out, "FOLDER",
           "Run folder to make (default: RUN/merged); it is there whole or not at all");
  command->add_flag("--json", options->json, "Print what was merged as JSON");
  command->footer(merge_examples);
  command->callback([=] {
    require(*run, "give the folder of the shards, that of sample --out");
    run_merge(*options);
  });
}

}  // namespace tempera::cli
