#include "tests/simt/ptx/run_compiled.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "gpu/device/simt/resident_blocks.hpp"
#include "lab/ptx/named_kernels.hpp"
#include "tests/simt/ptx/all_kernels.hpp"

namespace tempera::lab::ptx {

namespace {

namespace simt = gpu::simt;

/// A form of a kernel, and where its launches are counted.
struct Found {
  simt::CompiledKernel run = nullptr;
  std::uint64_t* count = nullptr;
};

/// Made when it is first asked for: a program asks before its own objects are made.
struct State {
  Launches counted;
  std::map<const void*, Found> found;
  std::map<std::string, simt::CompiledKernel> kernels;  // of the target
  GlobalMemory worst;
};
State& state() {
  static State one;
  return one;
}

simt::CompiledKernel compiled_form(const void* text, const simt::Stream&) {
  if (global_memory != nullptr) global_memory->begin_launch();
  State& all = state();
  Found& form = all.found[text];
  if (form.count == nullptr) {
    const std::string name = name_on_device(text);
    const auto known = all.kernels.find(name);
    const bool is_known = known != all.kernels.end();
    if (is_known) form.run = known->second;
    form.count = is_known ? &all.counted.compiled[name] : &all.counted.by_text[name];
  }
  ++*form.count;
  return form.run;
}

/// Adds the counts to the file that TEMPERA_PTX_LAUNCHES names: a line for each kernel.
void write_launches() {
  const char* const path = std::getenv("TEMPERA_PTX_LAUNCHES");
  if (path == nullptr) return;
  std::ofstream out(path, std::ios::app);
  for (const auto& [name, count] : state().counted.compiled)
    out << "compiled " << name << ' ' << count << '\n';
  for (const auto& [name, count] : state().counted.by_text)
    out << "text " << name << ' ' << count << '\n';
}

}  // namespace

void run_compiled() {
  State& all = state();
  for (const std::span<const CompiledKernel> kernels : all_kernels())
    for (const CompiledKernel& kernel : kernels) {
      all.kernels[kernel.name] = kernel.run;
      all.counted.compiled[kernel.name] = 0;
    }
  if (const char* const target = std::getenv("TEMPERA_PTX_TARGET"); target != nullptr) {
    if (std::string(target) != "sm_80")
      throw std::logic_error("TEMPERA_PTX_TARGET is " + std::string(target) + "; give sm_80");
    all.counted.compiled.clear();
    for (const std::span<const CompiledKernel> kernels : kernels_of_other_target())
      for (const CompiledKernel& kernel : kernels) {
        all.kernels.at(kernel.name) = kernel.run;
        all.counted.compiled[kernel.name] = 0;
      }
  }
  if (const char* const defect = std::getenv("TEMPERA_PTX_PLANT"); defect != nullptr) {
    const auto planted = planted_kernels();
    const auto kernels = planted.find(defect);
    if (kernels == planted.end())
      throw std::logic_error("there is no planted defect " + std::string(defect));
    for (const CompiledKernel& kernel : kernels->second) all.kernels.at(kernel.name) = kernel.run;
  }
  if (const char* const memory = std::getenv("TEMPERA_PTX_MEMORY"); memory != nullptr) {
    if (std::string(memory) != "worst")
      throw std::logic_error("TEMPERA_PTX_MEMORY is " + std::string(memory) + "; give worst");
    global_memory = &all.worst;
    constexpr std::size_t blocks_that_meet = 8;
    simt::most_resident_blocks = blocks_that_meet;
  }
  simt::find_compiled_kernel = compiled_form;
  std::atexit(write_launches);
}

const Launches& launches() { return state().counted; }

}  // namespace tempera::lab::ptx
