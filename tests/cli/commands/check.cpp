#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/terminal/columns.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"

namespace tempera::check_test {

using nlohmann::json;
using tempera::test::bytes_of;
using tempera::test::check_refusal;
using tempera::test::CommandResult;
using tempera::test::run_command;
using tempera::test::TemporaryFile;
using tempera::test::TemporaryFolder;

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
  REQUIRE(report["cases"].size() == 9);
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
  // The tail sliced to the proposal's length, on the models that are judged by default.
  const std::string sliced = replaced(source, "for (int t = r; t < length; ++t)",
                                      "for (int t = r; t < length && t < end; ++t)");
  for (const char* power : {"2", "4"})
    CHECK(compiled(sliced, std::string(" --target power:") + power) == 1);
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
  const auto advises = Catch::Contains("judge it again with --within 1e-9");
  CHECK_THAT(check_python(power_sampling, " --target power:2").out, advises);
  CHECK_THAT(check_python(power_sampling, within).out, !advises);
  CHECK_THAT(check_python(replaced(power_sampling, " - sum(proposed_log_q)", ""), "").out,
             !advises);
  CHECK(verdict_of(replaced(power_sampling, " - sum(proposed_log_q)", ""), within)["sound"] ==
        false);
}

// tests/python holds each stand-in against its law; here one of each kind goes through the pipe.
TEST_CASE("a sampler in Python is judged through its own sources of chance") {
  const TemporaryFile target(R"({"states": {"a a": "1/8", "a e": "1/8", "e": "3/4"}})");
  for (const std::string way :
       {"0 if (u := random.random()) < 0.125 else 1 if u <= 0.25 else 2",
        "random.choices([0, 1, 2], weights=[1, 1, 6])[0]", "min(2, random.randint(0, 7))"}) {
    INFO(way);
    const json report = verdict_of(
        "import random\nimport tempera.check\ntempera.check.serve(lambda model, state: "
        "[[0, 0], [0, 1], [1]][" +
            way + "])\n",
        four_state + " --target " + target.path());
    CHECK(report["sound"] == true);
    CHECK(report["cases"][0]["tv_one_step"] == "0");
    CHECK(report["cases"][0]["matrix"][0] == json({"1/8", "1/8", "3/4"}));
  }
}

TEST_CASE("a program that fails is shown with its error, line, draws, state and model") {
  const CommandResult result = check_python(
      "import random, tempera.check\n"
      "def inner(u):\n    print('a line before it')\n    raise ValueError('the reason')\n"
      "tempera.check.serve(lambda model, state: inner(random.randint(0, 1)))\n",
      four_state);
  CAPTURE(result.err);
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Catch::Contains("of probability 1 from (") &&
                             Catch::Contains("of model four-state, horizon 2") &&
                             Catch::Contains("the likeliest ValueError: the reason, at ") &&
                             Catch::Contains("on a path of probability 1/2, after the draws "));
}

TEST_CASE("what a sampler prints is shown, and a counterexample shows its draws") {
  const CommandResult result = check_python(
      "import random, tempera.check\n"
      "def step(model, state):\n"
      "    print('a line of its own')\n"
      "    return random.choice([[0, 0], [0, 1], [1]])\n"
      "tempera.check.serve(step)\n",
      four_state);
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.out, Catch::Contains("a line of its own") && Catch::Contains("by the draws ") &&
                             Catch::Contains(":4 0 with 1/3"));
}

TEST_CASE("a counterexample shows its draws in order, each with the line of its call") {
  const CommandResult result = check_python(
      "import random, tempera.check\n"
      "def step(model, state):\n"
      "    if random.randrange(3) == 0:\n"
      "        return [1]\n"
      "    return [0, random.randrange(2)]\n"
      "tempera.check.serve(step)\n",
      four_state);
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  const std::size_t first = result.out.find(":3 1 with 1/3, ");
  REQUIRE(first != std::string::npos);
  CHECK(result.out.find(":5 0 with 1/2", first) != std::string::npos);
}

TEST_CASE("a counterexample has one notation for all of its numbers") {
  const auto counterexample = [](const std::string& program, const std::string& more) {
    const CommandResult result =
        check_python(program, " --horizon 2 --within 1e-9 --model " + tree +
                                  "/toy_models/unequal_lengths.json " + more);
    CAPTURE(result.out, result.err);
    REQUIRE(result.exit_code == 1);
    const std::size_t begin = result.out.find(more.empty() ? "not invariant: " : "the answer (");
    REQUIRE(begin != std::string::npos);
    const std::size_t end =
        std::min(result.out.find("\nit", begin), result.out.find("\n  model ", begin));
    return result.out.substr(begin, end - begin);
  };
  const auto has_decimals = [](const std::string& text) {
    return text.find("e-0") != std::string::npos || text.find("e+0") != std::string::npos;
  };
  const auto has_fractions = [](const std::string& text) {
    for (std::size_t at = text.find('/'); at != std::string::npos; at = text.find('/', at + 1))
      if (at > 0 && std::isdigit(static_cast<unsigned char>(text[at - 1])) != 0) return true;
    return false;
  };
  // Its acceptance is a double that no fraction of a few digits is.
  const std::string of_floats =
      counterexample(replaced(power_sampling, " - sum(proposed_log_q)", ""), "");
  CAPTURE(of_floats);
  CHECK(has_decimals(of_floats));
  CHECK_FALSE(has_fractions(of_floats));
  const std::string of_thirds = counterexample(
      "import random, tempera.check\n"
      "tempera.check.serve(lambda model, state: random.choice([[0, 2], [1, 0], [1, 1]]))\n",
      "");
  CAPTURE(of_thirds);
  CHECK(has_fractions(of_thirds));
  CHECK_FALSE(has_decimals(of_thirds));
  // Of a whole program the target's fraction is a decimal beside what a double decides.
  const std::string whole = counterexample(
      "import random, tempera.check\n"
      "tempera.check.serve(lambda model, state: [2] if random.random() < 0.3 else [0])\n",
      "--whole --target power:2");
  CAPTURE(whole);
  CHECK(has_decimals(whole));
  CHECK_FALSE(has_fractions(whole));
}

