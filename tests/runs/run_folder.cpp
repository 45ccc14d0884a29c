#include "runs/run_folder.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "base/error.hpp"
#include "runs/background_worker.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string file(const std::filesystem::path& path) { return path.string(); }

}  // namespace

TEST_CASE("a run folder is made with its config and never overwritten") {
  const test::TemporaryFolder work;
  {
    const RunFolder folder = RunFolder::create(work / "run", ordered_json{{"seed", 1}});
    CHECK(folder.config() == json{{"seed", 1}});
    CHECK_FALSE(folder.checkpoint());
    CHECK_FALSE(folder.finished());
  }
  require_bad_input([&] { RunFolder::create(work / "run", {}); },
                    {file(work / "run") + ": exists already", "--resume"});
  CHECK(RunFolder::open(work / "run").config() == json{{"seed", 1}});
  std::ofstream(work / "file") << "mine";
  require_bad_input([&] { RunFolder::create(work / "file", {}); }, {"exists already"});
  CHECK(read_bytes(work / "file") == "mine");
}

/// Another process begins a run in the folder, just before this one has its lock, and ends.
class RivalDisk final : public Disk {
  int before(const char* operation, const std::filesystem::path& file) override {
    if (operation == std::string("opened") && !std::exchange(has_begun_, true))
      RunFolder::create(file.parent_path(), ordered_json{{"seed", 1}});
    return 0;
  }
  bool has_begun_ = false;
};

TEST_CASE("of two that begin in one folder at once the second is refused") {
  const test::TemporaryFolder work;
  RivalDisk disk;
  require_bad_input(
      [&] {
        RunFolder::create(work / "run", ordered_json{{"seed", 2}}, disk);
      },
      {file(work / "run") + ": exists already", "--resume"});
  CHECK(RunFolder::open(work / "run").config() == json{{"seed", 1}});
}

TEST_CASE("a folder may be named with a slash after it, and inside folders still to be made") {
  const test::TemporaryFolder work;
  RunFolder::create(file(work / "slash") + "/", ordered_json{{"seed", 2}});
  CHECK(RunFolder::open(work / "slash").config() == json{{"seed", 2}});
  RunFolder::create(work / "a" / "b", ordered_json{{"seed", 3}});
  CHECK(RunFolder::open(work / "a" / "b").config() == json{{"seed", 3}});
}

TEST_CASE("an empty folder is taken, and what is in one that is not is not swept away") {
  const test::TemporaryFolder work;
  std::filesystem::create_directory(work / "run");
  std::ofstream(work / "run" / "thesis.txt") << "mine";
  require_bad_input([&] { RunFolder::create(work / "run", {}); },
                    {file(work / "run") + ": exists already"});
  CHECK(read_bytes(work / "run" / "thesis.txt") == "mine");
  CHECK_FALSE(std::filesystem::exists(work / "run" / "events.jsonl"));
  std::filesystem::remove(work / "run" / "thesis.txt");
  SECTION("empty") {}
  SECTION("what a process leaves that was killed while it made the folder") {
    std::ofstream(work / "run" / "events.jsonl") << "";
    std::ofstream(work / "run" / "config.json.new") << "{";
  }
  RunFolder::create(work / "run", ordered_json{{"seed", 4}});
  CHECK(RunFolder::open(work / "run").config() == json{{"seed", 4}});
}

TEST_CASE("a folder that has lost any of its files is not begun anew, and the others stay") {
  // Every set but the smallest is more than create, killed halfway, can leave.
  const std::vector<std::string> names{"config.json",  "config.json.new", "checkpoint",
                                       "events.jsonl", "samples.jsonl",   "speed.json",
                                       "summary.json", "parts.jsonl",     "waiting-0.jsonl"};
  for (std::size_t set = 1; set < std::size_t{1} << names.size(); ++set) {
    const test::TemporaryFolder work;
    const auto run = work / "run";
    std::filesystem::create_directory(run);
    bool may_begin = true;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (((set >> i) & 1U) == 0) continue;
      std::ofstream(run / names[i]) << "kept\n";
      may_begin = may_begin && names[i] == "config.json.new";
    }
    CAPTURE(set);
    if (may_begin) {
      CHECK_NOTHROW(RunFolder::create(run, ordered_json{{"seed", 4}}));
      continue;
    }
    require_bad_input(
        [&] {
          RunFolder::create(run, ordered_json{{"seed", 4}});
        },
        {file(run) + ": exists already"});
    for (std::size_t i = 0; i < names.size(); ++i)
      if (((set >> i) & 1U) != 0) CHECK(read_bytes(run / names[i]) == "kept\n");
  }
}

