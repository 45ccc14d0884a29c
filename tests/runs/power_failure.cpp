// What a power failure leaves of a run folder: what was forced, and of the rest anything or
// nothing.
#include <array>
#include <set>

#include "tests/runs/losing_disk.hpp"
#include "tests/runs/shard_runs.hpp"

namespace tempera::gpu::power_failure_test {
namespace {

using Leaves = LosingDisk::Leaves;

/// Two prompts that are under way at once, so that events wait in files.
SamplingSettings settings_of_runs() {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"b", {2, 3}}, {"a", {4}}};
  settings.terminal = {0};
  settings.samples = 1;
  settings.horizon = 3;
  settings.block = 2;
  settings.rounds = {1};
  return settings;
}

void run_on(Disk& disk, LanguageModel& model, const std::filesystem::path& path,
            double checkpoint_seconds) {
  RunFolder folder = RunFolder::create(path, settings_of_runs().to_json(), disk);
  draw(model, settings_of_runs(), &folder, checkpoint_seconds);
}

void resume_on(Disk& disk, LanguageModel& model, const std::filesystem::path& path) {
  RunFolder folder = RunFolder::open(path, disk);
  const auto settings = SamplingSettings::from_json(folder.config(), path / "config.json");
  draw(model, settings, &folder);
}

struct Whole {
  explicit Whole(const std::filesystem::path& path) : left(path), files(names_of(path)) {}
  static std::set<std::string> names_of(const std::filesystem::path& path) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      names.insert(entry.path().filename());
    return names;
  }
  friend bool operator==(const Whole&, const Whole&) = default;

  Left left;
  std::set<std::string> files;
};

/// Resumes what is left at `path`, or begins anew if nothing is.
void go_on(LanguageModel& model, const std::filesystem::path& path) {
  if (std::filesystem::exists(path / "config.json"))
    resume_on(Disk::real(), model, path);
  else
    run_on(Disk::real(), model, path, 0.0);
}

}  // namespace

TEST_CASE("a disk that loses what was not forced keeps what was, under its forced names") {
  const test::TemporaryFolder work;
  const auto inside = work / "disk";
  std::filesystem::create_directory(inside);
  const auto written = [&](Disk& disk, const std::filesystem::path& file, const char* bytes) {
    const OpenFile open = disk.open_to_append(file);
    disk.append(open, bytes, file);
  };
  const auto forced = [&](Disk& disk, const std::filesystem::path& file) {
    const OpenFile open(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    disk.force(open, file);
  };
  const auto after = [&](Leaves leaves) {
    LosingDisk disk(inside);
    written(disk, inside / "both", "kept");
    forced(disk, inside / "both");
    written(disk, inside / "only its name", "gone");
    forced(disk, inside);
    written(disk, inside / "both", " and gone");
    written(disk, inside / "only its bytes", "kept");
    forced(disk, inside / "only its bytes");
    disk.replace(inside / "replaced", "whole");
    disk.remove(inside / "both");
    disk.lose(leaves);
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(inside)) {
      files[entry.path().filename()] = read_bytes(entry.path());
      std::filesystem::remove(entry);
    }
    return files;
  };
  // replace forces the names of the folder, with all that had one by then.
  using Files = std::map<std::string, std::string>;
  CHECK(after(Leaves::nothing) == Files{{"both", "kept"},
                                        {"only its name", ""},
                                        {"only its bytes", "kept"},
                                        {"replaced", "whole"}});
  CHECK(after(Leaves::bytes) == Files{{"both", "kept"},
                                      {"only its name", "gone"},
                                      {"only its bytes", "kept"},
                                      {"replaced", "whole"}});
  CHECK(after(Leaves::names) ==
        Files{{"only its name", ""}, {"only its bytes", "kept"}, {"replaced", "whole"}});
  CHECK(after(Leaves::everything) ==
        Files{{"only its name", "gone"}, {"only its bytes", "kept"}, {"replaced", "whole"}});
}

