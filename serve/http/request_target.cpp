#include "serve/http/request_target.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/lower_case.hpp"

namespace tempera::serve {

void read_target(std::string_view target, HttpRequest& request) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (in_lower_case(target.substr(0, scheme.size())) != scheme) continue;
    target.remove_prefix(scheme.size());
    const auto end = std::min(target.find_first_of("/?"), target.size());
    request.host = std::string(target.substr(0, end));
    target.remove_prefix(end);
    break;
  }
  const auto mark = std::min(target.find('?'), target.size());
  request.path = std::string(target.substr(0, mark));
  if (request.path.empty()) request.path = "/";
  request.query = std::string(target.substr(std::min(mark + 1, target.size())));
}

std::string without_escapes(std::string_view part) {
  std::string text;
  for (std::size_t at = 0; at < part.size(); ++at) {
    unsigned byte = 0;
    const char* digits = part.data() + at + 1;
    if (part[at] == '%' && part.size() - at > 2 &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      text += static_cast<char>(byte);
      at += 2;
    } else {
      text += part[at];
    }
  }
  return text;
}

}  // namespace tempera::serve
