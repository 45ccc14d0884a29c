#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "tests/law.hpp"
#include "tests/runs/shard_runs.hpp"

namespace tempera::gpu {
namespace {

/// A run that was killed while it made the merged folder.
class KilledDisk final : public Disk {
 public:
  explicit KilledDisk(std::size_t operations) : left_(operations) {}
  bool has_killed() const { return has_killed_; }

 protected:
  int before(const char* /*operation*/, const std::filesystem::path& /*file*/) override {
    if (has_killed_) throw Killed{};  // what unwinds does nothing more
    has_killed_ = left_-- == 0;
    if (has_killed_) throw Killed{};
    return 0;
  }

 private:
  std::size_t left_;
  bool has_killed_ = false;
};

/// A disk that is full after so many operations.
class FullDisk final : public Disk {
 public:
  explicit FullDisk(std::size_t operations) : left_(operations) {}
  std::size_t left() const { return left_; }

 protected:
  int before(const char* operation, const std::filesystem::path& /*file*/) override {
    if (std::string_view(operation) == "removed") return 0;
    return left_ == 0 ? ENOSPC : (--left_, 0);
  }

 private:
  std::size_t left_;
};

void check_merged(const std::filesystem::path& run, const std::filesystem::path& whole) {
  merge_shards(run, run / "merged");
  CHECK(bytes_in(run / "merged") == bytes_in(whole));
}

}  // namespace

TEST_CASE("merged shards are the folder of a single run, byte for byte") {
  TableModel model = dealt_model();
  const test::TemporaryFolder work;
  SamplingSettings settings = dealt_settings();
  if (GENERATE(false, true)) {
    settings.prompts = {{std::nullopt, {7, 8, 9}}};
    settings.samples = 9;
  }
  begin_run(model, settings, work / "whole");
  // More shards than answers leave some without any.
  for (const std::size_t shards : {1U, 2U, 3U, 20U}) {
    const auto run = work / ("run" + std::to_string(shards));
    draw_shards(model, settings, run, shards);
    CAPTURE(shards);
    const MergedRun merged = merge_shards(run, run / "merged");
    CHECK(merged.shards == shards);
    CHECK(merged.answers == settings.prompts.size() * settings.samples);
    CHECK_FALSE(merged.was_there);
    CHECK(bytes_in(run / "merged") == bytes_in(work / "whole"));
    CHECK(merge_shards(run, run / "merged").was_there);

    RunSpeed sum;
    for (std::size_t number = 1; number <= shards; ++number)
      sum.add(RunFolder::open(run / Shard{number, shards}.folder_name()).speed());
    const RunSpeed speed = RunFolder::open(run / "merged").speed();
    CHECK(speed.processes == shards);
    CHECK(speed.totals.decode_tokens == sum.totals.decode_tokens);
    CHECK(speed.seconds == sum.seconds);
    // The merged folder is a run's: its answers are given out again.
    CHECK(resume_run(model, run / "merged").size() == merged.answers);
  }
}

TEST_CASE("shards that are killed anywhere merge to the same bytes") {
  TableModel model = dealt_model();
  const test::TemporaryFolder work;
  const SamplingSettings settings = dealt_settings();
  begin_run(model, settings, work / "whole");
  const std::size_t passes = GENERATE(0U, 1U, 3U, 9U);
  const auto run = work / "run";
  const Shard first{1, 2};
  KilledModel killed(model, passes);
  CHECK_THROWS_AS(draw_shard(killed, settings, run, first), Killed);
  draw_shard(model, settings, run, first);
  draw_shard(model, settings, run, {2, 2});
  check_merged(run, work / "whole");
}

TEST_CASE("the deal gives every place to one shard, and hangs on costs and their number alone") {
  law("it is a partition, and no two shards differ by more than the dearest place", [] {
    const auto whole_costs =
        *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(1U, 1000U));
    const std::vector<double> costs(whole_costs.begin(), whole_costs.end());
    const auto shards = *rc::gen::inRange<std::size_t>(1, 12);
    const std::vector<std::size_t> shard_of = deal_by_cost(costs, shards);
    RC_ASSERT(shard_of.size() == costs.size());
    std::vector<double> loads(shards);
    for (std::size_t run_index = 0; run_index < costs.size(); ++run_index)
      loads.at(shard_of[run_index]) += costs[run_index];
    const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
    const double dearest = costs.empty() ? 0.0 : *std::max_element(costs.begin(), costs.end());
    RC_ASSERT(*most - *least <= dearest);
  });
  // Equal costs go round.
  CHECK(deal_by_cost(std::vector<double>(7, 2.5), 3) ==
        std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0});
  // By hand: 9 to the first, 5 and then 4 to the second, and 1 to the first that has least.
  CHECK(deal_by_cost(std::vector<double>{1, 5, 4, 9}, 2) == std::vector<std::size_t>{0, 1, 1, 0});
}

