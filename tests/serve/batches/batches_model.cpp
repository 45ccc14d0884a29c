// Files and batches against a model in memory: whatever clients ask for, and wherever processes are
// killed and started again, as the same version or another, alone or as one of several shards, each
// line is answered once, as the same request alone is, and counts, files and lists are the model's.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gpu/llm/models/opened_model.hpp"
#include "serve/batches/batch_paths.hpp"
#include "serve/batches/batch_shards.hpp"
#include "serve/batches/batches.hpp"
#include "tests/between.hpp"
#include "tests/law.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::serve::batches_model_test {
namespace {

using nlohmann::json;

// ---- What runs.

struct Killed {};

/// A disk whose n-th operation, and all after it, are not done. A write that it falls on leaves
/// half a line.
class CutDisk final : public Disk {
 public:
  explicit CutDisk(std::size_t operations) : Disk(of_owner), left_(operations) {}

 private:
  int before(const char* operation, const std::filesystem::path& file) override {
    if (left_ > 0) {
      --left_;
      return 0;
    }
    if (!std::exchange(is_cut_, true) && std::string(operation) == "written")
      std::ofstream(file, std::ios::binary | std::ios::app) << "{\"torn";
    throw Killed{};
  }
  std::size_t left_;
  bool is_cut_ = false;
};

/// Two versions of the server draw other answers: their arithmetics differ.
struct Version {
  explicit Version(gpu::Arithmetic arithmetic)
      : model(gpu::OpenedModel::open(TEMPERA_SOURCE_DIR "/toy_models/worked_sum", {}, arithmetic)),
        identity{"sums", std::string(gpu::name_of(arithmetic)),
                 "sums-" + std::string(gpu::name_of(arithmetic))} {}
  const gpu::OpenedModel model;
  Identity identity;
};
const std::vector<const Version*>& versions() {
  static const Version one(gpu::Arithmetic::float32);
  static const Version other(gpu::Arithmetic::bfloat16_pairs);
  static const std::vector<const Version*> both{&one, &other};
  return both;
}

/// One server process.
struct Machine {
  Machine(const Version& version, const std::filesystem::path& folder, std::size_t operations,
          std::size_t checkpoint_bytes, const gpu::Shard& shard)
      : session(version.model),
        disk(operations),
        batches(folder,
                {version.model, version.identity, counters, limits,
                 [](std::string text) { return text; }, "", checkpoint_bytes,
                 std::chrono::milliseconds(0), std::chrono::milliseconds(0)},
                shard, disk) {}
  gpu::Session session;
  Counters counters;
  const GenerationLimits limits;
  CutDisk disk;
  Batches batches;
};

// ---- What is expected.

struct Line {
  json body;
  std::size_t number = 0;  ///< in the file
};

/// The response of a request alone, but for its names.
json alone(const Version& version, json body, std::uint64_t seed) {
  static std::map<std::string, json> known;
  body["seed"] = seed;
  json& answer = known[version.identity.fingerprint + body.dump()];
  if (!answer.is_null()) return answer;
  struct Client final : Exchange {
    const HttpRequest& request() const override { return asked; }
    void respond(HttpResponse response) override { given = std::move(response); }
    void begin_stream(unsigned, std::string) override {}
    void write(std::string) override {}
    void end() override {}
    void on_leave(std::function<void()>) override {}
    HttpRequest asked;
    HttpResponse given;
  };
  const auto client = std::make_shared<Client>();
  Counters counters;
  gpu::Session session(version.model);
  const auto generation = std::make_shared<Generation>(
      version.model, version.identity, counters,
      resolve_generation(version.model, version.identity, body.dump(), BodyForm::completion, {}),
      GenerationName::fresh(BodyForm::completion), client);
  generation->begin(session);
  while (session.step()) {
  }
  answer = json::parse(client->given.body);
  answer.erase("id");
  answer.erase("created");
  return answer;
}

struct ExpectedBatch {
  std::string file;
  std::vector<Line> lines;
  bool is_cancelled = false;
  std::size_t seen = 0;  ///< the most lines of which a client was told that they were answered
};

struct Model {
  std::map<std::string, std::vector<Line>> files;  ///< that clients have put
  std::map<std::string, ExpectedBatch> batches;

  std::size_t good_lines(const ExpectedBatch& batch) const {
    return static_cast<std::size_t>(
        std::count_if(batch.lines.begin(), batch.lines.end(),
                      [](const Line& line) { return !line.body.contains("top_p"); }));
  }
  /// An output or error file: its lines in their order, each as it is alone. Returns how many.
  std::size_t check_answers(const json& shown, const ExpectedBatch& batch, std::uint64_t own_seed,
                            const std::string& content, bool is_good) const {
    std::size_t at = 0;
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < content.size(); ++count) {
      const auto end = content.find('\n', begin);
      RC_ASSERT(end != std::string::npos);
      const json answer = json::parse(content.substr(begin, end - begin));
      begin = end + 1;
      const auto custom = answer["custom_id"].get<std::string>();
      while (at < batch.lines.size() && custom != "line-" + std::to_string(at)) ++at;
      RC_ASSERT(at < batch.lines.size());
      const Line& line = batch.lines[at];
      const std::string name = shown["id"].get<std::string>() + "-" + std::to_string(line.number);
      RC_ASSERT(answer["id"] == "batch_req_" + name);
      RC_ASSERT(answer["response"]["request_id"] == name);
      RC_ASSERT(is_good == !line.body.contains("top_p"));
      RC_ASSERT((answer["response"]["status_code"] == 200) == is_good);
      json body = answer["response"]["body"];
      if (!is_good) continue;
      RC_ASSERT(body["id"] == "cmpl-" + name);
      RC_ASSERT(body["created"] == shown["created_at"]);
      body.erase("id");
      body.erase("created");
      constexpr std::uint64_t bits_53 = (std::uint64_t{1} << 53) - 1;
      const std::uint64_t seed = line.body.contains("seed") ? line.body["seed"].get<std::uint64_t>()
                                                            : (own_seed + at) & bits_53;
      const auto version = std::find_if(
          versions().begin(), versions().end(),
          [&](const Version* v) { return body["system_fingerprint"] == v->identity.fingerprint; });
      RC_ASSERT(version != versions().end());
      RC_ASSERT(body == alone(**version, line.body, seed));
    }
    return count;
  }
};