namespace {

// The paper's fixed-horizon sampler with one chain, in stages of `block`, from the prompt.
const std::string whole_program = R"(
import math, random, tempera.check
def extend(model, x, end, alpha):
    while len(x) < end and not (x and x[-1] in model.terminal):
        row = [p ** alpha for p in model.probabilities(x)]
        x = x + [random.choices(range(len(row)), weights=row)[0]]
    return x
def ratio(model, x, start, alpha):
    return math.prod(sum(p ** alpha for p in model.probabilities(x[:t])) for t in range(start, len(x)))
def sample(model, state):
    x, alpha = [], model.powers[0]
    for end in range(1, model.horizon + 1):
        x = extend(model, x, end, alpha)
        tempera.check.merge((end, x))
        r = random.randrange(end)
        if r < len(x):
            y = extend(model, x[:r], end, alpha)
            if random.random() < min(1.0, ratio(model, y, r, alpha) / ratio(model, x, r, alpha)):
                x = y
    return x
tempera.check.serve(sample)
)";

}  // namespace

namespace {

/// A move L_k in floats; `draw` gives the token from a row p and the power a.
std::string local_move(const std::string& draw) {
  return "import math, os, random, tempera.check\n"
         "def draw(p, a):\n" +
         draw +
         R"(
def ratio(model, x, r, a):
    return math.prod(sum(p ** a for p in model.probabilities(x[:t])) for t in range(r, len(x)))
def step(model, x):
    a, r = model.powers[0], random.randrange(model.horizon)
    if r >= len(x):
        return x
    y = x[:r]
    while not model.is_ended(y):
        y = y + [draw(model.probabilities(y), a)]
    return y if random.random() < ratio(model, y, r, a) / ratio(model, x, r, a) else x
tempera.check.serve(step)
)";
}

const std::string by_weights =
    "    return random.choices(range(len(p)), weights=[q ** a for q in p])[0]\n";

}  // namespace

TEST_CASE("a sliced tail is caught by default in a kernel and in a whole program") {
  const std::string sliced = replaced(local_move(by_weights), "ratio(model, x, r, a) else",
                                      "ratio(model, x[:len(y)], r, a) else");
  for (const char* power : {"2", "4"})
    CHECK(verdict_of(sliced, std::string(" --within 1e-9 --target power:") + power)["sound"] ==
          false);
  const std::string whole = replaced(whole_program, "/ ratio(model, x, r, alpha)",
                                     "/ ratio(model, x[:len(y)], r, alpha)");
  const std::string more = " --whole --within 1e-9 --target power:2 --algorithm ppt --block 1";
  CHECK(check_python(whole_program, more).exit_code == 0);
  CHECK(check_python(whole, more).exit_code == 1);
}

TEST_CASE("an improbable path that raises is left out within the rounding, and told") {
  // Its sum of doubles is below 1 where rows are thirds: the loop falls off its end.
  const std::string program = local_move(
      "    z, c, u = sum(q ** a for q in p), 0.0, random.random()\n"
      "    for token, q in enumerate(p):\n"
      "        c += q ** a / z\n"
      "        if u < c:\n"
      "            return token\n"
      "    raise IndexError('fell off')\n");
  const json report = verdict_of(program, " --within 1e-9");
  CHECK(report["sound"] == true);
  REQUIRE(report["lost"].is_object());
  CHECK_THAT(report["lost"]["why"].get<std::string>(), Catch::Contains("IndexError: fell off"));
  CHECK_THAT(report["lost"]["at"].get<std::string>(), Catch::Contains(":8"));
  const CommandResult exact =
      check_python(program, " --horizon 2 --model " + tree + "/toy_models/unequal_lengths.json");
  CAPTURE(exact.out, exact.err);
  CHECK(exact.exit_code == 2);
  CHECK_THAT(exact.err, Catch::Contains("IndexError: fell off") &&
                            Catch::Contains("on a path of probability ") &&
                            Catch::Contains("leave so much out by --within"));
  // What is lost on a probable path is no rounding.
  const std::string often =
      local_move("    if random.random() < 0.01: raise IndexError('often')\n" + by_weights);
  CHECK(check_python(often, " --within 1e-9" + four_state).exit_code == 2);
}

