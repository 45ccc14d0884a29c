#include "settings/named_sampler.hpp"

#include <set>
#include <sstream>

#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu::named_sampler_test {
namespace {

SamplingSettings settings_of(const NamedSampler& named) {
  SamplingSettings settings = small_settings();
  settings.sampler = named.name;
  settings.samples = 2;
  if (named.powers == NamedSampler::Powers::base) settings.powers = {1.0};
  if (named.powers == NamedSampler::Powers::one) settings.powers = {3.0};
  if (named.until_kept) settings.powers = {1.125};  // at 3 no proposal of a random model is kept
  if (named.powers != NamedSampler::Powers::ladder) settings.output = 1;
  if (named.takes_particles) settings.particles = 5;
  if (!named.takes_moves) settings.rounds = settings.local_moves = {0};
  if (!named.takes_swaps) settings.sweeps = {0};
  return settings;
}

bool same_tokens(const std::vector<Answer>& a, const std::vector<Answer>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Answer& x, const Answer& y) { return x.tokens == y.tokens; });
}

/// Where a run's journal says that an answer has been drawn, takes that line and all after it
/// away: the process was killed between the last round and the answer.
bool cut_before_an_end(const std::filesystem::path& path) {
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (!entry.path().filename().string().starts_with("journal-")) continue;
    const std::string bytes = read_bytes(entry.path());
    const std::size_t end = bytes.find("{\"answer\"");
    if (end == std::string::npos) return false;
    std::filesystem::resize_file(entry.path(), bytes.rfind('\n', end) + 1);
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a run of any sampler, killed at any forward pass, is resumed to the same bytes") {
  const auto model = random_qwen3(small_config(), 4);
  const bool cut = GENERATE(false, true);
  std::size_t cut_runs = 0;
  for (const NamedSampler& named : named_samplers()) {
    CAPTURE(std::string(named.name), cut);
    const test::TemporaryFolder work;
    SamplingSettings settings = settings_of(named);
    if (cut) settings.prompts = {{"cut", {5, 6}, 4}, {"whole", {7, 8, 9}}, {"one stage", {2}, 2}};
    const auto answers = begin_run(*model, settings, work / "whole");
    CHECK(same_tokens(draw(*model, settings), answers));
    const Left whole(work / "whole");
    std::size_t killed_runs = 0;
    for (std::size_t pass = 0;; ++pass) {
      const auto path = work / "run";
      KilledModel killed(*model, pass);
      try {
        // Without a checkpoint, with one after every round, in turns.
        begin_run(killed, settings, path, pass % 2 == 0 ? 1e9 : 0.0);
        break;  // it has ended before that pass
      } catch (const Killed&) {
        ++killed_runs;
      }
      if (cut_before_an_end(path)) ++cut_runs;
      REQUIRE(same_tokens(resume_run(*model, path), answers));
      const Left left(path);
      CHECK(left.events == whole.events);
      CHECK(left.samples == whole.samples);
      CHECK(left.summary == whole.summary);
      CHECK(left.prompt_reports == whole.prompt_reports);
      REQUIRE(left == whole);
      std::filesystem::remove_all(path);
    }
    CHECK(killed_runs > 3);
  }
  CHECK(cut_runs > 5);
}

namespace {

/// The lines of a file of a run that are of this prompt.
std::string lines_of(const std::filesystem::path& file, const std::string& id) {
  std::string own;
  std::istringstream lines(read_bytes(file));
  for (std::string line; std::getline(lines, line);)
    if (nlohmann::json::parse(line)["id"] == id) own += line + '\n';
  return own;
}

}  // namespace

// What a prompt's own horizon means: the run of that T, in blocks of the same width, with the
// counts of its stages, whatever is beside it.
TEST_CASE("of any sampler a prompt with a horizon of its own has the records of a run at that") {
  const auto model = random_qwen3(small_config(), 4);
  for (const NamedSampler& named : named_samplers())
    for (const std::size_t own : {2, 3, 4}) {
      CAPTURE(std::string(named.name), own);
      const test::TemporaryFolder work;
      SamplingSettings settings = settings_of(named);
      if (named.takes_moves) settings.rounds = {4, 3};
      settings.prompts = {{"whole", {7, 8, 9}}, {"cut", {5, 6}, own}, {"other", {2}}};
      begin_run(*model, settings, work / "run");
      SamplingSettings alone = settings;
      alone.prompts = {{"cut", {5, 6}}};
      alone.horizon = own;
      if (named.takes_moves && own <= 3) alone.rounds = {4};
      begin_run(*model, alone, work / "cut");
      alone = settings;
      alone.prompts = {{"whole", {7, 8, 9}}};
      begin_run(*model, alone, work / "whole");
      SamplingSettings ahead = settings;
      ahead.options.early_rejection = named.takes_local_moves;
      RunFolder folder = RunFolder::create(work / "ahead", ahead.to_json());
      ahead.options.prefetch = 3;
      Job(*model, ahead, numbers_of, &folder).run();
      for (const char* file : {"events.jsonl", "samples.jsonl", "prompt_reports.jsonl"})
        for (const char* id : {"cut", "whole"}) {
          CAPTURE(file, id);
          const std::string lines = lines_of(work / "run" / file, id);
          CHECK_FALSE(lines.empty());
          CHECK(lines == read_bytes(work / id / file));
          if (file == std::string("samples.jsonl"))
            CHECK(lines == lines_of(work / "ahead" / file, id));
        }
    }
}

