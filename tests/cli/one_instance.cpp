// What is enumerated is what is shipped: each kernel of the sampler is machine code once, in the
// library, and law and sample call that one. Read from the symbols of what was built.
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace {

/// A kernel as its demangled symbol ends, whatever its namespace.
struct Kernel {
  std::string signature;
  bool is_coroutine;
};

const std::string replicas =
    "std::vector<tempera::gpu::Record, std::allocator<tempera::gpu::Record> >&";

const std::string run =
    "tempera::gpu::Run&, tempera::gpu::Plan const&, tempera::gpu::Progress&, "
    "tempera::gpu::Observer*)";

const std::string move =
    "(tempera::gpu::Record&, tempera::gpu::Turn, tempera::gpu::RestartLaw const&)";

const std::string moves_ahead =
    "std::deque<tempera::gpu::StepAhead, std::allocator<tempera::gpu::StepAhead> >";

const std::string moves =
    "(tempera::gpu::Record&, tempera::gpu::Run&, unsigned long, tempera::gpu::MoveNumbers, "
    "tempera::gpu::RestartLaw const&, " +
    moves_ahead + "&)";

const std::vector<Kernel> kernels{
    {"local_move<tempera::gpu::PaperRules>" + move, true},
    {"attempt_swap<tempera::gpu::PaperRules>(" + replicas + ", tempera::gpu::Turn)", false},
    {"::sweep(" + replicas + ", tempera::gpu::Run&, tempera::gpu::Schedule, unsigned long)", false},
    {"::extend(tempera::gpu::Record&, tempera::gpu::Turn, unsigned long)", true},
    {"::truncating_move(tempera::gpu::Record&, tempera::gpu::Turn)", true},
    {"::parallel_power_tempering(" + run, true},
    {"::truncating_power_sampling(" + run, true},
    {"::tokenwise_sampling(" + run, true},
    {"best_of_n<tempera::gpu::LikelihoodRules>(" + run, true},
    {"power_smc<tempera::gpu::PowerSmcRules>(" + run, true},
    {"uncoupled_ladder<tempera::gpu::ColdestRung>(" + run, true},
    {"uncoupled_ladder<tempera::gpu::LikeliestRung>(" + run, true},
    {"refine<tempera::gpu::PaperRules>" + moves, true},
    {"local_move<tempera::gpu::RecordRestartRules>" + move, true},
    {"refine<tempera::gpu::RecordRestartRules>" + moves, true},
};

/// What nm prints of the files, demangled.
std::string symbols_of(const std::string& files, const std::string& options = "--defined-only") {
  FILE* pipe = popen(("nm -C " + options + " " + files + " 2>/dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) text += static_cast<char>(c);
  REQUIRE(pclose(pipe) == 0);
  return text;
}

/// How often each part of a kernel is machine code: the function "itself", and of a coroutine its
/// "actor" and "destroy". A clone that the compiler made (.constprop, .isra, .part) is one more; a
/// .cold part belongs to its function.
std::map<std::string, int> copies_of(const Kernel& kernel, const std::string& symbols) {
  std::map<std::string, int> copies;
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(kernel.signature);
    if (at == std::string::npos || line.find("[clone .cold]") != std::string::npos) continue;
    const std::string rest = line.substr(at + kernel.signature.size());
    const bool is_frame = rest.find(".Frame*)") != std::string::npos;
    if (!is_frame && !rest.empty() && rest.rfind(" [clone ", 0) != 0) continue;
    if (rest.find("[clone .actor]") != std::string::npos)
      ++copies["actor"];
    else if (rest.find("[clone .destroy]") != std::string::npos)
      ++copies["destroy"];
    else
      ++copies["itself"];
  }
  return copies;
}

std::map<std::string, int> once(const Kernel& kernel) {
  std::map<std::string, int> copies{{"itself", 1}};
  if (kernel.is_coroutine) copies["actor"] = copies["destroy"] = 1;
  return copies;
}

const std::string archives = TEMPERA_ARCHIVES;  // of the library, lab and the command

}  // namespace

TEST_CASE("no kernel of the sampler is in the command twice") {
  const std::string symbols = symbols_of(TEMPERA_BINARY);
  for (const Kernel& kernel : kernels) {
    CAPTURE(kernel.signature);
    CHECK(copies_of(kernel, symbols) == once(kernel));
  }
}

// Of functions that several objects define the linker keeps one; which one is its choice.
TEST_CASE("no kernel of the sampler is defined by two objects") {
  const std::string symbols = symbols_of(archives);
  const std::string library = symbols_of(TEMPERA_GPU_ARCHIVE);
  for (const Kernel& kernel : kernels) {
    CAPTURE(kernel.signature);
    CHECK(copies_of(kernel, symbols) == once(kernel));
    CHECK(copies_of(kernel, library) == once(kernel));
  }
}

TEST_CASE("lab calls the library's kernels") {
  const std::string calls = symbols_of(TEMPERA_LAB_ARCHIVE, "-u");
  for (const std::size_t called : {0, 1, 4, 5, 6, 13}) {
    CAPTURE(kernels[called].signature);
    CHECK(calls.find(kernels[called].signature) != std::string::npos);
  }
}

TEST_CASE("second copies of kernels are found, whatever their namespace") {
  const std::string symbols = symbols_of(archives) + symbols_of(TEMPERA_PLANTED_OBJECT);
  const std::map<std::string, int> twice{{"itself", 2}, {"actor", 2}, {"destroy", 2}};
  CHECK(copies_of(kernels[0], symbols) == twice);
  CHECK(copies_of(kernels[1], symbols) == std::map<std::string, int>{{"itself", 2}});
  CHECK(copies_of(kernels[3], symbols) == twice);
  CHECK(copies_of(kernels[2], symbols) == once(kernels[2]));
}

TEST_CASE("a clone that the compiler made of a kernel is a second copy, a cold part is none") {
  const std::string line = "0000 t tempera::gpu::" + kernels[1].signature;
  CHECK(copies_of(kernels[1], line + "\n" + line + " [clone .cold]\n") == once(kernels[1]));
  for (const char* clone : {".constprop.0", ".isra.0", ".part.0"}) {
    CAPTURE(clone);
    const std::string clones = line + "\n" + line + " [clone " + clone + "]\n";
    CHECK(copies_of(kernels[1], clones) == std::map<std::string, int>{{"itself", 2}});
  }
}
