#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tempera::lab::ptx {

/// How often each kernel was launched, by the name that nvcc gave it.
struct Launches {
  std::map<std::string, std::uint64_t>
      compiled;  ///< of what nvcc compiled; all are listed, launched or not
  std::map<std::string, std::uint64_t> by_text;  ///< of what only the C++ text has
};

/// To be called once. From here on simt::launch runs what nvcc compiled for sm_90 in place of a
/// kernel's text, if this program has it. Kernels with the defect that TEMPERA_PTX_PLANT names are
/// taken in place of the sound ones. With TEMPERA_PTX_TARGET=sm_80 the kernels that nvcc compiled
/// otherwise for sm_80 are taken, and launches() lists these alone until others are launched.
void run_compiled();

const Launches& launches();

}  // namespace tempera::lab::ptx