TEST_CASE("samplers have names of their own, and another is refused with the nearest") {
  std::set<std::string_view> names;
  for (const NamedSampler& named : named_samplers()) {
    CHECK(names.insert(named.name).second);
    CHECK(&sampler_named(named.name, "here") == &named);
  }
  CHECK(names.size() == 11);
  CHECK(names.count(default_sampler) == 1);
  require_bad_input([] { sampler_named("best-of-nn", "--sampler"); },
                    {"--sampler: there is no sampler \"best-of-nn\"; did you mean best-of-n?"});
}

TEST_CASE(
    "settings go through config.json, and a sampler gets only powers and particles it takes") {
  for (const NamedSampler& named : named_samplers()) {
    CAPTURE(std::string(named.name));
    const SamplingSettings settings = settings_of(named);
    const nlohmann::json config = settings.to_json();
    CHECK(config.contains("sampler") == (named.name != default_sampler));
    CHECK(nlohmann::json(SamplingSettings::from_json(config, "config.json").to_json()) == config);
    CHECK(settings.plan().replicas(Ladder(settings.powers)) ==
          (named.takes_particles ? 5 : settings.powers.size()));
    SamplingSettings wrong = settings;
    wrong.particles = named.takes_particles ? 0 : 3;
    require_bad_input([&] { wrong.plan(); }, {"particles"});
    wrong = settings;
    wrong.powers = {1.0, 2.0};
    if (named.powers != NamedSampler::Powers::ladder)
      require_bad_input([&] { wrong.plan(); }, {"powers", "takes one power"});
    wrong.powers = {2.0};
    if (named.powers == NamedSampler::Powers::base)
      require_bad_input([&] { wrong.plan(); }, {"powers", "has power 1"});
  }
  for (const NamedSampler& named : named_samplers()) {
    CAPTURE(std::string(named.name));
    SamplingSettings restarted = settings_of(named);
    restarted.restart_weights = {4, 0, 1};
    restarted.restart_range = RestartRange::record;
    if (!named.takes_local_moves) {
      require_bad_input([&] { restarted.plan(); }, {"restart weights", std::string(named.name)});
      continue;
    }
    const nlohmann::json written = restarted.to_json();
    CHECK(written["restart_weights"] == nlohmann::json({4, 0, 1}));
    CHECK(written["restart_range"] == "record");
    const auto read = SamplingSettings::from_json(written, "config.json");
    CHECK(nlohmann::json(read.to_json()) == written);
    CHECK(read.plan().restart_weights == std::vector<std::uint64_t>{4, 0, 1});
    CHECK(read.plan().restart_range == RestartRange::record);
  }
  SamplingSettings restarted = small_settings();
  const auto refused = [&](std::vector<std::uint64_t> weights, const std::string& why) {
    restarted.restart_weights = std::move(weights);
    require_bad_input([&] { restarted.plan(); }, {"restart weights", why});
  };
  refused({1, 2, 1, 1}, "are 4 for the 3 positions of the first stage");
  refused({0, 1}, "leave position 1 no weight");
  refused({1, std::uint64_t{1} << 32}, "have one above 4294967295");
  restarted.rounds = {0};
  refused({1, 2}, "without local moves");
  nlohmann::json config = small_settings().to_json();
  CHECK_FALSE(config.contains("restart_weights"));
  CHECK_FALSE(config.contains("restart_range"));
  config["restart_range"] = "prompt";
  require_bad_input([&] { SamplingSettings::from_json(config, "config.json"); },
                    {"config.json", "restart_range"});
  config.erase("restart_range");
  config["sampler"] = "nothing";
  require_bad_input([&] { SamplingSettings::from_json(config, "config.json"); },
                    {"config.json, key \"sampler\"", "\"nothing\""});
}

}  // namespace tempera::gpu::named_sampler_test
