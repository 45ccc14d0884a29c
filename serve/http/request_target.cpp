#include "serve/http/request_target.hpp"

#include <algorithm>
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

}  // namespace tempera::serve