TEST_CASE("a run whose power fails at any operation on the disk is resumed to the same bytes") {
  TableModel model = scattered_table(6, 3);
  const test::TemporaryFolder work;
  const auto disks = work / "disk";
  const auto path = disks / "above" / "run";
  const double pace = GENERATE(0.0, 1e-9);
  run_on(Disk::real(), model, work / "whole", pace);
  const Whole whole(work / "whole");
  std::size_t taken_up = 0;
  bool is_over = false;
  for (std::size_t n = 0; !is_over; ++n) {
    constexpr std::array<Leaves, 4> others{Leaves::names, Leaves::some, Leaves::bytes,
                                           Leaves::some};
    for (const Leaves leaves : {Leaves::nothing, others.at(n % 4)}) {
      const auto seed = static_cast<unsigned>(taken_up);
      CAPTURE(pace, n, static_cast<int>(leaves), seed);
      std::filesystem::create_directory(disks);
      LosingDisk disk(disks, n);
      is_over = true;
      try {
        run_on(disk, model, path, pace);
      } catch (const PowerFailed&) {
        is_over = false;
      }
      disk.lose(leaves, seed);
      if (std::filesystem::exists(path / "config.json")) {
        ++taken_up;
        // The power fails once more, while the run is being resumed.
        if (leaves == Leaves::some) {
          LosingDisk again(disks, n / 3);
          try {
            resume_on(again, model, path);
          } catch (const PowerFailed&) {
          }
          again.lose(leaves, seed);
        }
      }
      go_on(model, path);
      REQUIRE(Whole(path) == whole);
      std::filesystem::remove_all(disks);
    }
  }
  CHECK(taken_up > 60);
}

// Before each forward pass the rounds that have ended are on the disk, in a checkpoint at the pace
// 0, and in a checkpoint or the journal at the other.
TEST_CASE("a power failure at any forward pass loses no round that had ended") {
  TableModel model = scattered_table(6, 3);
  const test::TemporaryFolder work;
  const auto disks = work / "disk";
  const auto path = disks / "run";
  const double pace = GENERATE(0.0, 1e-9);
  const SamplingSettings settings = settings_of_runs();
  run_on(Disk::real(), model, work / "whole", pace);
  const Whole whole(work / "whole");
  const std::uint64_t all = nlohmann::json::parse(whole.left.summary)["decode_tokens"];
  std::uint64_t most = 0;
  for (std::size_t pass = 1;; ++pass) {
    CAPTURE(pace, pass);
    const auto ended = ended_before_pass(model, settings, pass);
    if (!ended) break;
    std::filesystem::create_directory(disks);
    LosingDisk disk(disks);
    KilledModel killed(model, pass);
    CHECK_THROWS_AS(run_on(disk, killed, path, pace), Killed);
    disk.lose(Leaves::nothing);
    CHECK(tokens_of_resumed(model, path) == all - ended->tokens);
    most = std::max(most, ended->tokens);
    REQUIRE(Whole(path) == whole);
    std::filesystem::remove_all(disks);
  }
  CHECK(most > all / 2);
}

TEST_CASE("a merge whose power fails leaves the whole folder or none that looks merged") {
  TableModel model = dealt_model();
  const test::TemporaryFolder work;
  SamplingSettings settings = dealt_settings();
  settings.samples = 1;
  settings.prompts.resize(3);
  begin_run(model, settings, work / "whole");
  const auto whole = bytes_in(work / "whole");
  const auto disks = work / "disk";
  draw_shards(model, settings, disks / "run", 2);
  const auto merged = disks / "run/merged";
  bool is_over = false;
  for (std::size_t n = 0; !is_over; ++n) {
    for (const Leaves leaves : {Leaves::nothing, n % 2 == 0 ? Leaves::names : Leaves::some}) {
      CAPTURE(n, static_cast<int>(leaves));
      LosingDisk disk(disks, n);
      is_over = true;
      try {
        merge_shards(disks / "run", merged, {.disk = &disk});
      } catch (const PowerFailed&) {
        is_over = false;
      }
      disk.lose(leaves, static_cast<unsigned>(n));
      if (std::filesystem::exists(merged)) REQUIRE(bytes_in(merged) == whole);
      if (is_over) REQUIRE(std::filesystem::exists(merged));
      std::filesystem::remove_all(merged);
      merge_shards(disks / "run", merged);
      REQUIRE(bytes_in(merged) == whole);
      std::filesystem::remove_all(merged);
    }
  }
}

}  // namespace tempera::gpu::power_failure_test
