#pragma once

#include <cstddef>
#include <string>

namespace tempera::reference {

/// The bytes of a file.
/// @throw BadInput naming the file, the system's reason and the remedy if it cannot be read (a
/// folder, a missing or forbidden file, a name too long) or has more than `largest` bytes
std::string read_text_file(const std::string& path, const std::string& remedy,
                           std::size_t largest = std::size_t{16} << 20);

}  // namespace tempera::reference
