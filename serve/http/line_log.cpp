#include "serve/http/line_log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/error.hpp"

namespace tempera::serve {
namespace {

/// Not blocking, so that a pipe without a reader is refused and one that is full is noticed.
int open_log(const std::string& file) {
  return ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                0600);
}

/// A write of so many bytes to a pipe that has room, as poll() says, never waits.
constexpr std::size_t most_of_a_write = 4096;
constexpr std::chrono::milliseconds pause{200};

}  // namespace

LineLog::LineLog(std::string file, std::size_t most_bytes)
    : file_(std::move(file)), most_bytes_(most_bytes) {
  if (file_ != "-") {
    opened_ = OpenFile(open_log(file_));
    if (!opened_)
      throw BadInput(file_, "cannot be opened " + reason(errno),
                     "give a file that may be written, or - for stdout");
  }
  thread_ = std::jthread([this] { work(); });
}

LineLog::~LineLog() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
  }
  news_.notify_one();
}

void LineLog::write(std::string_view line) {
  {
    const std::scoped_lock lock(mutex_);
    if (held_ + line.size() >= most_bytes_) {
      ++lost_;
      return;
    }
    held_ += line.size() + 1;
    lines_ += line;
    lines_ += '\n';
  }
  news_.notify_one();
}

void LineLog::reopen() {
  {
    const std::scoped_lock lock(mutex_);
    is_to_reopen_ = true;
  }
  news_.notify_one();
}

std::uint64_t LineLog::lost() const {
  const std::scoped_lock lock(mutex_);
  return lost_;
}

void LineLog::work() {
  for (bool is_taken = true;;) {
    bool is_to_reopen = false;
    bool is_last = false;
    {
      std::unique_lock lock(mutex_);
      const auto is_asked = [&] { return is_stopping_ || is_to_reopen_; };
      if (!is_taken)
        news_.wait_for(lock, pause, is_asked);
      else if (block_.empty())
        news_.wait(lock, [&] { return is_asked() || !lines_.empty(); });
      is_to_reopen = std::exchange(is_to_reopen_, false);
      is_last = is_stopping_;
      if (block_.empty()) {
        held_ = lines_.size();
        block_.swap(lines_);
      }
    }
    if (is_to_reopen) open_again();
    if (block_.empty()) {
      if (is_last) return;
      continue;
    }
    is_taken = write_some();
    if (is_last && !is_taken) return;
  }
}

void LineLog::open_again() {
  if (file_ == "-") return;
  OpenFile again(open_log(file_));
  if (!again) return tell_trouble("cannot be opened again " + reason(errno));
  opened_ = std::move(again);
  // The line that the old file has a part of is whole in the new one.
  if (written_ > 0) written_ = block_.rfind('\n', written_ - 1) + 1;
}

bool LineLog::write_some() {
  const int file = opened_ ? opened_.descriptor() : STDOUT_FILENO;
  pollfd room{file, POLLOUT, 0};
  if (::poll(&room, 1, static_cast<int>(pause.count())) == 0) return false;
  const std::size_t size = std::min(block_.size() - written_, most_of_a_write);
  const ssize_t done = ::write(file, block_.data() + written_, size);
  if (done < 0) {
    if (errno == EINTR) return true;
    tell_trouble("cannot be written " + reason(errno));
    return false;
  }
  has_told_ = false;
  written_ += static_cast<std::size_t>(done);
  if (written_ == block_.size()) {
    block_.clear();
    written_ = 0;
  }
  return true;
}

void LineLog::tell_trouble(const std::string& what) {
  if (!std::exchange(has_told_, true))
    std::fprintf(stderr, "%s: %s; requests are answered, and up to %zu bytes of lines wait\n",
                 file_.c_str(), what.c_str(), most_bytes_);
}

}  // namespace tempera::serve
