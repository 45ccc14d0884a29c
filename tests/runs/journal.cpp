// The journal of a run folder: what is in it after every round, and what is made of one that is
// torn or edited.
#include <algorithm>
#include <cerrno>

#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

/// Two answers to each of three prompts, all under way at once.
SamplingSettings runs_at_once() {
  SamplingSettings settings = small_settings();
  settings.prompts = {{"a", {7, 8, 9}}, {"b", {4}}, {"c", {2, 2}}};
  settings.powers = {1.0, 2.0, 3.0};
  settings.horizon = 8;
  settings.block = 4;
  settings.rounds = {3};
  settings.output = 3;
  settings.samples = 2;
  return settings;
}

std::filesystem::path journal_in(const std::filesystem::path& run) {
  std::filesystem::path journal;
  for (const auto& entry : std::filesystem::directory_iterator(run)) {
    if (!entry.path().filename().string().starts_with("journal-")) continue;
    CHECK(journal.empty());
    journal = entry.path();
  }
  return journal;
}

/// Takes a run up, once and again, until its journal has some lines.
void take_up_until_journal(LanguageModel& model, const std::filesystem::path& path) {
  for (std::size_t passes = 8; passes < 400; passes += 4) {
    KilledModel killed(model, passes);
    RunFolder folder = RunFolder::open(path);
    const auto settings = SamplingSettings::from_json(folder.config(), path / "config.json");
    REQUIRE_THROWS_AS(draw(killed, settings, &folder, 1e9), Killed);
    const auto journal = journal_in(path);
    if (journal.empty()) continue;
    const std::string bytes = read_bytes(journal);
    if (std::count(bytes.begin(), bytes.end(), '\n') > 4) return;
  }
  FAIL("no journal came to have lines");
}

void write_journal(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

// A resumed process draws the tokens of no round that had ended. At the default pace there is not
// even a checkpoint before a run as short as this ends; at 0 there is one after every round.
TEST_CASE("no round that had ended is computed again, at any pace of checkpoints") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  const SamplingSettings settings = runs_at_once();
  begin_run(*model, settings, work / "whole");
  const Left whole(work / "whole");
  const std::uint64_t all = nlohmann::json::parse(whole.summary)["decode_tokens"];
  const double default_pace = JobLayout().checkpoint_seconds;
  std::size_t most_runs = 0;
  for (const double pace : {0.0, default_pace, 1e9}) {
    for (std::size_t pass = 2;; pass += 4) {
      CAPTURE(pace, pass);
      const auto path = work / "run";
      const auto ended = ended_before_pass(*model, settings, pass);
      if (!ended) break;
      KilledModel killed(*model, pass);
      CHECK_THROWS_AS(begin_run(killed, settings, path, pace), Killed);
      if (pace > 1.0) CHECK_FALSE(std::filesystem::exists(path / "checkpoint"));
      CHECK(tokens_of_resumed(*model, path) == all - ended->tokens);
      REQUIRE(Left(path) == whole);
      CHECK(journal_in(path).empty());
      const auto runs = std::count(ended->runs.begin(), ended->runs.end(), true);
      most_runs = std::max(most_runs, static_cast<std::size_t>(runs));
      std::filesystem::remove_all(path);
    }
  }
  CHECK(most_runs > 3);
}

TEST_CASE("a journal that ends anywhere is resumed as far as its whole lines go") {
  const auto model = random_qwen3(small_config(), 4);
  const test::TemporaryFolder work;
  const SamplingSettings settings = runs_at_once();
  begin_run(*model, settings, work / "whole");
  const Left whole(work / "whole");
  KilledModel killed(*model, 20);
  CHECK_THROWS_AS(begin_run(killed, settings, work / "run", 1e9), Killed);
  const std::string name = journal_in(work / "run").filename();
  const std::string bytes = read_bytes(work / "run" / name);
  const std::size_t last_line = bytes.rfind('\n', bytes.size() - 2) + 1;
  const std::uint64_t of_all = tokens_of_resumed(*model, [&] {
    std::filesystem::copy(work / "run", work / "copy");
    return work / "copy";
  }());
  std::uint64_t before = 0;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, bytes.size() / 3, last_line - 1, last_line, last_line + 1,
        last_line + 20, bytes.size() - 1, bytes.size()}) {
    CAPTURE(size, bytes.size());
    const auto path = work / "torn";
    std::filesystem::copy(work / "run", path);
    write_journal(path / name, bytes.substr(0, size));
    { RunFolder::open(path); }
    const std::string left = read_bytes(path / name);
    CHECK(bytes.starts_with(left));
    CHECK((left.empty() || left.back() == '\n'));
    CHECK(left.size() == (size == 0 ? 0 : bytes.substr(0, size).rfind('\n') + 1));
    const std::uint64_t tokens = tokens_of_resumed(*model, path);
    if (size > 0) CHECK(tokens <= before);
    before = tokens;
    REQUIRE(Left(path) == whole);
    std::filesystem::remove_all(path);
  }
  CHECK(before == of_all);
  // A run that is resumed goes on in the same journal: torn again, it loses one more line at most.
  const auto path = work / "again";
  std::filesystem::copy(work / "run", path);
  write_journal(path / name, bytes + "0123456789abcdef {\"pla");
  std::string longer;
  for (std::size_t passes = 100; longer.size() <= bytes.size(); passes += 5) {
    KilledModel killed_again(*model, passes);
    RunFolder folder = RunFolder::open(path);
    REQUIRE_THROWS_AS(draw(killed_again, settings, &folder, 1e9), Killed);
    longer = read_bytes(path / name);
  }
  CHECK(longer.starts_with(bytes));
  write_journal(path / name, longer.substr(0, longer.size() - 1));
  CHECK(tokens_of_resumed(*model, path) < of_all);
  CHECK(Left(path) == whole);
}

