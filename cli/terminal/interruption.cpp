#include "cli/terminal/interruption.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>

namespace tempera::cli {
namespace {

// What a signal handler may touch: no allocation, no locks but this one.
std::array<char, 4096> last_words;
std::atomic<std::size_t> last_words_size{0};
std::atomic_flag printing = ATOMIC_FLAG_INIT;
std::atomic<bool> interrupted{false};
std::atomic<bool> only_noted{false};
std::atomic<int> noted_signal{0};  // the signal that has come

[[noreturn]] void end() {
  const int code = 128 + noted_signal;
  const std::size_t size = last_words_size;
  if (size > 0 && write(STDERR_FILENO, last_words.data(), size) < 0) _exit(code);
  _exit(code);
}

void on_interrupt(int signal) {
  if (noted_signal.exchange(signal) == 0 && only_noted) return;
  // Whoever prints ends the command as soon as its line is out; nobody begins a line meanwhile.
  if (printing.test_and_set())
    interrupted = true;
  else
    end();
}

}  // namespace

void end_on_interrupt(const std::string& line) {
  std::string words = isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "";
  if (!line.empty()) words += line + '\n';
  const WholeLines quiet;
  last_words_size = std::min(words.size(), last_words.size());
  std::copy_n(words.begin(), last_words_size.load(), last_words.begin());
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

NotedInterrupts::NotedInterrupts() { only_noted = true; }

NotedInterrupts::~NotedInterrupts() { only_noted = false; }

bool NotedInterrupts::any() { return noted_signal != 0; }

bool NotedInterrupts::forget_interrupt() {
  int interrupt = SIGINT;
  return noted_signal.compare_exchange_strong(interrupt, 0);
}

void end_interrupted() { end(); }

WholeLines::WholeLines() {
  while (printing.test_and_set()) {
  }
}

WholeLines::~WholeLines() {
  if (interrupted) end();
  printing.clear();
  // An interrupt that came between the two lines above found the lock held.
  if (interrupted && !printing.test_and_set()) end();
}

}  // namespace tempera::cli