TEST_CASE("a name that the system does not take is refused in a line") {
  const test::TemporaryFolder work;
  const std::string long_name(300, 'a');
  require_bad_input([&] { RunFolder::create(work / long_name, {}); }, {"File name too long"});
  require_bad_input([&] { RunFolder::open(work / long_name); }, {"File name too long"});
  RunFolder::create(work / "run", {});
  for (const char* name : {"checkpoint", "samples.jsonl"}) {
    CAPTURE(name);
    std::filesystem::remove(work / "run" / name);
    std::filesystem::create_directory(work / "run" / name);
    require_bad_input([&] { RunFolder::open(work / "run"); }, {file(work / "run" / name)});
    std::filesystem::remove(work / "run" / name);
  }
}

TEST_CASE("one process at a time holds a run folder, and any number a finished one") {
  const test::TemporaryFolder work;
  const std::string busy = "another process is at work in this folder";
  {
    RunFolder folder = RunFolder::create(work / "run", {});
    folder.append_event("one");
    require_bad_input([&] { RunFolder::open(work / "run"); }, {file(work / "run"), busy});
    require_bad_input([&] { RunFolder::create(work / "run", {}); }, {"exists already"});
    CHECK(read_bytes(work / "run" / "events.jsonl") == "one\n");
    folder.save_checkpoint(json{{"at", 1}});
  }
  {
    RunFolder folder = RunFolder::open(work / "run");
    require_bad_input([&] { RunFolder::open(work / "run"); }, {busy});
    folder.append_event("two");
    folder.finish(ordered_json{{"n", 2}});
    require_bad_input([&] { RunFolder::open(work / "run"); }, {busy});
  }
  const RunFolder one = RunFolder::open(work / "run");
  const RunFolder two = RunFolder::open(work / "run");
  CHECK(one.summary() == two.summary());
}

TEST_CASE("a finished run is read without a change to the disk") {
  struct ReadOnly final : Disk {
    int before(const char*, const std::filesystem::path&) override { return EROFS; }
  } disk;
  const test::TemporaryFolder work;
  {
    RunFolder folder = RunFolder::create(work / "run", ordered_json{{"seed", 1}});
    folder.append_sample("first");
    folder.save_checkpoint(json{{"at", 1}});
  }
  require_bad_input([&] { RunFolder::open(work / "run", disk); }, {"Read-only file system"});
  RunFolder::open(work / "run").finish(ordered_json{{"n", 1}});
  const RunFolder folder = RunFolder::open(work / "run", disk);
  CHECK(folder.finished());
  CHECK(folder.summary() == ordered_json{{"n", 1}});
  std::vector<std::string> samples;
  folder.for_each_sample([&](const std::string& line) { samples.push_back(line); });
  CHECK(samples == std::vector<std::string>{"first"});
}

TEST_CASE("events wait in the file of their sample until its turn comes") {
  const test::TemporaryFolder work;
  const auto waiting = work / "run" / "waiting-1.jsonl";
  {
    RunFolder folder = RunFolder::create(work / "run", {});
    folder.buffer_events(1, "one a\n");
    folder.save_checkpoint(json{{"at", 1}});
    folder.buffer_events(1, "cut\n");
    folder.buffer_events(2, "stray\n");
    folder.flush_events(0, "zero\n");
  }
  RunFolder folder = RunFolder::open(work / "run");
  CHECK(read_bytes(waiting) == "one a\n");
  CHECK_FALSE(std::filesystem::exists(work / "run" / "waiting-2.jsonl"));
  folder.buffer_events(1, "one b\n");
  folder.flush_events(0, "zero\n");
  folder.flush_events(1, "one c\n");
  CHECK(read_bytes(work / "run" / "events.jsonl") == "zero\none a\none b\none c\n");
  // A process killed here still needs it.
  CHECK(std::filesystem::exists(waiting));
  folder.save_checkpoint(json{{"at", 2}});
  CHECK_FALSE(std::filesystem::exists(waiting));
}

