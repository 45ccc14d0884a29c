#pragma once

#include <string>

namespace tempera::cli {

/// From now on an interrupt (Ctrl-C) or SIGTERM ends the command with exit code 130 or 143: never
/// inside a line that is being printed, and with this line on stderr (none if it is empty). What
/// a run folder holds is sound at any moment, so nothing else need be done.
void end_on_interrupt(const std::string& line);

/// Until its end the first interrupt or SIGTERM is only noted, so that a run can be saved before
/// end_interrupted is called; a second one ends the command at once.
class NotedInterrupts {
 public:
  NotedInterrupts();
  ~NotedInterrupts();
  NotedInterrupts(const NotedInterrupts&) = delete;
  NotedInterrupts& operator=(const NotedInterrupts&) = delete;
  /// Whether one has come.
  static bool any();
  /// Forgets a Ctrl-C that has come, so that the next is the first again. Returns whether one had
  /// come; a SIGTERM is not forgotten.
  static bool forget_interrupt();
};

/// Ends the command as the interrupt that has come would have done.
[[noreturn]] void end_interrupted();

/// Holds interrupts back while lines are printed.
class WholeLines {
 public:
  WholeLines();
  ~WholeLines();
  WholeLines(const WholeLines&) = delete;
  WholeLines& operator=(const WholeLines&) = delete;
};

}  // namespace tempera::cli
