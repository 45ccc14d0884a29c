// A batch's input and its dealing at each bound, with blank lines before and between its lines.
#include "serve/batches/batch.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "gpu/llm/models/opened_model.hpp"
#include "serve/batches/batch_paths.hpp"
#include "serve/batches/batch_shards.hpp"
#include "serve/batches/batches.hpp"
#include "serve/protocol/multipart.hpp"
#include "tests/between.hpp"
#include "tests/law.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::serve::batch_test {
namespace {

using nlohmann::json;

constexpr const char* completions = "/v1/completions";

std::string line_of(const std::string& id, const json& body = json::object()) {
  return json{{"custom_id", id}, {"method", "POST"}, {"url", completions}, {"body", body}}.dump();
}

std::string many_lines(std::size_t count) {
  std::string content;
  for (std::size_t i = 0; i < count; ++i) content += line_of(std::to_string(i)) + "\n";
  return content;
}

}  // namespace

TEST_CASE("each error of a batch's input names its line, blank ones counted, up to 20 of them",
          "[serve]") {
  law("the lines that are named are those that are wrong", [] {
    std::string content;
    std::vector<std::size_t> wrong;
    std::set<std::string> ids;
    const auto lines = *rc::gen::inRange<std::size_t>(1, 40);
    std::size_t number = 0;
    for (std::size_t i = 0; i < lines; ++i) {
      for (auto blank = *rc::gen::element(0, 0, 1, 3); blank > 0; --blank, ++number)
        content += *rc::gen::element<std::string>("\n", " \t\n", "\r\n");
      ++number;
      if (between(0, 2) == 0) {
        content += "{\"custom_id\": 7}\n";
        wrong.push_back(number);
        continue;
      }
      const std::string id = std::to_string(*rc::gen::inRange(0, 30));
      if (!ids.insert(id).second) wrong.push_back(number);
      content += line_of(id) + "\n";
    }
    wrong.resize(std::min<std::size_t>(wrong.size(), 20));
    std::vector<std::size_t> named;
    for (const BatchError& error : errors_in(content, completions)) {
      named.push_back(error.line);
      RC_ASSERT(error.message.starts_with("line " + std::to_string(error.line)));
    }
    RC_ASSERT(named == wrong);
  });
}

TEST_CASE("a page has what follows an entry, up to its limit, and says whether more follows",
          "[serve]") {
  const test::TemporaryFolder folder;
  const auto model = gpu::OpenedModel::open(TEMPERA_SOURCE_DIR "/toy_models/worked_sum");
  const Identity identity{"sums", "", "sums"};
  Counters counters;
  const GenerationLimits limits;
  Batches batches(folder / "kept",
                  {model, identity, counters, limits, [](std::string text) { return text; }, ""},
                  {1, 1}, Disk::owners());
  for (std::size_t files = 0; files <= 4; ++files) {
    if (files > 0)
      batches.files().put({.id = "file-" + std::to_string(files),
                           .filename = "in.jsonl",
                           .purpose = "batch",
                           .created = static_cast<std::int64_t>(files)},
                          line_of("a") + "\n");
    // The newest first: files, files - 1, ..., 1.
    for (std::size_t begin = 0; begin <= files; ++begin)
      for (std::size_t limit = 0; limit <= files + 1; ++limit) {
        CAPTURE(files, begin, limit);
        HttpRequest request;
        request.method = "GET";
        request.path = "/v1/files";
        // A limit of 0 stands for none.
        if (limit > 0) request.query = "limit=" + std::to_string(limit);
        if (begin > 0)
          request.query +=
              (limit > 0 ? "&after=file-" : "after=file-") + std::to_string(files + 1 - begin);
        const json page = json::parse(answer_batch_request(batches, request)->body);
        std::vector<std::string> ids;
        for (std::size_t i = begin; i < files && (limit == 0 || ids.size() < limit); ++i)
          ids.push_back("file-" + std::to_string(files - i));
        REQUIRE(page["data"].size() == ids.size());
        for (std::size_t i = 0; i < ids.size(); ++i) CHECK(page["data"][i]["id"] == ids[i]);
        CHECK(page["first_id"] == (ids.empty() ? json() : json(ids.front())));
        CHECK(page["last_id"] == (ids.empty() ? json() : json(ids.back())));
        CHECK(page["has_more"] == (begin + ids.size() < files));
      }
  }
}

TEST_CASE("a batch has 50,000 lines at most", "[serve]") {
  const std::string most = many_lines(50'000);
  CHECK(errors_in(most, completions).empty());
  const auto errors = errors_in(most + line_of("one more"), completions);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].line == 0);
  CHECK_THAT(errors[0].message, Catch::Contains("50001 lines; give at most 50000"));
}

