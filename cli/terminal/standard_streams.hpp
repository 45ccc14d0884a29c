#pragma once

namespace tempera::cli {

/// Fills the places of standard streams that the command was started without, so that no file which
/// it opens later takes the number of one and receives what is printed: reading from a closed stdin
/// and writing to a closed stdout then fail, as they should.
void reserve_standard_streams();

/// Sends what has been printed on standard output on its way. To be called wherever a user, or a
/// program at the other end of a pipe, should see what is there so far; the command calls it at its
/// end.
/// @throw BadInput if standard output has refused any of it (a full disk, a closed stream)
void flush_output();

}  // namespace tempera::cli
