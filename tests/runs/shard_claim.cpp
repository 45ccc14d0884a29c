#include "runs/shard_claim.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "runs/shard_environment.hpp"
#include "tests/runs/shard_runs.hpp"

namespace tempera::gpu {
namespace {

using std::chrono::milliseconds;

const ClaimTimes short_times{milliseconds(20), milliseconds(300)};
/// For an owner that lives: on a busy machine it may not count for a while.
const ClaimTimes patient_times{milliseconds(20), milliseconds(600'000)};

/// What a process of another machine writes into its claim.
void write_claim(const std::filesystem::path& file, std::uint64_t beats, bool has_ended = false) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << nlohmann::json{{"host", "far"}, {"process", 7},   {"system", "another"},
                                        {"start", "1"},  {"beats", beats}, {"has_ended", has_ended}}
                             .dump()
                      << '\n';
}

/// What a claim's file says of this process.
nlohmann::json claim_of_this_process() {
  const test::TemporaryFolder work;
  const ShardClaim claim(work / "run", {1, 1}, {}, patient_times);
  std::ifstream in(work / "run/claims/shard-1-of-1.1");
  return nlohmann::json::parse(in);
}

/// The number of a process that is no more.
int dead_process() {
  const int process = ::fork();
  if (process == 0) ::_exit(0);
  ::waitpid(process, nullptr, 0);
  return process;
}

/// A process of ours whose name looks like the end of a name and a state, and when it began, in the
/// system's unit. If it is to end, it has ended, and its exit code has not been asked for yet.
class OddProcess {
 public:
  explicit OddProcess(bool is_to_end) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    number_ = ::fork();
    if (number_ == 0) {
      ::close(ends[1]);
      ::prctl(PR_SET_NAME, "a) Z 1 (b) S");
      char byte = 0;
      while (::read(ends[0], &byte, 1) > 0) {
      }
      ::_exit(0);
    }
    ::close(ends[0]);
    writer_ = ends[1];
    // The name has at most 15 bytes and the fields after it no bracket: the last one ends it.
    std::ifstream in("/proc/" + std::to_string(number_) + "/stat");
    std::string line;
    std::getline(in, line);
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    for (int i = 3; i <= 22; ++i) fields >> start_;  // the fields' own numbers
    if (!is_to_end) return;
    ::close(std::exchange(writer_, -1));
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(number_), &ended, WEXITED | WNOWAIT);
  }
  ~OddProcess() {
    if (writer_ >= 0) ::close(writer_);
    ::waitpid(number_, nullptr, 0);
  }
  OddProcess(const OddProcess&) = delete;
  OddProcess& operator=(const OddProcess&) = delete;
  nlohmann::json claim() const { return {{"process", number_}, {"start", start_}}; }

 private:
  int number_ = 0;
  int writer_ = -1;
  std::string start_;
};

/// Who has made a claim, and what becomes of whoever wants the shard.
struct Owner {
  const char* name;
  nlohmann::json claim;
  bool counts;   ///< it lives: the newcomer is refused
  bool is_sure;  ///< it has ended: the newcomer need not look for how long it is silent
};

std::vector<Owner> owners() {
  nlohmann::json own = claim_of_this_process();
  own["has_ended"] = false;
  const auto with = [&](nlohmann::json changes) {
    nlohmann::json claim = own;
    claim.update(changes);
    return claim;
  };
  static const OddProcess ended(true);
  static const OddProcess alive(false);
  return {{"ended", with({{"system", "another"}, {"has_ended", true}}), false, true},
          {"ended, and not waited for", with(ended.claim()), false, true},
          {"here and silent, of an odd name", with(alive.claim()), false, false},
          {"dead", with({{"process", dead_process()}, {"start", "1"}}), false, true},
          {"dead, its number another process's", with({{"start", "1"}}), false, true},
          {"far and silent", with({{"system", "another"}}), false, false},
          {"far and counting", with({{"system", "another"}}), true, false},
          {"here and silent", own, false, false},
          {"here and counting", own, true, false}};
}

/// Counts a claim up until it is destroyed. Its file is whole at any moment.
class Counting {
 public:
  Counting(std::filesystem::path file, nlohmann::json claim, bool counts) {
    std::filesystem::create_directories(file.parent_path());
    const auto write = [file, claim = std::make_shared<nlohmann::json>(std::move(claim))] {
      (*claim)["beats"] = (*claim)["beats"].get<int>() + 1;
      std::ofstream(file.string() + "~") << claim->dump() << '\n';
      std::filesystem::rename(file.string() + "~", file);
    };
    write();
    if (counts)
      thread_ = std::jthread([write](const std::stop_token& stop) {
        for (; !stop.stop_requested(); std::this_thread::sleep_for(milliseconds(2))) write();
      });
  }

