#include "cli/terminal/progress_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tempera::cli {
namespace {

/// The terminal's width; if it tells none, COLUMNS; if that is no number, 80.
std::size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  std::size_t columns = 80;
  if (const char* text = std::getenv("COLUMNS")) {
    const std::string_view number(text);
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error == std::errc() && end == number.data() + number.size() && value > 0) columns = value;
  }
  return columns;
}

/// At most `columns` printable ASCII characters; another character becomes one '?'.
std::string ascii(const std::string& text, std::size_t columns) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xC0U) == 0x80U;
    if (!continues) result += byte >= 0x20 && byte < 0x7F ? c : '?';
  }
  if (result.size() > columns) result.resize(columns);
  return result;
}

}  // namespace

ProgressLine::ProgressLine()
    : terminal_(isatty(STDERR_FILENO) == 1), begin_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (shown_ == 0) return;
  std::fprintf(stderr, "\r%s\r", std::string(shown_, ' ').c_str());
  std::fflush(stderr);
  shown_ = 0;
}

void ProgressLine::show(const std::string& text) {
  if (!terminal_) return;
  // A character in the last column would move some terminals to the next line.
  const std::size_t columns = terminal_columns() - 1;
  const std::string line = ascii(text, columns);
  const std::size_t rest = std::min(shown_, columns) - std::min(shown_, line.size());
  std::fprintf(stderr, "\r%s%s", line.c_str(), std::string(rest, ' ').c_str());
  std::fflush(stderr);
  shown_ = line.size();
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
  const auto left =
      gpu::seconds_left(static_cast<double>(done) / static_cast<double>(steps), seconds());
  if (left) line += "  about " + std::to_string(std::lround(*left)) + " s left";
  show(line);
}

}  // namespace tempera::cli
