// What is enumerated is what is shipped: each kernel of the sampler is machine code once, in the
// library, and law and sample call that one. Read from the symbols of what was built.
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace {

/// A kernel as its demangled symbol begins, whatever its namespace: up to its "(" or further.
struct Kernel {
  std::string name;
  bool is_coroutine;
};

/// The kernels that are templates, as gpu/core/sampler/instances.cpp lists them, and those that are
/// not.
std::vector<Kernel> listed_kernels() {
  std::vector<Kernel> kernels{{"::sweep(std::vector<tempera::gpu::Record", false},
                              {"::extend(tempera::gpu::Record&", true},
                              {"::truncating_move(tempera::gpu::Record&", true},
                              {"::parallel_power_tempering(tempera::gpu::Chain&", true},
                              {"::truncating_power_sampling(tempera::gpu::Chain&", true},
                              {"::tokenwise_sampling(tempera::gpu::Chain&", true},
                              {"power_smc<tempera::gpu::PowerSmcRules>(", true},
                              {"exact_rejection<tempera::gpu::RejectionRules>(", true}};
  std::ifstream file(std::string(TEMPERA_SOURCE_DIR) + "/gpu/core/sampler/instances.cpp");
  const std::regex instance(R"(^template (Task|void) (\w+)<(\w+)>\()");
  std::smatch found;
  for (std::string line; std::getline(file, line);)
    if (std::regex_search(line, found, instance))
      kernels.push_back(
          {found.str(2) + "<tempera::gpu::" + found.str(3) + ">(", found.str(1) == "Task"});
  return kernels;
}

const std::vector<Kernel> kernels = listed_kernels();

const Kernel& kernel_named(const std::string& name) {
  for (const Kernel& kernel : kernels)
    if (kernel.name.find(name) != std::string::npos) return kernel;
  FAIL("no kernel " << name);
  return kernels.front();
}

/// What follows a symbol's list of arguments, whose "(" is at `begin`.
std::string after_arguments(const std::string& symbol, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < symbol.size(); ++i) {
    depth += symbol[i] == '(' ? 1 : symbol[i] == ')' ? -1 : 0;
    if (depth == 0) return symbol.substr(i + 1);
  }
  return "no end";
}

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
    const auto at = line.find(kernel.name);
    if (at == std::string::npos || line.find("[clone .cold]") != std::string::npos) continue;
    const std::size_t arguments = at + kernel.name.find('(');
    const std::string rest = after_arguments(line, arguments);
    const bool is_frame = line.find(".Frame*)", arguments) != std::string::npos;
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

TEST_CASE("the list of the sampler's kernels is read whole") {
  CHECK(kernels.size() == 7 + 9);
  kernel_named("refine<tempera::gpu::RecordRestartRules>");
}

TEST_CASE("no kernel of the sampler is in the command twice") {
  const std::string symbols = symbols_of(TEMPERA_BINARY);
  for (const Kernel& kernel : kernels) {
    CAPTURE(kernel.name);
    CHECK(copies_of(kernel, symbols) == once(kernel));
  }
}

// Of functions that several objects define the linker keeps one; which one is its choice.
TEST_CASE("no kernel of the sampler is defined by two objects") {
  const std::string symbols = symbols_of(archives);
  const std::string library = symbols_of(TEMPERA_GPU_ARCHIVE);
  for (const Kernel& kernel : kernels) {
    CAPTURE(kernel.name);
    CHECK(copies_of(kernel, symbols) == once(kernel));
    CHECK(copies_of(kernel, library) == once(kernel));
  }
}

TEST_CASE("lab calls the library's kernels") {
  const std::string calls = symbols_of(TEMPERA_LAB_ARCHIVE, "-u");
  for (const char* called :
       {"local_move<tempera::gpu::PaperRules>", "local_move<tempera::gpu::RecordRestartRules>",
        "attempt_swap<", "truncating_move", "parallel_power_tempering",
        "truncating_power_sampling"}) {
    CAPTURE(called);
    CHECK(calls.find(kernel_named(called).name) != std::string::npos);
  }
}

TEST_CASE("second copies of kernels are found, whatever their namespace") {
  const std::string symbols = symbols_of(archives) + symbols_of(TEMPERA_PLANTED_OBJECT);
  const std::map<std::string, int> twice{{"itself", 2}, {"actor", 2}, {"destroy", 2}};
  CHECK(copies_of(kernel_named("local_move<tempera::gpu::PaperRules>"), symbols) == twice);
  CHECK(copies_of(kernel_named("attempt_swap<"), symbols) ==
        std::map<std::string, int>{{"itself", 2}});
  CHECK(copies_of(kernel_named("extend("), symbols) == twice);
  CHECK(copies_of(kernel_named("sweep("), symbols) == once(kernel_named("sweep(")));
}

TEST_CASE("a clone that the compiler made of a kernel is a second copy, a cold part is none") {
  const Kernel& swap = kernel_named("attempt_swap<");
  const std::string line =
      "0000 t void tempera::gpu::" + swap.name + "int (*)(int), tempera::gpu::Turn)";
  CHECK(copies_of(swap, line + "\n" + line + " [clone .cold]\n") == once(swap));
  for (const char* clone : {".constprop.0", ".isra.0", ".part.0"}) {
    CAPTURE(clone);
    const std::string clones = line + "\n" + line + " [clone " + clone + "]\n";
    CHECK(copies_of(swap, clones) == std::map<std::string, int>{{"itself", 2}});
  }
}