// ---- A client, and whoever starts, kills and watches the processes.

class World {
 public:
  World()
      : shards_(*rc::gen::element<std::size_t>(1, 1, 1, 2)),
        checkpoint_bytes_(*rc::gen::element<std::size_t>(1, 700, 1 << 20)),
        window_(*rc::gen::element<std::size_t>(1, 2, 4, 4)) {
    start(0);
  }

  void put_file() {
    std::vector<Line> lines;
    std::string content;
    std::size_t number = 0;
    const auto count = between<std::size_t>(1, 7);
    for (std::size_t i = 0; i < count; ++i) {
      for (auto blank = *rc::gen::element(0, 0, 1, 2); blank > 0; --blank, ++number)
        content += " \n";
      json body{{"prompt", std::to_string(1 + i) + "+4?"}, {"max_tokens", 4}};
      switch (between<int>(0, 4)) {
        case 0:
          body["top_p"] = 1.5;
          break;
        case 1:
          body["n"] = 3;
          [[fallthrough]];
        case 2:
          body["seed"] = i;
          [[fallthrough]];
        default:
          body["tempera"] = {
              {"powers", {1, 3}}, {"block", 2}, {"rounds", *rc::gen::element(1, 2, 40)}};
      }
      content += json{{"custom_id", "line-" + std::to_string(i)},
                      {"method", "POST"},
                      {"url", "/v1/completions"},
                      {"body", body}}
                     .dump() +
                 "\n";
      lines.push_back({std::move(body), ++number});
    }
    const std::string id = "file-" + std::to_string(++files_so_far_);
    do_or_die([&] {
      first().files().put({.id = id, .filename = "in.jsonl", .purpose = "batch"}, content);
    });
    if (first().files().find(id)) model_.files[id] = std::move(lines);
  }

  void make_batch() {
    if (model_.files.empty()) return;
    const auto file =
        std::next(model_.files.begin(), between<std::ptrdiff_t>(0, std::ssize(model_.files) - 1));
    do_or_die([&] { first().create(file->first, "/v1/completions", nullptr); });
    // One that was made when its process was killed is there, or is not.
    for (const Batch& batch : first().list())
      if (!model_.batches.contains(batch.id))
        model_.batches[batch.id] = {file->first, file->second};
  }

  void cancel() {
    const auto ids = open_batches();
    if (ids.empty()) return;
    const std::string id = *rc::gen::elementOf(ids);
    if (do_or_die([&] { first().cancel(id); })) model_.batches[id].is_cancelled = true;
    // A process that is killed meanwhile has told nobody that it will end.
    else if (first().find(id)->status == "cancelling")
      model_.batches[id].is_cancelled = true;
  }

  void remove_file() {
    if (model_.files.empty()) return;
    const auto file =
        std::next(model_.files.begin(), between<std::ptrdiff_t>(0, std::ssize(model_.files) - 1));
    const std::string id = file->first;
    const bool is_needed = std::any_of(
        model_.batches.begin(), model_.batches.end(),
        [&](const auto& entry) { return entry.second.file == id && !is_over(entry.first); });
    RC_ASSERT(first().is_needed(id) == is_needed);
    if (is_needed) return;
    do_or_die([&] { first().files().remove(id); });
    if (!first().files().find(id)) model_.files.erase(id);
  }

  /// Passes of all processes.
  void go_on(std::size_t passes) {
    for (std::size_t i = 0; i < passes; ++i) {
      for (std::size_t shard = 0; shard < machines_.size(); ++shard)
        do_or_die([&] {
          machines_[shard]->session.step();
          machines_[shard]->batches.advance(machines_[shard]->session, window_);
        });
      look();
    }
  }

  void restart(bool saves) {
    if (saves)
      do_or_die([&] {
        for (const auto& machine : machines_) machine->batches.save(machine->session);
      });
    start(between<std::size_t>(0, 119));
  }

  /// All batches are drawn to their ends, and all is as the model has it; also for the next
  /// process.
  void finish() {
    start(0);
    for (std::size_t passes = 0; !open_batches().empty(); ++passes) {
      RC_ASSERT(passes < 4000);
      go_on(1);
    }
    check_all();
    const json shown = show();
    start(0);
    check_all();
    RC_ASSERT(show() == shown);
  }

 private:
  Batches& first() { return machines_.front()->batches; }

  /// Does what may be cut off by the death of a process, which is then started again. Returns
  /// whether it was not.
  template <class Work>
  bool do_or_die(const Work& work) {
    try {
      work();
      return true;
    } catch (const Killed&) {
      start(between<std::size_t>(0, 199));
      return false;
    }
  }

