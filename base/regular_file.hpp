#pragma once

#include <filesystem>
#include <string>

namespace tempera {

/// Checks that no pipe, socket or device has this name: reading one could wait for ever, or never
/// end. A folder and a missing file pass, because opening them fails at once. `wanted` says what
/// the name should be of: "file" or "folder".
/// @throw BadInput that names the file and says what it is
void require_no_special_file(const std::filesystem::path& file, const std::string& wanted = "file");

/// Opens a file to read, or with `flags` in another way, and never waits for a writer.
/// @return the descriptor, or -1 with errno if the system refuses
/// @throw BadInput as require_no_special_file
int open_regular_file(const std::filesystem::path& file, int flags);

}  // namespace tempera
