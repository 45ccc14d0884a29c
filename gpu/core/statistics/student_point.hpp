#pragma once

#include <array>
#include <cstddef>

namespace tempera::gpu {

/// Where a number of Student's t with so many degrees of freedom is beyond, on either side, in
/// one case of twenty: from tables up to 10, then by Fisher's expansion in 1/freedom, whose next
/// term is below 0.003. @pre freedom >= 1
inline double student_point(std::size_t freedom) {
  constexpr std::array first{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  if (freedom <= first.size()) return first[freedom - 1];
  constexpr double z = 1.959964;
  constexpr double cube = z * z * z;
  const auto n = static_cast<double>(freedom);
  return z + (cube + z) / (4.0 * n) + (5.0 * cube * z * z + 16.0 * cube + 3.0 * z) / (96.0 * n * n);
}

}  // namespace tempera::gpu
