#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/terminal/columns.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

using nlohmann::json;
using tempera::test::bytes_of;
using tempera::test::check_refusal;
using tempera::test::CommandResult;
using tempera::test::run_command;
using tempera::test::TemporaryFile;

namespace {

const std::string tree = TEMPERA_SOURCE_DIR;
const std::string four_state = " --model " + tree + "/toy_models/four_state.json --horizon 2";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(what, at + 1) == std::string::npos);
  return text.replace(at, what.size(), by);
}

/// `tempera check` of a Python program, its text in a file.
CommandResult check_python(const std::string& program, const std::string& more) {
  const TemporaryFile file(program);
  return run_command("check --program 'PYTHONPATH=" + tree + "/python python3 " + file.path() +
                     "' " + more);
}

json verdict_of(const std::string& program, const std::string& more) {
  const CommandResult result = check_python(program, more + " --json");
  CAPTURE(program, result.err);
  REQUIRE((result.exit_code == 0 || result.exit_code == 1));
  CHECK(result.err.empty());
  const json report = json::parse(result.out);
  CHECK(report["sound"] == (result.exit_code == 0));
  return report;
}

const std::string metropolis = bytes_of(tree + "/examples/metropolis.py");
const std::string tempering = bytes_of(tree + "/examples/tempering.py");
const std::string power_sampling = bytes_of(tree + "/examples/power_sampling.py");

/// A program that greets and then, for each state, does `body` with Python's `ask` at hand.
std::string python(const std::string& body) {
  return "import json, sys, os, time\n"
         "def ask(**request):\n"
         "    print(json.dumps(request), flush=True)\n"
         "    return json.loads(sys.stdin.readline())\n"
         "case = json.loads(sys.stdin.readline())\n"
         "for line in sys.stdin:\n"
         "    state = json.loads(line)['state']\n"
         "    " +
         body + "\n    print(json.dumps({'end': state}), flush=True)\n";
}

}  // namespace

TEST_CASE("the Python example is sound on every shipped case, exactly") {
  const json report = verdict_of(metropolis, "");
  CHECK(report["sound"] == true);
  CHECK(report["within"] == "0");
  REQUIRE(report["cases"].size() == 4);
  for (const json& one : report["cases"]) {
    CHECK(one["invariant"] == true);
    CHECK(one["reversible"] == true);
    CHECK(one["tv_one_step"] == "0");
    CHECK(one["tv_limit"] == "0");
  }
}

TEST_CASE("the C example is sound, and its broken copy is caught") {
  const std::string source = bytes_of(tree + "/examples/metropolis.c");
  const auto compiled = [](const std::string& text, const std::string& more) {
    const TemporaryFile file(text), program("");
    REQUIRE(std::system(("cc -x c -O1 -o " + program.path() + ".out " + file.path()).c_str()) == 0);
    const CommandResult result = run_command("check --program " + program.path() + ".out " + more);
    std::remove((program.path() + ".out").c_str());
    CAPTURE(result.out, result.err);
    return result.exit_code;
  };
  CHECK(compiled(source, "") == 0);
  // The restart within the record.
  CHECK(compiled(replaced(source, "draw(row, horizon)", "draw(row, length)"), four_state) == 1);
}

TEST_CASE("each broken copy of the Python example is caught, with both flows") {
  const std::pair<const char*, const char*> edits[] = {
      // the Hastings term dropped: every proposal is weighed by the target alone
      {"        ratio *= z\n", "        ratio *= powered[y[-1]]\n"},
      // its sign
      {"ratio *= z", "ratio /= z"},
      // top-1 in the proposal only
      {"ask(draw=[str(p) for p in powered])",
       "ask(draw=[str(p) if p == max(powered) else 0 for p in powered])"},
      // the restart within the record
      {"draw=[1] * horizon", "draw=[1] * len(x)"},
      // the tail sliced
      {"for t in range(r, len(x)):", "for t in range(r, min(len(x), len(y))):"},
  };
  const TemporaryFile unequal(R"({"name": "unequal", "vocabulary": ["a", "b", "e"],
      "terminal": ["e"], "next": {"a": {"a": "1/4", "b": "1/4", "e": "1/2"},
      "b": {"a": "2/3", "e": "1/3"}}, "default": {"a": "1/2", "b": "1/3", "e": "1/6"}})");
  CHECK(verdict_of(metropolis, " --model " + unequal.path() + " --horizon 3")["sound"] == true);
  for (const auto& [sound, broken] : edits) {
    INFO(broken);
    const json report = verdict_of(replaced(metropolis, sound, broken),
                                   " --model " + unequal.path() + " --horizon 3");
    CHECK(report["sound"] == false);
    const json& smallest = report["smallest"];
    REQUIRE(smallest["unbalanced"].is_object());
    CHECK(smallest["unbalanced"]["forward"] != smallest["unbalanced"]["reverse"]);
    CHECK(smallest["states"] <= report["cases"][0]["states"]);
  }
}