  /// Starts all processes. operations: after which the disk of the first is cut; 0: never.
  void start(std::size_t operations) {
    machines_.clear();
    // Shards of one batch are of one version.
    if (shards_ == 1 && operations > 0) version_ = between<std::size_t>(0, 1);
    for (;;) {
      try {
        for (std::size_t shard = machines_.size(); shard < shards_; ++shard)
          machines_.push_back(std::make_unique<Machine>(
              *versions()[version_], folder_ / "kept", operations == 0 ? SIZE_MAX : operations,
              checkpoint_bytes_, gpu::Shard{shard + 1, shards_}));
        return;
      } catch (const Killed&) {
        operations = 0;
      }
    }
  }

  bool is_over(const std::string& id) {
    const auto batch = first().find(id);
    RC_ASSERT(batch.has_value());
    return batch->is_over();
  }
  std::vector<std::string> open_batches() {
    std::vector<std::string> ids;
    for (const auto& [id, batch] : model_.batches)
      if (!is_over(id)) ids.push_back(id);
    return ids;
  }

  /// What a client sees on the way.
  void look() {
    for (auto& [id, expected] : model_.batches) {
      const auto batch = first().find(id);
      RC_ASSERT(batch.has_value());
      RC_ASSERT(batch->errors.empty());
      RC_ASSERT(batch->total == expected.lines.size());
      RC_ASSERT(batch->completed <= model_.good_lines(expected));
      RC_ASSERT(batch->failed <= expected.lines.size() - model_.good_lines(expected));
      RC_ASSERT(batch->status != "cancelling" || expected.is_cancelled);
      // Other shards' answers are counted here once they are taken.
      if (shards_ == 1) expected.seen = std::max(expected.seen, batch->completed + batch->failed);
    }
  }

  void check_all() {
    for (const auto& [id, expected] : model_.batches) check_end(*first().find(id), expected);
    std::vector<std::string> ids;
    for (const Batch& batch : first().list()) ids.push_back(batch.id);
    std::vector<std::string> wanted;
    for (const auto& [id, batch] : model_.batches) wanted.push_back(id);
    RC_ASSERT(std::is_permutation(ids.begin(), ids.end(), wanted.begin(), wanted.end()));
    check_pages("/v1/batches", ids);
    std::vector<std::string> files;
    for (const StoredFile& file : first().files().list()) files.push_back(file.id);
    for (const auto& [id, lines] : model_.files)
      RC_ASSERT(std::find(files.begin(), files.end(), id) != files.end());
    std::size_t outputs = 0;
    for (const auto& [id, expected] : model_.batches) {
      const Batch batch = *first().find(id);
      outputs += (batch.output_file.empty() ? 0 : 1) + (batch.error_file.empty() ? 0 : 1);
    }
    RC_ASSERT(files.size() == model_.files.size() + outputs);
    // Each has a content: what was half put or half removed has none.
    const std::filesystem::directory_iterator kept(folder_ / "kept" / "files");
    const auto contents = std::count_if(begin(kept), end(kept), [](const auto& entry) {
      return entry.path().extension() == ".jsonl";
    });
    RC_ASSERT(static_cast<std::size_t>(contents) == files.size());
    // A mark of a cancelled batch goes when the batch is over.
    const std::filesystem::directory_iterator folders(folder_ / "kept" / "batches");
    RC_ASSERT(std::all_of(begin(folders), end(folders), [](const auto& entry) {
      return entry.path().extension() != ".cancelled";
    }));
    check_pages("/v1/files", files);
  }

  void check_end(const Batch& batch, const ExpectedBatch& expected) {
    const json shown = to_json(batch);
    const auto content_of = [&](const std::string& file) {
      return file.empty() ? std::string() : first().files().content(file);
    };
    const json config =
        json::parse(read_whole(folder_ / "kept" / "batches" / batch.id / "config.json"));
    const auto seed = config["seed"].get<std::uint64_t>();
    const std::size_t good =
        model_.check_answers(shown, expected, seed, content_of(batch.output_file), true);
    const std::size_t bad =
        model_.check_answers(shown, expected, seed, content_of(batch.error_file), false);
    RC_ASSERT(batch.completed == good);
    RC_ASSERT(batch.failed == bad);
    RC_ASSERT(batch.total == expected.lines.size());
    RC_ASSERT(good + bad >= expected.seen);
    // Who was told that it will end finds it so, whatever came between.
    RC_ASSERT(batch.status == (expected.is_cancelled ? "cancelled" : "completed"));
    if (!expected.is_cancelled) RC_ASSERT(good + bad == expected.lines.size());
  }

  /// Pages of any length are the whole list, one after the other.
  void check_pages(const std::string& path, const std::vector<std::string>& ids) {
    const std::size_t limit = between<std::size_t>(1, 3);
    std::vector<std::string> listed;
    for (bool has_more = true; has_more;) {
      HttpRequest request;
      request.method = "GET";
      request.path = path;
      request.query = "limit=" + std::to_string(limit);
      if (!listed.empty()) request.query += "&after=" + listed.back();
      const json page = json::parse(answer_batch_request(first(), request)->body);
      has_more = page["has_more"];
      RC_ASSERT(page["data"].size() == std::min(limit, ids.size() - listed.size()));
      for (const json& entry : page["data"]) listed.push_back(entry["id"]);
    }
    RC_ASSERT(listed == ids);
  }

  json show() {
    json all = json::array();
    for (const Batch& batch : first().list()) all.push_back(json(to_json(batch)));
    for (const StoredFile& file : first().files().list()) all.push_back(json(to_json(file)));
    return all;
  }

