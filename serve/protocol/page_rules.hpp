#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// Whether it is the name or address of this machine alone: localhost, a name below it,
/// 127.0.0.0/8 or ::1, in any case and with brackets or without.
bool is_loopback(std::string_view host);

/// Which requests of web pages a server takes. A page from anywhere can make a browser send
/// requests to a server of the same machine. The browser tells two things of them: `Origin`, the
/// scheme, host and port that the page is from; and `Host`, by which name it found the server. A
/// page whose own name leads to 127.0.0.1 after a while has the first right and the second not.
///
/// Programs that are no browsers send no Origin, and the Host that they connect to.
class PageRules {
 public:
  /// @param allowed  origins whose pages may use the server, such as "https://example.org:8443";
  ///   their hosts are names of the server too; "*": all, and every Host
  /// @param needs_key  whether clients must send a key, which no other page knows: then neither
  ///   Origin nor Host is looked at
  /// @param host  the address that the server listens on: Host is looked at if that is a loopback
  /// @throw BadInput naming --allow-origin
  PageRules(const std::vector<std::string>& allowed, bool needs_key, std::string_view host);

  /// Why the request is refused: 403 for the page of another origin, 421 for another server's
  /// name; or nothing.
  std::optional<HttpResponse> refusal(const HttpRequest& request) const;
  /// Whether a page of an allowed origin has sent the request: its browser lets it read the answer
  /// if the answer names the origin.
  bool may_read(const HttpRequest& request) const;
  /// Names the origin of such a page in the answer.
  void show(const HttpRequest& request, HttpResponse& response) const;
  /// Whether a browser asks if such a page may send a request with a key or a body of JSON, ...
  bool is_question(const HttpRequest& request) const;
  /// ... and what it is told.
  static HttpResponse permission();

 private:
  bool is_own_host(std::string_view host) const;

  std::vector<std::string> allowed_;  ///< in lower case, without the port that a scheme has anyway
  bool allows_all_ = false;
  bool checks_origin_ = false;
  bool checks_host_ = false;
};

}  // namespace tempera::serve