TEST_CASE("expected tokens are those that a run draws which never ends early") {
  // There are two rungs: 3 + 2 rounds of one move of 2 in the mean, 2 + one of 3; and the prompt's.
  const SamplingSettings settings = small_settings();
  CHECK(expected_tokens(settings.plan(), 2, 3, 3) == 2 * (3 + 2 * 2.0 + 2 + 3.0) + 1.0);
  // A table without a terminal token draws as many, and no others.
  TableModel model(11, [](std::span<const TokenId>) { return std::vector<float>(11, 0.0F); });
  SamplingSettings endless = settings;
  endless.terminal = {};
  endless.samples = 2000;
  const test::TemporaryFolder work;
  std::uint64_t tokens = 0;
  {
    Job sampling(model, endless, numbers_of);
    sampling.run();
    tokens = sampling.summary()["decode_tokens"];
  }
  // Of 6 moves each is uniform on 3 or 5 lengths: its variance is below 2, the sum's mean's
  // standard error below sqrt(12 / 2000) < 0.08; 5 of these.
  const double mean = static_cast<double>(tokens) / 2000.0;
  CHECK(std::abs(mean - expected_tokens(endless.plan(), 2, 0, 1)) < 0.4);
}

TEST_CASE("a deal that depends on more than costs and number is caught by the merge") {
  TableModel model = dealt_model();
  const test::TemporaryFolder work;
  const SamplingSettings settings = dealt_settings();
  const auto run = work / "run";
  draw_shard(model, settings, run, {1, 2});
  // Planted: the second host counts itself first.
  ListedRuns wrong(dealt_runs(settings, 1, 2));
  draw_shard(model, settings, run, {2, 2}, wrong, config_of_shard(settings, {2, 2}));
  require_bad_input([&] { merge_shards(run, run / "merged"); },
                    {"parts.jsonl, line 1", "another shard holds too", "draw the shard again"});
  std::filesystem::remove_all(run / "shard-2-of-2");
  ListedRuns none(std::vector<std::size_t>{});
  draw_shard(model, settings, run, {2, 2}, none, config_of_shard(settings, {2, 2}));
  require_bad_input([&] { merge_shards(run, run / "merged"); }, {"no shard holds sample"});
  CHECK_FALSE(std::filesystem::exists(run / "merged"));
}

TEST_CASE(
    "a damaged file of a shard is a shard to draw again, and one of a run a run to start again") {
  for (const char* file :
       {"run/shard-1-of-2/parts.jsonl", "shard-10-of-12/checkpoint",
        "/a/run/shard-2-of-2/journal-0, line 3", "./shard-1-of-2/config.json, shard"})
    CHECK(std::string(remedy_for(file)).find("draw the shard again") != std::string::npos);
  for (const char* file : {"run/merged/events.jsonl", "events.jsonl, line 3", "shard-1-of-2",
                           "/shard-1-of-2/run/checkpoint", "shard-3-of-2/checkpoint"})
    CHECK(remedy_for(file) == std::string(start_elsewhere));
}