  const test::TemporaryFolder folder_;
  const std::size_t shards_;
  const std::size_t checkpoint_bytes_;
  const std::size_t window_;
  std::size_t version_ = 0;
  std::size_t files_so_far_ = 0;
  Model model_;
  std::vector<std::unique_ptr<Machine>> machines_;
};

}  // namespace

TEST_CASE("files and batches are those of a model in memory, wherever processes die", "[serve]") {
  law("put, make, draw, cancel, remove, kill and start in any order", [] {
    World world;
    world.put_file();
    world.make_batch();
    const auto operations = between<int>(0, 19);
    for (int i = 0; i < operations; ++i) {
      switch (between<int>(0, 9)) {
        case 0:
          world.put_file();
          break;
        case 1:
          world.make_batch();
          break;
        case 2:
        case 3:
          world.cancel();
          break;
        case 4:
          world.remove_file();
          break;
        case 5:
          world.restart(true);
          break;
        case 6:
          world.restart(false);
          break;
        default:
          world.go_on(between<std::size_t>(1, 19));
      }
    }
    world.finish();
  });
}

namespace {

/// A batch of these bodies.
Batch make_batch(Machine& machine, const std::vector<json>& bodies) {
  std::string content;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    content += json{{"custom_id", "line-" + std::to_string(i)},
                    {"method", "POST"},
                    {"url", "/v1/completions"},
                    {"body", bodies[i]}}
                   .dump() +
               "\n";
  machine.batches.files().put({.id = "file-1", .filename = "in.jsonl", .purpose = "batch"},
                              content);
  return machine.batches.create("file-1", "/v1/completions", nullptr);
}

void go_on(Machine& machine, std::size_t window) {
  machine.session.step();
  machine.batches.advance(machine.session, window);
}

json body_of(std::size_t rounds) {
  return {{"prompt", "4+7?"},
          {"max_tokens", 4},
          {"seed", 1},
          {"tempera", {{"powers", {1, 3}}, {"block", 4}, {"rounds", rounds}}}};
}

std::unique_ptr<Machine> machine_of(const Version& version, const test::TemporaryFolder& folder) {
  return std::make_unique<Machine>(version, folder / "kept", SIZE_MAX, std::size_t{1} << 20,
                                   gpu::Shard{1, 1});
}

}  // namespace

// A resumed answer is the one that would have been drawn whole, so it is the tokens that tell.
TEST_CASE("rounds are gone on with by the same version, and drawn anew by another", "[serve]") {
  const json whole = alone(*versions()[0], body_of(40), 1);
  const auto tokens = whole["tempera"]["decode_tokens"].get<std::uint64_t>();
  Version next(gpu::Arithmetic::float32);
  next.identity.fingerprint += "-next";
  for (const Version* version : {versions()[0], static_cast<const Version*>(&next)}) {
    const test::TemporaryFolder folder;
    auto machine = machine_of(*versions()[0], folder);
    const std::string id = make_batch(*machine, {body_of(40)}).id;
    while (machine->session.totals().decode_tokens < tokens / 2) go_on(*machine, 1);
    machine.reset();
    machine = machine_of(*version, folder);
    while (!machine->batches.find(id)->is_over()) go_on(*machine, 1);
    const std::string file = machine->batches.find(id)->output_file;
    const json body = json::parse(machine->batches.files().content(file))["response"]["body"];
    CHECK(body["choices"] == whole["choices"]);
    CHECK(body["tempera"]["decode_tokens"] == tokens);
    CHECK(body["system_fingerprint"] == version->identity.fingerprint);
    const bool is_whole = machine->session.totals().decode_tokens >= tokens;
    CHECK(is_whole == (version == &next));
  }
}

TEST_CASE("rounds that the model no longer gives are dropped, and their line is drawn anew",
          "[serve]") {
  const json whole = alone(*versions()[1], body_of(40), 1);
  // Another model under the name and version of the one that drew the rounds.
  Version changed(gpu::Arithmetic::bfloat16_pairs);
  changed.identity = versions()[0]->identity;
  const test::TemporaryFolder folder;
  auto machine = machine_of(*versions()[0], folder);
  const std::string id = make_batch(*machine, {body_of(40)}).id;
  const auto tokens = whole["tempera"]["decode_tokens"].get<std::uint64_t>();
  while (machine->session.totals().decode_tokens < tokens / 2) go_on(*machine, 1);
  REQUIRE_FALSE(machine->batches.find(id)->is_over());
  machine.reset();
  machine = machine_of(changed, folder);
  for (int steps = 0; !machine->batches.find(id)->is_over(); ++steps) {
    REQUIRE(steps < 4000);
    go_on(*machine, 1);
  }
  const Batch batch = *machine->batches.find(id);
  CHECK(batch.completed == 1);
  CHECK(batch.failed == 0);
  CHECK(machine->counters.refused == 0);  // which are requests of clients
  const json body =
      json::parse(machine->batches.files().content(batch.output_file))["response"]["body"];
  CHECK(body["choices"] == whole["choices"]);
  CHECK(body["tempera"]["decode_tokens"] == whole["tempera"]["decode_tokens"]);
}

