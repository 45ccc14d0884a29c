// An audit: equal where nothing was changed, and a change found, and named, wherever it is.
#include "runs/audit/audit.hpp"

#include <fstream>

#include "runs/packed_tokens.hpp"
#include "tests/gpu/session/sampling_runs.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::audit_test {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

SamplingSettings auditable(const std::string& sampler) {
  SamplingSettings settings = small_settings();
  settings.sampler = sampler;
  settings.options.auditable = true;
  settings.audit = SamplingSettings::Audit{};
  settings.samples = 2;
  const NamedSampler& named = sampler_named(sampler, "test");
  if (named.powers == NamedSampler::Powers::base) settings.powers = {1.0};
  if (named.powers == NamedSampler::Powers::one) settings.powers = {1.5};
  if (!named.takes_moves) settings.rounds = settings.local_moves = settings.sweeps = {0};
  if (!named.takes_swaps) settings.sweeps = {0};
  if (!named.takes_output) settings.output = settings.powers.size();
  if (named.takes_particles) settings.particles = 3;
  return settings;
}

std::vector<std::string> all_samplers() {
  std::vector<std::string> names;
  for (const NamedSampler& sampler : named_samplers()) names.emplace_back(sampler.name);
  return names;
}

AuditRecord record_of(LanguageModel& model, const SamplingSettings& settings,
                      const std::filesystem::path& path) {
  begin_run(model, settings, path);
  return read_audit_record(path);
}

/// Nothing if all is equal.
std::optional<AuditDifference> found(LanguageModel& model, const AuditRecord& record) {
  return audit(model, numbers_of, record).difference;
}

/// A value that is another one.
ordered_json changed(const std::string& key, const ordered_json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_float())
    return std::nextafter(value.get<double>(), std::numeric_limits<double>::infinity());
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() + 1;
  if (value.is_array()) {
    ordered_json other = value;
    if (other.empty()) return ordered_json::array({1});
    other.back() = changed(key, other.back());
    return other;
  }
  if (key == "drawn") {
    std::vector<TokenId> tokens = unpacked_tokens(value.get<std::string>(), "test");
    tokens.back() ^= 1U;
    return packed_tokens(tokens);
  }
  return value.get<std::string>() + "x";
}

/// Changes every value of every line, one after the other, and looks whether the audit sees it.
void check_each_value(LanguageModel& model, AuditRecord& record, std::vector<std::string>& lines) {
  for (std::string& line : lines) {
    const std::string whole = line;
    const ordered_json object = ordered_json::parse(whole);
    for (const auto& [key, value] : object.items()) {
      ordered_json other = object;
      other[key] = changed(key, value);
      line = other.dump();
      CAPTURE(whole, line);
      CHECK(found(model, record).has_value());
      other.erase(key);
      line = other.dump();
      CAPTURE(line);
      CHECK(found(model, record).has_value());
      line = whole;
    }
  }
}

/// Its logits are those of another model in one of all tokens.
class OneWeightChanged final : public ForwardingModel {
 public:
  using ForwardingModel::ForwardingModel;
  void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override {
    model().next_logits(passes, rows);
    std::vector<float> logits = rows.download(0, passes.size() * vocabulary_size());
    for (std::size_t row = 0; row < passes.size(); ++row)
      logits[row * vocabulary_size() + 5] += 0x1p-18F;
    rows.upload(logits);
  }
  std::unique_ptr<FusedDraw> fused_draw(RowLottery&, Lottery&) override { return nullptr; }
};

}  // namespace

TEST_CASE("tokens packed as text come back, and no other text is taken") {
  law("packed tokens", [] {
    const auto tokens = *rc::gen::container<std::vector<TokenId>>(
        rc::gen::oneOf(rc::gen::inRange<TokenId>(0, 200), rc::gen::arbitrary<TokenId>()));
    const std::string text = packed_tokens(tokens);
    RC_ASSERT(unpacked_tokens(text, "test") == tokens);
    RC_ASSERT(text.size() <= (tokens.size() * 5 * 8 + 5) / 6);
  });
  CHECK(packed_tokens(std::vector<TokenId>{1, 127, 128}) == "AX-AAQ");  // 01 7f 80 01
  for (const char* wrong : {"A", "AX-", "AX+A", "AR", "gICAgICAgAA", "gAA"})
    CHECK_THROWS_AS(unpacked_tokens(wrong, "test"), BadInput);
}

