#include "cli/terminal/version.hpp"

#include "gpu/device/device_system.hpp"
#include "gpu/device/instruction_set.hpp"

namespace tempera::cli {

std::string version_number() { return TEMPERA_VERSION; }

std::string version_of_bits() { return TEMPERA_VERSION " (" TEMPERA_COMMIT ")"; }

std::string version_text() {
  return std::string("tempera " TEMPERA_VERSION "\ncommit          " TEMPERA_COMMIT
                     "\ndevice system   ") +
         gpu::device_system() + "\ninstruction set " +
         std::string(gpu::name_of(gpu::chosen_instruction_set())) + '\n';
}

}  // namespace tempera::cli