// Equal lines end in the same pass, so that as many end at once as are under way together.
TEST_CASE("a window is filled by lines up to the last choice, as often as they give it back",
          "[serve]") {
  const auto tokens =
      alone(*versions()[0], body_of(6), 1)["tempera"]["decode_tokens"].get<std::uint64_t>();
  for (const std::size_t window : {1U, 2U, 3U}) {
    CAPTURE(window);
    constexpr std::size_t fillings = 3;
    const test::TemporaryFolder folder;
    const auto machine = machine_of(*versions()[0], folder);
    const std::string id =
        make_batch(*machine, std::vector<json>(fillings * window, body_of(6))).id;
    std::size_t completed = 0;
    for (int steps = 0; completed < fillings * window; ++steps) {
      REQUIRE(steps < 4000);
      go_on(*machine, window);
      const std::size_t now = machine->batches.find(id)->completed;
      if (now == completed) continue;
      CHECK(now == completed + window);
      completed = now;
      CHECK(machine->session.totals().decode_tokens >= completed * tokens);
    }
  }
}

TEST_CASE("a batch's journal is as long as it may be, however many rounds are kept", "[serve]") {
  constexpr std::size_t most = 3000;
  std::vector<std::size_t> longest;
  for (const std::size_t checkpoint_bytes : {most, std::size_t{1} << 20}) {
    const test::TemporaryFolder folder;
    Machine machine(*versions()[0], folder / "kept", SIZE_MAX, checkpoint_bytes, gpu::Shard{1, 1});
    const std::string id = make_batch(machine, {body_of(40)}).id;
    longest.push_back(0);
    std::size_t before = 0;
    std::size_t begun_again = 0;
    for (int steps = 0;; ++steps) {
      REQUIRE(steps < 4000);
      go_on(machine, 1);
      if (machine.batches.find(id)->is_over()) break;
      std::size_t bytes = 0;
      for (const auto& entry :
           std::filesystem::directory_iterator(folder / "kept" / "batches" / id))
        if (entry.path().filename().string().starts_with("journal")) bytes += entry.file_size();
      longest.back() = std::max(longest.back(), bytes);
      if (bytes < before) {
        // It begins anew only when the next round fills it.
        CHECK(before > most / 2);
        ++begun_again;
      }
      before = bytes;
    }
    CHECK((begun_again > 2) == (checkpoint_bytes == most));
  }
  CHECK(longest[0] < 2 * most);  // the first line says whose it is, and each has a checksum
  CHECK(longest[1] > 4 * most);  // so that it was full more than twice
}

TEST_CASE("of batches that wait the one that was made first begins first, also after a restart",
          "[serve]") {
  const bool is_first_earlier = GENERATE(true, false);
  const test::TemporaryFolder folder;
  auto machine = machine_of(*versions()[0], folder);
  const std::vector<std::string> ids{make_batch(*machine, {body_of(1)}).id,
                                     make_batch(*machine, {body_of(1)}).id};
  machine.reset();
  // Both were made in one second: one is made to be of an earlier one.
  const std::string earlier = ids[is_first_earlier ? 0 : 1];
  const std::string later = ids[is_first_earlier ? 1 : 0];
  const auto file = folder / "kept" / "batches" / earlier / "config.json";
  json config = json::parse(read_whole(file));
  config["created_at"] = 1'700'000'000;
  std::ofstream(file) << config.dump() << '\n';
  machine = machine_of(*versions()[0], folder);
  while (!machine->batches.find(earlier)->is_over()) {
    CHECK(machine->batches.find(later)->completed == 0);
    go_on(*machine, 1);
  }
  while (!machine->batches.find(later)->is_over()) go_on(*machine, 1);
}

TEST_CASE("lists have what was made last at their beginning, also after a restart", "[serve]") {
  const test::TemporaryFolder folder;
  auto machine = machine_of(*versions()[0], folder);
  // In no order of their names, and two of one second.
  const std::vector<std::int64_t> times{1'700'000'003, 1'700'000'001, 1'700'000'004, 1'700'000'002,
                                        1'700'000'002};
  std::vector<std::string> batches;
  for (std::size_t i = 0; i < times.size(); ++i) {
    batches.push_back(make_batch(*machine, {body_of(1)}).id);
    machine->batches.files().put({.id = "file-at-" + std::to_string(i),
                                  .filename = "in.jsonl",
                                  .purpose = "batch",
                                  .created = times[i]},
                                 "{}");
  }
  machine.reset();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto file = folder / "kept" / "batches" / batches[i] / "config.json";
    json config = json::parse(read_whole(file));
    config["created_at"] = times[i];
    std::ofstream(file) << config.dump() << '\n';
  }
  for (int start = 0; start < 2; ++start) {
    machine = machine_of(*versions()[0], folder);
    const auto are_in_order = [&](const auto& list) {
      return std::is_sorted(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return a.created > b.created || (a.created == b.created && a.id < b.id);
      });
    };
    const std::vector<Batch> shown = machine->batches.list();
    CHECK(shown.size() == times.size());
    CHECK(are_in_order(shown));
    CHECK(shown.front().id == batches[2]);
    std::vector<StoredFile> files = machine->batches.files().list();
    std::erase_if(files, [](const StoredFile& file) { return !file.id.starts_with("file-at-"); });
    CHECK(files.size() == times.size());
    CHECK(are_in_order(files));
    CHECK(files.front().id == "file-at-2");
    CHECK(files.front().created == times[2]);
    machine.reset();
  }
}