TEST_CASE("a sampler that tries until it accepts is judged") {
  const std::string trying =
      "    token = random.randrange(len(p))\n"
      "    while not random.random() < p[token] ** a:\n"
      "        token = random.randrange(len(p))\n"
      "    return token\n";
  const std::string more = four_state + " --within 1e-9";
  CHECK(verdict_of(local_move(trying), more)["sound"] == true);
  // One that draws by lines is cut off and started anew.
  const std::string lines = python(
      "\n    while ask(below='1/8')['yes']: pass\n    state = [1] if ask(below='1/2')['yes'] else "
      "[0, ask(draw=[1, 1])['winner']]");
  const TemporaryFile law(R"({"states": {"a a": "1/4", "a e": "1/4", "e": "1/2"}})");
  const json report = verdict_of(lines, four_state + " --within 1e-9 --target " + law.path());
  CHECK(report["sound"] == true);
  CHECK(report["lost"]["why"] == "draws without end");
}

TEST_CASE("a seed within a step is a failure of a kernel, and of a whole program its user's") {
  const std::string seeded =
      replaced(local_move(by_weights), "    a, r =", "    random.seed(0)\n    a, r =");
  const json report = verdict_of(seeded, four_state + " --within 1e-9");
  CHECK(report["sound"] == false);
  REQUIRE(report["seeds"].size() == 1);
  CHECK_THAT(report["seeds"][0].get<std::string>(), Catch::Contains("random.seed(0) at "));
  const std::string whole =
      " --whole --within 1e-9 --target power:2 --algorithm ppt --block 1 " + four_state;
  const CommandResult once = check_python(
      replaced(whole_program, "    x, alpha = []", "    random.seed(7)\n    x, alpha = []"), whole);
  CAPTURE(once.out, once.err);
  CHECK(once.exit_code == 0);
  CHECK_THAT(once.out, Catch::Contains("seed given by the program and left out: random.seed(7)"));
  const CommandResult again = check_python(
      replaced(whole_program, "        r = random", "        random.seed(7)\n        r = random"),
      whole);
  CHECK(again.exit_code == 2);
  CHECK_THAT(again.err, Catch::Contains("begins the stream again"));
}

TEST_CASE("what is merged by itself has the law of every path") {
  const std::string ladder = " --target powers:1,2,4 --within 1e-9";
  const std::string program = replaced(local_move(by_weights), "tempera.check.serve(step)", R"(
def score(model, x):
    return sum(model.logits(x[:t])[x[t]] for t in range(len(x)))
class One:
    pass
def round_of(model, state):
    for k, a in enumerate(model.powers):
        one = One()
        one.powers, one.horizon = [a], model.horizon
        one.probabilities, one.is_ended = model.probabilities, model.is_ended
        state[k] = step(one, state[k])
    for k in range(len(state) - 1):
        gap = model.powers[k + 1] - model.powers[k]
        if random.random() < math.exp(min(0.0, gap * (score(model, state[k]) - score(model, state[k + 1])))):
            state[k], state[k + 1] = state[k + 1], state[k]
    return state
tempera.check.serve(round_of))");
  const json merged = verdict_of(program, ladder);
  CHECK(merged["sound"] == true);
  REQUIRE(merged["cases"].size() == 3);
  const json every = verdict_of(program, ladder + " --every-path --pure --horizon 1 --model " +
                                             tree + "/toy_models/check/two_tokens.json");
  CHECK(every["cases"][0]["matrix"] == merged["cases"][0]["matrix"]);
  // A chance that nobody answers is noticed.
  CHECK(check_python(replaced(program, "if random.random() < math.exp",
                              "if (os.urandom(1)[0] if False else open('/dev/urandom', "
                              "'rb').read(1)[0]) / 256 < math.exp"),
                     ladder)
            .exit_code == 2);
}

TEST_CASE("a whole program whose second run differs is refused in every form that check takes") {
  const TemporaryFile law(R"({"states": {"a a": "1/2", "e": "1/2"}})");
  const std::string more = " --whole --target " + law.path() + four_state;
  const TemporaryFolder work;
  // Each remembers in a file that it has run.
  const std::string remembers = "os.path.exists(MARK) or (open(MARK, 'w').close() or False)";
  const auto refused = [&](const std::string& program, const std::string& processes) {
    const std::string mark = "'" + (work / "ran").string() + "'";
    std::string text = program;
    for (std::size_t at; (at = text.find("MARK")) != std::string::npos;) text.replace(at, 4, mark);
    std::filesystem::remove(work / "ran");
    const CommandResult result = check_python(text, more + processes);
    CAPTURE(text, result.out, result.err);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Catch::Contains("not deterministic"));
  };
  // By draws that are answered.
  refused(python("state = [1] if ask(draw=[1, 1])['winner'] or " + remembers + " else [0, 0]"),
          " --processes 1");
  // By forks.
  refused(
      "import json, os, sys\nsys.stdin = open(0, buffering=1)\nsys.stdin.readline()\n"
      "for line in iter(sys.stdin.readline, ''):\n"
      "    first = " +
          remembers +
          "\n"
          "    print('{\"fork\": [1, 1]}\\n{\"end\": [1]}\\n' + ('{\"end\": [1]}' if first else "
          "'{\"end\": [0, 0]}'), flush=True)\n",
      " --processes 1");
  // In Python, with what is merged by itself, by a declaration, and without; run again or forking.
  for (const std::string processes : {" --processes 1", " --processes 2"})
    for (const std::string every : {"", " --every-path"})
      for (const std::string merge : {"", "    tempera.check.merge(random.choice([0, 1]))\n"})
        for (const std::string slow : {"", "    time.sleep(0.02)\n"})
          refused("import os, random, time, tempera.check\ndef step(model, state):\n" + slow +
                      merge +
                      "    u = random.choice([0, 1])\n"
                      "    return [1] if u or tempera.check.walks.Replay._pass else [0, 0]\n"
                      "tempera.check.serve(step)\n",
                  processes + every);
}

