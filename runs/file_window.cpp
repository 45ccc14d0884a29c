#include "runs/file_window.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/text_file.hpp"
#include "runs/run_folder.hpp"

namespace tempera::gpu {

/// What the buffer holds from `offset` on.
std::string_view FileWindow::at(std::uint64_t offset) const {
  if (offset < begin_ || offset >= begin_ + buffer_.size()) return {};
  return std::string_view(buffer_).substr(offset - begin_);
}

/// Reads from `offset` on, `least` bytes or, at the end of the file, fewer.
void FileWindow::fill(std::uint64_t offset, std::size_t least) {
  const OpenFile open(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!open) refuse_unreadable(file_, errno);
  buffer_.resize(std::max(size_, least));
  begin_ = offset;
  std::size_t got = 0;
  while (got < buffer_.size()) {
    const ssize_t count = ::pread(open.descriptor(), buffer_.data() + got, buffer_.size() - got,
                                  static_cast<off_t>(offset + got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse_unreadable(file_, errno);
    if (count == 0) break;
    got += static_cast<std::size_t>(count);
  }
  buffer_.resize(got);
}

void FileWindow::read(std::uint64_t offset, std::uint64_t count, std::string& into) {
  while (count > 0) {
    if (at(offset).empty()) fill(offset, size_);
    const std::string_view piece = at(offset).substr(0, count);
    if (piece.empty())
      throw BadInput(file_.string(), "is shorter than its checkpoint says", remedy_for(file_));
    into += piece;
    offset += piece.size();
    count -= piece.size();
  }
}

std::string_view FileWindow::line(std::uint64_t offset) {
  for (std::size_t least = size_;; least *= 2) {
    const std::size_t end = at(offset).find('\n');
    if (end != std::string_view::npos) return at(offset).substr(0, end);
    fill(offset, least);
    if (buffer_.size() < least && buffer_.find('\n') == std::string::npos)
      throw BadInput(file_.string(), "is shorter than its checkpoint says", remedy_for(file_));
  }
}

}  // namespace tempera::gpu
