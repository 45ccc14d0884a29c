#include "lab/judge/default_cases.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "lab/defects/kernel_gallery.hpp"
#include "lab/defects/small_kernels.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

using namespace tempera;
using namespace tempera::lab;

namespace {

std::vector<JudgedCase> default_cases_of(const JudgedTarget& target) {
  std::vector<JudgedCase> cases;
  for (const DefaultCase& one : default_cases(TEMPERA_SOURCE_DIR, target.powers.size()))
    cases.emplace_back(reference::load_finite_model(one.file), one.horizon, target);
  return cases;
}

}  // namespace

TEST_CASE("the default models show every kernel of the gallery, and none of the sound ones") {
  for (const PlantedDefect& defect : planted_defects()) {
    if (defect.said_to_be) continue;  // it leaves the target alone
    INFO(defect.name);
    const auto cases = default_cases_of(defect.judged.target());
    CHECK(std::any_of(cases.begin(), cases.end(), [&](const JudgedCase& one) {
      return !judge_kernel(defect.kernel, one).sound();
    }));
  }
  const auto powers = [](std::initializer_list<int> list) {
    JudgedTarget target;
    for (const int power : list) target.powers.emplace_back(power);
    return target;
  };
  for (const JudgedCase& one : default_cases_of(powers({4})))
    CHECK(judge_kernel(kernel_of(SmallMove()), one).sound());
  for (const auto& ladder : {powers({1, 2}), powers({2, 3}), powers({1, 2, 4})})
    for (const JudgedCase& one : default_cases_of(ladder))
      CHECK(judge_kernel(kernel_of(SmallRound()), one).sound());
}

TEST_CASE("the default models show a tail that is sliced at powers 2 and 4") {
  const auto all = planted_defects();
  const auto slice = std::find_if(all.begin(), all.end(),
                                  [](const auto& one) { return one.name == "tail slice"; });
  REQUIRE(slice != all.end());
  for (const int power : {2, 4}) {
    const auto cases = default_cases_of({{reference::Power(power)}, {}});
    CHECK(std::count_if(cases.begin(), cases.end(), [&](const JudgedCase& one) {
            return !judge_kernel(slice->kernel, one).sound();
          }) >= 2);
  }
}

TEST_CASE("a default model has a token that is the join of two others") {
  bool has_join = false;
  for (const DefaultCase& one : default_cases(TEMPERA_SOURCE_DIR, 1)) {
    const auto model = reference::load_finite_model(one.file);
    const std::set<std::string> names(model.vocabulary().begin(), model.vocabulary().end());
    for (const std::string& left : names)
      for (const std::string& right : names)
        has_join = has_join || (one.horizon >= 3 && names.contains(left + right));
  }
  CHECK(has_join);
}

TEST_CASE("every model beside the list of default cases is in it, and the list is read strictly") {
  std::set<std::string> used;
  for (std::size_t rungs = 1; rungs <= 3; ++rungs)
    for (const DefaultCase& one : default_cases(TEMPERA_SOURCE_DIR, rungs)) used.insert(one.file);
  for (const auto& entry :
       std::filesystem::directory_iterator(TEMPERA_SOURCE_DIR "/toy_models/check"))
    if (entry.path().filename() != "models.json") CHECK(used.contains(entry.path().string()));
  CHECK_THROWS_AS(default_cases(TEMPERA_SOURCE_DIR, 64), BadInput);
  const test::TemporaryFolder tree;
  const std::string folder = (tree / ".").string();
  CHECK_THROWS_WITH(default_cases(folder, 1), Catch::Contains("models.json: cannot be read"));
  std::filesystem::create_directories(tree / "toy_models/check");
  for (const char* text : {"", "[{}]", R"([{"file": "a.json", "horizon": 0, "most_rungs": 1}])",
                           R"([{"file": "a.json", "horizon": 1, "most_rungs": 1, "more": 1}])"}) {
    CAPTURE(text);
    std::ofstream(tree / "toy_models/check/models.json") << text;
    CHECK_THROWS_AS(default_cases(folder, 1), BadInput);
  }
}
