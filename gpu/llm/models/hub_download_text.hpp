#pragma once

#include <string_view>

namespace tempera::gpu {

/// The text of python/tempera/hub_download.py.
std::string_view hub_download_text();

}  // namespace tempera::gpu
