// Fuzzing of the lines of JSON that a run reads: its prompts, and what is in its folder.
#include <map>
#include <sstream>

#include "settings/prompt_file.hpp"
#include "tests/gpu/fuzz.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {

TEST_CASE("every file of prompts is read or refused", "[fuzz]") {
  fuzz("prompts.jsonl",
       {"{\"id\": \"a\", \"prompt\": \"x\\n\"}\n{\"prompt\": \"\\u00e9\", \"id\": \"b\"}\n"},
       [](const std::string& bytes) {
         std::istringstream lines(bytes);
         read_prompts(lines, "prompts.jsonl");
       });
}

namespace {

using Files = std::map<std::string, std::string>;

/// What is after the seals of a checkpoint or of the lines of a journal: the bytes that are
/// parsed. A mutant is sealed again, so that it is not its seal which is refused.
std::string sealed_checkpoint(const std::string& config, const std::string& text) {
  Checksum checksum;
  checksum.update(config);
  checksum.update(text);
  return hexadecimal(checksum) + '\n' + text;
}
std::string without_seal(const std::string& checkpoint) { return checkpoint.substr(17); }

std::string sealed_journal(const std::string& checkpoint, const std::string& text) {
  Checksum checksum(std::stoull(checkpoint.substr(0, 16), nullptr, 16));
  std::istringstream lines(text);
  std::string sealed;
  for (std::string line; std::getline(lines, line);) {
    checksum.update(line);
    sealed += hexadecimal(checksum) + ' ' + line + '\n';
  }
  return sealed;
}
std::string without_seals(const std::string& journal) {
  std::istringstream lines(journal);
  std::string text;
  for (std::string line; std::getline(lines, line);) text += line.substr(17) + '\n';
  return text;
}

/// The files with other bytes in one that the checkpoint seals.
Files with_sealed(Files files, const std::string& name, const std::string& bytes) {
  files[name] = bytes;
  auto checkpoint = nlohmann::json::parse(without_seal(files["checkpoint"]));
  Checksum checksum;
  checksum.update(bytes);
  checkpoint["files"][name] = {{"bytes", bytes.size()}, {"seal", checksum.value()}};
  files["checkpoint"] = sealed_checkpoint(files["config.json"], checkpoint.dump());
  return files;
}

std::string up_to_checkpoint(const Files& files, const std::string& name) {
  const auto checkpoint = nlohmann::json::parse(without_seal(files.at("checkpoint")));
  return files.at(name).substr(0, checkpoint["files"][name]["bytes"].get<std::size_t>());
}

/// A run of three prompts that is resumed again and again from the same files.
class TakenUpRun {
 public:
  TakenUpRun() : model_(scattered_table(6, 3)) {
    SamplingSettings settings = small_settings();
    settings.prompts = {{"a", {4}}, {"b", {2, 3}}, {"c", {1}}};
    settings.options.confidence = true;
    settings.terminal = {0};
    settings.horizon = 6;
    settings.powers = {1.0, 2.0, 3.0};
    begin_run(model_, settings, path());
    finished_ = files();
    // Cut short where answers and a prompt's report have left and others are under way, first after
    // a checkpoint and then with a journal after it.
    for (std::size_t pass = 200; pass > 0 && half_way_.empty(); --pass) cut(settings, pass);
    REQUIRE(!half_way_.empty());
  }

  const Files& half_way() const { return half_way_; }
  const Files& finished() const { return finished_; }
  std::string journal() const {
    for (const auto& [name, bytes] : half_way_)
      if (Journal::is_name(name)) return name;
    return "none";
  }
  /// One of the files in which events wait.
  static std::string waiting(const Files& files) {
    for (const auto& [name, bytes] : files)
      if (name.starts_with("waiting-")) return name;
    return "none";
  }
  /// All that `tempera sample --resume` does with these files.
  void take_up(const Files& files) {
    write(files);
    RunFolder folder = RunFolder::open(path());
    const auto settings = SamplingSettings::from_json(folder.config(), "config.json");
    draw(model_, settings, &folder, 1e9);
  }

 private:
  std::filesystem::path path() const { return folder_ / "run"; }
  void cut(const SamplingSettings& settings, std::size_t pass) {
    std::filesystem::remove_all(path());
    try {
      KilledModel killed(model_, pass);
      begin_run(killed, settings, path());
      return;
    } catch (const Killed&) {
    }
    const Files cut_short = files();
    if (!cut_short.contains("prompt_reports.jsonl") || waiting(cut_short) == "none") return;
    for (std::size_t passes = 1; passes < 200; ++passes) {
      write(cut_short);
      try {
        KilledModel killed(model_, passes);
        RunFolder folder = RunFolder::open(path());
        draw(killed, settings, &folder, 1e9);
        return;
      } catch (const Killed&) {
      }
      half_way_ = files();
      if (journal() != "none" && half_way_.at(journal()).find("\"progress\"") != std::string::npos)
        return;
      half_way_.clear();
    }
  }
  Files files() const {
    Files files;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      files[entry.path().filename()] = read_bytes(entry.path());
    return files;
  }
  void write(const Files& files) const {
    std::filesystem::remove_all(path());
    std::filesystem::create_directory(path());
    for (const auto& [name, bytes] : files) std::ofstream(path() / name, std::ios::binary) << bytes;
  }

  test::TemporaryFolder folder_;
  TableModel model_;
  Files finished_, half_way_;
};

}  // namespace

TEST_CASE("every checkpoint is resumed or refused, its seal being right", "[fuzz]") {
  TakenUpRun run;
  const std::string config = run.half_way().at("config.json");
  // Without the journal, which is that of the checkpoint before its mutation.
  Files files = run.half_way();
  files.erase(run.journal());
  fuzz("checkpoint", {without_seal(files["checkpoint"])}, [&](const std::string& text) {
    files["checkpoint"] = sealed_checkpoint(config, text);
    run.take_up(files);
  });
}

TEST_CASE("every journal is resumed or refused, its seals being right", "[fuzz]") {
  TakenUpRun run;
  Files files = run.half_way();
  const std::string name = run.journal();
  fuzz("journal", {without_seals(files[name])}, [&](const std::string& text) {
    files[name] = sealed_journal(files["checkpoint"], text);
    run.take_up(files);
  });
}

TEST_CASE("every answer and report of a run folder is resumed or refused", "[fuzz]") {
  TakenUpRun run;
  for (const std::string name : {"samples.jsonl", "prompt_reports.jsonl"})
    for (const Files& files : {run.half_way(), run.finished()}) {
      if (name == "prompt_reports.jsonl" && files.contains("summary.json")) continue;  // not read
      const std::string bytes = up_to_checkpoint(files, name);
      REQUIRE(!bytes.empty());
      fuzz(
          name.c_str(), {bytes},
          [&](const std::string& mutated) { run.take_up(with_sealed(files, name, mutated)); }, 0.7);
    }
}

TEST_CASE("every file of a run folder that is not what its seal says is refused", "[fuzz]") {
  TakenUpRun run;
  for (const std::string& name : {std::string("checkpoint"), run.waiting(run.half_way()),
                                  std::string("samples.jsonl"), run.journal()}) {
    Files files = run.half_way();
    fuzz(
        name.c_str(), {files[name]},
        [&](const std::string& bytes) {
          files[name] = bytes;
          run.take_up(files);
        },
        0.3);
  }
}

}  // namespace tempera::gpu