TEST_CASE("lines are dealt to shards by all tokens that they ask for", "[serve]") {
  law("the line that asks for most goes to the shard that has been asked for least", [] {
    std::string content;
    std::vector<double> costs;
    const auto count = *rc::gen::inRange<std::size_t>(1, 12);
    for (std::size_t i = 0; i < count; ++i) {
      json body = json::object();
      const auto choices = between(0, 4);
      const auto tokens = *rc::gen::inRange(0, 40);
      if (choices > 0) body["n"] = choices;
      const auto* const key = *rc::gen::element("max_tokens", "max_completion_tokens");
      if (tokens > 0) body[key] = tokens;
      const bool is_refused = between(0, 5) == 0;
      if (is_refused) body["n"] = "many";
      costs.push_back(is_refused ? 0.0 : std::max(choices, 1) * (tokens > 0 ? tokens : 16));
      content += line_of(std::to_string(i), body) + "\n";
    }
    const auto shards = *rc::gen::inRange<std::size_t>(1, 4);
    std::vector<std::vector<std::size_t>> expected(shards);
    std::vector<double> loads(shards);
    std::vector<bool> is_dealt(count);
    for (std::size_t turn = 0; turn < count; ++turn) {
      std::size_t line = count;
      for (std::size_t i = 0; i < count; ++i)
        if (!is_dealt[i] && (line == count || costs[i] > costs[line])) line = i;
      const auto least =
          static_cast<std::size_t>(std::min_element(loads.begin(), loads.end()) - loads.begin());
      is_dealt[line] = true;
      loads[least] += costs[line];
      expected[least].push_back(line);
    }
    for (auto& lines : expected) std::sort(lines.begin(), lines.end());
    RC_ASSERT(deal(lines_of(content), completions, shards) == expected);
  });
}

TEST_CASE(
    "other shards' answers are counted by their whole lines, also of a file that was cut back",
    "[serve]") {
  const test::TemporaryFolder folder;
  const auto file = folder / "shard-2-of-2/samples.jsonl";
  std::filesystem::create_directories(file.parent_path());
  const std::string good = R"({"response": {"status_code": 200}})"
                           "\n";
  const std::string bad = R"({"response": {"status_code": 400}})"
                          "\n";
  AnswersElsewhere elsewhere(folder / "", {1, 2}, std::chrono::milliseconds(0));
  AnswersElsewhere seldom(folder / "", {1, 2}, std::chrono::hours(24));
  for (const auto& [content, completed, failed] :
       std::vector<std::tuple<std::string, std::size_t, std::size_t>>{
           {good + bad + good, 2, 1},
           {good, 1, 0},
           {good + bad + "{\"response", 1, 1},
           {bad + good + bad + bad, 1, 3},
           {"", 0, 0}}) {
    std::ofstream(file) << content;
    const AnswersElsewhere::Count count = elsewhere.look({});
    CHECK(count.completed == completed);
    CHECK(count.failed == failed);
    CHECK(seldom.look({}).completed == 2);
    CHECK(elsewhere.look({2}).completed == 0);
    CHECK(elsewhere.look({2}).failed == 0);
  }
}

TEST_CASE("pages, metadata and boundaries are taken up to their bounds", "[serve]") {
  const test::TemporaryFolder folder;
  const auto model = gpu::OpenedModel::open(TEMPERA_SOURCE_DIR "/toy_models/worked_sum");
  const Identity identity{"sums", "", "sums"};
  Counters counters;
  const GenerationLimits limits;
  Batches batches(folder / "kept",
                  {model, identity, counters, limits, [](std::string text) { return text; }, ""},
                  {1, 1}, Disk::owners());
  batches.files().put({.id = "file-1", .filename = "in.jsonl", .purpose = "batch"},
                      line_of("a") + "\n");
  const auto refuses = [&](HttpRequest request) {
    try {
      return answer_batch_request(batches, request)->status != 200;
    } catch (const BadInput&) {
      return true;
    }
  };
  const auto page = [](const std::string& limit) {
    HttpRequest request;
    request.method = "GET";
    request.path = "/v1/files";
    request.query = "limit=" + limit;
    return request;
  };
  const auto batch = [](std::size_t keys) {
    HttpRequest request;
    request.method = "POST";
    request.path = "/v1/batches";
    json metadata = json::object();
    for (std::size_t key = 0; key < keys; ++key) metadata["key " + std::to_string(key)] = "";
    request.body =
        json{{"input_file_id", "file-1"}, {"endpoint", completions}, {"metadata", metadata}}.dump();
    return request;
  };
  for (const char* const taken : {"1", "10000"}) CHECK_FALSE(refuses(page(taken)));
  for (const char* const refused : {"0", "10001", "-1", "1x", "99999999999999999999"})
    CHECK(refuses(page(refused)));
  for (const std::size_t taken : {0U, 16U}) CHECK_FALSE(refuses(batch(taken)));
  CHECK(refuses(batch(17)));

  // A name is cut, and not refused: it is for people alone.
  for (const std::size_t letters : {1U, 255U, 256U, 257U, 5000U}) {
    HttpRequest request;
    request.method = "POST";
    request.path = "/v1/files";
    request.content_type = "multipart/form-data; boundary=b";
    request.body =
        "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n"
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" +
        std::string(letters, 'n') + "\"\r\n\r\n{}\r\n--b--";
    const json file = json::parse(answer_batch_request(batches, request)->body);
    CHECK(file["filename"] == std::string(std::min<std::size_t>(letters, 256), 'n'));
    CHECK(file["bytes"] == 2);
  }

  const auto parts_of = [](std::size_t boundary, std::size_t parts) {
    const std::string mark(boundary, 'b');
    std::string body;
    for (std::size_t part = 0; part < parts; ++part)
      body += "--" + mark + "\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\nv\r\n";
    return read_multipart("multipart/form-data; boundary=" + mark, body + "--" + mark + "--")
        .size();
  };
  CHECK(parts_of(1, 1) == 1);
  CHECK(parts_of(70, 16) == 16);
  CHECK_THROWS_AS(parts_of(71, 1), BadInput);
  CHECK_THROWS_AS(parts_of(70, 17), BadInput);
}

}  // namespace tempera::serve::batch_test
