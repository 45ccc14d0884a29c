#pragma once

#include <string>

#include "tempera/error.hpp"

namespace tempera {

/// The remedy for a file that came damaged.
inline const std::string download_again = "download the file again";

}  // namespace tempera