TEST_CASE("a failure is printed at once and kept, and the models after it are not judged") {
  const std::string wrong = replaced(metropolis, "ratio *= z", "ratio /= z");
  // On the last model it would take for ever.
  const std::string slow =
      replaced(wrong, "def step(x):",
               "def step(x):\n    if horizon == 3:\n        import time\n        time.sleep(1000)");
  const CommandResult result = check_python(slow, " --seconds 3600");
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.out, Catch::Contains("not judged: it has failed before") &&
                             Catch::Contains("it does not sample its target"));
  CHECK(result.out.find("the smallest model") < result.out.find("not judged"));
}

TEST_CASE("drawn models are named by their seed") {
  const auto names = [&](const std::string& more) {
    std::vector<std::string> found;
    const json verdict = verdict_of(metropolis, four_state + more);
    for (const json& one : verdict["cases"])
      found.push_back(one["model"].get<std::string>() + one["law"].dump());
    return found;
  };
  const auto drawn = names(" --random 3 --seed 5");
  CHECK(drawn.size() == 4);
  CHECK(drawn == names(" --random 3 --seed 5"));
  CHECK(drawn != names(" --random 3 --seed 6"));
  check_refusal("check --program cat --seed 5", "no effect without --random");
}

TEST_CASE("a power of 1 is named as what hides a mistake of its acceptance") {
  const std::string hint = "at power 1 a proposal drawn from the model is always accepted";
  CHECK_THAT(check_python(metropolis, four_state + " --target power:1").out, Catch::Contains(hint));
  CHECK(check_python(metropolis, four_state).out.find(hint) == std::string::npos);
}

TEST_CASE("an import that is slower than the time-out is not a hang") {
  CHECK(check_python("import time\ntime.sleep(7)\nimport tempera.check\n"
                     "tempera.check.serve(lambda model, state: state)\n",
                     four_state + " --timeout 5")
            .exit_code == 1);  // reducible, which takes all its steps
}

TEST_CASE("a program that forks has the law of one that is asked again and again") {
  const std::string forking = R"(
import json, os, sys
def fork(*tickets):
    sys.stdout.write(json.dumps({"fork": tickets, "at": "here"}) + "\n")
    sys.stdout.flush()
    winners = [i for i, t in enumerate(tickets) if t]
    for i in winners[:-1]:
        if os.fork() == 0:
            return i
        os.wait()
    return winners[-1]
sys.stdin = open(0, buffering=1)
sys.stdin.readline()
for line in iter(sys.stdin.readline, ''):
    leader = os.getpid()
    r = fork(1, 2)
    end = [1] if r == 0 else [[0, 0], [0, 1]][fork(3, 1)]
    print(json.dumps({"end": end}), flush=True)
    if os.getpid() != leader:
        os._exit(0)
)";
  const TemporaryFile target(R"({"states": {"e": "1/3", "a a": "1/2", "a e": "1/6"}})");
  const json report = verdict_of(forking, four_state + " --processes 1 --target " + target.path());
  CHECK(report["sound"] == true);
  CHECK(report["cases"][0]["tv_one_step"] == "0");
  // A subtree that no process takes is named, and no law.
  const std::string skipping =
      replaced(forking, "    print(json.dumps({\"end\": end}), flush=True)\n",
               "    print(json.dumps({\"end\": end} if r else {\"skip\": True}), flush=True)\n");
  const TemporaryFile file(skipping);
  check_refusal("check --program 'python3 " + file.path() + "' --processes 1 --target " +
                    target.path() + four_state,
                "writes paths whose probabilities sum to 2/3");
}

TEST_CASE("a score that is stale where the length stays is caught by the default models") {
  const std::string sound = R"(
import math, random, tempera.check
def log_p(model, x):
    return sum(model.logits(x[:t])[x[t]] for t in range(len(x)))
def local(model, x, score, alpha):
    r = random.randrange(model.horizon)
    if r >= len(x):
        return x, score
    y, ratio = x[:r], 0.0
    while not model.is_ended(y):
        row = [p ** alpha for p in model.probabilities(y)]
        ratio += math.log(sum(row))
        y = y + [random.choices(range(len(row)), weights=row)[0]]
    ratio -= sum(math.log(sum(p ** alpha for p in model.probabilities(x[:t]))) for t in range(r, len(x)))
    if random.random() < math.exp(min(0.0, ratio)):
        return y, log_p(model, y)
    return x, score
def step(model, state):
    scores = [log_p(model, x) for x in state]
    for k, alpha in enumerate(model.powers):
        state[k], scores[k] = local(model, state[k], scores[k], alpha)
    gap = model.powers[1] - model.powers[0]
    if random.random() < math.exp(min(0.0, gap * (scores[0] - scores[1]))):
        state.reverse()
    return state
tempera.check.serve(step)
)";
  const std::string joint = " --target powers:1,2 --within 1e-9";
  const json right = verdict_of(sound, joint);
  CHECK(right["sound"] == true);
  CHECK(right["cases"].size() == 6);
  const std::string stale =
      replaced(sound, "        return y, log_p(model, y)",
               "        return y, score if len(y) == len(x) else log_p(model, y)");
  CHECK(verdict_of(stale, joint)["sound"] == false);
  // On four-state alone it is not seen, and the command says why.
  const CommandResult symmetric = check_python(stale, four_state + joint);
  CHECK(symmetric.exit_code == 0);
  CHECK_THAT(symmetric.out, Catch::Contains("records of equal length are equally likely"));
}

