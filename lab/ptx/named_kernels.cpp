#include "lab/ptx/named_kernels.hpp"

#include <dlfcn.h>

namespace tempera::lab::ptx {

std::string name_on_device(const void* text) {
  Dl_info info{};
  const bool is_exported =
      dladdr(text, &info) != 0 && info.dli_sname != nullptr && info.dli_saddr == text;
  std::string name = is_exported ? info.dli_sname : "of_one_test";
  const std::string here = "9on_fibers";
  const std::string there = "9on_device";
  for (std::size_t at = 0; (at = name.find(here, at)) != std::string::npos; at += there.size())
    name.replace(at, here.size(), there);
  return name;
}

}  // namespace tempera::lab::ptx