TEST_CASE("what has been written cannot be edited unseen") {
  const test::TemporaryFolder work;
  const auto run = work / "run";
  const bool finished = GENERATE(false, true);
  {
    RunFolder folder = RunFolder::create(run, ordered_json{{"seed", 1}});
    folder.append_event("one");
    folder.append_sample("first");
    folder.append_prompt_report("report");
    folder.buffer_events(4, "four");
    folder.save_checkpoint(json{{"at", 1}});
    if (finished) {
      folder.flush_events(4, "");
      folder.finish(ordered_json{{"n", 1}});
    }
  }
  std::vector<std::string> names{"config.json", "events.jsonl", "samples.jsonl",
                                 "prompt_reports.jsonl", "checkpoint"};
  names.push_back(finished ? "summary.json" : "waiting-4.jsonl");
  for (const std::string& name : names) {
    const std::string bytes = read_bytes(run / name);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      CAPTURE(finished, name, at);
      std::string edited = bytes;
      edited[at] = edited[at] == '7' ? '8' : '7';
      std::ofstream(run / name, std::ios::binary) << edited;
      CHECK_THROWS_AS(RunFolder::open(run), BadInput);
      std::ofstream(run / name, std::ios::binary) << bytes.substr(0, at);
      CHECK_THROWS_AS(RunFolder::open(run), BadInput);
    }
    if (finished) {
      std::ofstream(run / name, std::ios::binary) << bytes << "more\n";
      CHECK_THROWS_AS(RunFolder::open(run), BadInput);
    }
    if (name.ends_with(".jsonl")) {
      std::filesystem::remove(run / name);
      CHECK_THROWS_AS(RunFolder::open(run), BadInput);
    }
    std::ofstream(run / name, std::ios::binary) << bytes;
  }
  CHECK_NOTHROW(RunFolder::open(run));
}

TEST_CASE("a folder that cannot be made is refused and leaves nothing") {
  const test::TemporaryFolder work;
  std::ofstream(work / "file") << "mine";
  require_bad_input([&] { RunFolder::create(work / "file" / "run", {}); }, {"cannot be made"});
}

TEST_CASE("what was appended after the last checkpoint is cut off") {
  const test::TemporaryFolder work;
  {
    RunFolder folder = RunFolder::create(work / "run", {});
    folder.append_event("one");
    folder.append_sample("first");
    folder.save_checkpoint(json{{"at", 1}});
    folder.append_event("two");
    folder.append_sample("second");
    folder.append_prompt_report("of no checkpoint");
  }
  CHECK(read_bytes(work / "run" / "events.jsonl") == "one\ntwo\n");
  RunFolder folder = RunFolder::open(work / "run");
  CHECK_FALSE(std::filesystem::exists(work / "run" / "prompt_reports.jsonl"));
  CHECK(folder.checkpoint()->at("at") == 1);
  CHECK(read_bytes(work / "run" / "events.jsonl") == "one\n");
  CHECK(read_bytes(work / "run" / "samples.jsonl") == "first\n");
  folder.append_event("three");
  folder.save_checkpoint(json{{"at", 2}});
  folder.finish(ordered_json{{"n", 2}});
  CHECK(folder.finished());
  CHECK(read_bytes(work / "run" / "events.jsonl") == "one\nthree\n");
  CHECK(json::parse(read_bytes(work / "run" / "summary.json")) == json{{"n", 2}});
}

TEST_CASE("a folder that was never checkpointed begins again") {
  const test::TemporaryFolder work;
  {
    RunFolder folder = RunFolder::create(work / "run", {});
    folder.append_event("one");
  }
  std::filesystem::remove(work / "run" / "samples.jsonl");
  RunFolder::open(work / "run");
  CHECK(read_bytes(work / "run" / "events.jsonl").empty());
}

TEST_CASE("an empty folder is not a run to go on with, and its refusal says how to begin one") {
  const test::TemporaryFolder work;
  std::filesystem::create_directories(work / "empty");
  CHECK_THROWS_WITH(RunFolder::open(work / "empty"),
                    Catch::Contains("is empty") && Catch::Contains("--out"));
}

TEST_CASE("a damaged speed.json costs the speed of earlier processes and nothing else") {
  const test::TemporaryFolder work;
  const auto path = work / "run";
  RunFolder::create(path, {{"a", 1}}).finish({{"done", true}});
  for (const char* damage : {"", "{", "{}", "[1]", "{\"seconds\": -1}"}) {
    CAPTURE(damage);
    std::ofstream(path / "speed.json") << damage;
    const RunFolder folder = RunFolder::open(path);
    CHECK(folder.summary()["done"] == true);
    std::string said;
    CHECK(folder.speed_or_none([&](const std::string& what) { said = what; }).processes == 0);
    CHECK_THAT(said, Catch::Contains("speed.json"));
    CHECK(folder.speed_or_none().processes == 0);
  }
}

