#pragma once

#include <string>
#include <string_view>

namespace tempera {

/// Text that is not ours as a terminal can show it in one line: control characters (C0, DEL and C1)
/// and line separators replaced by '?', ill-formed UTF-8 by U+FFFD, what is longer than 400 bytes
/// cut between two characters.
std::string one_line(std::string_view text);

/// Text from a file or an argument inside an error: in double quotes, as one_line has it, what is
/// longer than 80 bytes cut.
std::string in_quotes(std::string_view text);

/// A word of a command as a shell takes it: as it is if it holds nothing that a shell reads
/// otherwise, else in single quotes.
std::string as_shell_word(std::string_view word);

}  // namespace tempera
