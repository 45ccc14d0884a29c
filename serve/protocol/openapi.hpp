#pragma once

#include <string>

#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// The description of all paths, OpenAPI 3.1: GET /openapi.json.
HttpResponse openapi(const std::string& version);

}  // namespace tempera::serve
