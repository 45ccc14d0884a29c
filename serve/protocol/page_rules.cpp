#include "serve/protocol/page_rules.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/lower_case.hpp"
#include "serve/protocol/error_body.hpp"

namespace tempera::serve {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What is before the port: "localhost" of "localhost:8080", "[::1]" of "[::1]:8080".
std::string_view without_port(std::string_view authority) {
  const auto colon = authority.rfind(':');
  if (colon == std::string_view::npos) return authority;
  const std::string_view port = authority.substr(colon + 1);
  return std::all_of(port.begin(), port.end(), is_digit) ? authority.substr(0, colon) : authority;
}

/// What is after "://".
std::string_view authority_of(std::string_view origin) {
  const auto scheme = origin.find("://");
  return scheme == std::string_view::npos ? std::string_view() : origin.substr(scheme + 3);
}

/// An origin as browsers spell it, or nothing: "null", or scheme, host and port.
std::optional<std::string> spelled_origin(std::string_view given) {
  std::string origin = in_lower_case(given);
  if (origin == "null") return origin;
  const auto scheme = origin.find("://");
  if (scheme == std::string::npos || scheme == 0) return std::nullopt;
  const std::string_view rest = std::string_view(origin).substr(scheme + 3);
  const bool is_odd = std::any_of(rest.begin(), rest.end(), [](unsigned char c) {
    return c <= ' ' || c >= 0x7F ||
           std::string_view("/?#@\\\"").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_odd) return std::nullopt;
  for (const std::string_view usual : {"http://:80", "https://:443"}) {
    const std::string_view port = usual.substr(usual.rfind(':'));
    const std::string_view begin = usual.substr(0, usual.rfind(':'));
    if (origin.starts_with(begin) && origin.ends_with(port))
      origin.erase(origin.size() - port.size());
  }
  return origin;
}

}  // namespace

bool is_loopback(std::string_view host) {
  std::string name = in_lower_case(host);
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(name, error);
  return !error && address.is_loopback();
}

PageRules::PageRules(const std::vector<std::string>& allowed, bool needs_key, std::string_view host)
    : checks_origin_(!needs_key), checks_host_(!needs_key && is_loopback(host)) {
  for (const std::string& given : allowed) {
    if (given == "*") {
      allows_all_ = true;
      continue;
    }
    const auto origin = spelled_origin(given);
    if (!origin || origin->find('*') != std::string::npos)
      throw BadInput("--allow-origin", in_quotes(given) + " is not an origin",
                     "give scheme, host and port, such as https://example.org:8443, or * alone for "
                     "all pages");
    allowed_.push_back(*origin);
  }
}

bool PageRules::may_read(const HttpRequest& request) const {
  if (request.origin.empty()) return false;
  const std::string origin = in_lower_case(request.origin);
  return allows_all_ || std::find(allowed_.begin(), allowed_.end(), origin) != allowed_.end();
}

void PageRules::show(const HttpRequest& request, HttpResponse& response) const {
  if (!may_read(request)) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", request.origin);
  response.headers.emplace_back("Vary", "Origin");
}

bool PageRules::is_own_host(std::string_view host) const {
  const std::string name = in_lower_case(without_port(host));
  return is_loopback(name) ||
         std::any_of(allowed_.begin(), allowed_.end(), [&](const std::string& origin) {
           return without_port(authority_of(origin)) == name;
         });
}

std::optional<HttpResponse> PageRules::refusal(const HttpRequest& request) const {
  if (allows_all_) return std::nullopt;
  // A request of HTTP/1.0 may have none; browsers always send one.
  if (checks_host_ && !request.host.empty() && !is_own_host(request.host))
    return error_response(
        421, "this server of 127.0.0.1 is not the host " + in_quotes(request.host) +
                 "; if it should be, start it with --allow-origin and the scheme and host");
  if (!checks_origin_ || request.origin.empty() || may_read(request)) return std::nullopt;
  const std::string origin = in_lower_case(request.origin);
  const std::string host = in_lower_case(request.host);
  if (!host.empty() && (origin == "http://" + host || origin == "https://" + host))
    return std::nullopt;
  return error_response(403, "pages of the origin " + in_quotes(request.origin) +
                                 " may not use this server; if they should, start it with"
                                 " --allow-origin and that origin");
}

bool PageRules::is_question(const HttpRequest& request) const {
  return request.method == "OPTIONS" && !request.asked_method.empty() && may_read(request);
}

HttpResponse PageRules::permission() {
  return {200,
          "text/plain",
          "",
          {{"Access-Control-Allow-Methods", "GET, HEAD, POST, DELETE"},
           // Browsers do not count the key's header among all.
           {"Access-Control-Allow-Headers", "Authorization, *"},
           {"Access-Control-Max-Age", "600"}}};
}

}  // namespace tempera::serve
