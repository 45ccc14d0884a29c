#include "serve/protocol/error_body.hpp"

#include <nlohmann/json.hpp>

#include "serve/protocol/json_response.hpp"

namespace tempera::serve {
namespace {

using nlohmann::ordered_json;

const char* type_of(unsigned status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

std::string body_of(unsigned status, const std::string& message, const std::string& param) {
  ordered_json error;
  error["message"] = message;
  error["type"] = type_of(status);
  if (param.empty())
    error["param"] = nullptr;
  else
    error["param"] = param;
  error["code"] = status;
  return spelled({{"error", error}});
}

}  // namespace

HttpResponse error_response(unsigned status, const std::string& message, const std::string& param) {
  HttpResponse response;
  response.status = status;
  response.body = body_of(status, message, param);
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "5");
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

HttpResponse wrong_request(const std::string& message) {
  const std::string field = message.substr(0, message.find_first_of(":,"));
  const bool is_field = field != message && field.find_first_of(" \"/") == std::string::npos;
  return error_response(400, message, is_field ? field : std::string());
}

HttpResponse wrong_method(const std::string& allowed) {
  HttpResponse response = error_response(405, "this path takes " + allowed + " alone");
  response.headers.emplace_back("Allow", allowed);
  return response;
}

std::string error_event(unsigned status, const std::string& message) {
  return "data: " + body_of(status, message, {}) + "\n\n";
}

}  // namespace tempera::serve
