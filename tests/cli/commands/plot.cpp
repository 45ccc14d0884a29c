#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using namespace tempera::test;

namespace {

const std::string sampling = "sample --model " TEMPERA_SOURCE_DIR
                             "/toy_models/four_state.json --horizon 6 --powers 1,2,4 --samples 2 ";

}  // namespace

TEST_CASE("plot writes the picture and the tables of a run folder") {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const TemporaryFile prompts(
      "{\"id\": \"x\", \"prompt\": \"\"}\n{\"id\": \"y\", \"prompt\": \"a\"}\n");
  REQUIRE(run_command(sampling + "--prompts " + prompts.path() + " --out " + run).exit_code == 0);
  const auto plotted = run_command("plot " + run);
  CAPTURE(plotted.err);
  REQUIRE(plotted.exit_code == 0);
  CHECK(plotted.out == run + "/plot.svg\n");
  const std::string svg = bytes_of(run + "/plot.svg");
  CHECK_THAT(svg, Catch::StartsWith("<svg ") && Catch::Contains("prompt x, sample 0"));
  const std::string tables = (folder / "tables").string();
  const json written = json::parse(run_command("plot " + run + " --id y --sample 1 --json --csv " +
                                               tables + " --out " + (folder / "y.svg").string())
                                       .out);
  CHECK(written.size() == 4);
  CHECK_THAT(bytes_of(written["diagnostics"]),
             Catch::StartsWith(
                 "prompt,rung,quantity,chains,draws,mean,sd,mcse,ess_bulk,ess_tail,r_hat\n"));
  CHECK_THAT(bytes_of(written["svg"]), Catch::Contains("prompt y, sample 1"));
  CHECK_THAT(
      bytes_of(tables + "/rounds.csv"),
      Catch::StartsWith("prompt,sample,stage,round,rung,power,replica,length,log_p0,confidence\n"));
  CHECK_THAT(bytes_of(written["figures"]), Catch::StartsWith("prompt,part,number,figure,value\n") &&
                                               Catch::Contains("\ny,rung,3,acceptance,"));
  // The folder is still what the run wrote.
  CHECK(run_command("sample --resume " + run).exit_code == 0);
  check_refusal("plot " + run + " --id z", "--id: the run has no prompt \"z\"");
  check_refusal("plot " + run + " --sample 2", "has no round of sample 2");
  check_refusal("plot " + (folder / "nowhere").string(), "is not a run folder");
  check_refusal("plot ''", "RUN: \"\" is empty; give the run folder");
  check_refusal("plot " + run + " --out /nowhere/plot.svg", "/nowhere/plot.svg");
  check_refusal("plot", "RUN: is missing");
}