TEST_CASE("a batch whose input is gone holds no other, and is drawn once the input is there again",
          "[serve]") {
  const std::size_t gone = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{2});
  const test::TemporaryFolder folder;
  auto machine = machine_of(*versions()[0], folder);
  std::vector<std::string> ids;
  for (int i = 1; i <= 3; ++i) {
    const std::string file = "file-" + std::to_string(i);
    const std::string content = json{
        {"custom_id", "only"},
        {"method", "POST"},
        {"url", "/v1/completions"},
        {"body", body_of(1)}}.dump();
    machine->batches.files().put({.id = file, .filename = "in.jsonl", .purpose = "batch"}, content);
    ids.push_back(machine->batches.create(file, "/v1/completions", nullptr).id);
  }
  const auto input = folder / "kept" / "files" / ("file-" + std::to_string(gone + 1) + ".jsonl");
  std::filesystem::rename(input, input.string() + ".away");
  const auto all_over = [&] {
    return std::all_of(ids.begin(), ids.end(), [&](const std::string& id) {
      return (id == ids[gone]) != machine->batches.find(id)->is_over();
    });
  };
  for (int pass = 0; pass < 4000 && !all_over(); ++pass) go_on(*machine, 1);
  CHECK(all_over());
  for (int pass = 0; pass < 20; ++pass) go_on(*machine, 1);
  CHECK_FALSE(machine->batches.find(ids[gone])->errors.empty());
  std::filesystem::rename(input.string() + ".away", input);
  for (int pass = 0; pass < 4000 && !machine->batches.find(ids[gone])->is_over(); ++pass)
    go_on(*machine, 1);
  CHECK(machine->batches.find(ids[gone])->status == "completed");
}

TEST_CASE(
    "a shard that has ended without all of its answers, or is of another version, is not taken",
    "[serve]") {
  const bool is_other = GENERATE(false, true);
  const test::TemporaryFolder folder;
  const auto first = [&] {
    return std::make_unique<Machine>(*versions()[0], folder / "kept", SIZE_MAX,
                                     std::size_t{1} << 20, gpu::Shard{1, 2});
  };
  auto machine = first();
  const std::string id = make_batch(*machine, std::vector<json>(4, body_of(1))).id;
  machine.reset();
  {
    Counters counters;
    const GenerationLimits limits;
    Identity identity = versions()[0]->identity;
    if (is_other) identity.fingerprint += "-other";
    const GenerationMakings makings{versions()[0]->model,
                                    identity,
                                    counters,
                                    limits,
                                    [](std::string text) { return text; },
                                    ""};
    gpu::RunFolder half =
        open_shard(folder / "kept" / "batches" / id, {2, 2}, makings, Disk::owners());
    for (int line = 0; line < (is_other ? 2 : 1); ++line)  // of two
      half.append_sample(R"({"response": {"status_code": 200}})");
    half.finish({{"status", "completed"}});
  }
  machine = first();
  for (int steps = 0; machine->batches.find(id)->errors.empty(); ++steps) {
    REQUIRE(steps < 4000);
    REQUIRE_FALSE(machine->batches.find(id)->is_over());
    go_on(*machine, 4);
  }
  CHECK_THAT(machine->batches.find(id)->errors[0].message,
             Catch::Contains(is_other ? "is of another batch, model or version"
                                      : "does not answer all lines of its shard"));
  CHECK_FALSE(machine->batches.find(id)->is_over());
}

TEST_CASE("the times of a batch are seconds since 1970, and null for what has not been",
          "[serve]") {
  const test::TemporaryFolder folder;
  auto machine = machine_of(*versions()[0], folder);
  const std::set<std::string> ends{"finalizing_at", "completed_at",  "failed_at",
                                   "expired_at",    "cancelling_at", "cancelled_at"};
  const auto check = [&](const std::string& id, const std::set<std::string>& there) {
    const json shown = to_json(*machine->batches.find(id));
    const auto created = shown["created_at"].get<std::int64_t>();
    CHECK(std::abs(now() - created) < 3600);
    CHECK(shown["expires_at"] == created + 24 * 60 * 60);
    if (shown["status"] == "failed")
      CHECK(shown["in_progress_at"].is_null());
    else
      CHECK(shown["in_progress_at"] == created);
    for (const std::string& end : ends) {
      CAPTURE(end);
      REQUIRE(shown[end].is_null() == !there.contains(end));
      if (there.contains(end)) CHECK(shown[end].get<std::int64_t>() >= created);
    }
  };
  const std::string drawn = make_batch(*machine, {body_of(1)}).id;
  check(drawn, {});
  const std::string wrong = make_batch(*machine, {}).id;
  check(wrong, {"failed_at"});
  const std::string dropped = make_batch(*machine, {body_of(1)}).id;
  machine->batches.cancel(dropped);
  while (!machine->batches.find(drawn)->is_over()) go_on(*machine, 1);
  check(dropped, {"cancelling_at", "cancelled_at"});
  check(drawn, {"finalizing_at", "completed_at"});
}

TEST_CASE("a batch that is cancelled before its turn ends alone", "[serve]") {
  const test::TemporaryFolder folder;
  auto machine = machine_of(*versions()[0], folder);
  const std::string drawn = make_batch(*machine, {body_of(40)}).id;
  const std::string waits = make_batch(*machine, {body_of(40)}).id;
  while (machine->session.totals().decode_tokens == 0) go_on(*machine, 1);
  machine->batches.cancel(waits);
  for (const std::string& id : {waits, drawn})
    for (int steps = 0; !machine->batches.find(id)->is_over(); ++steps) {
      REQUIRE(steps < 4000);
      go_on(*machine, 1);
    }
  CHECK(machine->batches.find(waits)->status == "cancelled");
  CHECK(machine->batches.find(waits)->completed == 0);
  CHECK(machine->batches.find(drawn)->status == "completed");
  CHECK(machine->batches.find(drawn)->completed == 1);
}

