#pragma once

#include <string>

namespace tempera::cli {

/// From now on an interrupt (Ctrl-C) ends the command with exit code 130: never inside a line that
/// is being printed, and with this line on stderr (none where it is empty). What a run folder holds
/// is sound at any moment, so nothing else need be done.
void end_on_interrupt(const std::string& line);

/// Holds interrupts back while lines are printed.
class WholeLines {
 public:
  WholeLines();
  ~WholeLines();
  WholeLines(const WholeLines&) = delete;
  WholeLines& operator=(const WholeLines&) = delete;
};

}  // namespace tempera::cli
