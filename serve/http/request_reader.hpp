#pragma once

// A client may send the last chunk of an empty body in four bytes and wait. Beast of Boost 1.74
// reads on as it should, but asserts before that there are five: so a client could end a server
// that was built with assertions.
#define BOOST_DISABLE_ASSERTS
#include <boost/beast/http.hpp>
#undef BOOST_DISABLE_ASSERTS

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/assert.hpp>
#include <boost/beast/core.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "serve/http/exchange.hpp"
#include "serve/http/held_bodies.hpp"
#include "serve/http/http_limits.hpp"
#include "serve/http/request_target.hpp"

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

/// How a client's side of a connection is while its request is answered.
enum class ClientSide : std::uint8_t {
  open,   ///< it may send more
  ended,  ///< it sends nothing more: it has left, or waits for its answer
  lost,   ///< nobody is there
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

  /// The next request without its body; without one no_request() says why.
  boost::asio::awaitable<std::optional<IncomingRequest>> read_head() {
    namespace http = boost::beast::http;
    parser_.emplace();
    boost::system::error_code error;
    // Beast holds its limit against the first line and against the fields, or against both
    // together, as the bytes happen to come in. So its own is wide, and the header's size decides.
    // Whether the body is too large is asked once the request is admitted. (Beast of Boost 1.74
    // takes every body for larger than no limit.)
    parser_->header_limit(static_cast<std::uint32_t>(2 * limits_.header_bytes));
    parser_->body_limit(std::numeric_limits<std::uint64_t>::max());
    const std::size_t header = co_await http::async_read_header(
        stream_, buffer_, *parser_, boost::asio::redirect_error(boost::asio::use_awaitable, error));
    if (!error && header > limits_.header_bytes) error = http::error::header_limit;
    if (error) {
      no_request_ = reason(error);
      co_return std::nullopt;
    }
    if (!has_its_host(parser_->get())) {
      no_request_ = {400, "a request names its Host once; only HTTP/1.0 may leave it out"};
      co_return std::nullopt;
    }
    co_return incoming(parser_->get());
  }
  /// Whether a body follows the header that was read.
  bool has_body() const { return !parser_->is_done(); }

  /// Reads the body of the request that read_head() has given, and takes its bytes from `share`;
  /// if there is none, returns false, and no_request() says why.
  boost::asio::awaitable<bool> read_body(HttpRequest& request, HeldBodies::Share& share) {
    namespace http = boost::beast::http;
    boost::system::error_code error;
    const auto to_error = [&] {
      return boost::asio::redirect_error(boost::asio::use_awaitable, error);
    };
    const bool is_large = request.path == limits_.large_path && request.query.empty();
    const std::size_t most = is_large ? limits_.large_body_bytes : limits_.body_bytes;
    const auto refuse = [&](unsigned status, const std::string& message) {
      no_request_ = {status, message};
      return false;
    };
    if (has_body() && !request.content_encoding.empty() &&
        !boost::beast::iequals(request.content_encoding, "identity"))
      co_return refuse(415,
                       "Content-Encoding: bodies are read as they are, and never decoded; send "
                       "this one as it was before it was encoded");
    const std::string too_large =
        "the request's body is larger than " + std::to_string(most) + " bytes";
    parser_->body_limit(most);
    if (parser_->content_length() && *parser_->content_length() > most)
      co_return refuse(413, too_large);
    // A client of HTTP/1.0 would take the interim answer for the answer (RFC 9110, section 10.1.1).
    if (has_body() && request_version() >= 11 &&
        boost::beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
      http::response<http::empty_body> go_on{http::status::continue_, request_version()};
      co_await http::async_write(stream_, go_on, to_error());
    }
    while (!error && has_body()) {
      co_await read_some_of_body(error);
      if (!share.grow_to(parser_->get().body().size()))
        co_return refuse(503,
                         "the server holds as many bytes of requests as it may; try again later");
    }
    if (error == http::error::body_limit) co_return refuse(413, too_large);
    if (error) {
      no_request_ = reason(error);
      co_return false;
    }
    request.body = std::move(parser_->get().body());
    co_return true;
  }

