#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/disk.hpp"

namespace tempera::serve {

/// Lines on their way to a file or to stdout, by a thread of their own: whoever writes one never
/// waits, and no fault of the file is an error of anything else. While it takes nothing (a full
/// disk, a pipe without a reader) lines are held, up to a bound; further ones are lost, and
/// counted. No line is written in part, unless the file itself is changed for another meanwhile.
class LineLog {
 public:
  /// @param file that is appended to, made for its owner alone if it is missing; "-": stdout
  /// @param most_bytes of lines that are held
  /// @throw BadInput naming the file if it cannot be opened
  explicit LineLog(std::string file, std::size_t most_bytes = std::size_t{4} << 20);
  /// Writes what is held, as far as the file takes it at once.
  ~LineLog();
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;

  /// Writes a line, which has no end yet. Any thread may call.
  void write(std::string_view line);
  /// Opens the file by its name again, because that was given to another one. Any thread may call.
  void reopen();
  /// Lines that were lost.
  std::uint64_t lost() const;

 private:
  void work();
  void open_again();
  /// Writes some of `block_`. False if the file does not take it now.
  bool write_some();
  void tell_trouble(const std::string& what);

  const std::string file_;
  const std::size_t most_bytes_;
  OpenFile opened_;           ///< none for stdout
  mutable std::mutex mutex_;  ///< of all that follows up to block_
  std::condition_variable news_;
  std::string lines_;     ///< that wait
  std::size_t held_ = 0;  ///< bytes of these and of the block
  std::uint64_t lost_ = 0;
  bool is_to_reopen_ = false;
  bool is_stopping_ = false;
  std::string block_;        ///< lines that are being written: the thread's own
  std::size_t written_ = 0;  ///< bytes of them
  bool has_told_ = false;    ///< that the file takes nothing
  std::jthread thread_;
};

}  // namespace tempera::serve
