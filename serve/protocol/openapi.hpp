#pragma once

#include <string>
#include <string_view>

#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// The description of all paths, OpenAPI 3.1: GET /openapi.json. It is openapi.json with the
/// neutral fields of each object, a sampler's settings and the paths that need no key.
HttpResponse openapi(const std::string& version);

/// openapi.json as it is in the tree.
std::string_view openapi_text();

}  // namespace tempera::serve