// The answers of the second are taken and written, and taken once more by the next process.
TEST_CASE("answers that a shard has taken before a restart count once", "[serve]") {
  const test::TemporaryFolder folder;
  const auto shard = [&](std::size_t number) {
    return std::make_unique<Machine>(*versions()[0], folder / "kept", SIZE_MAX, std::size_t{1},
                                     gpu::Shard{number, 3});
  };
  auto first = shard(1);
  const std::string id = make_batch(*first, {body_of(1), body_of(1), body_of(1)}).id;
  const auto second = shard(2);
  const auto samples = folder / "kept" / "batches" / id / "samples.jsonl";
  const auto written = [&] {
    const std::string text = read_whole(samples);
    return std::count(text.begin(), text.end(), '\n');
  };
  for (int steps = 0; written() < 2; ++steps) {
    REQUIRE(steps < 4000);
    go_on(*first, 1);
    go_on(*second, 1);
  }
  first.reset();
  first = shard(1);
  for (int steps = 0; steps < 5; ++steps) go_on(*first, 1);
  const auto third = shard(3);
  for (int steps = 0; !first->batches.find(id)->is_over(); ++steps) {
    REQUIRE(steps < 4000);
    go_on(*third, 1);
    go_on(*first, 1);
  }
  CHECK(first->batches.find(id)->completed == 3);
  CHECK(written() == 3);
}

TEST_CASE("a cancelled batch has all that was answered, also what waited for earlier lines",
          "[serve]") {
  json wrong = body_of(1);
  wrong["top_p"] = 1.5;
  const test::TemporaryFolder folder;
  auto machine = machine_of(*versions()[0], folder);
  const std::string id =
      make_batch(*machine, {body_of(4000), wrong, body_of(1), body_of(4000), wrong, body_of(2)}).id;
  while (machine->batches.find(id)->completed < 2) go_on(*machine, 6);
  machine->batches.cancel(id);
  while (!machine->batches.find(id)->is_over()) go_on(*machine, 6);
  const Batch batch = *machine->batches.find(id);
  CHECK(batch.status == "cancelled");
  CHECK(batch.completed == 2);
  CHECK(batch.failed == 2);
  const auto names = [&](const std::string& file) {
    std::vector<std::string> all;
    std::istringstream lines(machine->batches.files().content(file));
    for (std::string line; std::getline(lines, line);)
      all.push_back(json::parse(line)["custom_id"]);
    return all;
  };
  CHECK(names(batch.output_file) == std::vector<std::string>{"line-2", "line-5"});
  CHECK(names(batch.error_file) == std::vector<std::string>{"line-1", "line-4"});
}

// The session counts every answer, also one that the batch has not collected yet.
TEST_CASE("a cancelled batch has all that was drawn, whatever pass the cancel comes after",
          "[serve]") {
  json wrong = body_of(1);
  wrong["top_p"] = 1.5;
  const std::vector<json> bodies{body_of(1), wrong, body_of(2), body_of(3)};
  std::size_t drawn = 0;
  for (std::size_t passes = 0; drawn < bodies.size() - 1; ++passes) {
    CAPTURE(passes);
    REQUIRE(passes < 4000);
    const test::TemporaryFolder folder;
    const auto machine = machine_of(*versions()[0], folder);
    const std::string id = make_batch(*machine, bodies).id;
    while (machine->batches.advance(machine->session, bodies.size())) {
    }
    for (std::size_t i = 0; i < passes; ++i) machine->session.step();
    drawn = machine->counters.answers;
    machine->batches.cancel(id);
    machine->batches.advance(machine->session, bodies.size());
    const Batch batch = *machine->batches.find(id);
    CHECK(batch.status == "cancelled");
    CHECK(batch.completed == drawn);
    CHECK(batch.failed == 1);
    const std::string answers =
        drawn == 0 ? "" : machine->batches.files().content(batch.output_file);
    CHECK(static_cast<std::size_t>(std::count(answers.begin(), answers.end(), '\n')) == drawn);
  }
}

TEST_CASE("clients see what each shard has answered and failed, whole lines alone, also less",
          "[serve]") {
  const test::TemporaryFolder folder;
  Machine machine(*versions()[0], folder / "kept", SIZE_MAX, std::size_t{1} << 20,
                  gpu::Shard{1, 3});
  const std::string id = make_batch(machine, std::vector<json>(12, body_of(1))).id;
  const auto own_lines = [&] { return machine.batches.find(id)->completed; };
  for (int steps = 0; own_lines() < 4; ++steps) {
    REQUIRE(steps < 4000);
    go_on(machine, 4);
  }
  // The lines in the folders of the other two: 'c'ompleted, 'f'ailed, 'p'art of one.
  const std::vector<std::pair<std::string, std::string>> contents{
      {"", ""},     {"cff", ""},   {"cffp", "f"}, {"cffcp", "fc"},
      {"c", "fcp"}, {"cc", "fcf"}, {"p", "fcfc"}, {"ffcc", "ccf"}};
  for (const auto& [second, third] : contents) {
    CAPTURE(second, third);
    for (const auto& [name, content] :
         {std::pair("shard-2-of-3", second), std::pair("shard-3-of-3", third)}) {
      const auto shard = folder / "kept" / "batches" / id / name;
      std::filesystem::create_directories(shard);
      std::ofstream file(shard / "samples.jsonl");
      for (const char kind : content) {
        const std::string answer =
            json{{"response", {{"status_code", kind == 'c' ? 200 : 400}}}}.dump();
        file << (kind == 'p' ? answer.substr(0, 5) : answer + "\n");
      }
    }
    go_on(machine, 4);
    const std::string both = second + third;
    const Batch shown = *machine.batches.find(id);
    CHECK(shown.completed == 4 + static_cast<std::size_t>(std::ranges::count(both, 'c')));
    CHECK(shown.failed == static_cast<std::size_t>(std::ranges::count(both, 'f')));
  }
}

