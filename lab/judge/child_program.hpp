#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

namespace tempera::lab {

/// A program of the user's on the other end of two pipes, line by line. It runs by `sh -c` in a
/// process group of its own; the group is killed with this object, and when this process dies.
class ChildProgram {
 public:
  /// timeout: for each line that is waited for.
  /// @throw BadInput if no process can be made
  ChildProgram(std::string command, std::chrono::duration<double> timeout);
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  /// Sends one line; a program that is gone is noticed by the next receive().
  void send(const std::string& line);
  /// The next line that the program writes, without its end.
  /// @throw BadInput naming the program if it is silent for the time-out, ends (with its
  /// exit code or signal, and the last line of its stderr), or writes more than a mebibyte without
  /// an end of line
  std::string receive();

  /// "--program", the command, and what it did: for every refusal.
  [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const;

 private:
  void kill_group();
  std::string how_it_ended();

  std::string command_;
  std::chrono::duration<double> timeout_;
  pid_t process_ = -1;
  int to_ = -1, from_ = -1, errors_ = -1;
  std::string received_;
};

}  // namespace tempera::lab
