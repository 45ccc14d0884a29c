#pragma once

#include <chrono>
#include <string>

#include "gpu/sampler/sampling.hpp"

namespace tempera::cli {

/// One line on the terminal that shows how far a run is; nothing where stderr is no terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const gpu::SamplingProgress& progress);
  void show(const std::string& text);
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace tempera::cli
