#pragma once

namespace tempera::serve {

/// Asks the system to let the calling thread run soon after it is woken, and for short turns:
/// threads that compute for long then do not hold up one that answers in microseconds. Its share of
/// the cores stays the same, and no privilege is needed. Linux 6.12 and later do so; elsewhere
/// nothing changes.
void ask_for_short_turns();

}  // namespace tempera::serve
