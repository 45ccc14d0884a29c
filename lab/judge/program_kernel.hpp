#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "lab/judge/judged_case.hpp"

namespace tempera::lab {

class ChildProgram;

/// A kernel that is a program in any language: it is asked for one step from a state, and asks back
/// for the model's next-token laws and for draws, one JSON object a line (docs/check_protocol.md).
/// Every decision is taken, and every path twice, so that a program that is no function of the
/// state and its draws is noticed.
class ProgramKernel {
 public:
  struct Limits {
    std::chrono::duration<double> timeout = std::chrono::seconds(10);  ///< for each line
    std::size_t requests = 10'000;                                     ///< of one step
    std::size_t paths = 200'000;                                       ///< from one state
  };
  ProgramKernel(std::string command, const Limits& limits);
  ~ProgramKernel();

  /// One row; the program is started for each case and serves all its states.
  /// @throw BadInput naming the program for a hang, a crash, what is no request, a draw
  /// with no tickets, a step without end, too many paths, and other answers to the same draws
  KernelRow row(const JudgedCase& judged, const JudgedState& from);
  /// Steps that the program has made.
  std::size_t steps() const { return steps_; }

 private:
  class Step;
  void start(const JudgedCase& judged);

  std::string command_;
  Limits limits_;
  std::unique_ptr<ChildProgram> program_;
  std::string of_case_;  // what tells the case that the program has been told of from others
  std::size_t steps_ = 0;
};

}  // namespace tempera::lab