TEST_CASE("chance that a program has hidden under an early name is answered, or named") {
  // Taken before tempera.check is imported, and kept in a closure.
  const std::string early =
      replaced(replaced(power_sampling, "import tempera.check  # before all that draws",
                        "from random import random as taken\n"
                        "hidden = (lambda draw: lambda: draw())(taken)\n"
                        "import tempera.check  # after all that draws"),
               "if random.random() <", "if hidden() <");
  CHECK(verdict_of(early, " --within 1e-9")["sound"] == true);
  // A mistake that is drawn by it is caught by the default models.
  CHECK(verdict_of(replaced(early, "if hidden() <", "if hidden() / 2 <"),
                   " --within 1e-9")["sound"] == false);
  // What compiled code holds cannot be answered: its name is told.
  const CommandResult refused = check_python(
      replaced(replaced(power_sampling, "import tempera.check  # before all that draws",
                        "from random import random as taken\n"
                        "in_compiled_code = iter(taken, 2.0)\n"
                        "import tempera.check  # after all that draws"),
               "if random.random() <", "if next(in_compiled_code) <"),
      " --within 1e-9");
  CAPTURE(refused.out, refused.err);
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Catch::Contains("__main__.in_compiled_code"));
}

TEST_CASE("powers between whole numbers are judged within a rounding") {
  for (const char* power : {"1.5", "2.35"})
    CHECK(verdict_of(power_sampling,
                     four_state + " --within 1e-9 --target power:" + power)["sound"] == true);
  const TemporaryFile unequal(R"({"name": "unequal", "vocabulary": ["a", "e"], "terminal": ["e"],
      "default": {"a": "1/3", "e": "2/3"}})");
  const std::string model = " --horizon 2 --model " + unequal.path();
  CHECK(verdict_of(power_sampling, model + " --within 1e-9 --target power:2.35")["sound"] == true);
  const std::string other = replaced(power_sampling, "1 / model.powers[0]", "1 / 2.3");
  CHECK(verdict_of(other, model + " --within 1e-9 --target power:2.35")["sound"] == false);
  check_refusal("check --program cat --target power:2.35" + model, "irrational");
}

TEST_CASE("what is not decided in the time given is said, with an exit code of its own") {
  const CommandResult result = check_python(
      "import random, time, tempera.check\n"
      "def step(model, state):\n    time.sleep(0.2)\n    return random.choice([[1], [0, 0]])\n"
      "tempera.check.serve(step)\n",
      four_state + " --seconds 1");
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 3);
  CHECK_THAT(result.out, Catch::Contains("not decided"));
}

TEST_CASE("a whole program is equal, unequal, or not decided in time, and JSON says which") {
  struct Program {
    const char* body;
    int exit_code;
    json equal;
    bool is_decided;
  };
  for (const auto& [body, exit_code, equal, is_decided] :
       {Program{"random.choice([[1], [1], [1], [0, 0], [0, 1], [1]])", 0, true, true},
        Program{"random.choice([[1], [0, 0]])", 1, false, true},
        Program{"time.sleep(1000)", 3, nullptr, false}}) {
    CAPTURE(body);
    const TemporaryFile law(R"({"states": {"a a": "1/6", "a e": "1/6", "e": "2/3"}})");
    const CommandResult result = check_python(
        "import random, time, tempera.check\ntempera.check.serve(lambda model, state: " +
            std::string(body) + ")\n",
        " --whole --json --seconds " + std::string(is_decided ? "3600" : "2") + four_state +
            " --target " + law.path());
    CAPTURE(result.out, result.err);
    CHECK(result.exit_code == exit_code);
    const json report = json::parse(result.out);
    CHECK(report["equal"] == equal);
    CHECK(report["cases"][0]["decided"] == is_decided);
    CHECK(report["cases"][0].contains("law") == is_decided);
    CHECK(report["smallest"].is_null() == (equal != false));
  }
}

