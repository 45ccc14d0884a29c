#include "gpu/llm/text/template_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "gpu/llm/text/template_engine_text.hpp"

// The environment of this process; POSIX leaves it to programs to declare it.
extern char** environ;  // NOLINT(readability-redundant-declaration): not every libc declares it

namespace tempera::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* the_template = "the chat template";
const std::string use_plain_text =
    "give the prompt as plain text, in the form that the model wants";

/// Why nothing came back.
enum class Silence { ended, late, too_long };

struct Silent {
  Silence why;
};

}  // namespace

/// One python3 and the socket that is its standard input and output.
class TemplateProcess::Child {
 public:
  explicit Child(const TemplateLimits& limits) : limits_(limits) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      throw BadInput(the_template, "no process can be started for it", "close other programs");
    socket_ = ends[0];
    std::string seconds = std::to_string(limits.processor_seconds);
    std::string mebibytes = std::to_string(limits.mebibytes);
    std::string text(template_engine_text());
    std::string name = "python3";
    std::string isolated = "-I";
    std::string command = "-c";
    std::array<char*, 7> arguments{name.data(),    isolated.data(),  command.data(), text.data(),
                                   seconds.data(), mebibytes.data(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    // Ctrl-C is meant for this process, which ends the child when it ends itself; SIGPROF must
    // reach the child whatever this process does with it.
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes, &signals);
    ::sigaddset(&signals, SIGPROF);
    ::posix_spawnattr_setsigdefault(&attributes, &signals);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int error =
        ::posix_spawnp(&id_, "python3", &actions, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error != 0) {
      ::close(std::exchange(socket_, -1));
      throw BadInput(the_template, "is rendered by Jinja2, and there is no python3",
                     "apt-get install python3-jinja2, or " + use_plain_text);
    }
  }
  ~Child() {
    if (socket_ >= 0) ::close(socket_);
    // A process that was forked from this one has no child to end.
    if (id_ > 0 && ::getpid() == owner_) end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t id() const { return id_; }

  /// @throw Silent if it is not there any more
  void send(std::string_view line) const {
    while (!line.empty()) {
      const ssize_t sent = ::send(socket_, line.data(), line.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) throw Silent{Silence::ended};
      line.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  /// The next line.
  /// @throw Silent if none comes
  std::string receive() const {
    const auto until = Clock::now() + limits_.wait;
    std::string line;
    std::string piece(65536, '\0');
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      pollfd watched{socket_, POLLIN, 0};
      const int ready = left <= 0 ? 0 : ::poll(&watched, 1, static_cast<int>(left));
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) throw Silent{Silence::late};
      const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw Silent{Silence::ended};
      line.append(piece, 0, static_cast<std::size_t>(got));
      if (line.back() == '\n') break;
      if (line.size() > limits_.text_bytes) throw Silent{Silence::too_long};
    }
    line.pop_back();
    return line;
  }

  /// Returns true if its processor time has run out. It has ended, or is ended here.
  bool ended_for_time() { return WIFSIGNALED(end()) && WTERMSIG(status_) == SIGPROF; }

 private:
  int end() {
    // A child that has ended already keeps the status that it ended with.
    ::kill(id_, SIGKILL);
    while (::waitpid(id_, &status_, 0) < 0 && errno == EINTR) continue;
    id_ = 0;
    return status_;
  }

  const TemplateLimits limits_;
  int socket_ = -1;
  const pid_t owner_ = ::getpid();
  pid_t id_ = 0;
  int status_ = 0;
};

TemplateProcess::TemplateProcess(TemplateLimits limits) : limits_(limits) {}
TemplateProcess::~TemplateProcess() = default;

pid_t TemplateProcess::child() const {
  const std::scoped_lock lock(mutex_);
  return child_ ? child_->id() : 0;
}

std::string TemplateProcess::answer(const std::string& task) {
  const std::scoped_lock lock(mutex_);
  // A child that somebody has ended since its last task does not fail this one.
  if (child_)
    if (auto line = ask(task, true)) return std::move(*line);
  child_ = std::make_unique<Child>(limits_);
  try {
    const auto ready = nlohmann::json::parse(child_->receive());
    if (ready.contains("missing"))
      throw BadInput(the_template, "is rendered by Jinja2, which python3 does not find",
                     "apt-get install python3-jinja2 or pip install jinja2, or " + use_plain_text);
    if (ready.contains("unlimited"))
      throw BadInput(the_template,
                     "cannot be rendered safely: the kernel does not limit the process (" +
                         ready["unlimited"].get<std::string>() + ")",
                     use_plain_text);
  } catch (const BadInput&) {
    child_.reset();
    throw;
  } catch (const Silent&) {
    child_.reset();
    throw BadInput(the_template, "is rendered by python3, which does not start",
                   "see that python3 runs, or " + use_plain_text);
  }
  return *ask(task, false);
}

/// Nothing if a child that was kept has ended by no fault of this task.
std::optional<std::string> TemplateProcess::ask(const std::string& task, bool is_kept) {
  try {
    child_->send(task + '\n');
    return child_->receive();
  } catch (const Silent& silent) {
    const bool is_late = child_->ended_for_time();
    child_.reset();
    if (is_late || silent.why == Silence::late)
      throw BadInput(the_template,
                     "takes more than " +
                         std::to_string(static_cast<int>(limits_.processor_seconds)) +
                         " seconds of the processor for these messages",
                     use_plain_text);
    if (silent.why == Silence::too_long)
      throw BadInput(the_template,
                     "writes more than " + std::to_string(limits_.text_bytes >> 20U) + " MiB",
                     use_plain_text);
    if (is_kept) return std::nullopt;
    throw BadInput(the_template, "ends the process that renders it", use_plain_text);
  }
}

}  // namespace tempera::gpu
