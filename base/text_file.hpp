#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace tempera {

/// The bytes of a file.
/// @throw BadInput if it cannot be read, naming the system's reason and `remedy`, or what mends
/// that reason if it is empty, or if it has more than `largest` bytes
std::string read_text_file(const std::filesystem::path& file, const std::string& remedy = "",
                           std::size_t largest = SIZE_MAX);

/// Refuses a file that the system would not open or read, by errno.
/// @throw BadInput always, as read_text_file
[[noreturn]] void refuse_unreadable(const std::filesystem::path& file, int error,
                                    const std::string& remedy = "");

}  // namespace tempera
