// Records of some lengths, with pages one after another.
#pragma once

#include <cstdint>
#include <vector>

namespace tempera::tests {

/// Adds each record's last position, where its pages begin in the table, and its pages.
inline void place_records(const std::vector<std::uint32_t>& lengths,
                          std::vector<std::uint32_t>& positions,
                          std::vector<std::uint32_t>& first_page,
                          std::vector<std::uint32_t>& table) {
  for (const std::uint32_t length : lengths) {
    positions.push_back(length - 1);
    first_page.push_back(static_cast<std::uint32_t>(table.size()));
    for (std::uint32_t page = 0; page < (length + 15) / 16; ++page)
      table.push_back(static_cast<std::uint32_t>(table.size()));
  }
}

}  // namespace tempera::tests
