#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using tempera::test::bytes_of;
using tempera::test::check_refusal;
using tempera::test::run_command;
using tempera::test::TemporaryFile;

namespace {

std::pair<int, std::string> checked(const std::string& certificate) {
  const TemporaryFile file(certificate), out("");
  const int status = std::system(("python3 " TEMPERA_SOURCE_DIR "/proofs/check_certificate.py " +
                                  file.path() + " >" + out.path() + " 2>&1")
                                     .c_str());
  return {WEXITSTATUS(status), bytes_of(out.path())};
}

}  // namespace

TEST_CASE("certificates are confirmed by the checker, and planted ones are not") {
  const std::string folder = TEMPERA_SOURCE_DIR "/toy_models/";
  for (const std::string asked :
       {"four_state.json --horizon 3 --power 2", "unequal_lengths.json --horizon 3 --power 3",
        "zero_probabilities.json --horizon 2 --power 2 --restart 1/3,2/3",
        "four_state.json --horizon 2 --power 2 --kernel truncating",
        "four_state.json --horizon 2 --powers 1,2,4",
        "unequal_lengths.json --horizon 2 --powers 1,3 --restart 1/4,3/4"}) {
    INFO(asked);
    const auto result = run_command("certify " + folder + asked);
    CHECK(result.exit_code == 0);
    const auto [code, said] = checked(result.out);
    INFO(said);
    CHECK(code == 0);
    CHECK_THAT(said, Catch::StartsWith("holds: "));
    const json certificate = json::parse(result.out);
    // Nothing of it can be changed unseen.
    const auto fails = [&](const char* what, const auto& change) {
      json planted = certificate;
      change(planted);
      INFO(what);
      CHECK(checked(planted.dump()).first == 1);
    };
    fails("a claim", [](json& c) { c["claims"]["reversible"] = !c["claims"]["reversible"]; });
    fails("a distance", [](json& c) { c["claims"]["tv_one_step"] = "1/7"; });
    fails("the power", [](json& c) { c["powers"].back() = "5"; });
    fails("the target", [](json& c) { std::swap(c["target"].front(), c["target"].back()); });
    fails("the states", [](json& c) { std::swap(c["states"][0], c["states"][1]); });
    fails("a row", [](json& c) {
      c["matrix"][0] = json(std::vector<std::string>(c["states"].size(), "0"));
      c["matrix"][0][0] = "1";
    });
    fails("the operator", [](json& c) { c["operator"] = "given"; });
  }
  CHECK(checked("{}").first == 2);
  CHECK(checked("no JSON").first == 2);
}

TEST_CASE("bad input of certify ends in one line") {
  const std::string four = "certify " TEMPERA_SOURCE_DIR "/toy_models/four_state.json ";
  check_refusal("certify", "is missing");
  check_refusal(four + "--power 2", "--horizon: is missing");
  check_refusal(four + "--horizon 2", "exactly one of --power and --powers");
  check_refusal(four + "--horizon 2 --powers 1,2 --kernel fixed", "--kernel: has no meaning");
  check_refusal(four + "--horizon 2 --power 2 --kernel truncating --restart 1/2,1/2",
                "--restart: has no meaning");
  check_refusal(four + "--horizon 100 --powers 1,2", "would hold 10201 states");
}
