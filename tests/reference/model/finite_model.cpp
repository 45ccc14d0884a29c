#include "reference/model/finite_model.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "tests/law.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::reference;

namespace {

const std::string good = R"({"name": "m", "vocabulary": ["a", "b", "e"], "terminal": ["e"],
 "next": {"": {"a": "1/2", "e": 0, "b": "0.5"}, "a b": {"e": 1}}, "default": {"a": "1/3", "e": "2/3"}})";

FiniteModel parse(const std::string& json) { return parse_finite_model(json, "m.json"); }

// `good` with one part replaced.
std::string with(const std::string& part, const std::string& other) {
  std::string json = good;
  const auto at = json.find(part);
  REQUIRE(at != std::string::npos);
  return json.replace(at, part.size(), other);
}

}  // namespace

TEST_CASE("a finite model serves its rows") {
  const FiniteModel model = parse(good);
  CHECK(model.name() == "m");
  CHECK(model.vocabulary() == std::vector<std::string>{"a", "b", "e"});
  CHECK(model.is_terminal(2));
  CHECK_FALSE(model.is_terminal(0));
  CHECK(model.find_token("b") == Token{1});
  CHECK_FALSE(model.find_token("z"));
  const TokenRow first{Rational(1, 2), Rational(1, 2), Rational(0)};
  const TokenRow served_by_default{Rational(1, 3), Rational(0), Rational(2, 3)};
  CHECK(model.token_row({}) == first);
  CHECK(model.token_row(std::vector<Token>{0}) == served_by_default);
  CHECK(model.token_row(std::vector<Token>{0, 1})[2] == 1);
  CHECK(model.text(std::vector<Token>{0, 1, 2}) == "a b e");
}

namespace {

// `good` from rows.
FiniteModelParts parts() {
  return {"m",
          {{"a", "b", "e"}, "rows"},
          {2},
          {{{}, {Rational(1, 2), Rational(1, 2), 0}}, {{0, 1}, {0, 0, 1}}},
          TokenRow{Rational(1, 3), 0, Rational(2, 3)}};
}

void check_same(const FiniteModel& one, const FiniteModel& other) {
  CHECK(one.name() == other.name());
  CHECK(one.vocabulary() == other.vocabulary());
  for (Token v = 0; v < one.vocabulary_size(); ++v)
    CHECK(one.is_terminal(v) == other.is_terminal(v));
  CHECK(one.listed_rows() == other.listed_rows());
  CHECK(one.default_row() == other.default_row());
  CHECK(one.answers() == other.answers());
}

}  // namespace

TEST_CASE("rows make the model that their JSON makes") {
  check_same(FiniteModel(parts(), "rows"), parse(good));
}

TEST_CASE("an answer set is the records that begin with an answer") {
  const std::string file = with("\"default\"", "\"answers\": [\"a a e\", \"b\"], \"default\"");
  const FiniteModel model = parse(file);
  FiniteModelParts rows = parts();
  rows.answers = {{0, 0, 2}, {1}};
  check_same(FiniteModel(rows, "rows"), model);
  const auto is_answer = [](const FiniteModel& of, std::vector<Token> tokens) {
    return of.is_answer(tokens);
  };
  CHECK(is_answer(model, {0, 0, 2}));
  CHECK(is_answer(model, {1}));
  CHECK(is_answer(model, {1, 0, 2}));
  CHECK_FALSE(is_answer(model, {0, 0}));
  CHECK_FALSE(is_answer(model, {0, 2}));
  CHECK_FALSE(is_answer(model, {}));
  CHECK_FALSE(is_answer(parse(good), {1}));
  const FiniteModel other = model.with_answers("a a|b a", "--answers");
  CHECK(other.answers() == std::vector<std::vector<Token>>{{0, 0}, {1, 0}});
  CHECK(is_answer(other, {0, 0, 0}));
  CHECK_FALSE(is_answer(other, {1}));
}

