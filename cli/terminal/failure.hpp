#pragma once

#include <exception>

namespace tempera::cli {

/// Prints one line on standard error about what ended a command. Returns the exit code: 2 for what
/// a user or a machine can mend, a lost GPU among it, and 3 for a bug of tempera.
int report(const std::exception_ptr& failure);

/// Has a program that cannot unwind end by report() if a GPU is lost: memory that is freed on a
/// lost device throws out of a destructor. Anything else that cannot unwind says in one
/// line that it is a bug, and aborts.
/// If operator new finds no memory, before main too, the command ends at once, in one line and with
/// exit code 2; a run folder is then as a killed process leaves it. Memory of the device throws
/// std::bad_alloc.
void install_terminate_handler();

}  // namespace tempera::cli
