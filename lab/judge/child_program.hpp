#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace tempera::lab {

/// What is waited for is not wanted any more.
struct Interrupted {};

/// An error of a program's own: the refusal, and the program's traceback beside it.
class ProgramFailure : public BadInput {
 public:
  ProgramFailure(const BadInput& refusal, std::string traceback)
      : BadInput(refusal), traceback_(std::move(traceback)) {}
  const std::string& traceback() const { return traceback_; }
  /// What the program had printed until then.
  const std::vector<std::string>& printed() const { return printed_; }
  void had_printed(std::vector<std::string> lines) { printed_ = std::move(lines); }

 private:
  std::string traceback_;
  std::vector<std::string> printed_;
};

/// A program has ended before its time.
class ProgramEnded : public BadInput {
 public:
  explicit ProgramEnded(const BadInput& refusal) : BadInput(refusal) {}
};

/// A program of the user's on the other end of two pipes, line by line. It runs by `sh -c` in a
/// process group of its own; the group is killed with this object, and when this process dies.
class ChildProgram {
 public:
  /// timeout: for each line that is waited for, from when the program has read what it was sent:
  /// what it does before its first reading, such as importing, is waited for longer.
  /// @throw BadInput if no process can be made
  ChildProgram(std::string command, std::chrono::duration<double> timeout);
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  /// Sends one line; a program that is gone is noticed by the next receive().
  void send(const std::string& line);
  /// The next line that the program writes, without its end.
  /// @throw ProgramEnded if it ends, with its exit code or signal, and the last line of its stderr
  /// @throw BadInput naming the program if it is silent for the time-out, or writes more than a
  /// mebibyte without an end of line
  /// @throw Interrupted once `is_over` says so
  std::string receive(const std::function<bool()>& is_over = {});

  /// Ends what is left of it, starts it anew, and sends it the line that it was sent first. It then
  /// dies with the thread that calls this.
  void restart();
  /// What tells it from other programs that run.
  pid_t number() const { return process_; }
  bool was_restarted() const { return was_restarted_; }

  /// What it has printed that is no line of the protocol: the first mebibyte of its stderr.
  std::string said() const;

  /// "--program", the command, and what it did: for every refusal.
  [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const;
  BadInput refusal(const std::string& what, const std::string& remedy) const;

 private:
  void start();
  void kill_group();
  ProgramEnded ended();
  bool has_read_all() const;

  std::string command_;
  std::chrono::duration<double> timeout_;
  pid_t process_ = -1;
  int to_ = -1, from_ = -1, errors_ = -1;
  std::string first_;  // line that it was sent
  std::string received_;
  std::size_t read_ = 0;    // of received_, what has been given out
  bool has_begun_ = false;  // whether it has read anything
  bool was_restarted_ = false;
};

}  // namespace tempera::lab
