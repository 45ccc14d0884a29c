#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// A value as JSON on one line. Text that is no UTF-8 (a byte token alone, say) becomes U+FFFD.
std::string spelled(const nlohmann::ordered_json& value);

/// An answer of status 200 whose body is this value.
HttpResponse json_response(const nlohmann::ordered_json& body);

}  // namespace tempera::serve