 private:
  std::jthread thread_;
};

using Variables = std::map<std::string, std::string>;

std::optional<LaunchedShard> launched(const Variables& variables) {
  return launched_shard([&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace

TEST_CASE("a shard is drawn by one process at a time") {
  const test::TemporaryFolder work;
  const Shard shard{2, 3};
  {
    const ShardClaim claim(work / "run", shard, {}, patient_times);
    require_bad_input([&] { ShardClaim(work / "run", shard, {}, patient_times); },
                      {"shard-2-of-3", "is being drawn by process", "end it first"});
    const ShardClaim other(work / "run", {3, 3}, {}, short_times);
  }
  ShardClaim again(work / "run", shard, {}, short_times);
  again.require_held();
}

TEST_CASE("of many who claim a shard at once, one has it") {
  const test::TemporaryFolder work;
  write_claim(work / "run/claims/shard-1-of-1.1", 3, true);
  std::atomic<int> held{0};
  std::atomic<int> refused{0};
  std::vector<std::unique_ptr<ShardClaim>> claims(8);
  std::vector<std::thread> threads;
  for (auto& claim : claims)
    threads.emplace_back([&] {
      try {
        claim = std::make_unique<ShardClaim>(work / "run", Shard{1, 1}, nullptr, patient_times);
        ++held;
      } catch (const BadInput&) {
        ++refused;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(held == 1);
  CHECK(refused == 7);
}

TEST_CASE("another machine's claim is taken over once it shows no life") {
  const test::TemporaryFolder work;
  const Shard shard{1, 2};
  const auto file = work / "run/claims/shard-1-of-2.1";
  std::string heard;
  const auto say = [&](const std::string& text) { heard += text + '\n'; };
  SECTION("its owner has ended") {
    write_claim(file, 9, true);
    ShardClaim(work / "run", shard, say, short_times).require_held();
    CHECK(heard.empty());
  }
  SECTION("its owner is dead") {
    write_claim(file, 9);
    ShardClaim(work / "run", shard, say, short_times).require_held();
    CHECK(heard.find("shard 1/2 is claimed by process 7 on far") == 0);
    CHECK(heard.find("takes shard 1/2 over from process 7 on far") != std::string::npos);
  }
  SECTION("its owner was a process of this machine") {
    std::string line;
    {
      const ShardClaim claim(work / "run", shard, say, short_times);
      std::getline(std::ifstream(file), line);
    }
    auto json = nlohmann::json::parse(line);
    json["start"] = "before this one";
    json["has_ended"] = false;
    std::ofstream(file) << json.dump() << '\n';
    ShardClaim(work / "run", shard, say, {milliseconds(20), std::chrono::hours(1)}).require_held();
    CHECK(heard.empty());
  }
  SECTION("its owner lives") {
    write_claim(file, 1);
    std::atomic<bool> is_over{false};
    std::thread owner([&] {
      for (std::uint64_t beats = 2; !is_over; ++beats) {
        std::this_thread::sleep_for(milliseconds(20));
        write_claim(file, beats);
      }
    });
    require_bad_input([&] { ShardClaim(work / "run", shard, say, patient_times); },
                      {"is being drawn by process 7 on far"});
    is_over = true;
    owner.join();
  }
}

TEST_CASE("an owner that counts just as it is taken over is given the time to see it") {
  const test::TemporaryFolder work;
  const Shard shard{1, 2};
  const auto file = work / "run/claims/shard-1-of-2.1";
  const bool is_alive = GENERATE(true, false);
  write_claim(file, 9);
  std::vector<milliseconds> waits;
  ClaimTimes times{milliseconds(8), milliseconds(50)};
  times.wait = [&](milliseconds time) {
    waits.push_back(time);
    std::this_thread::sleep_for(time);
  };
  // The newcomer has looked for the last time, and makes its claim next.
  const auto say = [&](const std::string& text) {
    if (!text.starts_with("takes ")) return;
    if (is_alive) write_claim(file, 10);
    waits.clear();
  };
  ShardClaim claim(work / "run", shard, say, times);
  CHECK(waits == (is_alive ? std::vector{milliseconds(25)} : std::vector<milliseconds>{}));
  claim.require_held();
}

TEST_CASE("an owner that stood still writes no more once its shard was taken over") {
  const test::TemporaryFolder work;
  const Shard shard{1, 2};
  // It never shows life again: its next beat would come after the test.
  ShardClaim claim(work / "run", shard, {}, {std::chrono::hours(1), milliseconds(40)});
  ClaimedDisk disk(claim);
  disk.replace(work / "before", "");
  // Longer than half of the patience, after which it looks before it writes.
  std::this_thread::sleep_for(milliseconds(30));
  disk.replace(work / "still its own", "");
  write_claim(work / "run/claims/shard-1-of-2.2", 1);
  std::this_thread::sleep_for(milliseconds(30));
  CHECK_THROWS_AS(disk.replace(work / "after", ""), ClaimLost);
  CHECK_FALSE(std::filesystem::exists(work / "after"));
  try {
    claim.require_held();
  } catch (const ClaimLost& lost) {
    CHECK(std::string(lost.what()).find("was taken over by process 7 on far") != std::string::npos);
  }
}

TEST_CASE("of two claims the last decides, whoever made the one before it") {
  const Shard shard{1, 2};
  for (const Owner& first : owners())
    for (const Owner& last : owners()) {
      INFO("first " << first.name << ", last " << last.name);
      const test::TemporaryFolder work;
      const std::filesystem::path claims = work / "run/claims";
      const Counting one(claims / "shard-1-of-2.1", first.claim, first.counts);
      const Counting two(claims / "shard-1-of-2.2", last.claim, last.counts);
      std::string said;
      const auto claim = [&] {
        // Whoever counts may be kept waiting by a busy machine; whoever is silent is not waited
        // for.
        return std::make_unique<ShardClaim>(
            work / "run", shard, [&](const std::string& text) { said += text + "\n"; },
            last.counts ? patient_times : ClaimTimes{milliseconds(16), milliseconds(60)});
      };
      if (last.counts) {
        require_bad_input(claim, {"shard-1-of-2", "is being drawn by process"});
        CHECK_FALSE(std::filesystem::exists(claims / "shard-1-of-2.3"));
        continue;
      }
      const auto taken = claim();
      CHECK(std::filesystem::exists(claims / "shard-1-of-2.3"));
      taken->require_held();
      // The first is not watched at all, and the last only if nobody knows what has become of it.
      CHECK(said.empty() == last.is_sure);
    }
}

TEST_CASE("a sign of life that takes long to write counts from its beginning") {
  const test::TemporaryFolder work;
  // The next sign comes so late that it takes no part, also if this thread has no core for a while.
  const ClaimTimes times{milliseconds(1500), milliseconds(600)};
  const auto file = work / "run/claims/shard-1-of-2.1";
  ShardClaim claim(work / "run", {1, 2}, {}, times);
  // Whoever opens a leased file to write it waits until the lease is given back, which the system
  // asks for by this signal.
  static std::atomic<bool> is_waited_for;
  is_waited_for = false;
  const auto before = std::signal(SIGIO, [](int) { is_waited_for = true; });
  const OpenFile leased(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(600);
  while (::fcntl(leased.descriptor(), F_SETLEASE, F_RDLCK) != 0) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::yield();  // the owner is writing just now
  }
  while (!is_waited_for) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(milliseconds(1));
  }
  std::this_thread::sleep_for(times.patience / 2 + milliseconds(50));
  const std::uint64_t beats = ShardClaim::look(work / "run", {1, 2}).beats;
  ::fcntl(leased.descriptor(), F_SETLEASE, F_UNLCK);
  while (ShardClaim::look(work / "run", {1, 2}).beats <= beats) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::yield();
  }
  // The sign has been seen, and its writer has looked for a next claim for the last time.
  write_claim(work / "run/claims/shard-1-of-2.2", 1);
  CHECK_THROWS_AS(claim.require_held(), ClaimLost);
  std::signal(SIGIO, before);
}

TEST_CASE("an owner that stood still learns of it from its own next sign of life") {
  const test::TemporaryFolder work;
  // It counts again before it writes again, and need not look for long after that.
  ShardClaim claim(work / "run", {1, 2}, {}, {milliseconds(5), std::chrono::hours(1)});
  write_claim(work / "run/claims/shard-1-of-2.2", 1);
  const auto is_held = [&] {
    try {
      claim.require_held();
      return true;
    } catch (const ClaimLost&) {
      return false;
    }
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(600);
  while (is_held() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(milliseconds(5));
  CHECK_FALSE(is_held());
}

TEST_CASE("an owner that stood still tells a file that its successor removed from a lost one") {
  TableModel model = dealt_model();
  const test::TemporaryFolder work;
  const SamplingSettings settings = dealt_settings();
  const Shard shard{1, 2};
  const auto config = config_of_shard(settings, shard);
  const auto waiting = work / "run/shard-1-of-2/waiting-0.jsonl";
  const bool is_taken_over = GENERATE(true, false);
  ShardFolder folder(work / "run", shard, {}, {std::chrono::hours(1), std::chrono::hours(2)});
  JobWatcher watcher;
  watcher.stop = [&] {
    if (std::filesystem::remove(waiting) && is_taken_over)
      write_claim(work / "run/claims/shard-1-of-2.2", 1);
    return false;
  };
  const auto draw = [&] {
    ListedRuns deal(dealt_runs(settings, shard.number, shard.of));
    Job job(model, settings, numbers_of, &folder.open(config), watcher, {.checkpoint_seconds = 0.0},
            &deal);
    folder.while_held([&] { job.run(); });
  };
  if (is_taken_over)
    CHECK_THROWS_AS(draw(), ClaimLost);
  else
    require_bad_input(draw, {"waiting-0.jsonl", "cannot be read"});
}

TEST_CASE("launchers say which shard a process is") {
  CHECK_FALSE(launched({}));
  const auto is = [](const std::optional<LaunchedShard>& found, const Shard& shard, bool ranks) {
    return found && found->shard == shard && found->are_ranks == ranks;
  };
  CHECK(is(launched({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), {3, 4}, true));
  CHECK(is(launched({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}}), {1, 4}, true));
  CHECK(is(launched({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}), {2, 2},
           true));
  // A batch script is no step, whatever its job could run.
  CHECK_FALSE(launched({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}));
  const Variables array{{"SLURM_ARRAY_TASK_ID", "7"},
                        {"SLURM_ARRAY_TASK_COUNT", "4"},
                        {"SLURM_ARRAY_TASK_MIN", "3"},
                        {"SLURM_ARRAY_TASK_STEP", "2"}};
  CHECK(is(launched(array), {3, 4}, false));
  CHECK(launched(array)->said.find("SLURM_ARRAY_TASK_ID=7") == 0);
  // One alone is no shard.
  CHECK_FALSE(launched({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}));
  CHECK_FALSE(launched({{"SLURM_ARRAY_TASK_ID", "7"}, {"SLURM_ARRAY_TASK_COUNT", "1"}}));

  // Each launcher's variables beside those of every later one: the earlier decides, also where it
  // has started a single rank.
  const std::vector<std::pair<std::string, std::string>> launchers{
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
      {"SLURM_PROCID", "SLURM_NTASKS"}};
  for (std::size_t first = 0; first < launchers.size(); ++first)
    for (std::size_t later = first + 1; later < launchers.size(); ++later)
      for (const std::size_t ranks : {1U, 2U, 3U}) {
        Variables variables{{"SLURM_STEP_ID", "0"}};
        variables[launchers[later].first] = "0";
        variables[launchers[later].second] = "4";
        variables[launchers[first].first] = std::to_string(ranks - 1);
        variables[launchers[first].second] = std::to_string(ranks);
        CAPTURE(launchers[first].second, launchers[later].second, ranks);
        if (ranks == 1)
          CHECK_FALSE(launched(variables));
        else
          CHECK(is(launched(variables), {ranks, ranks}, true));
        // A launcher that sets one of its two variables says nothing.
        variables.erase(launchers[first].second);
        if (launchers[first].first != launchers[later].first)
          CHECK(is(launched(variables), {1, 4}, true));
      }

  // As many ranks as there may be shards, and one more; arrays likewise, which begin at 0 if they
  // do not say where, and count by 1 if they do not say by what.
  for (const bool is_too_many : {false, true}) {
    const std::string of = std::to_string(most_shards + (is_too_many ? 1 : 0));
    const Variables ranks{{"PMI_RANK", "5"}, {"PMI_SIZE", of}};
    const Variables tasks{{"SLURM_ARRAY_TASK_ID", "5"}, {"SLURM_ARRAY_TASK_COUNT", of}};
    if (is_too_many) {
      require_bad_input([&] { launched(ranks); }, {"PMI_RANK", "is 5 of 65537"});
      require_bad_input([&] { launched(tasks); }, {"SLURM_ARRAY_TASK_ID", "is 5 in an array"});
    } else {
      CHECK(is(launched(ranks), {6, most_shards}, true));
      CHECK(is(launched(tasks), {6, most_shards}, false));
    }
  }

  const auto with = [](Variables variables, const std::string& name, const std::string& value) {
    variables[name] = value;
    return variables;
  };
  require_bad_input([&] { launched(with(array, "SLURM_ARRAY_TASK_ID", "4")); },
                    {"SLURM_ARRAY_TASK_ID", "has gaps", "--shard I/N"});
  require_bad_input([&] { launched(with(array, "SLURM_ARRAY_TASK_ID", "99")); }, {"has gaps"});
  require_bad_input([&] { launched(with(array, "SLURM_ARRAY_TASK_COUNT", "x")); },
                    {"SLURM_ARRAY_TASK_COUNT", "is not a whole number"});
  require_bad_input(
      [&] {
        launched(with(with(array, "OMPI_COMM_WORLD_RANK", "0"), "OMPI_COMM_WORLD_SIZE", "2"));
      },
      {"whose tasks have ranks"});
  require_bad_input(
      [&] {
        launched({{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}});
      },
      {"PMI_RANK", "is 4 of 4"});
}

TEST_CASE("a shard's text and folder name are read strictly") {
  CHECK(read_shard("3/8", "--shard") == Shard{3, 8});
  CHECK(read_shard("1/1", "--shard") == Shard{1, 1});
  const std::string last = std::to_string(most_shards);
  CHECK(read_shard(last + "/" + last, "--shard") == Shard{most_shards, most_shards});
  for (const char* text :
       {"", "3", "0/8", "9/8", "03/8", "3/8 ", "-1/8", "3/65537", "a/b", "3/8/9"})
    require_bad_input([&] { read_shard(text, "--shard"); }, {"--shard", "I/N"});
  CHECK(shard_of_folder("shard-3-of-8") == Shard{3, 8});
  CHECK_FALSE(shard_of_folder("shard-9-of-8"));
  CHECK_FALSE(shard_of_folder("shard-1-of-2.bak"));
  CHECK_FALSE(shard_of_folder("merged"));
}

TEST_CASE("rank 0 waits for all shards, but not for one that was left") {
  TableModel model = dealt_model();
  const test::TemporaryFolder work;
  const SamplingSettings settings = dealt_settings();
  const auto run = work / "run";
  const auto never = [] { return false; };
  draw_shards(model, settings, run, 2);
  CHECK(wait_for_shards(run, 2, milliseconds(100), never));
  std::filesystem::remove(run / "shard-2-of-2/summary.json");
  require_bad_input([&] { wait_for_shards(run, 2, milliseconds(100), never); },
                    {"shard-2-of-2", "was left unfinished", "--shard 2/2"});
  CHECK_FALSE(wait_for_shards(run, 2, milliseconds(100), [] { return true; }));
}

}  // namespace tempera::gpu
