#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tempera::gpu {

/// A line of a file, whose name is put together only for a message: a merge reads millions.
struct LinePlace {
  std::string_view file;
  std::size_t number = 0;  ///< from 1; 0 is the file itself

  std::string text() const {
    return std::string(file) + (number == 0 ? "" : ", line " + std::to_string(number));
  }
};

}  // namespace tempera::gpu
