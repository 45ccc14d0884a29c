// A run with several prompts and samples that is cut off, or fails, at every single operation on
// the disk, and is resumed.
#include <algorithm>
#include <cerrno>
#include <iomanip>
#include <set>
#include <sstream>

#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

/// A disk whose n-th operation, and all after it, are not done: the process was killed there. A
/// write that it falls on leaves half a line.
class CutDisk final : public Disk {
 public:
  explicit CutDisk(std::size_t operations) : left_(operations) {}

 protected:
  int before(const char* operation, const std::filesystem::path& file) override {
    if (left_ > 0) {
      --left_;
      return 0;
    }
    if (!cut_ && std::string(operation) == "written")
      std::ofstream(file, std::ios::binary | std::ios::app) << "{\"torn";
    cut_ = true;
    throw Killed{};
  }

 private:
  std::size_t left_;
  bool cut_ = false;
};

/// A disk whose n-th operation fails.
class FailingDisk final : public Disk {
 public:
  explicit FailingDisk(std::size_t operations) : left_(operations) {}

 protected:
  int before(const char*, const std::filesystem::path&) override {
    return left_-- == 0 ? ENOSPC : 0;
  }

 private:
  std::size_t left_;
};

/// Counts the operations, and the bytes of the files that are put in their place.
class CountingDisk final : public Disk {
 public:
  std::size_t operations = 0;
  std::uint64_t replaced = 0;

 protected:
  int before(const char* operation, const std::filesystem::path& file) override {
    ++operations;
    if (std::string(operation) == "put in its place")
      replaced += std::filesystem::file_size(file.string() + ".new");
    return 0;
  }
};

SamplingSettings several() {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"b", {2, 3}}, {"a", {4}}};
  settings.terminal = {0};
  settings.samples = 2;
  settings.horizon = 3;
  settings.block = 2;
  settings.rounds = {1};
  return settings;
}

void run_on(Disk& disk, LanguageModel& model, const std::filesystem::path& path,
            const SamplingSettings& settings) {
  RunFolder folder = RunFolder::create(path, settings.to_json(), disk);
  draw(model, settings, &folder);
}

void resume_on(Disk& disk, LanguageModel& model, const std::filesystem::path& path) {
  RunFolder folder = RunFolder::open(path, disk);
  const auto settings = SamplingSettings::from_json(folder.config(), path / "config.json");
  draw(model, settings, &folder);
}

std::set<std::string> names_of(const std::filesystem::path& path) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    names.insert(entry.path().filename());
  return names;
}

}  // namespace

TEST_CASE("a run cut off at any operation on the disk is resumed to the same bytes", "[long]") {
  TableModel model = scattered_table(6, 3);
  const test::TemporaryFolder work;
  CountingDisk counting;
  run_on(counting, model, work / "whole", several());
  const Left whole(work / "whole");
  CHECK(counting.operations > 60);
  for (std::size_t n = 0; n < counting.operations; ++n) {
    CAPTURE(n);
    CutDisk disk(n);
    const auto path = work / "run";
    CHECK_THROWS_AS(run_on(disk, model, path, several()), Killed);
    if (!std::filesystem::exists(path / "config.json")) {
      // Killed before there was a run: the same folder is taken by the next one.
      // A lock or half a config.json is nothing that a run needs: such a folder counts as empty.
      const bool is_empty = std::filesystem::exists(path);
      require_bad_input([&] { RunFolder::open(path); },
                        {is_empty ? "no run has begun in it" : "is not a run folder"});
      run_on(Disk::real(), model, path, several());
    } else {
      // Once more, in the middle of being resumed.
      CutDisk again(n / 3);
      try {
        resume_on(again, model, path);
      } catch (const Killed&) {
      }
      resume_on(Disk::real(), model, path);
    }
    REQUIRE(Left(path) == whole);
    REQUIRE(names_of(path) == names_of(work / "whole"));
    std::filesystem::remove_all(path);
  }
}

TEST_CASE("a failed operation on the disk is one line, and spoils nothing") {
  TableModel model = scattered_table(6, 3);
  const test::TemporaryFolder work;
  CountingDisk counting;
  run_on(counting, model, work / "whole", several());
  const Left whole(work / "whole");
  for (std::size_t n = 0; n < counting.operations; ++n) {
    CAPTURE(n);
    FailingDisk disk(n);
    const auto path = work / "run";
    require_bad_input([&] { run_on(disk, model, path, several()); },
                      {path.parent_path().string(), "(No space left on device)"});
    if (std::filesystem::exists(path / "config.json"))
      resume_on(Disk::real(), model, path);
    else
      run_on(Disk::real(), model, path, several());
    REQUIRE(Left(path) == whole);
    REQUIRE(names_of(path) == names_of(work / "whole"));
    std::filesystem::remove_all(path);
  }
}

