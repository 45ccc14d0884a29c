#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace tempera::lab::ptx {

/// What the warps of a launch ask of memory, instruction by instruction: how often they take turns
/// at the banks of shared memory, and how many sectors of global memory they touch.
class Accesses {
 public:
  enum class Space : std::uint8_t { shared, global };

  /// The running thread accesses `bytes` bytes by the instruction on this line of the PTX.
  void note(unsigned line, Space space, const void* at, std::size_t bytes);

  struct Counts {
    std::uint64_t turns = 0;           ///< at the banks, of all shared accesses of all warps
    std::uint64_t fewest_turns = 0;    ///< if no two words of a turn shared a bank
    std::uint64_t sectors = 0;         ///< of 32 bytes, that all global accesses touch
    std::uint64_t fewest_sectors = 0;  ///< that the bytes asked for would fill
  };
  Counts counts() const;

 private:
  struct Access {
    std::uintptr_t at = 0;
    std::size_t bytes = 0;  // 0: the lane takes no part
  };
  using Lanes = std::array<Access, 32>;
  /// Space, block, warp, line, and the how manieth time that a lane is there.
  using Key = std::tuple<Space, std::size_t, unsigned, unsigned, std::size_t>;

  std::map<Key, Lanes> accesses_;
  std::map<std::tuple<std::size_t, unsigned, unsigned, Space>, std::size_t> times_;
};

/// What kernels that nvcc compiled tell of their accesses, if it is set.
inline constinit Accesses* accesses = nullptr;

}  // namespace tempera::lab::ptx