TEST_CASE("a whole program has the law of the algorithm that it is, and not of another") {
  const std::string whole =
      " --whole --within 1e-9 --target power:2 --algorithm ppt --block 1 --horizon 2";
  const json report = [&] {
    const CommandResult result = check_python(whole_program, whole + " --json");
    CAPTURE(result.out, result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out);
  }();
  CHECK(report["equal"] == true);
  REQUIRE(report["cases"].size() == 4);
  for (const json& one : report["cases"]) {
    CHECK(one["algorithm"]["equal"] == true);
    CHECK(one["target"]["tv"] != "0");
  }
  // Without merging, and in one process or several, the law is the same.
  const std::string unmerged =
      replaced(whole_program, "        tempera.check.merge((end, x))\n", "");
  for (const char* processes : {" --processes 1", " --processes 3"}) {
    const CommandResult again =
        check_python(unmerged, whole + processes + std::string(" --every-path --json"));
    CAPTURE(again.err);
    REQUIRE(again.exit_code == 0);
    const json other = json::parse(again.out);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(other["cases"][i]["law"] == report["cases"][i]["law"]);
    CHECK(other["paths"] > report["paths"]);
  }
  // Powers whose laws are irrational, within a rounding; the power itself is told apart.
  const auto at_power = [&](const std::string& program, const std::string& power) {
    return check_python(program, replaced(whole, "power:2", "power:" + power) + " --model " +
                                     TEMPERA_SOURCE_DIR "/toy_models/unequal_lengths.json");
  };
  for (const char* power : {"1.5", "47/20"}) CHECK(at_power(whole_program, power).exit_code == 0);
  const std::string other = replaced(whole_program, "model.powers[0]", "2.36");
  CHECK_THAT(at_power(other, "2.35").out,
             Catch::Contains("the smallest model on which they differ"));
  check_refusal("check --program cat --whole --algorithm ppt --target power:2.35 --horizon 2",
                "irrational");
  // A restart within the record is another algorithm: the smallest model on which they differ.
  const CommandResult differs = check_python(
      replaced(whole_program, "random.randrange(end)", "random.randrange(len(x))"), whole);
  CAPTURE(differs.out);
  CHECK(differs.exit_code == 1);
  CHECK_THAT(differs.out, Catch::Contains("the smallest model on which they differ") &&
                              Catch::Contains("by the ppt") && Catch::Contains("by the draws"));
  CHECK(check_python(whole_program, " --whole --target power:2 --horizon 1").exit_code == 1);
}

TEST_CASE("a process that had nothing to walk of one model is not started again for the next") {
  const TemporaryFolder work;
  // The first model has one state: the second process is told of it and of no state.
  const std::string program =
      "import os\nos.mkdir(f'" + (work / "").string() + "{os.getpid()}')\n" + power_sampling;
  const std::string models = " --model " + tree + "/toy_models/one_record.json," + tree +
                             "/toy_models/four_state.json --horizon 2";
  CHECK(verdict_of(program, models + " --within 1e-9 --processes 2")["sound"] == true);
  const std::filesystem::directory_iterator made(work / "");
  CHECK(std::distance(begin(made), end(made)) == 2);
}

TEST_CASE("what follows a merge is followed once, whichever state the step began at") {
  // Two moves a step, and a declaration between them.
  const auto two_moves = [](const std::string& declaration) {
    return replaced(power_sampling, "tempera.check.serve(mcmc_step)",
                    "def step(model, state):\n"
                    "    between = mcmc_step(model, state)\n" +
                        declaration +
                        "    return mcmc_step(model, between)\n"
                        "tempera.check.serve(step)");
  };
  const std::string merging = two_moves("    tempera.check.merge(between)\n");
  const std::string more = " --within 1e-9 --horizon 2";
  const json apart = verdict_of(two_moves(""), more + " --every-path");
  CHECK(apart["sound"] == true);
  for (const char* processes : {" --processes 1", " --processes 3", " --pure"}) {
    CAPTURE(processes);
    const json merged = verdict_of(merging, more + processes);
    CHECK(merged["sound"] == true);
    REQUIRE(merged["cases"].size() == apart["cases"].size());
    for (std::size_t i = 0; i < apart["cases"].size(); ++i)
      CHECK(merged["cases"][i]["matrix"] == apart["cases"][i]["matrix"]);
    // The paths of the first moves and of the second ones are added up, and not multiplied.
    CHECK(merged["paths"].get<double>() < 0.5 * apart["paths"].get<double>());
  }
  // A key that does not tell what follows: the state that the step began at decides it too.
  const std::string wrong =
      replaced(merging, "    return mcmc_step(model, between)\n",
               "    return mcmc_step(model, between) if len(state) > 1 else between\n");
  const CommandResult refused = check_python(wrong, more + " --processes 1");
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Catch::Contains("its law is not the same"));
}

TEST_CASE("a whole program that is wrong is told so by smaller models, before the asked ones") {
  // Of the asked model nothing is decided: a path takes longer than there is time.
  const std::string wrong =
      replaced(replaced(whole_program, "random.randrange(end)", "random.randrange(len(x))"),
               "    x, alpha = [], model.powers[0]\n",
               "    x, alpha = [], model.powers[0]\n"
               "    if len(model.vocabulary) == 3 and model.horizon == 3:\n"
               "        import time\n"
               "        time.sleep(1000)\n");
  // A busy machine may need longer for the smaller models. The path is not to be taken for a hang
  // before that.
  CommandResult result;
  for (const char* seconds : {"10", "100", "1000"}) {
    result = check_python(
        wrong,
        " --whole --within 1e-9 --target power:2 --algorithm ppt --block 1 --horizon 3 --timeout "
        "2000 --seconds " +
            std::string(seconds) +
            " --model " TEMPERA_SOURCE_DIR "/toy_models/unequal_lengths.json");
    if (result.exit_code == 1) break;
  }
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.out, Catch::Contains("the smallest model on which they differ") &&
                             Catch::Contains("not decided in the time given"));
  CHECK(result.out.find("the smallest model") < result.out.find("  model "));
}