TEST_CASE("a batch that was dealt to another number of shards is refused, and loses nothing",
          "[serve]") {
  const std::size_t dealt = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{3});
  const std::size_t asked = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{3});
  const test::TemporaryFolder folder;
  const auto machine_of_shards = [&](std::size_t shards) {
    return std::make_unique<Machine>(*versions()[0], folder / "kept", SIZE_MAX,
                                     std::size_t{1} << 20, gpu::Shard{1, shards});
  };
  auto machine = machine_of_shards(dealt);
  const std::string id = make_batch(*machine, std::vector<json>(6, body_of(1))).id;
  machine.reset();
  machine = machine_of_shards(asked);
  for (int pass = 0; pass < 40 && machine->batches.find(id)->errors.empty(); ++pass)
    go_on(*machine, 6);
  const Batch shown = *machine->batches.find(id);
  CHECK(shown.completed == (asked == dealt ? 6 / dealt : 0));
  REQUIRE(shown.errors.size() == (asked == dealt ? 0 : 1));
  if (asked != dealt)
    CHECK_THAT(shown.errors[0].message,
               Catch::Contains("was dealt to " + std::to_string(dealt) + " shards, and not to " +
                               std::to_string(asked)) &&
                   Catch::Contains("--shard I/" + std::to_string(dealt)));
  machine.reset();
  machine = machine_of_shards(dealt);
  for (int pass = 0; pass < 40; ++pass) go_on(*machine, 6);
  CHECK(machine->batches.find(id)->completed == 6 / dealt);
}

namespace {

using Files = std::map<std::filesystem::path, std::string>;  ///< by their places in a folder

Files files_in(const std::filesystem::path& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder)] = read_whole(entry.path());
  return files;
}

void write_files(const std::filesystem::path& folder, const Files& files) {
  std::filesystem::remove_all(folder);
  for (const auto& [name, bytes] : files) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
}

/// Everything that clients get of a batch and its files, or the error.
struct Given {
  std::string all;
  std::string refused;
};
Given given_of(const test::TemporaryFolder& folder, const std::string& id) {
  Given given;
  try {
    const auto machine = machine_of(*versions()[0], folder);
    for (int pass = 0; pass < 400; ++pass) {
      const auto batch = machine->batches.find(id);
      if (!batch || batch->is_over() || !batch->errors.empty()) break;
      go_on(*machine, 2);
    }
    const auto batch = machine->batches.find(id);
    if (!batch) return {"", "the batch is gone"};
    if (!batch->errors.empty()) return {"", batch->errors.front().message};
    if (!batch->is_over()) return {"", ""};
    json shown(to_json(*batch));
    for (const char* time : {"completed_at", "finalizing_at"}) shown.erase(time);
    given.all = shown.dump();
    for (const std::string& file : {batch->input_file, batch->output_file, batch->error_file}) {
      json description(to_json(*machine->batches.files().find(file)));
      if (file != batch->input_file) description.erase("created_at");
      given.all += "\n" + description.dump() + "\n" + machine->batches.files().content(file);
    }
  } catch (const BadInput& error) {
    given.refused = error.what();
  }
  return given;
}

}  // namespace

// A server starts on the damaged folder, so that its loaders meet the damage.
TEST_CASE("a flipped byte anywhere in a folder of batches changes no answer unseen", "[serve]") {
  json wrong = body_of(1);
  wrong["top_p"] = 1.5;
  const std::size_t checkpoint_bytes = GENERATE(std::size_t{1}, std::size_t{1} << 20);
  const test::TemporaryFolder folder;
  const auto kept = folder / "kept";
  std::string id;
  Files half_way;
  {
    Machine machine(*versions()[0], kept, SIZE_MAX, checkpoint_bytes, gpu::Shard{1, 1});
    id = make_batch(machine, {body_of(1), wrong, body_of(3), body_of(2)}).id;
    while (machine.batches.find(id)->completed < 1) go_on(machine, 2);
    half_way = files_in(kept);
  }
  const Given sound = given_of(folder, id);
  REQUIRE(sound.refused.empty());
  REQUIRE(std::count(sound.all.begin(), sound.all.end(), '\n') > 9);
  for (const Files& files : {half_way, files_in(kept)}) {
    std::size_t refused = 0;
    for (const auto& [name, bytes] : files) {
      for (std::size_t at = 0; at < bytes.size(); at += bytes.size() < 100 ? 1 : 11) {
        CAPTURE(name, at, bytes.size());
        Files damaged = files;
        char& byte = damaged[name][at];
        byte = static_cast<char>(byte ^ (1 << at % 7));
        write_files(kept, damaged);
        const Given given = given_of(folder, id);
        if (given.refused.empty()) CHECK(given.all == sound.all);
        refused += given.refused.empty() ? 0 : 1;
      }
    }
    CHECK(refused > 100);
    write_files(kept, files);
    CHECK(given_of(folder, id).all == sound.all);
  }
}

}  // namespace tempera::serve::batches_model_test
