#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// The line of a request in the access log: one JSON object, without an end. It has no part of a
/// body, of an answer, of a key or of a query.
/// @param client the name of whoever has asked, if there are keys and the request has one
std::string access_line(const EndedRequest& ended, const std::optional<std::string>& client,
                        std::chrono::system_clock::time_point now);

}  // namespace tempera::serve
