#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "gpu/jobs/background_writer.hpp"
#include "gpu/jobs/run_folder.hpp"

namespace tempera::gpu {

/// Lines of a file of a run folder, written in the background and in large pieces: a write for each
/// answer would take longer than all else.
class GatheredLines {
 public:
  using Append = void (RunFolder::*)(std::string_view lines);
  GatheredLines(BackgroundWriter& writer, RunFolder& folder, Append append)
      : writer_(&writer), folder_(&folder), append_(append) {
    bytes_.reserve(most);
  }
  void add(std::string_view bytes) {
    if (bytes_.size() + bytes.size() > most) write();
    bytes_ += bytes;
  }
  void write() {
    writer_->add([folder = folder_, append = append_, bytes = std::move(bytes_)] {
      (folder->*append)(bytes);
    });
    bytes_ = {};
    bytes_.reserve(most);
  }

 private:
  static constexpr std::size_t most = std::size_t{1} << 20;
  BackgroundWriter* writer_;
  RunFolder* folder_;
  Append append_;
  std::string bytes_;
};

}  // namespace tempera::gpu
