#pragma once

#include <string_view>

namespace tempera::gpu {

/// The text of python/tempera/template_engine.py.
std::string_view template_engine_text();

}  // namespace tempera::gpu
