#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/http/exchange.hpp"
#include "serve/http/http_limits.hpp"

namespace tempera::serve {

/// An HTTP/1.1 server: keep-alive, pipelined requests one after the other, chunked answers. One
/// thread serves all connections, so an idle connection costs some kilobytes and no thread. Whoever
/// keeps an Exchange must let it go before the server is destroyed.
class HttpServer {
 public:
  /// Binds and listens.
  /// @param port 0 for any free one
  /// @throw BadInput naming --host or --port if the address cannot be bound
  HttpServer(const std::string& host, std::uint16_t port, HttpHandlers handlers,
             HttpLimits limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  /// Serves on the calling thread until stop().
  void run();
  /// Stops listening and returns from run() when the answers that are under way have been sent.
  /// What is not answered after `grace` is answered by 503, or its stream by a last part, and has
  /// two seconds to be sent. A second call sets the grace anew. May be called from any thread.
  void stop(std::chrono::milliseconds grace);
  /// Runs `job` on the server's thread. May be called from any thread.
  void post(std::function<void()> job);
  /// Calls `job` on the server's thread every `period` until the server stops.
  void every(std::chrono::milliseconds period, std::function<void()> job);

  /// Connections that are open now.
  std::size_t connections() const;

  struct Shared;         ///< the server's own
  class OpenConnection;  ///< the server's own

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace tempera::serve