TEST_CASE("a shard that forgot an event, or was edited, is not merged") {
  TableModel model = dealt_model();
  const test::TemporaryFolder work;
  const SamplingSettings settings = dealt_settings();
  const auto run = work / "run";
  draw_shard(model, settings, run, {1, 2});
  const auto second = run / "shard-2-of-2";
  SECTION("an event that no part counts") {
    {
      RunFolder folder = RunFolder::create(second, config_of_shard(settings, {2, 2}));
      ListedRuns deal(dealt_runs(settings, 2, 2));
      folder.append_event("{}");
      Job(model, settings, numbers_of, &folder, {}, {}, &deal).run();
    }
    require_bad_input([&] { merge_shards(run, run / "merged"); },
                      {"does not count the bytes", "draw the shard again"});
  }
  SECTION("an event that was taken out") {
    draw_shard(model, settings, run, {2, 2});
    std::string events = read_bytes(second / "events.jsonl");
    std::ofstream(second / "events.jsonl") << events.substr(events.find('\n') + 1);
    require_bad_input([&] { merge_shards(run, run / "merged"); },
                      {"shard-2-of-2/events.jsonl: is shorter than its checkpoint says",
                       "remove the folder, and draw the shard again"});
  }
  SECTION("what an owner wrote that had stopped before its write, and lost the shard meanwhile") {
    draw_shard(model, settings, run, {2, 2});
    draw_shard(model, settings, work / "alone", {2, 2});
    std::ofstream(second / "samples.jsonl", std::ios::app) << "{}\n";
    require_bad_input([&] { merge_shards(run, run / "merged"); },
                      {"shard-2-of-2/samples.jsonl: is not what the run wrote",
                       "remove the folder, and draw the shard again"});
    CHECK_FALSE(std::filesystem::exists(run / "merged"));
    std::filesystem::remove_all(second);
    draw_shard(model, settings, run, {2, 2});
    CHECK(bytes_in(second) == bytes_in(work / "alone/shard-2-of-2"));
    merge_shards(run, run / "merged");
    std::filesystem::remove_all(run / "merged");
  }
  SECTION("a part that was edited") {
    draw_shard(model, settings, run, {2, 2});
    std::string parts = read_bytes(second / "parts.jsonl");
    char& digit = parts[parts.find("\"place\":") + 8];
    digit = digit == '9' ? '8' : '9';
    std::ofstream(second / "parts.jsonl") << parts;
    require_bad_input([&] { merge_shards(run, run / "merged"); }, {"shard-2-of-2/parts.jsonl"});
  }
  CHECK_FALSE(std::filesystem::exists(run / "merged"));
}