namespace {

/// More than a batch of runs: prompts end while others are to begin.
SamplingSettings many() {
  SamplingSettings settings = several();
  for (const char* id : {"c", "d", "e", "f"}) settings.prompts.push_back({id, {2}});
  settings.samples = 40;
  return settings;
}

}  // namespace

TEST_CASE("what was counted of prompts that have ended is written once, in a file of its own") {
  TableModel model = scattered_table(6, 3);
  const test::TemporaryFolder work;
  const SamplingSettings settings = many();
  begin_run(model, settings, work / "whole");
  const Left whole(work / "whole");
  const auto path = work / "run";
  KilledModel killed(model, 25);
  CHECK_THROWS_AS(begin_run(killed, settings, path), Killed);
  const std::string written = read_bytes(path / "prompt_reports.jsonl");
  const auto lines = std::count(written.begin(), written.end(), '\n');
  CHECK(lines > 0);
  CHECK(lines < 6);
  CHECK(whole.prompt_reports.starts_with(written));
  CHECK(read_bytes(path / "checkpoint").find("hit_capacity") == std::string::npos);
  // A file that lost its last line, part of it or all, or is another run's, is refused.
  const auto refused = [&] {
    require_bad_input([&] { resume_run(model, path); }, {"prompt_reports.jsonl"});
  };
  std::filesystem::remove(path / "prompt_reports.jsonl");
  refused();
  for (const std::string& bytes :
       {written.substr(0, written.size() - 1), written.substr(0, written.size() / 2), std::string(),
        std::string(written.size(), 'x')}) {
    std::ofstream(path / "prompt_reports.jsonl", std::ios::binary) << bytes;
    refused();
  }
  // What was appended after the checkpoint is cut off.
  std::ofstream(path / "prompt_reports.jsonl", std::ios::binary) << written << "{\"torn";
  resume_run(model, path);
  CHECK(Left(path) == whole);
  nlohmann::json reports;
  std::istringstream in(whole.prompt_reports);
  for (std::string line; std::getline(in, line);) reports.push_back(nlohmann::json::parse(line));
  CHECK(nlohmann::json::parse(whole.summary)["prompts"] == reports);
}

TEST_CASE("a checkpoint that holds them, as older versions wrote it, is resumed") {
  TableModel model = scattered_table(6, 3);
  const test::TemporaryFolder work;
  const SamplingSettings settings = many();
  begin_run(model, settings, work / "whole");
  const auto path = work / "run";
  KilledModel killed(model, 25);
  CHECK_THROWS_AS(begin_run(killed, settings, path), Killed);
  {
    RunFolder folder = RunFolder::open(path);
    auto reports = nlohmann::ordered_json::array();
    folder.for_each_prompt_report(
        [&](const std::string& line) { reports.push_back(nlohmann::ordered_json::parse(line)); });
    REQUIRE(!reports.empty());
    // It is as if its file had never been: a folder whose checkpoint knows of none.
    nlohmann::json state = *folder.checkpoint();
    state["prompts"] = reports.dump();
    const std::string config = read_bytes(path / "config.json");
    nlohmann::json checkpoint = nlohmann::json::parse(
        read_bytes(path / "checkpoint").substr(17));  // after the seal and its line's end
    checkpoint["state"] = state;
    checkpoint["files"].erase("prompt_reports.jsonl");
    const std::string text = checkpoint.dump();
    Checksum checksum;
    checksum.update(config);
    checksum.update(text);
    std::ostringstream line;
    line << std::hex << std::setfill('0') << std::setw(16) << checksum.value() << '\n';
    std::ofstream(path / "checkpoint", std::ios::binary) << line.str() << text;
  }
  resume_run(model, path);
  CHECK(Left(path) == Left(work / "whole"));
}

// Each of n samples is checkpointed while it is under way, and 64 are at a time: the bytes grow
// with n times 64 samples. Were finished samples written again they would grow with n squared.
TEST_CASE("what is finished is not written again") {
  TableModel model = scattered_table(6, 3);
  const test::TemporaryFolder work;
  const auto replaced = [&](std::size_t samples) {
    CountingDisk disk;
    SamplingSettings settings = several();
    settings.samples = samples;
    run_on(disk, model, work / std::to_string(samples), settings);
    return static_cast<double>(disk.replaced);
  };
  const double few = replaced(40);
  CHECK(replaced(160) < 8.0 * few);
}

}  // namespace tempera::gpu
