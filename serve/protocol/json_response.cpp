#include "serve/protocol/json_response.hpp"

#include <nlohmann/json.hpp>

namespace tempera::serve {

std::string spelled(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

HttpResponse json_response(const nlohmann::ordered_json& body) {
  HttpResponse response;
  response.body = spelled(body);
  return response;
}

}  // namespace tempera::serve