TEST_CASE("what does not belong together is refused, and what is missing is named") {
  TableModel model = dealt_model();
  const test::TemporaryFolder work;
  const SamplingSettings settings = dealt_settings();
  const auto run = work / "run";
  const auto merge = [&] { merge_shards(run, run / "merged"); };
  std::filesystem::create_directories(run);
  require_bad_input(merge, {"holds no shard", "--shard I/N"});
  draw_shard(model, settings, run, {1, 3});
  require_bad_input(merge, {"shard 2 is missing, shard 3 is missing",
                            "tempera sample --resume " + run.string() + " --shard 2/3"});
  // Another number of shards is refused before anything is drawn.
  require_bad_input(
      [&] {
        draw_shard(model, settings, run, {2, 4});
      },
      {"was dealt to 3 shards, and not to 4"});
  // So are other settings, versions and models, by what has begun.
  SamplingSettings other = settings;
  other.seed = 32;
  require_bad_input(
      [&] {
        draw_shard(model, other, run, {2, 3});
      },
      {"key \"seed\" is 32, but 31 in", "shard-1-of-3/config.json"});
  SamplingSettings first_changed = settings;
  first_changed.prompts.front().tokens.push_back(3);
  require_bad_input(
      [&] {
        draw_shard(model, first_changed, run, {2, 3});
      },
      {"key \"prompts\" differs from that of", "shard-1-of-3/config.json (entry 1 is the first"});
  other = settings;
  other.prompts[1] = {"another", {7}};
  require_bad_input(
      [&] {
        draw_shard(model, other, run, {2, 3});
      },
      {"(entry 2 is the first that does)", "draw all shards of a run by one command"});
  other = settings;
  other.seed = 32;
  const auto refuses = [&](const nlohmann::ordered_json& config, const std::string& what) {
    ListedRuns deal(dealt_runs(settings, 2, 3));
    require_bad_input([&] { draw_shard(model, settings, run, {2, 3}, deal, config); }, {what});
  };
  refuses(config_of_shard(settings, {2, 3}, "2"), "key \"version\" is 2, but 1");
  refuses(config_of_shard(settings, {2, 3}, "1", "another"), "is of another model");
  CHECK_FALSE(std::filesystem::exists(run / "shard-2-of-3"));
  // The model may be elsewhere on another machine.
  SamplingSettings elsewhere = settings;
  elsewhere.model_path = "/elsewhere";
  draw_shard(model, elsewhere, run, {2, 3});
  KilledModel killed(model, 4);
  CHECK_THROWS_AS(draw_shard(killed, settings, run, {3, 3}), Killed);
  require_bad_input(merge, {"shard 3 is not finished", "--shard 3/3"});
  draw_shard(model, settings, run, {3, 3});
  merge();

  // By hand: shards from other folders, where nothing could be compared before.
  std::filesystem::rename(run / "merged", work / "kept");
  std::filesystem::rename(run / "shard-2-of-3", work / "away");
  std::filesystem::copy(run / "shard-1-of-3", run / "shard-2-of-3");
  require_bad_input(merge, {"shard-2-of-3/config.json", "is not that of shard-2-of-3"});
  std::filesystem::remove_all(run / "shard-2-of-3");
  const auto another = work / "another";
  draw_shard(model, other, another, {2, 3});
  std::filesystem::copy(another / "shard-2-of-3", run / "shard-2-of-3");
  require_bad_input(merge, {"shard-2-of-3/config.json", "key \"seed\" is 32, but 31"});
  std::filesystem::remove_all(run / "shard-2-of-3");
  std::filesystem::rename(work / "away", run / "shard-2-of-3");
  std::filesystem::copy(another / "shard-2-of-3", run / "shard-2-of-4");
  require_bad_input(merge, {"holds shards of 3 and of 4"});
  std::filesystem::remove_all(run / "shard-2-of-4");
  merge();
  CHECK(bytes_in(run / "merged") == bytes_in(work / "kept"));
  require_bad_input([&] { merge_shards(run, another / "shard-2-of-3"); },
                    {"exists already, and is another run's"});
  // An empty folder is as good as none, and one that holds something else is left alone.
  std::filesystem::create_directories(work / "empty");
  CHECK_FALSE(merge_shards(run, work / "empty").was_there);
  CHECK(bytes_in(work / "empty") == bytes_in(work / "kept"));
  std::filesystem::create_directories(work / "full");
  std::ofstream(work / "full/letter") << "x";
  require_bad_input([&] { merge_shards(run, work / "full"); },
                    {"exists already, and is not a run's", "choose another folder"});
  // Another version may count or write otherwise than the one that drew the shards.
  MergeOptions by_another;
  by_another.version = "2";
  require_bad_input([&] { merge_shards(run, work / "by another", by_another); },
                    {"shard-1-of-3/config.json", "was drawn by version 1, and this is 2",
                     "merge with the program that drew the shards"});
  by_another.version = "1";
  merge_shards(run, work / "by the same", by_another);
}

TEST_CASE("shards of another number that begin at once see each other") {
  const test::TemporaryFolder work;
  const auto run = work / "run";
  const Shard shard{1, 3};
  ShardFolder folder(run, shard);
  // The other one has made its folder, and nothing in it yet.
  std::filesystem::create_directories(run / "shard-1-of-2");
  require_bad_input([&] { folder.open(config_of_shard(dealt_settings(), shard)); },
                    {"was dealt to 2 shards, and not to 3"});
  CHECK_FALSE(std::filesystem::exists(run / "shard-1-of-3" / "config.json"));
}