TEST_CASE("a damaged run folder is refused, the file named") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  KilledModel killed(*model, 12);
  CHECK_THROWS_AS(begin_run(killed, small_settings(), work / "run"), Killed);
  const auto run = work / "run";
  const std::string checkpoint = read_bytes(run / "checkpoint");
  const std::string events = read_bytes(run / "waiting-0.jsonl");
  const std::string config = read_bytes(run / "config.json");
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(run / name, std::ios::binary | std::ios::trunc) << bytes;
  };
  const auto refuse = [&](const std::string& name) {
    require_bad_input([&] { resume_run(*model, run); }, {file(run / name) + ": ", "; "});
  };

  SECTION("the checkpoint, cut anywhere") {
    for (std::size_t size = 0; size < checkpoint.size(); size += 97) {
      write("checkpoint", checkpoint.substr(0, size));
      refuse("checkpoint");
    }
    write("checkpoint", checkpoint.substr(0, checkpoint.size() - 1));
    refuse("checkpoint");
  }
  SECTION("the checkpoint, one byte changed anywhere") {
    for (std::size_t at = 0; at < checkpoint.size(); at += 41) {
      std::string garbled = checkpoint;
      garbled[at] = garbled[at] == '7' ? '8' : '7';
      write("checkpoint", garbled);
      refuse("checkpoint");
    }
  }
  SECTION("the checkpoint, something else") {
    for (const char* text : {"", "{}", "null", "[]", "7", "\xFF\xFE", "{\"front\": -1}"}) {
      write("checkpoint", text);
      refuse("checkpoint");
    }
  }
  SECTION("the config, something else or away") {
    std::filesystem::rename(run / "checkpoint", run / "away");
    for (const char* text : {"", "{", "{}", "null", "[]"}) {
      write("config.json", text);
      require_bad_input([&] { resume_run(*model, run); }, {file(run / "config.json")});
    }
    std::filesystem::rename(run / "away", run / "checkpoint");
    // Sound in itself, but not the settings that the checkpoint was made with.
    auto other = small_settings();
    other.powers = {1.0, 2.0};
    write("config.json", other.to_json().dump(1) + "\n");
    refuse("checkpoint");
    std::filesystem::remove(run / "config.json");
    require_bad_input([&] { RunFolder::open(run); }, {file(run), "no config.json"});
  }
  SECTION("the events, shorter than the checkpoint says or away") {
    REQUIRE_FALSE(events.empty());
    write("waiting-0.jsonl", events.substr(0, events.size() / 2));
    refuse("waiting-0.jsonl");
    std::filesystem::remove(run / "waiting-0.jsonl");
    refuse("waiting-0.jsonl");
    write("waiting-0.jsonl", events);
    std::filesystem::remove(run / "events.jsonl");
    refuse("events.jsonl");
  }
  SECTION("nothing: the same folder goes on") { CHECK_NOTHROW(resume_run(*model, run)); }
  SECTION("no folder at all") {
    require_bad_input([&] { RunFolder::open(work / "nowhere"); }, {"is not a run folder"});
    require_bad_input([&] { RunFolder::open(run / "config.json"); }, {"is not a run folder"});
  }
}

TEST_CASE("what is written in the background is written in order, and whole at the end") {
  std::vector<int> written;
  BackgroundWorker writer;
  for (int i = 0; i < 1000; ++i) writer.add([&written, i] { written.push_back(i); });
  writer.finish();
  REQUIRE(written.size() == 1000);
  for (int i = 0; i < 1000; ++i) CHECK(written[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("a write that fails in the background is told, and is the last") {
  std::atomic<int> written{0};
  BackgroundWorker writer;
  writer.add([&] { ++written; });
  writer.add([] { throw std::runtime_error("the disk is full"); });
  CHECK_THROWS_AS(
      [&] {
        for (int i = 0; i < 100; ++i) writer.add([&] { ++written; });
        writer.finish();
      }(),
      std::runtime_error);
  CHECK_THROWS_AS(writer.finish(), std::runtime_error);
  CHECK(written == 1);
}

TEST_CASE("what waits to be written in the background is dropped with its writer") {
  std::atomic<int> written{0};
  std::atomic<bool> has_begun{false};
  std::atomic<bool> may_end{false};
  {
    // The work under way ends once what waits is dropped.
    std::shared_ptr<void> waiting(nullptr, [&](void*) { may_end = true; });
    BackgroundWorker writer;
    writer.add([&] {
      has_begun = true;
      while (!may_end) std::this_thread::yield();
    });
    while (!has_begun) std::this_thread::yield();
    for (std::size_t i = 0; i < BackgroundWorker::most_waiting; ++i)
      writer.add([&, waiting] { ++written; });
    waiting.reset();
  }
  CHECK(written == 0);
}

}  // namespace tempera::gpu