TEST_CASE("answers that tell no right records are refused, in a file, in rows and by a flag") {
  struct Fault {
    std::string answer, message;
  };
  const Fault faults[] = {
      {"", "the answer \"\" is empty"},
      {"a z", "the answer \"a z\" has the unknown token \"z\""},
      {"a  b", "has the unknown token \"\""},
      {"a e a", "the answer \"a e a\" continues after a terminal token"},
      {"b b", "the answer \"b b\" has probability 0"},
      {"a b a", "has probability 0"},
      {"b", "the answer \"b\" begins with the answer \"b\""},
      {"b a a", "the answer \"b a a\" begins with the answer \"b\""},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.answer);
    CHECK_THROWS_WITH(
        parse(with("\"default\"", "\"answers\": [\"b\", \"" + fault.answer + "\"], \"default\"")),
        Catch::StartsWith("m.json: ") && Catch::Contains(fault.message) && Catch::Contains("; "));
    CHECK_THROWS_WITH(parse(good).with_answers("b|" + fault.answer, "--answers"),
                      Catch::StartsWith("--answers: ") && Catch::Contains(fault.message));
  }
  CHECK_THROWS_WITH(parse(with("\"default\"", "\"answers\": [], \"default\"")),
                    Catch::Contains("\"answers\" is empty"));
  CHECK_THROWS_WITH(parse(with("\"default\"", "\"answers\": \"b\", \"default\"")),
                    Catch::Contains("\"answers\" is \"b\", not a list"));
  FiniteModelParts rows = parts();
  rows.answers = {{1, 9}};
  CHECK_THROWS_WITH(FiniteModel(rows, "rows"),
                    Catch::Contains("rows: the answer \"\" has the unknown token number 9"));
}

TEST_CASE("each fault of rows is named with its place and remedy") {
  struct Fault {
    std::function<void(FiniteModelParts&)> plant;
    std::string message;
  };
  const Fault faults[] = {
      {[](auto& m) { m.terminal = {3}; }, "\"terminal\" names token number 3, no token"},
      {[](auto& m) {
         m.terminal = {2, 2};
       },
       "\"terminal\" repeats \"e\""},
      {[](auto& m) {
         m.next[{0, 7}] = m.next[{}];
       },
       "a prefix with the unknown token number 7"},
      {[](auto& m) { m.next[{2}] = m.next[{}]; },
       "\"next\"[\"e\"] continues after the terminal token \"e\""},
      {[](auto& m) {
         m.next[{0, 2, 1}] = m.next[{}];
       },
       "\"next\"[\"a e b\"] continues after the terminal token \"e\""},
      {[](auto& m) { m.next[{}].pop_back(); }, "\"next\"[\"\"] has 2 probabilities for 3 tokens"},
      {[](auto& m) { m.default_row->push_back(0); },
       "\"default\" has 4 probabilities for 3 tokens"},
      {[](auto& m) {
         m.next[{0, 1}] = {-1, 1, 1};
       },
       "\"next\"[\"a b\"][\"a\"] is negative"},
      {[](auto& m) {
         m.default_row = TokenRow{1, 1, -1};
       },
       "\"default\"[\"e\"] is negative"},
      {[](auto& m) { m.next[{}][0] = Rational(1, 3); }, "\"next\"[\"\"] sums to 5/6, not to 1"},
      {[](auto& m) {
         m.default_row = TokenRow{0, 0, 0};
       },
       "\"default\" sums to 0, not to 1"},
      {[](auto& m) {
         m.default_row.reset();
         m.next.erase(std::vector<Token>{});
       },
       "has no row for the empty prefix"},
  };
  for (const Fault& fault : faults) {
    FiniteModelParts broken = parts();
    fault.plant(broken);
    CAPTURE(fault.message);
    CHECK_THROWS_WITH(FiniteModel(broken, "rows"), Catch::Contains(fault.message));
    CHECK_THROWS_WITH(FiniteModel(broken, "rows"), Catch::StartsWith("rows: "));
    CHECK_THROWS_WITH(FiniteModel(broken, "rows"), Catch::Contains("; "));
  }
}