TEST_CASE("a journal that was edited is refused, and without it the run goes on from before it") {
  TableModel model = scattered_table(10, 3);
  const test::TemporaryFolder work;
  SamplingSettings settings = runs_at_once();
  settings.prompts = {{"a", {2, 3}}, {"b", {4}}};
  begin_run(model, settings, work / "whole");
  const Left whole(work / "whole");
  const auto run = work / "run";
  const bool has_checkpoint = GENERATE(false, true);
  KilledModel killed(model, 16);
  CHECK_THROWS_AS(begin_run(killed, settings, run, has_checkpoint ? 0.0 : 1e9), Killed);
  CHECK(std::filesystem::exists(run / "checkpoint") == has_checkpoint);
  if (has_checkpoint) take_up_until_journal(model, run);
  const auto journal = journal_in(run);
  const std::string bytes = read_bytes(journal);
  REQUIRE(std::count(bytes.begin(), bytes.end(), '\n') > 3);
  const auto refused = [&](const std::string& edited) {
    write_journal(journal, edited);
    require_bad_input([&] { RunFolder::open(run); },
                      {journal.string() + ", line ", "is not what the run wrote",
                       "remove this file: the run then resumes from its last checkpoint"});
  };
  for (std::size_t at = 0; at + 1 < bytes.size(); ++at) {
    CAPTURE(has_checkpoint, at);
    std::string edited = bytes;
    edited[at] = edited[at] == '7' ? '8' : '7';
    refused(edited);
  }
  refused(bytes + "\n");
  refused(bytes + bytes);
  refused(bytes.substr(bytes.find('\n') + 1));
  write_journal(journal, bytes);
  const std::string config = read_bytes(run / "config.json");
  write_journal(run / "config.json", config + " ");
  require_bad_input([&] { RunFolder::open(run); },
                    {has_checkpoint ? "checkpoint" : "config.json", "; "});
  write_journal(run / "config.json", config);
  if (has_checkpoint) {
    // What an older version leaves: a checkpoint alone.
    std::filesystem::remove(journal);
    resume_run(model, run);
    CHECK(Left(run) == whole);
  }
}

TEST_CASE("a journal that another checkpoint has overtaken is swept away") {
  TableModel model = scattered_table(10, 3);
  const test::TemporaryFolder work;
  begin_run(model, runs_at_once(), work / "whole");
  KilledModel killed(model, 8);
  const auto run = work / "run";
  CHECK_THROWS_AS(begin_run(killed, runs_at_once(), run, 0.0), Killed);
  write_journal(run / "journal-0123456789abcdef", "whatever it says\n");
  resume_run(model, run);
  CHECK(Left(run) == Left(work / "whole"));
  CHECK(journal_in(run).empty());
}

// The file may end in the middle of the line that failed, so that a line after it would be torn.
TEST_CASE(
    "each line of a journal is told by its place, and the first that was edited is refused by it") {
  law("however many lines there are, and in whichever writes", [] {
    const test::TemporaryFolder work;
    std::vector<std::string> lines(*rc::gen::inRange<std::size_t>(1, 9));
    const std::filesystem::path folder = work / "run";
    std::filesystem::create_directory(folder);
    Journal written(folder, Checksum(), Disk::real());
    const std::string path = folder / written.name();
    for (std::size_t i = 0; i < lines.size(); ++i) {
      lines[i] = std::string(*rc::gen::inRange<std::size_t>(0, 40), 'x') + std::to_string(i);
      if (*rc::gen::element(false, true))
        written.append(lines[i]);
      else
        written.gather(lines[i]);
    }
    written.force();
    const auto read = [&] {
      Journal journal(folder, Checksum(), Disk::real());
      journal.read();
      std::vector<std::pair<std::string, std::string>> found;
      journal.for_each([&](std::string_view line, const std::string& where) {
        found.emplace_back(line, where);
      });
      return found;
    };
    const auto found = read();
    RC_ASSERT(found.size() == lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i)
      RC_ASSERT(found[i] == std::pair(lines[i], path + ", line " + std::to_string(i + 1)));
    std::string bytes = read_bytes(path);
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, bytes.size() - 1);
    if (bytes[at] == '\n') return;  // two lines would be one
    const auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<long>(at), '\n');
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    if (bytes[at] == '\n') return;
    write_journal(path, bytes);
    try {
      read();
      RC_FAIL("taken");
    } catch (const BadInput& error) {
      RC_ASSERT(std::string(error.what())
                    .starts_with(path + ", line " + std::to_string(line) + ": is not"));
    }
  });
}

TEST_CASE("a journal takes no line after one that could not be written") {
  struct Filling final : Disk {
    int before(const char*, const std::filesystem::path&) override { return is_full ? ENOSPC : 0; }
    bool is_full = false;
  };
  const test::TemporaryFolder work;
  Filling disk;
  Journal journal(work / "", Checksum(), disk);
  journal.append("one");
  const std::string written = read_bytes(work / journal.name());
  CHECK(std::count(written.begin(), written.end(), '\n') == 1);
  disk.is_full = true;
  require_bad_input([&] { journal.append("two"); }, {journal.name()});
  disk.is_full = false;
  require_bad_input([&] { journal.append("three"); }, {journal.name()});
  require_bad_input([&] { journal.force(); }, {journal.name()});
  CHECK(read_bytes(work / journal.name()) == written);
}

}  // namespace tempera::gpu