TEST_CASE("a row of a whole program shows its paths, its seconds and paths a second") {
  const std::string whole =
      " --whole --within 1e-9 --target power:2 --algorithm ppt --block 1 --horizon 2";
  const CommandResult result = check_python(whole_program, whole);
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  std::istringstream lines(result.out);
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line);) {
    CHECK(tempera::cli::columns_of(line) <= 100);
    std::istringstream words(line);
    std::string model, equal_to_target, tv, equal, no_tv;
    std::size_t horizon = 0, answers = 0, paths = 0;
    double seconds = 0, speed = 0;
    if (!(words >> model >> horizon >> answers >> equal_to_target >> tv >> equal >> no_tv >>
          paths >> seconds >> speed))
      continue;
    ++rows;
    CHECK(paths >= 2 * answers);  // each is run twice
    // The seconds are printed to a tenth, and the speed to a whole number.
    CHECK(speed * (seconds + 0.05) + seconds >= static_cast<double>(paths) * 0.99);
  }
  CHECK(rows == 4);
}

TEST_CASE("what has no effect is refused") {
  check_refusal("check --program cat --algorithm ppt", "no effect without --whole");
  check_refusal("check --program cat --whole --rounds 2", "no effect without --algorithm");
  check_refusal("check --program cat --whole --algorithm pp", "--algorithm");
  check_refusal("check --program cat --within 1e9", "no negative exponent");
}

TEST_CASE("a target of one's own is a file") {
  const TemporaryFile law(R"({"states": {"a a": "1/6", "a e": "1/6", "e": "2/3"}})");
  const std::string exact = "state = [[0, 0], [0, 1], [1]][ask(draw=[1, 1, 4])['winner']]";
  CHECK(verdict_of(python(exact), four_state + " --target " + law.path())["sound"] == true);
  const TemporaryFile other(R"({"states": {"a a": "1/2", "e": "1/2"}})");
  CHECK(verdict_of(python(exact), four_state + " --target " + other.path())["sound"] == false);
  // It is a law of the asked horizon alone: no smaller case is held against it.
  const std::string whole =
      "import random, tempera.check\n"
      "tempera.check.serve(lambda model, state: random.choice([[0, 0], [0, 1], [1], [1], [1], "
      "[1]]))";
  CHECK(check_python(whole, " --whole" + four_state + " --target " + law.path()).exit_code == 0);
  const CommandResult differs =
      check_python(whole, " --whole" + four_state + " --target " + other.path());
  CHECK(differs.exit_code == 1);
  CHECK_THAT(differs.out, Catch::Contains("differ (1 tried), horizon 2"));
}

TEST_CASE("an answer that ends open before the horizon is an answer like any other") {
  const std::string open =
      "import random, tempera.check\n"
      "tempera.check.serve(lambda model, state: random.choice([[0], [0, 0], [1], []]))";
  const TemporaryFile law(R"({"states": {"": "1/4", "a": "1/4", "a a": "1/4", "e": "1/4"}})");
  const CommandResult result =
      check_python(open, " --whole --json" + four_state + " --target " + law.path());
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(json::parse(result.out)["cases"][0]["law"] ==
        json{{"", "1/4"}, {"a", "1/4"}, {"a a", "1/4"}, {"e", "1/4"}});
  const TemporaryFile longer(R"({"states": {"": "1/4", "a e": "1/4", "a a": "1/4", "e": "1/4"}})");
  const CommandResult differs =
      check_python(open, " --whole" + four_state + " --target " + longer.path());
  CHECK(differs.exit_code == 1);
  CHECK_THAT(differs.out, Catch::Contains("the answer (a) has probability 1/4, by the target"));
}

TEST_CASE("a program that misbehaves is named, in one line, and nothing is left running") {
  const auto refused = [&](const std::string& program, const std::string& message,
                           const std::string& more = "") {
    const CommandResult result = check_python(program, four_state + more);
    CAPTURE(program, result.exit_code, result.out, result.err);
    CHECK(tempera::test::is_refusal(result));
    CHECK_THAT(result.err, Catch::Contains(message));
  };
  refused(python("time.sleep(600)"), "hangs: it has written no line for 1 s", " --timeout 1");
  refused(python("os.kill(os.getpid(), 11)"), "Segmentation fault");
  refused(python("sys.exit(3)"), "ends with exit code 3");
  refused(python("raise ValueError('the reason')"), "ValueError: the reason\" at ");
  // The innermost line of the program's own, and not that of the library that it calls.
  const std::string failing =
      "import collections\ndef boom():\n    collections.Counter(5)\nboom()\n";
  const TemporaryFile file(failing);
  const std::string name = std::filesystem::path(file.path()).filename().string();
  check_refusal("check --program 'python3 " + file.path() + "'" + four_state,
                "is not iterable\" at " + name + ":3;");
  const TemporaryFile unclosed("def step(x):\n    return (\n");
  check_refusal("check --program 'python3 " + unclosed.path() + "'" + four_state,
                "was never closed\" at " +
                    std::filesystem::path(unclosed.path()).filename().string() + ":2;");
  refused(python("print('hello', flush=True)"), "which is not JSON");
  refused(python("ask(more=1)"), "asks for nothing that there is");
  refused(python("ask(draw=[])"), "a draw from nothing");
  refused(python("ask(draw=[0, 0])"), "tickets are all 0");
  refused(python("ask(draw=[1, -1])"), "at least 0");
  refused(python("ask(draw=['1/2', '-1/2'])"), "below 0");
  // Beyond 64 bits JSON's numbers are read as doubles, which for most of these is another number.
  for (const char* number : {"2**64", "2**64 + 1", "2**70", "1e20"})
    refused(python("ask(draw=[" + std::string(number) + ", 1])"), "more than 64 bits");
  refused(python("ask(below='3/2')"), "above 1");
  refused(python("ask(next=[1])"), "a prefix that no token follows");
  refused(python("ask(next=[7])"), "a prefix that no token follows");
  refused(python("\n    while True: ask(draw=[1])"), "asks without end");
  refused(python("ask(draw=[1 + int.from_bytes(os.urandom(4), 'big'), 1])"), "not deterministic");
  // Only where it ends: each of many paths is run twice.
  refused(python("[ask(draw=[1, 1]) for i in range(5)]; "
                 "state = [1] if os.urandom(1)[0] % 2 else [0, 0]"),
          "not deterministic");
  // Other tickets on the next path, though each path alone is the same twice.
  refused(python("globals().__setitem__('n', globals().get('n', 0) + 1); "
                 "ask(draw=[1, 1 + (n - 1) // 2])"),
          "after the same decisions other tickets");
  refused(python("\n    while True: sys.stdout.write('x' * 65536)"), "without an end of line");
  check_refusal("check --program /no/such/program" + four_state, "ends with exit code 127");
}

