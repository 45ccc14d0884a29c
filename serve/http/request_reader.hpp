#pragma once

// A client may send the last chunk of an empty body in four bytes and wait. Beast of Boost 1.74
// reads on as it should, but asserts before that there are five: so a client could end a server
// that was built with assertions.
#define BOOST_DISABLE_ASSERTS
#include <boost/beast/http.hpp>
#undef BOOST_DISABLE_ASSERTS

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/assert.hpp>
#include <boost/beast/core.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "serve/http/exchange.hpp"
#include "serve/http/http_limits.hpp"

namespace tempera::serve {

/// What came in, and what its answer must know of it.
struct IncomingRequest {
  HttpRequest asked;
  unsigned version = 11;     ///< 10 or 11
  bool is_head = false;      ///< the answer has no body
  bool keeps_alive = false;  ///< another request may follow
};

/// Why a connection has no further request.
struct NoRequest {
  unsigned status = 0;  ///< of the answer to what is no request; 0: nobody listens any more
  std::string message;
};

/// Reads requests one after the other from a stream of bytes: all that clients send comes through
/// it.
/// @tparam Stream an AsyncReadStream and AsyncWriteStream of Beast
template <class Stream>
class RequestReader {
 public:
  RequestReader(Stream& stream, const HttpLimits& limits) : stream_(stream), limits_(limits) {}

  /// Waits until a byte of a request is there. False if the client has left.
  boost::asio::awaitable<bool> wait() {
    if (buffer_.size() > 0) co_return true;
    boost::system::error_code error;
    const auto space = buffer_.prepare(4096);
    const std::size_t read = co_await stream_.async_read_some(
        space, boost::asio::redirect_error(boost::asio::use_awaitable, error));
    buffer_.commit(read);
    co_return !error;
  }

  /// The next request, whole; without one no_request() says why.
  boost::asio::awaitable<std::optional<IncomingRequest>> read() {
    namespace http = boost::beast::http;
    http::request_parser<http::string_body> parser;
    boost::system::error_code error;
    const auto to_error = [&] {
      return boost::asio::redirect_error(boost::asio::use_awaitable, error);
    };
    // Beast holds its limit against the first line and against the fields, or against both
    // together, as the bytes happen to come in. So its own is wide, and the header's size decides.
    parser.header_limit(static_cast<std::uint32_t>(2 * limits_.header_bytes));
    std::size_t most = std::max(limits_.body_bytes, limits_.large_body_bytes);
    parser.body_limit(most);
    const std::size_t header =
        co_await http::async_read_header(stream_, buffer_, parser, to_error());
    if (!error && header > limits_.header_bytes) error = http::error::header_limit;
    if (!error) {
      parser.header_limit(static_cast<std::uint32_t>(limits_.header_bytes));  // of what ends a body
      most = parser.get().target() == limits_.large_path ? limits_.large_body_bytes
                                                         : limits_.body_bytes;
      parser.body_limit(most);
      if (parser.content_length() && *parser.content_length() > most)
        error = http::error::body_limit;
    }
    if (!error && !has_its_host(parser.get())) {
      no_request_ = {400, "a request names its Host once; only HTTP/1.0 may leave it out"};
      co_return std::nullopt;
    }
    if (!error && boost::beast::iequals(parser.get()[http::field::expect], "100-continue")) {
      http::response<http::empty_body> go_on{http::status::continue_, parser.get().version()};
      co_await http::async_write(stream_, go_on, to_error());
    }
    if (!error) co_await http::async_read(stream_, buffer_, parser, to_error());
    if (error) {
      no_request_ = reason(error, most);
      co_return std::nullopt;
    }
    co_return incoming(parser.release());
  }

  const NoRequest& no_request() const { return no_request_; }

  /// Takes what has come of next requests, while a request is answered: nothing waits in `socket`
  /// that would hide whether its client has left. Returns false if it has, and true too if as much
  /// as a header may have is held.
  /// @pre neither wait() nor read() is under way; the socket does not block
  template <class Socket>
  bool hold(Socket& socket) {
    boost::system::error_code error;
    while (!is_full()) {
      const std::size_t held = socket.receive(buffer_.prepare(4096), 0, error);
      if (error == boost::asio::error::would_block || error == boost::asio::error::try_again)
        return true;
      if (error || held == 0) return false;
      buffer_.commit(held);
    }
    return true;
  }
  /// Whether hold() takes nothing more: the client waits until its first request is answered.
  bool is_full() const { return buffer_.size() >= limits_.header_bytes; }

 private:
  /// Whether the header names one Host: of two, a proxy may take the other one (RFC 9112, 3.2).
  /// Before HTTP/1.1 there was none.
  template <class Header>
  static bool has_its_host(const Header& header) {
    const std::size_t hosts = header.count(boost::beast::http::field::host);
    return hosts == 1 || (hosts == 0 && header.version() < 11);
  }

  static IncomingRequest incoming(
      boost::beast::http::request<boost::beast::http::string_body> request) {
    namespace http = boost::beast::http;
    IncomingRequest incoming{.asked = {},
                             .version = request.version(),
                             .is_head = request.method() == http::verb::head,
                             .keeps_alive = request.keep_alive()};
    HttpRequest& asked = incoming.asked;
    asked.method = std::string(request.method_string());
    const std::string target(request.target());
    const auto mark = target.find('?');
    asked.path = target.substr(0, mark);
    if (mark != std::string::npos) asked.query = target.substr(mark + 1);
    asked.authorization = std::string(request[http::field::authorization]);
    asked.content_type = std::string(request[http::field::content_type]);
    asked.host = std::string(request[http::field::host]);
    asked.origin = std::string(request[http::field::origin]);
    asked.asked_method = std::string(request[http::field::access_control_request_method]);
    asked.body = std::move(request.body());
    return incoming;
  }

  NoRequest reason(boost::system::error_code error, std::size_t most) const {
    namespace http = boost::beast::http;
    if (error == http::error::end_of_stream || error == boost::beast::error::timeout ||
        error == http::error::partial_message ||
        error.category() == boost::asio::error::get_system_category())
      return {};
    if (error == http::error::header_limit)
      return {431, "the request's header is larger than " + std::to_string(limits_.header_bytes) +
                       " bytes"};
    if (error == http::error::body_limit)
      return {413, "the request's body is larger than " + std::to_string(most) + " bytes"};
    return {400, "this is no HTTP request"};
  }

  Stream& stream_;
  const HttpLimits& limits_;
  boost::beast::flat_buffer buffer_;
  NoRequest no_request_;
};

}  // namespace tempera::serve