TEST_CASE("a round of the ladder is judged on joint states") {
  const std::string ladder =
      " --target powers:1,2 --model " + tree + "/toy_models/four_state.json --horizon 2";
  const json sound = verdict_of(tempering, ladder);
  CHECK(sound["sound"] == true);
  CHECK(sound["cases"][0]["states"] == 9);
  CHECK(sound["cases"][0]["reversible"] == false);
  const json broken =
      verdict_of(replaced(tempering, "likelihood(replicas[k]) / likelihood(replicas[k + 1])",
                          "likelihood(replicas[k + 1]) / likelihood(replicas[k])"),
                 ladder);
  CHECK(broken["sound"] == false);
}

TEST_CASE("a sampler in floats is sound within its rounding, and its broken copy is not") {
  const std::string within = four_state + " --within 1/1000000000";
  const json sound = verdict_of(power_sampling, within);
  CHECK(sound["sound"] == true);
  const json broken = verdict_of(replaced(power_sampling, "random.randint(0, model.horizon - 1)",
                                          "random.randint(0, len(tokens) - 1)"),
                                 within);
  CHECK(broken["sound"] == false);
  CHECK(broken["smallest"]["unbalanced"].is_object());
  CHECK(verdict_of(replaced(power_sampling, " - sum(proposed_log_q)", ""), within)["sound"] ==
        false);
}

// Each way of drawing 0, 1 or 2 with probabilities 1/8, 1/8 and 3/4 that samplers use; numpy and
// torch are empty shells here, which is all that their stand-ins replace.
TEST_CASE("every stand-in for a source of chance has the law of what it stands in for") {
  const TemporaryFile target(R"({"states": {"a a": "1/8", "a e": "1/8", "e": "3/4"}})");
  const std::string shells = R"(
class Shell(types.ModuleType):
    class Tensor(list):
        tolist = lambda self: list(self)
        item = lambda self: self[0]
    tensor = staticmethod(lambda values: Shell.Tensor(values))
    log = staticmethod(math.log)
numpy, torch = Shell('numpy'), Shell('torch')
numpy.random = Shell('numpy.random')
sys.modules['numpy'], sys.modules['torch'] = numpy, torch
def small(u):
    return 0 if u < 0.125 else 1 if u <= 0.25 else 2
)";
  for (const std::string way : {"small(random.random())",
                                "small(1 - random.random())",
                                "small((random.random() + 1) / 2 * 2 - 1)",
                                "2 - sum(math.log(random.random()) < x for x in [-math.inf]) if "
                                "random.random() > 0.25 else "
                                "random.randrange(2)",
                                "min(2, int(random.random() * 8))",
                                "min(2, math.floor(random.uniform(0, 8)))",
                                "bisect.bisect([1, 2, 8], random.random() * 8)",
                                "random.choices([0, 1, 2], weights=[1, 1, 6])[0]",
                                "random.choices([0, 1, 2], cum_weights=[1, 2, 8])[0]",
                                "random.choice([0, 1, 2, 2, 2, 2, 2, 2])",
                                "min(2, random.randint(0, 7))",
                                "min(2, random.randrange(4, 20, 2) // 2 - 2)",
                                "min(2, random.sample(range(8), 2)[1])",
                                "numpy.random.choice(3, p=[0.125, 0.125, 0.75])",
                                "min(2, numpy.random.randint(8))",
                                "small(numpy.random.rand())",
                                "small(numpy.random.default_rng(7).random())",
                                "torch.multinomial(torch.tensor([0.125, 0.125, 0.75]), 1).item()",
                                "small(torch.rand(1).item())",
                                "min(2, torch.randint(0, 8, (1,)).item())"}) {
    INFO(way);
    const json report =
        verdict_of("import tempera_check, bisect, math, random, sys, types\n" + shells +
                       "tempera_check.serve(lambda model, state: "
                       "[[0, 0], [0, 1], [1]][" +
                       way + "])\n",
                   four_state + " --target " + target.path());
    CHECK(report["sound"] == true);
    CHECK(report["cases"][0]["tv_one_step"] == "0");
  }
  // What has no stand-in says so, and so does a uniform whose value is asked for.
  for (const auto& [way, message] : std::initializer_list<std::pair<std::string, std::string>>{
           {"int(random.gauss(0, 1))", "no stand-in for random.gauss"},
           {"int(float(random.random()))", "split where it is compared"},
           {"0 if random.random() else 1", "compare it"}}) {
    const CommandResult result = check_python(
        "import tempera_check, random\ntempera_check.serve(lambda model, state: [" + way + "])\n",
        four_state);
    CAPTURE(result.err);
    CHECK(tempera::test::is_refusal(result));
    CHECK_THAT(result.err, Catch::Contains(message));
  }
}