TEST_CASE("an audit finds every sampler's run equal, on a model with caches") {
  const auto model = random_qwen3(small_config(), 4);
  for (const std::string& sampler : all_samplers()) {
    CAPTURE(sampler);
    const test::TemporaryFolder work;
    SamplingSettings settings = auditable(sampler);
    settings.prompts = {{"first", {7, 8, 9}}, {"second", {3, 12}}};
    const AuditRecord record = record_of(*model, settings, work / "run");
    const AuditFinding finding = audit(*model, numbers_of, record);
    INFO(finding.difference.value_or(AuditDifference{}).place);
    INFO(finding.difference.value_or(AuditDifference{}).what);
    CHECK(!finding.difference);
    CHECK(finding.answers == 4);
    // Nothing but the prompts is computed that was not drawn.
    CHECK(finding.drawn_tokens > 0);
    CHECK(finding.computed_tokens <= finding.drawn_tokens + 5);
    // One pass for all tokens of a proposal, and one for their draws.
    const RunFolder folder = RunFolder::open(work / "run");
    CHECK(folder.speed().totals.decode_tokens >= finding.drawn_tokens);
  }
}

TEST_CASE("an audit of early rejection, restarts over the record and confidence is equal") {
  TableModel model = scattered_table(13, 3);
  SamplingSettings settings = auditable("ppt");
  SECTION("early rejection") { settings.options.early_rejection = true; }
  SECTION("the record's own positions") { settings.restart_range = RestartRange::record; }
  SECTION("confidence") { settings.options.confidence = true; }
  SECTION("stop strings") { settings.stop = {"4 5"}; }
  const test::TemporaryFolder work;
  const AuditRecord record = record_of(model, settings, work / "run");
  CHECK(!found(model, record));
}

TEST_CASE("an audit replays the rules of a tokenwise sampler, and finds those of another") {
  const auto model = random_qwen3(small_config(), 4);
  SamplingSettings settings = auditable("low-temperature");
  settings.prompts = {{"first", {7, 8, 9}}, {"second", {3, 12}}};
  static_cast<TokenOptions&>(settings.options) = {
      .repetition_penalty = 1.25, .frequency_penalty = 0.5, .min_tokens = 2, .top_k = 9};
  const test::TemporaryFolder work;
  const AuditRecord record = record_of(*model, settings, work / "run");
  const auto equal = audit(*model, numbers_of, record).difference;
  INFO(equal.value_or(AuditDifference{}).place);
  CHECK(!equal);
  // config.json holds the rules: a run of others is another run.
  AuditRecord other = record;
  other.settings.options.top_k = 1;
  CHECK(found(*model, other));
}

TEST_CASE("an audit finds every changed value of every line of every sampler") {
  TableModel model = scattered_table(13, 3);
  for (const std::string& sampler : all_samplers()) {
    CAPTURE(sampler);
    const test::TemporaryFolder work;
    SamplingSettings settings = auditable(sampler);
    settings.samples = 1;
    AuditRecord record = record_of(model, settings, work / "run");
    REQUIRE(!found(model, record));
    check_each_value(model, record, record.events);
    check_each_value(model, record, record.samples);
  }
}

TEST_CASE("an audit finds lines that are missing, doubled, exchanged or of nobody") {
  TableModel model = scattered_table(13, 3);
  const test::TemporaryFolder work;
  const AuditRecord record = record_of(model, auditable("ppt"), work / "run");
  REQUIRE(!found(model, record));
  for (const bool in_events : {true, false}) {
    const auto lines = [&](AuditRecord & of) -> auto& {
      return in_events ? of.events : of.samples;
    };
    for (std::size_t i = 0; i < (in_events ? record.events : record.samples).size(); ++i) {
      CAPTURE(in_events, i);
      AuditRecord other = record;
      auto& of = lines(other);
      const std::string line = of[i];
      of.erase(of.begin() + static_cast<std::ptrdiff_t>(i));
      CHECK(found(model, other));
      of.insert(of.begin() + static_cast<std::ptrdiff_t>(i), 2, line);
      CHECK(found(model, other));
      of[i] = "no JSON";
      CHECK(found(model, other));
      of[i] = R"({"sample":77})";
      CHECK(found(model, other));
    }
  }
  AuditRecord exchanged = record;
  for (auto [from, to] :
       {std::pair("\"sample\":0", "\"sample\":9"), std::pair("\"sample\":1", "\"sample\":0"),
        std::pair("\"sample\":9", "\"sample\":1")})
    for (auto* lines : {&exchanged.events, &exchanged.samples})
      for (std::string& line : *lines)
        if (const auto at = line.find(from); at != std::string::npos) line.replace(at, 10, to);
  CHECK(found(model, exchanged));
}

