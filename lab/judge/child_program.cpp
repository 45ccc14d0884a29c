#include "lab/judge/child_program.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <regex>
#include <sstream>
#include <vector>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace tempera::lab {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20U;
/// What a program may take before it reads its first line: large libraries are slow to import.
constexpr std::chrono::seconds longest_start{600};
/// The longest time from when a program closes its output to its end.
constexpr std::chrono::seconds longest_end{10};
constexpr std::chrono::milliseconds glance{50};

/// What keeps a program that forks and is run several times alike: one thread each, one hash.
void set_environment() {
  setenv("TEMPERA_CHECK", "1", 1);
  setenv("PYTHONHASHSEED", "0", 1);
  setenv("TOKENIZERS_PARALLELISM", "false", 0);
  for (const char* threads : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
    setenv(threads, "1", 0);
}

std::string text_of(std::chrono::duration<double> time) {
  std::ostringstream text;
  text << time.count();
  return text.str();
}

/// The end of the text that is in a file, without what is blank after it.
std::string end_of_text(int file) {
  std::string text(1 << 16, '\0');
  const off_t size = lseek(file, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(text.size()));
  const ssize_t got = pread(file, text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

/// " at file.py:7" for the innermost line of the program's own in Python's tracebacks in a text, as
/// python/tempera/check/lab.py says it of an exception; empty if there is none.
std::string place_in_traceback(const std::string& text) {
  static const std::regex frame("\\n  File \"([^\"\\n]*)\", line ([0-9]+)");
  std::string place;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), frame);
       at != std::sregex_iterator(); ++at) {
    const std::string file = (*at)[1];
    const bool is_librarys = file.starts_with("<frozen") ||
                             file.find("/tempera/check/") != std::string::npos ||
                             file.find("/tempera_check/") != std::string::npos ||
                             file.find("-packages/") != std::string::npos ||
                             file.find("/lib/python") != std::string::npos;
    if (!is_librarys)
      place = " at " + std::filesystem::path(file).filename().string() + ":" + (*at)[2].str();
  }
  return place;
}

}  // namespace

ChildProgram::ChildProgram(std::string command, std::chrono::duration<double> timeout)
    : command_(std::move(command)), timeout_(timeout) {
  errors_ = memfd_create("stderr", MFD_CLOEXEC);
  if (errors_ < 0)
    refuse(std::string("cannot be started: ") + std::strerror(errno), "free files or memory");
  start();
}

void ChildProgram::restart() {
  kill_group();
  close(from_);
  to_ = from_ = -1;
  received_.clear();
  read_ = 0;
  has_begun_ = false;
  was_restarted_ = true;
  start();
  send(first_);
}

void ChildProgram::start() {
  // A socket in both directions: writing to a program that is gone is an error, not a signal.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    refuse(std::string("cannot be started: ") + std::strerror(errno), "free files or memory");
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0)
    refuse(std::string("cannot be started: ") + std::strerror(errno), "free processes or memory");
  if (process_ == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    dup2(ends[1], STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    dup2(errors_, STDERR_FILENO);
    set_environment();
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) ::signal(signal, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command_.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  setpgid(process_, process_);  // whichever of the two comes first
  close(ends[1]);
  to_ = from_ = ends[0];
}

ChildProgram::~ChildProgram() {
  kill_group();
  if (from_ >= 0) close(from_);
  if (errors_ >= 0) close(errors_);
}

void ChildProgram::kill_group() {
  if (process_ <= 0) return;
  kill(-process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

void ChildProgram::refuse(const std::string& what, const std::string& remedy) const {
  throw refusal(what, remedy);
}

BadInput ChildProgram::refusal(const std::string& what, const std::string& remedy) const {
  return {"--program " + in_quotes(command_), what, remedy};
}

void ChildProgram::send(const std::string& line) {
  if (first_.empty()) first_ = line;
  const std::string text = line + '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    pollfd ready{to_, POLLOUT, 0};
    const int events = poll(&ready, 1, static_cast<int>(timeout_.count() * 1000.0) + 1);
    if (events < 0 && errno == EINTR) continue;
    if (events == 0)
      refuse("reads nothing for " + text_of(timeout_) + " s", "read a line for every request");
    const ssize_t now = ::send(to_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return;  // it is gone: receive() says how
    sent += static_cast<std::size_t>(now);
  }
}

bool ChildProgram::has_read_all() const {
  int unread = 0;
  return ioctl(to_, SIOCOUTQ, &unread) != 0 || unread == 0;
}

std::string ChildProgram::receive(const std::function<bool()>& is_over) {
  using Clock = std::chrono::steady_clock;
  const auto asked = Clock::now();
  auto until = asked + timeout_;
  for (;;) {
    const std::size_t end = received_.find('\n', read_);
    if (end != std::string::npos) {
      std::string line = received_.substr(read_, end - read_);
      read_ = end + 1;
      has_begun_ = true;
      return line;
    }
    received_.erase(0, read_);
    read_ = 0;
    if (received_.size() > longest_line)
      refuse("writes more than a mebibyte without an end of line",
             "write one JSON object a line (docs/howto/check_protocol.md)");
    if (is_over && is_over()) throw Interrupted();
    if (!has_begun_) {
      if (has_read_all())
        has_begun_ = true;
      else if (Clock::now() - asked < longest_start)
        until = Clock::now() + timeout_;
    }
    const std::chrono::duration<double, std::milli> left = until - Clock::now();
    if (left.count() <= 0)
      refuse("hangs: it has written no line for " + text_of(timeout_) + " s",
             "flush every line that it writes, or give a longer --timeout");
    pollfd ready{from_, POLLIN, 0};
    const auto wait = std::min<double>(left.count() + 1.0, static_cast<double>(glance.count()));
    const int events = poll(&ready, 1, static_cast<int>(wait));
    if (events < 0 && errno == EINTR) continue;
    if (events == 0) continue;
    char block[65536];
    const ssize_t got = read(from_, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw ended();
    received_.append(block, static_cast<std::size_t>(got));
  }
}

std::string ChildProgram::said() const {
  std::string text(longest_line, '\0');
  const ssize_t got = pread(errors_, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

ProgramEnded ChildProgram::ended() {
  // It has closed its output; what is left of it gets a moment to say how it ends.
  int status = 0;
  pid_t ended = 0;
  const auto until = std::chrono::steady_clock::now() + longest_end;
  while ((ended = waitpid(process_, &status, WNOHANG)) == 0 &&
         std::chrono::steady_clock::now() < until)
    usleep(1000);
  std::string text = "closes its output";
  std::string remedy = "let it answer until its standard input ends";
  if (ended == process_) {
    kill(-process_, SIGKILL);
    process_ = -1;
    if (WIFSIGNALED(status))
      text = std::string("is killed by a signal: ") + strsignal(WTERMSIG(status));
    else
      text = "ends with exit code " + std::to_string(WEXITSTATUS(status));
    if (status != 0)
      remedy = "mend that; the command by itself, with </dev/null, prints all it says";
  }
  const std::string written = end_of_text(errors_);
  const std::string said = written.substr(written.find_last_of('\n') + 1);
  static const std::regex lacks_package("No module named '?tempera(\\.check)?('|$)");
  if (std::regex_search(said, lacks_package))
    return ProgramEnded(refusal("runs a Python that does not find the package tempera",
                                "install it: pip install . in its source tree"));
  return ProgramEnded(refusal(
      text + " before its last step is done" +
          (said.empty() ? "" : ", saying " + in_quotes(said) + place_in_traceback("\n" + written)),
      remedy));
}

}  // namespace tempera::lab