  /// Reads what a client still sends and drops it, at most so many bytes: a connection that is
  /// closed before its client has sent all may lose the answer.
  boost::asio::awaitable<void> drop(std::size_t most) {
    for (std::size_t dropped = 0; dropped <= most && co_await wait();
         dropped += buffer_.size(), buffer_.clear()) {
    }
  }

  const NoRequest& no_request() const { return no_request_; }

  /// Takes what has come of next requests, while a request is answered: nothing waits in `socket`
  /// that would hide whether its client has left.
  /// @pre neither wait() nor read() is under way; the socket does not block
  template <class Socket>
  ClientSide hold(Socket& socket) {
    boost::system::error_code error;
    while (!is_full()) {
      const std::size_t held = socket.receive(buffer_.prepare(4096), 0, error);
      if (error == boost::asio::error::would_block || error == boost::asio::error::try_again)
        return ClientSide::open;
      if (error == boost::asio::error::eof || (!error && held == 0)) return ClientSide::ended;
      if (error) return ClientSide::lost;
      buffer_.commit(held);
    }
    return ClientSide::open;
  }
  /// Whether hold() takes nothing more: the client waits until its first request is answered.
  bool is_full() const { return buffer_.size() >= limits_.header_bytes; }

 private:
  unsigned request_version() const { return parser_->get().version(); }

  /// Gives the parser more of a body. The head of a chunk, with its extensions, and the fields
  /// after the last chunk are parsed as a whole each, and held until then: they may be as large as
  /// a header, however they are split.
  boost::asio::awaitable<void> read_some_of_body(boost::system::error_code& error) {
    namespace http = boost::beast::http;
    const std::size_t given = std::min(buffer_.size(), limits_.header_bytes);
    if (given > 0) {
      buffer_.consume(parser_->put(boost::asio::buffer(buffer_.data(), given), error));
      if (error != http::error::need_more) co_return;
      error = {};
    }
    if (given == limits_.header_bytes) {
      error = http::error::header_limit;
      co_return;
    }
    const std::size_t more = co_await stream_.async_read_some(
        buffer_.prepare(limits_.header_bytes),
        boost::asio::redirect_error(boost::asio::use_awaitable, error));
    buffer_.commit(more);
    if (error == boost::asio::error::eof) {
      error = {};
      parser_->put_eof(error);
    }
  }

  /// Whether the header names one Host: of two, a proxy may take the other one (RFC 9112, 3.2).
  /// Before HTTP/1.1 there was none.
  template <class Header>
  static bool has_its_host(const Header& header) {
    const std::size_t hosts = header.count(boost::beast::http::field::host);
    return hosts == 1 || (hosts == 0 && header.version() < 11);
  }

  static IncomingRequest incoming(
      const boost::beast::http::request<boost::beast::http::string_body>& request) {
    namespace http = boost::beast::http;
    IncomingRequest incoming{.asked = {},
                             .version = request.version(),
                             .is_head = request.method() == http::verb::head,
                             .keeps_alive = request.keep_alive()};
    HttpRequest& asked = incoming.asked;
    asked.method = std::string(request.method_string());
    asked.authorization = std::string(request[http::field::authorization]);
    asked.content_type = std::string(request[http::field::content_type]);
    asked.content_encoding = std::string(request[http::field::content_encoding]);
    asked.host = std::string(request[http::field::host]);
    asked.origin = std::string(request[http::field::origin]);
    asked.asked_method = std::string(request[http::field::access_control_request_method]);
    read_target(std::string_view(request.target().data(), request.target().size()), asked);
    return incoming;
  }

  NoRequest reason(boost::system::error_code error) const {
    namespace http = boost::beast::http;
    if (error == http::error::end_of_stream || error == boost::beast::error::timeout ||
        error == http::error::partial_message ||
        error.category() == boost::asio::error::get_system_category())
      return {};
    if (error == http::error::header_limit)
      return {431,
              "the request's header, or what stands beside the chunks of its body, is larger "
              "than " +
                  std::to_string(limits_.header_bytes) + " bytes"};
    return {400, "this is not an HTTP request"};
  }

  Stream& stream_;
  const HttpLimits& limits_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  NoRequest no_request_;
};

}  // namespace tempera::serve