TEST_CASE("a target of one's own is a file") {
  const TemporaryFile law(R"({"states": {"a a": "1/6", "a e": "1/6", "e": "2/3"}})");
  const std::string exact = "state = [[0, 0], [0, 1], [1]][ask(draw=[1, 1, 4])['winner']]";
  CHECK(verdict_of(python(exact), four_state + " --target " + law.path())["sound"] == true);
  const TemporaryFile other(R"({"states": {"a a": "1/2", "e": "1/2"}})");
  CHECK(verdict_of(python(exact), four_state + " --target " + other.path())["sound"] == false);
}

TEST_CASE("a program that misbehaves is named, in one line, and nothing is left running") {
  const std::string quick = four_state + " --timeout 1";
  const auto refused = [&](const std::string& program, const std::string& message) {
    const CommandResult result = check_python(program, quick);
    CAPTURE(program, result.exit_code, result.out, result.err);
    CHECK(tempera::test::is_refusal(result));
    CHECK_THAT(result.err, Catch::Contains(message));
  };
  refused(python("time.sleep(60)"), "hangs: it has written no line for 1 s");
  refused(python("os.kill(os.getpid(), 11)"), "Segmentation fault");
  refused(python("sys.exit(3)"), "ends with exit code 3");
  refused(python("raise ValueError('the reason')"), "ValueError: the reason");
  refused(python("print('hello', flush=True)"), "which is no JSON");
  refused(python("ask(more=1)"), "asks for nothing that there is");
  refused(python("ask(draw=[])"), "a draw from nothing");
  refused(python("ask(draw=[0, 0])"), "tickets are all 0");
  refused(python("ask(draw=[1, -1])"), "at least 0");
  refused(python("ask(draw=['1/2', '-1/2'])"), "below 0");
  refused(python("ask(draw=[2**70, 1])"), "more than 64 bits");
  refused(python("ask(below='3/2')"), "above 1");
  refused(python("ask(next=[1])"), "a prefix that no token follows");
  refused(python("ask(next=[7])"), "a prefix that no token follows");
  refused(python("\n    while True: ask(draw=[1])"), "asks without end");
  refused(python("ask(draw=[1 + int.from_bytes(os.urandom(4), 'big'), 1])"), "not deterministic");
  // Only where it ends: each of many paths is run twice.
  refused(python("[ask(draw=[1, 1]) for i in range(5)]; "
                 "state = [1] if os.urandom(1)[0] % 2 else [0, 0]"),
          "not deterministic");
  refused(python("\n    while True: sys.stdout.write('x' * 65536)"), "without an end of line");
  check_refusal("check --program /no/such/program" + quick, "ends with exit code 127");
}

TEST_CASE("a program's own children die with it") {
  const TemporaryFile pid("");
  const std::string program =
      python("os.system('sleep 300 & echo $! >" + pid.path() + "'); time.sleep(60)");
  const auto begin = std::chrono::steady_clock::now();
  CHECK(check_python(program, four_state + " --timeout 1").exit_code == 2);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  const std::string child = bytes_of(pid.path());
  // What has ended and nobody has waited for still has a name, and the state Z.
  const auto is_running = [&] {
    const std::string status = bytes_of("/proc/" + std::to_string(std::stoi(child)) + "/stat");
    return !status.empty() && status.find(") Z ") == std::string::npos;
  };
  for (int i = 0; i < 100 && is_running(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(is_running());
}

TEST_CASE("bad input of check ends in one line") {
  const std::string program = "check --program cat ";
  check_refusal("check", "--program: is missing");
  check_refusal(program + "--model /nowhere.json", "/nowhere.json: cannot be read");
  check_refusal(program + "--target power:0", "the power 0 is not positive");
  check_refusal(program + "--target power:1,2", "has several powers");
  check_refusal(program + "--target /nowhere.json", "cannot be read");
  check_refusal(program + "--horizon 0", "--horizon");
  check_refusal(program + "--within -1", "--within: is below 0");
  const TemporaryFile law(R"({"states": {"a z": "1"}})");
  check_refusal(program + four_state + " --target " + law.path(), "has a token that");
}

TEST_CASE("the table of check fits 100 columns and shows the smallest model") {
  const CommandResult result =
      check_python(replaced(metropolis, "ratio *= z", "ratio /= z"), four_state);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.out, Catch::Contains("unbalanced: (") && Catch::Contains("flows") &&
                             Catch::Contains("it does not sample its target"));
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) CHECK(tempera::cli::columns_of(line) <= 100);
}
