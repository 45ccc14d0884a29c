// What compute-sanitizer sees of the kernels: those that the short run launches, which the fibers
// note, are all that the plan of the device code lists.
#if !defined(TEMPERA_DEVICE_CUDA)

#include <cxxabi.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "gpu/device/simt/simt.hpp"
#include "lab/ptx/named_kernels.hpp"
#include "tests/catch.hpp"
#include "tests/devices/part.hpp"

namespace tempera::gpu {

namespace {

std::set<const void*>& launched_texts() {
  static std::set<const void*> texts;
  return texts;
}

/// "gpu::on_device::product" of any instance of it.
std::string kernel_of(const void* text) {
  const std::string mangled = lab::ptx::name_on_device(text);
  int status = 0;
  char* const demangled = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : mangled;
  std::free(demangled);
  name = name.substr(0, name.find_first_of("<("));
  const std::string outer = "tempera::";
  const std::size_t begin = name.find(outer);
  return begin == std::string::npos ? name : name.substr(begin + outer.size());
}

std::set<std::string> planned_kernels() {
  std::ifstream file("checks/device_code.txt");
  std::set<std::string> kernels;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line.substr(0, line.find('#')));
    std::string name;
    if (fields >> name) kernels.insert(name);
  }
  return kernels;
}

}  // namespace

TEST_CASE("the short run that compute-sanitizer watches launches every kernel") {
  launched_texts().clear();
  simt::find_compiled_kernel = [](const void* text, const simt::Stream&) -> simt::CompiledKernel {
    launched_texts().insert(text);
    return nullptr;
  };
  const Finding finding = short_run();
  simt::find_compiled_kernel = nullptr;
  CHECK(finding.verdict == Finding::Verdict::holds);
  std::set<std::string> launched;
  for (const void* text : launched_texts()) launched.insert(kernel_of(text));
  std::set<std::string> planned = planned_kernels();
  // The probes of wgmma, which a device with sm_90a takes and fibers cannot.
  REQUIRE(planned.erase("gpu::on_device::take_wgmma") == 1);
  REQUIRE(planned.erase("gpu::on_device::repeat_warpgroup_steps") == 1);
  CHECK(launched == planned);
  // Few models ask for these forms of attention and products.
  const auto is_launched = [](const char* part) {
    return std::ranges::any_of(launched_texts(), [&](const void* text) {
      return lab::ptx::name_on_device(text).find(part) != std::string::npos;
    });
  };
  CHECK(is_launched("EightBitElements"));
  CHECK(is_launched("PackedWeights"));
}

}  // namespace tempera::gpu

#endif
