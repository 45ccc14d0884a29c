#include "cli/progress_line.hpp"

#include <unistd.h>

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

void ProgressLine::show(const gpu::SamplingProgress& progress) {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  const double seconds = elapsed.count();
  const double left = progress.done > 0.0 ? seconds * (1.0 - progress.done) / progress.done : 0.0;
  char text[160];
  std::snprintf(
      text, sizeof text,
      "%3.0f %%  %llu tokens, %.0f tokens/s  accepted: moves %.2f, swaps %.2f  %.0f s left",
      100.0 * progress.done, static_cast<unsigned long long>(progress.decode_tokens),
      seconds > 0.0 ? static_cast<double>(progress.decode_tokens) / seconds : 0.0,
      progress.acceptance, progress.swap_acceptance, left);
  show(std::string(text));
}

}  // namespace tempera::cli