TEST_CASE("a program that fails is told to be mended, and one that ends early to answer on") {
  const CommandResult failing = check_python("import no_such_module\n", four_state);
  CHECK_THAT(failing.err, Catch::Contains("No module named 'no_such_module'\" at ") &&
                              Catch::Contains("mend that; the command by itself"));
  check_refusal("check --program 'kill -SEGV $$'" + four_state, "mend that;");
  check_refusal("check --program true" + four_state, "let it answer until");
}

TEST_CASE("the package of the tree is found without PYTHONPATH, and its lack is named") {
  const TemporaryFile step("def step(state):\n    return state\n");
  const std::string file = step.path() + ".py";
  std::filesystem::rename(step.path(), file);
  const char* variable = std::getenv("PYTHONPATH");
  const std::string kept = variable == nullptr ? "" : variable;
  unsetenv("PYTHONPATH");
  const std::string program = "check --program 'python3 -m tempera.check " + file + ":step'";
  CHECK_THAT(run_command(program + four_state).out, Catch::Contains("reducible"));
  const TemporaryFolder bare;
  const std::string empty = (bare / "").string();
  setenv("PYTHONPATH", empty.c_str(), 1);
  CHECK_THAT(run_command(program + four_state).out, Catch::Contains("reducible"));
  setenv("TEMPERA_MODELS", empty.c_str(), 1);
  const std::string lacking =
      "runs a Python that does not find the package tempera; install it: pip install .";
  check_refusal(program + four_state, lacking);
  // Another package of this name, as PyPI has one, and an import in the sampler itself.
  std::filesystem::create_directory(bare / "tempera");
  check_refusal(program + four_state, lacking);
  const TemporaryFile importing("import tempera.check\n");
  check_refusal("check --program 'python3 " + importing.path() + "'" + four_state, lacking);
  unsetenv("TEMPERA_MODELS");
  setenv("PYTHONPATH", kept.c_str(), 1);
  if (variable == nullptr) unsetenv("PYTHONPATH");
  std::filesystem::remove(file);
}

TEST_CASE("tickets have the numbers that are written, to the last bit") {
  struct Draw {
    const char* tickets;
    const char* first;
    const char* second;
  };
  for (const Draw& draw :
       {Draw{"2**64 - 1, 1", "18446744073709551615/18446744073709551616", "1/18446744073709551616"},
        Draw{"'18446744073709551617', 2**64 - 1", "18446744073709551617/36893488147419103232",
             "18446744073709551615/36893488147419103232"},
        Draw{"1.5e19, '1.5e19'", "1/2", "1/2"}, Draw{"'1/3', '2/3'", "1/3", "2/3"},
        // The double nearest to 0.1, and the rest up to 1, are these.
        Draw{"0.1, '32425917317067571/36028797018963968'", "3602879701896397/36028797018963968",
             "32425917317067571/36028797018963968"}}) {
    CAPTURE(draw.tickets);
    const TemporaryFile law("{\"states\": {\"a a\": \"" + std::string(draw.first) +
                            "\", \"e\": \"" + draw.second + "\"}}");
    const std::string program =
        python("state = [[0, 0], [1]][ask(draw=[" + std::string(draw.tickets) + "])['winner']]");
    CHECK(verdict_of(program, four_state + " --target " + law.path())["sound"] == true);
  }
}

TEST_CASE("a program's own children die with it") {
  const TemporaryFile pid("");
  const std::string program =
      python("os.system('sleep 1000 & echo $! >" + pid.path() + "'); time.sleep(600)");
  const auto begin = std::chrono::steady_clock::now();
  // On a busy machine the program may be ended before it has a child: it is then given longer.
  for (int seconds = 1; bytes_of(pid.path()).empty(); seconds *= 2) {
    CHECK(check_python(program, four_state + " --timeout " + std::to_string(seconds)).exit_code ==
          2);
    REQUIRE(std::chrono::steady_clock::now() - begin < std::chrono::seconds(300));
  }
  const std::string child = bytes_of(pid.path());
  // What has ended and nobody has waited for still has a name, and the state Z.
  const auto is_running = [&] {
    const std::string status = bytes_of("/proc/" + std::to_string(std::stoi(child)) + "/stat");
    return !status.empty() && status.find(") Z ") == std::string::npos;
  };
  for (int i = 0; i < 10000 && is_running(); ++i)
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

}  // namespace tempera::check_test