TEST_CASE("of two merges at once the first gives the folder, and no other leaves anything") {
  // The second may end, or fail: what the first is making is the first's, and stays.
  const bool does_end = GENERATE(true, false);
  CAPTURE(does_end);
  TableModel model = dealt_model();
  const test::TemporaryFolder work;
  const SamplingSettings settings = dealt_settings();
  begin_run(model, settings, work / "whole");
  const auto run = work / "run";
  draw_shards(model, settings, run, 2);
  int began[2], go_on[2];
  REQUIRE(::pipe(began) == 0);
  REQUIRE(::pipe(go_on) == 0);
  char byte = 'x';
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 1;
    try {
      merge_shards(run, work / "merged", {.share_done = [&](double) {
                     if (::write(began[1], &byte, 1) == 1) ::close(began[1]);
                     if (::read(go_on[0], &byte, 1) == 1) ::close(go_on[0]);
                   }});
      code = 0;
    } catch (const BadInput&) {
      code = 2;
    } catch (...) {
    }
    ::_exit(code);
  }
  REQUIRE(child > 0);
  REQUIRE(::read(began[0], &byte, 1) == 1);
  std::string fault;
  MergeOptions second;
  if (!does_end)
    second.share_done = [](double) { throw BadInput("the second", "fails", "try again"); };
  try {
    merge_shards(run, work / "merged", second);
  } catch (const BadInput& error) {
    fault = error.what();
  }
  CHECK(fault == (does_end ? "" : "the second: fails; try again"));
  CHECK(::write(go_on[1], &byte, 1) == 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == (does_end ? 2 << 8 : 0));  // its name may be taken, which it says
  for (const int end : {began[0], began[1], go_on[0], go_on[1]}) ::close(end);
  CHECK(bytes_in(work / "merged") == bytes_in(work / "whole"));
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(work / "run" / ".."))
    names.insert(entry.path().filename());
  CHECK(names == std::set<std::string>{"merged", "run", "whole"});
}

TEST_CASE("a merge that is killed, or finds the disk full, leaves nothing that looks merged") {
  TableModel model = dealt_model();
  const test::TemporaryFolder work;
  SamplingSettings settings = dealt_settings();
  settings.samples = 1;
  begin_run(model, settings, work / "whole");
  const auto run = work / "run";
  draw_shards(model, settings, run, 2);
  const auto merged = run / "merged";
  std::size_t operations = 0;
  for (bool is_over = false; !is_over; ++operations) {
    KilledDisk disk(operations);
    try {
      merge_shards(run, merged, {.disk = &disk});
    } catch (const Killed&) {
    }
    is_over = !disk.has_killed();
    if (std::filesystem::exists(merged)) CHECK(bytes_in(merged) == bytes_in(work / "whole"));
    if (!is_over && std::filesystem::exists(merged)) std::filesystem::remove_all(merged);
  }
  CHECK(operations > 20);
  CHECK(bytes_in(merged) == bytes_in(work / "whole"));
  std::filesystem::remove_all(merged);
  constexpr std::size_t many = 1'000'000;
  FullDisk roomy(many);
  merge_shards(run, merged, {.disk = &roomy});
  const std::size_t needed = many - roomy.left();
  std::filesystem::remove_all(merged);
  // The last operation forces what is merged already to the disk.
  for (std::size_t full = 0; full + 1 < needed; full += 3) {
    FullDisk disk(full);
    require_bad_input([&] { merge_shards(run, merged, {.disk = &disk}); },
                      {"No space left on device", "disk's space"});
    CHECK_FALSE(std::filesystem::exists(merged));
  }
  // What killed merges left is removed, and what full disks left is not there.
  merge_shards(run, merged);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(run))
    names.insert(entry.path().filename());
  CHECK(names == std::set<std::string>{"claims", "merged", "shard-1-of-2", "shard-2-of-2"});
}

}  // namespace tempera::gpu
