#pragma once

#include <chrono>
#include <string>

#include "gpu/core/statistics/sampling_progress.hpp"

namespace tempera::cli {

/// One line on the terminal that shows how far long work is; nothing if stderr is no terminal.
/// The line is ASCII without escape codes and never wider than the terminal, whatever that
/// understands: it is overwritten after a carriage return.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Share done, decode tokens, tokens/s, acceptance and time left, after `title`.
  void show(const gpu::SamplingProgress& progress, const std::string& title = "");
  /// "step done + 1 of steps: text", and the time left if the steps to come take as long as those
  /// that are done.
  void show_step(std::size_t done, std::size_t steps, const std::string& text);
  /// The text alone.
  void show(const std::string& text);
  void clear();
  /// Measures speed and time left from now on.
  void restart_clock();

 private:
  double seconds() const;

  bool terminal_;
  std::size_t shown_ = 0;  ///< columns of what is on the line
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace tempera::cli
