#include "serve/protocol/error_body.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

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
  // Made as a whole: a value that has become an object, for which memory was then missing, cannot
  // be destroyed.
  return spelled({{"error",
                   {{"message", message},
                    {"type", type_of(status)},
                    {"param", param.empty() ? ordered_json() : ordered_json(param)},
                    {"code", status}}}});
}

/// "a.b[2]" of a path of keys such as "a"["b"][2] at the beginning of a text.
std::string dotted(std::string_view path) {
  std::string field;
  while (!path.empty()) {
    const bool is_bracket = path.front() == '[';
    if (is_bracket) path.remove_prefix(1);
    if (!path.starts_with('"')) {
      const auto end = path.find(']');
      if (!is_bracket || end == std::string_view::npos) return field;
      field += "[" + std::string(path.substr(0, end)) + "]";
      path.remove_prefix(end + 1);
      continue;
    }
    const auto end = path.find('"', 1);
    if (end == std::string_view::npos) return field;
    field += (field.empty() ? "" : ".") + std::string(path.substr(1, end - 1));
    path.remove_prefix(end + 1);
    if (is_bracket && path.starts_with(']')) path.remove_prefix(1);
  }
  return field;
}

}  // namespace

std::string field_of(std::string_view message) {
  // What JsonObject says of a body: 'body: key "a"["b"] is …' and 'body, "a"[2], …'.
  for (const std::string_view begin : {"body: key ", "body: the number at ", "body, "})
    if (message.starts_with(begin)) return dotted(message.substr(begin.size()));
  // A line of a batch: 'line 3: key "a"["b"] is …', 'line 3, a: …' and 'line 3, "a"["b"], …'.
  if (message.starts_with("line ")) {
    message.remove_prefix(std::min(message.find_first_of(":,"), message.size()));
    if (constexpr std::string_view key = ": key "; message.starts_with(key))
      return dotted(message.substr(key.size()));
    if (!message.starts_with(", ")) return {};
    message.remove_prefix(2);
    if (message.starts_with('"')) return dotted(message);
  }
  const auto end = message.find_first_of(":,");
  if (end == std::string_view::npos) return {};
  const std::string_view place = message.substr(0, end);
  const bool is_field = place != "body" && place.find_first_of(" \"/") == std::string_view::npos;
  return is_field ? std::string(place) : std::string();
}

HttpResponse error_response(unsigned status, const std::string& message, const std::string& param) {
  HttpResponse response;
  response.status = status;
  response.body = body_of(status, message, param);
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "5");
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

HttpResponse too_many_requests(const std::string& message, std::chrono::seconds retry_after) {
  HttpResponse response = error_response(429, message);
  response.headers = {{"Retry-After", std::to_string(retry_after.count())}};
  return response;
}

HttpResponse wrong_request(const std::string& message) {
  return error_response(400, message, field_of(message));
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
