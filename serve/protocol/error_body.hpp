#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// An error in the protocol's form: {"error": {"message", "type", "param", "code"}}.
///
/// status: 400 (a wrong request), 401, 403, 404, 405, 413, 421, 429, 431, 500, 503 or 507. param:
/// the field that is wrong, or empty. The message is one line and names no path of this machine.
HttpResponse error_response(unsigned status, const std::string& message,
                            const std::string& param = {});

/// The answer to a client that has used up a limit of its own, which says when to come back.
HttpResponse too_many_requests(const std::string& message, std::chrono::seconds retry_after);

/// The same as one event of a stream that has begun.
std::string error_event(unsigned status, const std::string& message);

/// The answer to a request with a mistake: 400, with the field that the message of a BadInput names
/// first as `param`: "n", "tempera.powers[0]".
HttpResponse wrong_request(const std::string& message);

/// The field that the message of a BadInput names first, also of a line of a batch; empty if it
/// names none.
std::string field_of(std::string_view message);

/// 405 for a path that takes other methods alone: "GET, HEAD", say, as RFC 9110 has them named.
HttpResponse wrong_method(const std::string& allowed);

}  // namespace tempera::serve
