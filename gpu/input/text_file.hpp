#pragma once

#include <filesystem>
#include <string>

namespace tempera::gpu {

/// The bytes of a file.
/// @throw BadInput if it cannot be read, naming the system's reason and what mends it
std::string read_text_file(const std::filesystem::path& file);

/// Refuses a file that the system would not open or read, by errno.
/// @throw BadInput always
[[noreturn]] void refuse_unreadable(const std::filesystem::path& file, int error);

}  // namespace tempera::gpu
