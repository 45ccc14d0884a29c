#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tempera::cli {

/// Says on standard error, in one line, that T of a prompt is its own, because no more fits after
/// it. margin: the positions that were left free.
void warn_shortened_horizon(const std::optional<std::string>& id, std::size_t horizon,
                            std::size_t asked, std::size_t margin);

}  // namespace tempera::cli
