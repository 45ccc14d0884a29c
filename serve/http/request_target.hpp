#pragma once

#include <string>
#include <string_view>

#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// Reads the target of a request line into path and query. Of the absolute form, which proxies
/// send, the authority takes the place of the request's Host (RFC 9112, section 3.2.2).
void read_target(std::string_view target, HttpRequest& request);

/// A part of a path with the bytes that its escapes, such as "%2F", stand for.
std::string without_escapes(std::string_view part);

}  // namespace tempera::serve
