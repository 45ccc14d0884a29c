#include "gpu/device/instruction_set.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <vector>

#include "gpu/device/planted_fault.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/llm/transformer/default_kernels.hpp"
#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "tests/gpu/device/with_environment.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu {

namespace {

/// The name of kernels that have a form for each base alone.
std::string form_of_floats(InstructionSet set) {
  return "host, " + std::string(name_of(base_of(set)));
}

std::string names_of_symbols(const std::string& file) {
  const std::string command = "nm --defined-only '" + file + "'";
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) text += static_cast<char>(c);
  REQUIRE(pclose(pipe) == 0);
  return text;
}

/// Finds in the output of nm the functions (kind W; V and u are data, which hold no instructions)
/// that other objects may define too, the linker keeping one definition, and whose name says
/// nothing of the instruction set.
std::vector<std::string> shared_with_other_objects(const std::string& symbols,
                                                   const std::string& set) {
  std::vector<std::string> shared;
  std::istringstream lines(symbols);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string address;
    std::string kind;
    std::string name;
    words >> address >> kind >> name;
    if (kind == "W" && name.find(set) == std::string::npos) shared.push_back(name);
  }
  return shared;
}

}  // namespace

TEST_CASE("TEMPERA_ISA names the form that runs, and what cannot run is refused", "[device]") {
  for (const auto set : instruction_sets) {
    const std::string name(name_of(set));
    CAPTURE(name);
    const WithEnvironment environment(name.c_str());
    if (const auto why = why_missing(set); !why.empty()) {
      std::cout << "SKIPPED: TEMPERA_ISA=" << name << ": " << why << '\n';
      require_bad_input([] { make_default_kernels(); }, {"TEMPERA_ISA", name, why, "plain"});
      CHECK_THROWS_AS(host_kernels(set), Bug);
      continue;
    }
    CHECK(chosen_instruction_set() == set);
    CHECK(make_default_kernels(Arithmetic::bfloat16_pairs)->name() ==
          "host, " + std::string(name_of(set > InstructionSet::avx512_vnni ? set : base_of(set))));
    CHECK(make_default_kernels()->name() == form_of_floats(set));
    const bool has_vnni = why_missing(InstructionSet::avx512_vnni).empty();
    CHECK(make_default_kernels(Arithmetic::integer)->name() ==
          "host, " + std::string(name_of(
                         set > InstructionSet::avx512_vnni && has_vnni ? InstructionSet::avx512_vnni
                         : set > InstructionSet::avx512_vnni           ? InstructionSet::avx512
                                                                       : set)));
  }
  for (const char* wrong : {"AVX2", "avx", "native", " plain", "avx2,plain", "\n"}) {
    CAPTURE(wrong);
    const WithEnvironment environment(wrong);
    require_bad_input([] { make_default_kernels(); }, {"TEMPERA_ISA", "one of: plain"});
  }
}

TEST_CASE("without TEMPERA_ISA the widest form that the processor has and that pays runs",
          "[device]") {
  for (const char* nothing : {static_cast<const char*>(nullptr), ""}) {
    const WithEnvironment environment(nothing);
    const auto chosen = chosen_instruction_set();
    for (const auto set : instruction_sets) {
      CHECK((set <= chosen || !why_missing(set).empty() || !pays(set)));
    }
    CHECK(pays(chosen));
    CHECK(make_default_kernels()->name() == form_of_floats(chosen));
  }
}

TEST_CASE("an instruction that fails its probe is said in one line, and the bits are the same",
          "[device]") {
  const ModelFolder folder("untied_float32");
  const auto open = [&] {
    return OpenedModel::open(folder.path().string(), {}, Arithmetic::bfloat16_pairs);
  };
  const auto logits_of = [](const OpenedModel& model) {
    const std::vector<TokenId> tokens{1, 2, 3};
    const auto cache = model.model().empty_cache();
    const Pass pass{cache.get(), tokens};
    DeviceMemory<float> rows;
    model.model().next_logits(std::span(&pass, 1), rows);
    return rows.download(0, model.model().vocabulary_size());
  };
  const WithEnvironment widest(nullptr);
  for (const auto set : instruction_sets)
    if (set < InstructionSet::avx512_bf16 && why_missing(set).empty()) CHECK(pays(set));
  const std::vector<std::pair<InstructionSet, std::string>> instructions{
      {InstructionSet::avx512_bf16, "VDPBF16PS"}, {InstructionSet::amx_bf16, "TDPBF16PS"}};
  std::string refused;
  for (const auto& [set, instruction] : instructions) {
    if (const auto why = why_missing(set); !why.empty()) {
      std::cout << "SKIPPED: a failed probe of " << instruction << ": " << why << '\n';
      continue;
    }
    refused += (refused.empty() ? "" : " and ") + instruction;
  }
  CHECK(refused_pair_instructions().empty());
  if (refused.empty()) return;
  const OpenedModel sound = open();
  CHECK(sound.remark().empty());
  const WithPlantedFault differing({{}, {}, true});
  CHECK(base_of(chosen_instruction_set()) == InstructionSet::avx512);
  CHECK(chosen_instruction_set() <= InstructionSet::avx512_vnni);
  CHECK(refused_pair_instructions() == refused);
  const OpenedModel other = open();
  CHECK_THAT(other.remark(), Catch::Contains("this processor's " + refused));
  CHECK_THAT(other.remark(), Catch::Contains("does not compute what"));
  CHECK_THAT(other.remark(), !Catch::Contains("\n"));
  CHECK(logits_of(other) == logits_of(sound));
  CHECK(OpenedModel::open(folder.path().string()).remark().empty());
  for (const auto& [set, instruction] : instructions) {
    if (refused.find(instruction) == std::string::npos) continue;
    const WithEnvironment asked(std::string(name_of(set)).c_str());
    require_bad_input(open, {"TEMPERA_ISA", std::string(name_of(set)), instruction});
  }
}

TEST_CASE("no object with wide instructions defines what others define too", "[device][long]") {
  // Were an inline function emitted from it under a shared name, the linker might keep that copy
  // for the whole program, and a machine without the instructions would stop there.
  const std::string objects = TEMPERA_ISA_OBJECTS;  // set:file, separated by |
  std::istringstream entries(objects);
  std::size_t looked_at = 0;
  for (std::string entry; std::getline(entries, entry, '|');) {
    const auto colon = entry.find(':');
    const std::string set = entry.substr(0, colon);
    const std::string file = entry.substr(colon + 1);
    CAPTURE(set, file);
    CHECK(shared_with_other_objects(names_of_symbols(file), set).empty());
    ++looked_at;
  }
  std::size_t built = 0;
  for (const auto set : instruction_sets) {
    if (set != InstructionSet::plain && why_missing(set) != "this build has no forms for it")
      ++built;
  }
  CHECK(looked_at >= built);
}

TEST_CASE("the search for shared symbols finds those of an ordinary program", "[device][long]") {
  CHECK(
      shared_with_other_objects("0000 T main\n0000 W _ZN7tempera3gpu4avx21fEv\n", "avx2").empty());
  CHECK(shared_with_other_objects("0000 W _ZNSt6vectorIfE4sizeEv\n", "avx2").size() == 1);
  CHECK_FALSE(
      shared_with_other_objects(
          names_of_symbols(std::filesystem::read_symlink("/proc/self/exe").string()), "avx2")
          .empty());
}

}  // namespace tempera::gpu