TEST_CASE("a reachable prefix without a row is named") {
  const FiniteModel model =
      parse(R"({"name": "m", "vocabulary": ["a"], "terminal": [], "next": {"": {"a": "1"}}})");
  CHECK_THROWS_WITH(model.token_row(std::vector<Token>{0}),
                    Catch::Contains("the prefix \"a\" can be reached but has no row"));
}

TEST_CASE("each fault of a model file is named with file, place and remedy") {
  struct Fault {
    std::string json, message;
  };
  const Fault faults[] = {
      {with("\"1/2\"", "\"1/3\""), "\"next\"[\"\"] sums to 5/6, not to 1"},
      {with("\"2/3\"", "\"-2/3\""), "\"default\"[\"e\"] is negative"},
      {with("\"e\": 0", "\"e\": -1"), "\"next\"[\"\"][\"e\"] is negative"},
      {with("\"e\": 0", "\"e\": 18446744073709551615"), "sums to 18446744073709551616"},
      {with("\"e\": 0", "\"e\": 0.5"), "is a binary floating-point number"},
      {with("\"e\": 0", "\"e\": null"), "is not a number"},
      {with("\"e\": 0", "\"e\": \"0/0\""), "divides by zero"},
      {with("\"e\": 0", "\"z\": 0"), "has the unknown token \"z\""},
      {with("\"e\": 0", "\"a\": 0"), "key \"next\"[\"\"][\"a\"] occurs twice in one object"},
      {with("\"a b\"", "\"a z\""), "\"next\"[\"a z\"] has the unknown token \"z\""},
      {with("\"a b\"", "\"a  b\""), "has the unknown token \"\""},
      {with("\"a b\"", "\"e a\""), "continues after the terminal token \"e\""},
      {with("\"a b\"", "\"a e\""), "continues after the terminal token \"e\""},
      {with("\"a b\": ", "\"\": "), "key \"next\"[\"\"] occurs twice in one object"},
      {with("[\"e\"]", "[\"z\"]"), "\"terminal\" names \"z\", no token"},
      {with("[\"e\"]", "[\"e\", \"e\"]"), "\"terminal\" repeats \"e\""},
      {with("[\"e\"]", "\"e\""), "\"terminal\" is \"e\", not a list"},
      {with("[\"e\"]", "[1]"), "\"terminal\"[0] is 1, not a string"},
      {with("\"b\", \"e\"]", "\"a\"]"), "\"vocabulary\"[1] repeats the token \"a\""},
      {with("\"b\", \"e\"]", "\"b|\"]"), "\"vocabulary\"[1] (\"b|\")"},
      {with("\"b\", \"e\"]", "\"\"]"), "is empty or has a space"},
      {with("\"b\", \"e\"]", "3]"), "\"vocabulary\"[1] is 3, not a string"},
      {with("[\"a\", \"b\", \"e\"]", "[]"), "\"vocabulary\" is not a list of tokens"},
      {with("\"name\": \"m\"", "\"name\": 3"), "\"name\" is 3, not a string"},
      {with("\"name\": \"m\", ", ""), "key \"name\" is missing"},
      {with("\"default\"", "\"restart\""), "key \"restart\" is not known; a finite model has"},
      {with("\"default\"", "\"defualt\""), "\"defualt\" is not known; did you mean \"default\"?"},
      {good + std::string(1, '\0'), "line 2, column 103: not valid JSON"},
      {good + std::string("\0{}", 3), "line 2, column 103: not valid JSON"},
      {with("{\"e\": 1}", std::string(70, '[') + std::string(70, ']')), "nested deeper than 64"},
      {with("\"next\": {", "\"next\": 3, \"x\": {"), "key \"x\" is not known"},
      {with("{\"e\": 1}", "3"), "\"next\"[\"a b\"] is not an object"},
      {with("\"terminal\": [", "\"terminal\": [,"), "line 1, column 59: not valid JSON"},
      {R"({"name": "m", "vocabulary": ["a"], "terminal": [], "next": {"a": {"a": 1}}})",
       "has no row for the empty prefix"},
      {R"({"name": "m", "vocabulary": ["a"], "terminal": []})", "has no row for the empty prefix"},
      {"[]", "m.json: is a list, not a JSON object"},
      {"", "line 1, column 1: not valid JSON"},
      {"{\n  \"name\": \"\xff\"}", "line 2, column 12: not valid JSON"},
      {"[1e999]", "the number at [0] is out of range"},
  };
  for (const Fault& fault : faults) {
    CAPTURE(fault.json);
    try {
      parse(fault.json);
      FAIL("accepted");
    } catch (const BadInput& error) {
      const std::string message = error.what();
      CHECK_THAT(message, Catch::Contains(fault.message));
      CHECK_THAT(message, Catch::StartsWith("m.json"));
      CHECK_THAT(message, Catch::Contains("; "));
      CHECK(message.find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("a model with too many row entries is refused") {
  std::string json = R"({"name": "m", "terminal": [], "vocabulary": ["t0")";
  for (int v = 1; v < 2000; ++v) json += ", \"t" + std::to_string(v) + "\"";
  json += R"(], "default": {"t0": 1}, "next": {"": {"t0": 1})";
  for (int v = 0; v < 600; ++v) json += ", \"t" + std::to_string(v) + "\": {\"t0\": 1}";
  json += "}}";
  CHECK_THROWS_WITH(parse(json), Catch::Contains("601 rows of 2000 tokens, more than 1000000"));
}

TEST_CASE("too many rows are refused before they are looked at") {
  FiniteModelParts model = parts();
  for (Token a = 0; a < 578; ++a)
    for (Token b = 0; b < 578; ++b) model.next[{3 + a, 3 + b}];
  CHECK_THROWS_WITH(FiniteModel(std::move(model), "rows"),
                    Catch::Contains("334086 rows of 3 tokens, more than 1000000 entries"));
}

TEST_CASE("a model file that cannot be read is named") {
  CHECK_THROWS_WITH(load_finite_model("/nowhere/m.json"),
                    Catch::Contains("/nowhere/m.json: cannot be read"));
  CHECK_THROWS_WITH(load_finite_model("/"), Catch::Contains("/: cannot be read (Is a directory)"));
  const auto path = std::filesystem::temp_directory_path() / "tempera-test-model.json";
  std::ofstream(path) << good;
  CHECK(load_finite_model(path.string()).name() == "m");
  std::filesystem::remove(path);
}

TEST_CASE("laws of the model reader") {
  law("any change of a few bytes is read or refused, never worse", [] {
    std::string json = good;
    const int changes = *rc::gen::inRange(1, 4);
    for (int i = 0; i < changes; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, json.size());
      json[at] = *rc::gen::oneOf(rc::gen::arbitrary<char>(),
                                 rc::gen::elementOf(std::string("{}[]\",:/ 0123456789-ae")));
    }
    try {
      parse(json);
    } catch (const BadInput& error) {
      RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
    }
  });
  law("a random model is the same from its rows and from its JSON", [] {
    const FiniteModel model = random::model();
    const auto object = [&](const TokenRow& row) {
      nlohmann::json entries = nlohmann::json::object();
      for (Token v = 0; v < row.size(); ++v)
        if (row[v] != 0 || v % 2 == 0) entries[model.vocabulary()[v]] = to_string(row[v]);
      return entries;
    };
    nlohmann::json json{{"name", model.name()},
                        {"vocabulary", model.vocabulary()},
                        {"terminal", nlohmann::json::array()},
                        {"next", nlohmann::json::object()},
                        {"default", object(*model.default_row())}};
    for (Token v = 0; v < model.vocabulary_size(); ++v)
      if (model.is_terminal(v)) json["terminal"].push_back(model.vocabulary()[v]);
    for (const auto& [history, row] : model.listed_rows())
      json["next"][model.text(history)] = object(row);
    check_same(parse(json.dump()), model);
  });
  law("a file cut short is refused", [] {
    const auto length = *rc::gen::inRange<std::size_t>(0, good.size());
    RC_ASSERT_THROWS_AS(parse(good.substr(0, length)), BadInput);
  });
}