TEST_CASE("an audit finds another weight, power, seed, prompt, ladder or restart law") {
  TableModel model = scattered_table(13, 3);
  OneWeightChanged other_model(model);
  for (const std::string& sampler : all_samplers()) {
    CAPTURE(sampler);
    const test::TemporaryFolder work;
    const AuditRecord record = record_of(model, auditable(sampler), work / "run");
    CHECK(found(other_model, record));
    const auto changed_is_found = [&](const auto& change) {
      AuditRecord other = record;
      change(other.settings);
      return found(model, other).has_value();
    };
    CHECK(changed_is_found([](SamplingSettings& settings) { settings.seed ^= 1; }));
    CHECK(changed_is_found([](SamplingSettings& s) { s.prompts.front().tokens.back() ^= 1U; }));
    if (sampler != "standard")
      // Far enough that other tokens are drawn: a tokenwise record holds no number of its power.
      CHECK(changed_is_found([](SamplingSettings& settings) { settings.powers.back() *= 16; }));
    if (sampler_named(sampler, "test").takes_local_moves)
      CHECK(changed_is_found([](SamplingSettings& settings) {
        settings.restart_weights = {3, 1};
      }));
  }
}

TEST_CASE("an audit names the first place, whatever is changed behind it") {
  TableModel model = scattered_table(13, 3);
  const test::TemporaryFolder work;
  SamplingSettings settings = auditable("ppt");
  settings.prompts = {{"first", {7, 8}}, {"second", {3, 2}}};
  AuditRecord record = record_of(model, settings, work / "run");
  const auto change = [&](const std::string& id, const std::string& kind, std::size_t after) {
    for (std::string& line : record.events) {
      ordered_json object = ordered_json::parse(line);
      if (object["id"] != id || object["kind"] != kind || !object.contains("log_ratio")) continue;
      if (after-- > 0) continue;
      object["log_ratio"] = 17.5;
      line = object.dump();
      return object;
    }
    throw std::logic_error("no such event");
  };
  change("second", "swap", 1);
  CHECK(found(model, record)->place.starts_with("prompt \"second\", sample 0, swap "));
  const ordered_json later = change("first", "local_move", 3);
  const auto place_of = [](const ordered_json& event) {
    return "prompt \"first\", sample 0, local move " + event["turn"].dump() + " of rung " +
           event["rung"].dump() + ", log_ratio";
  };
  CHECK(found(model, record)->place == place_of(later));
  const ordered_json earlier = change("first", "local_move", 1);
  CHECK(found(model, record)->place == place_of(earlier));
  CHECK(found(model, record)->what.starts_with("recorded is 17.5, and it is "));
}

TEST_CASE("an audit refuses what it cannot replay, each in one line") {
  TableModel model = scattered_table(13, 3);
  const test::TemporaryFolder work;
  const auto refused = [&](const std::filesystem::path& path) -> std::string {
    try {
      read_audit_record(path);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "";
  };
  const std::filesystem::path run = work / "run";
  SamplingSettings settings = auditable("ppt");
  record_of(model, settings, run);
  const std::string config = read_bytes(run / "config.json");
  const auto write = [&](const std::string& text) { std::ofstream(run / "config.json") << text; };

  CHECK_THAT(refused(work / "nothing"), Catch::Contains("nothing"));
  std::filesystem::create_directory(work / "empty");
  CHECK_THAT(refused(work / "empty"), Catch::Contains("is not a run folder"));
  json other = json::parse(config);
  other.erase("audit");
  other.erase("auditable");
  write(other.dump());
  CHECK_THAT(refused(run), Catch::Contains("was drawn without --auditable"));
  other = json::parse(config);
  other["audit"]["format"] = 2;
  write(other.dump());
  CHECK_THAT(refused(run), Catch::Contains("is of version 2"));
  other = json::parse(config);
  other["shard"] = {{"number", 1}};
  write(other.dump());
  CHECK_THAT(refused(run), Catch::Contains("is a shard"));
  write(config);
  CHECK(refused(run).empty());
  std::filesystem::remove(run / "summary.json");
  CHECK_THAT(refused(run), Catch::Contains("has not ended"));
  std::ofstream(work / "answer.json") << R"({"tempera": {"seed": 1}})";
  CHECK_THAT(refused(work / "answer.json"), Catch::Contains("holds nothing to audit"));

  // A tokenwise answer holds all that its draws took.
  SamplingSettings tokenwise = auditable("standard");
  tokenwise.options.auditable = false;
  tokenwise.audit.reset();
  CHECK(!found(model, record_of(model, tokenwise, work / "tokenwise")));
}

TEST_CASE("what a response holds is audited as a folder is") {
  TableModel model = scattered_table(13, 3);
  const test::TemporaryFolder work;
  const AuditRecord record = record_of(model, auditable("ppt"), work / "run");
  const json held{{"config", record.settings.to_json()},
                  {"events", record.events},
                  {"samples", record.samples}};
  for (const json& response :
       {held, json{{"audit", held}}, json{{"id", "1"}, {"tempera", {{"audit", held}}}}}) {
    std::ofstream(work / "answer.json") << response.dump();
    const AuditRecord read = read_audit_record(work / "answer.json");
    CHECK(read.events == record.events);
    CHECK(!found(model, read));
  }
}

}  // namespace tempera::gpu::audit_test
