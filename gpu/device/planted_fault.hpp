#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tempera::gpu {

/// A fault of the device that tests plant into their own process, to see that it is told and that
/// nothing is lost. Nothing else sets one.
struct PlantedFault {
  /// Copies between host and device until the device is lost: the one after them fails, and so does
  /// every later one, as when a GPU has fallen off its bus.
  std::optional<std::uint64_t> copies_until_lost;
  /// Bytes of device memory that there are: an array of more is refused.
  std::optional<std::size_t> memory;
  /// Whether the probe of the instruction for pairs finds a difference, if there is one to
  /// probe.
  bool pair_instruction_differs = false;
  /// Whether the tensor cores of fibers take the steps of another chip than they are asked for.
  bool tensor_core_differs = false;
  /// Arrays of those that grow together (GrowingArrays) for which there is memory: the one after
  /// them finds none.
  std::optional<std::size_t> arrays_until_full = std::nullopt;
};

/// The fault of this process. Set it while nothing runs.
PlantedFault& planted_fault();

/// A planted fault for the lifetime of the object.
class WithPlantedFault {
 public:
  explicit WithPlantedFault(const PlantedFault& fault) { planted_fault() = fault; }
  WithPlantedFault(const WithPlantedFault&) = delete;
  WithPlantedFault& operator=(const WithPlantedFault&) = delete;
  ~WithPlantedFault() { planted_fault() = {}; }
};

}  // namespace tempera::gpu
