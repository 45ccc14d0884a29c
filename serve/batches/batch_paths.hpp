#pragma once

#include <functional>
#include <optional>
#include <string>

#include "serve/batches/batches.hpp"
#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// The answer to a request for /v1/files or /v1/batches; nothing if the path is none of theirs.
/// It may read and write files, so it is no work for the connections' thread.
/// @throw BadInput if the request is wrong
std::optional<HttpResponse> answer_batch_request(Batches& batches, const HttpRequest& request);

/// Whether the path is one of theirs.
bool is_batch_path(const std::string& path);

}  // namespace tempera::serve
