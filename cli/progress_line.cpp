#include "cli/progress_line.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace tempera::cli {

ProgressLine::ProgressLine()
    : terminal_(isatty(STDERR_FILENO) == 1), begin_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void ProgressLine::show(const std::string& text) {
  if (!terminal_) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::restart_clock() { begin_ = std::chrono::steady_clock::now(); }

double ProgressLine::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void ProgressLine::show(const gpu::SamplingProgress& progress, const std::string& title) {
  show((title.empty() ? "" : title + "  ") + gpu::to_line(progress, seconds()));
}

void ProgressLine::show_step(std::size_t done, std::size_t steps, const std::string& text) {
  std::string line = std::to_string(done + 1) + " of " + std::to_string(steps) + ": " + text;
  if (done > 0) {
    const double left = seconds() * static_cast<double>(steps - done) / static_cast<double>(done);
    line += "  about " + std::to_string(std::lround(left)) + " s left";
  }
  show(line);
}

}  // namespace tempera::cli
