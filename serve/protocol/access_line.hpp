#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// RFC 3339, with milliseconds.
std::string log_time(std::chrono::system_clock::time_point now);

/// The line of a request in the access log: one JSON object, without an end. It has no part of an
/// answer, of a key or of a query, and of a body the prompts alone, if they are there.
/// @param client the name of whoever has asked, if there are keys and the request has one
std::string access_line(const EndedRequest& ended, const std::optional<std::string>& client,
                        std::chrono::system_clock::time_point now);

}  // namespace tempera::serve
