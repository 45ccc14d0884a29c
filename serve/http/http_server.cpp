#include "serve/http/http_server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "serve/http/request_reader.hpp"
#include "serve/http/short_turns.hpp"

namespace tempera::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Error = boost::system::error_code;

}  // namespace

namespace {

/// For answers that the server gives when it ends.
constexpr std::chrono::seconds last_words{2};

}  // namespace

/// A connection as the server sees it when it stops.
class HttpServer::OpenConnection {
 public:
  virtual ~OpenConnection() = default;
  /// Closes it if it waits for a request.
  virtual void stop() = 0;
  /// Ends the answer that is under way by an error, or closes it if there is none.
  virtual void give_up() = 0;
};

/// What all connections share.
struct HttpServer::Shared {
  Shared(asio::io_context& context, HttpHandlers own_handlers, HttpLimits own_limits)
      : io(context),
        handlers(std::move(own_handlers)),
        limits(std::move(own_limits)),
        held(limits.held_bytes) {}

  asio::io_context& io;
  HttpHandlers handlers;
  HttpLimits limits;
  HeldBodies held;
  std::atomic<std::size_t> connections{0};
  bool is_stopping = false;
  std::set<OpenConnection*> open;
  /// The beginning of the names of requests, which no two servers share.
  std::string name = drawn_name();
  std::uint64_t requests = 0;

  std::string next_id() { return "req-" + name + "-" + std::to_string(++requests); }

 private:
  static std::string drawn_name() {
    std::random_device source;
    char text[24];
    std::snprintf(text, sizeof text, "%08x%08x", static_cast<unsigned>(source()),
                  static_cast<unsigned>(source()));
    return text;
  }
};

namespace {

using Shared = HttpServer::Shared;
using Clock = std::chrono::steady_clock;

/// The answer of one request on its way out. Only the server's thread touches it; the functions of
/// Exchange post to that thread.
class Answer final : public Exchange, public std::enable_shared_from_this<Answer> {
 public:
  Answer(std::shared_ptr<Shared> shared, HttpRequest request, HeldBodies::Share share)
      : shared_(std::move(shared)),
        request_(std::move(request)),
        share_(std::move(share)),
        changed_(shared_->io, asio::steady_timer::time_point::max()) {}

  const HttpRequest& request() const override { return request_; }
  void drop_body() override {
    request_.body = std::string();
    share_.give_back();
  }

  void respond(HttpResponse response) override {
    post([response = std::move(response)](Answer& self) mutable {
      if (self.head_) return;
      self.head_ = std::move(response);
      self.is_whole_ = true;
      self.share_.give_back();  // before the client can send its next body
      self.changed_.cancel();
    });
  }
  void begin_stream(unsigned status, std::string content_type) override {
    post([status, type = std::move(content_type)](Answer& self) mutable {
      if (self.head_) return;
      self.head_ = HttpResponse{status, std::move(type), {}, {}};
      self.changed_.cancel();
    });
  }
  void write(std::string part) override {
    if (part.empty()) return;
    post([part = std::move(part)](Answer& self) mutable {
      if (self.has_left_ || self.is_ended_ || self.is_whole_) return;
      self.unsent_ += part.size();
      self.parts_.push_back(std::move(part));
      if (self.unsent_ > self.shared_->limits.unsent_bytes)
        self.leave();
      else
        self.changed_.cancel();
    });
  }
  void end() override {
    post([](Answer& self) {
      self.is_ended_ = true;
      self.changed_.cancel();
    });
  }
  void tell(const AnswerFacts& facts) override {
    post([facts](Answer& self) { self.facts_ = facts; });
  }
  void tell_prompts(std::vector<std::string>&& prompts) override {
    post([prompts = std::move(prompts)](Answer& self) mutable {
      self.prompts_ = std::move(prompts);
    });
  }
  void tell_first_text() override {
    post([now = Clock::now()](Answer& self) {
      if (!self.first_text_) self.first_text_ = now - self.came_;
    });
  }
  void show_to_origin() override {
    post([](Answer& self) { self.is_shown_to_origin_ = true; });
  }
  void on_leave(std::function<void()> left) override {
    // Also of an answer whose connection is gone before anybody asked to be told.
    asio::post(shared_->io, [self = shared_from_this(), left = std::move(left)]() mutable {
      if (self->has_left_)
        left();
      else if (!self->is_closed_)
        self->left_ = std::move(left);
    });
  }

  /// The client has left, or is dropped.
  void leave() {
    if (has_left_) return;
    has_left_ = true;
    changed_.cancel();
    if (const auto left = std::exchange(left_, {})) left();
  }
  bool has_left() const { return has_left_; }
  bool is_closed() const { return is_closed_; }
  /// The answer is out, or its connection gone: nobody is called any more.
  void close() {
    is_closed_ = true;
    left_ = {};
  }
  /// The server ends: the client is told so, whatever is still being made.
  void give_up() {
    constexpr const char* why = "the server is shutting down";
    if (!head_) return respond(shared_->handlers.refuse(503, why));
    if (is_whole_ || is_ended_) return;
    if (shared_->handlers.last_part) write(shared_->handlers.last_part(503, why));
    end();
  }

  EndedRequest ended() const {
    const std::chrono::duration<double> whole = Clock::now() - came_;
    EndedRequest record{request_,    head_ ? head_->status : 0U,
                        is_sent_,    head_ && !is_whole_,
                        first_text_, whole,
                        facts_,      prompts_};
    // An answer that is sent at once has its text at its end.
    if (facts_ && is_whole_ && is_sent_ && head_->status == 200) record.first_text = whole;
    return record;
  }

  /// Waits until something is to be sent or the client has left.
  asio::awaitable<void> changed() {
    while (!has_left_ && !(head_ && !is_head_sent_) && parts_.empty() && !is_ended_) {
      Error error;
      co_await changed_.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
  }
  /// Waits until the status is known or the client has left.
  const std::optional<HttpResponse>& head() const { return head_; }
  bool is_whole() const { return is_whole_; }
  bool is_shown_to_origin() const { return is_shown_to_origin_; }
  void head_is_sent() { is_head_sent_ = true; }
  /// Whether parts may follow.
  bool is_stream() const { return head_ && !is_whole_ && !is_ended_; }
  bool is_sent() const { return is_sent_; }
  void set_sent() { is_sent_ = true; }
  bool is_ended() const { return is_ended_ && parts_.empty(); }
  std::optional<std::string> next_part() {
    if (parts_.empty()) return std::nullopt;
    std::string part = std::move(parts_.front());
    parts_.pop_front();
    unsent_ -= part.size();
    return part;
  }

 private:
  template <class Job>
  void post(Job job) {
    asio::post(shared_->io, [self = shared_from_this(), job = std::move(job)]() mutable {
      if (!self->is_closed_) job(*self);
    });
  }

  std::shared_ptr<Shared> shared_;
  HttpRequest request_;
  HeldBodies::Share share_;
  asio::steady_timer changed_;  // never expires; cancelled to wake who waits
  const Clock::time_point came_ = Clock::now();
  std::optional<AnswerFacts> facts_;
  std::vector<std::string> prompts_;
  std::optional<std::chrono::duration<double>> first_text_;
  std::optional<HttpResponse> head_;
  bool is_whole_ = false;
  bool is_shown_to_origin_ = false;
  bool is_head_sent_ = false;
  std::deque<std::string> parts_;
  std::size_t unsent_ = 0;
  bool is_ended_ = false;
  bool is_sent_ = false;
  bool has_left_ = false;
  bool is_closed_ = false;
  std::function<void()> left_;
};

/// The time as HTTP writes it (RFC 9110, section 5.6.7).
std::string http_date() {
  constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[64];
  std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[utc.tm_wday],
                utc.tm_mday, months[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min,
                utc.tm_sec);
  return text;
}

/// The head of an answer as far as its handler decides it.
http::response<http::empty_body> head_of(const HttpResponse& answer, const std::string& request_id,
                                         unsigned version) {
  http::response<http::empty_body> response{http::status::ok, version};
  response.result(answer.status);
  response.set(http::field::date, http_date());
  response.set(http::field::content_type, answer.content_type);
  response.set("X-Request-Id", request_id);
  for (const auto& [name, value] : answer.headers) response.set(name, value);
  return response;
}

/// The status line and the header fields, with the empty line after them.
std::string head_text(const http::response<http::empty_body>& response) {
  std::ostringstream text;
  text << response.base();
  return std::move(text).str();
}

/// A chunk of chunked transfer coding (RFC 9112, section 7.1); the last chunk if the part is empty.
std::string chunk_text(const std::string& part) {
  char size[24];
  std::snprintf(size, sizeof size, "%zx\r\n", part.size());
  return size + part + "\r\n";
}

class Connection final : public HttpServer::OpenConnection,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Shared> shared, Tcp::socket socket)
      : shared_(std::move(shared)),
        stream_(std::move(socket)),
        reader_(stream_, shared_->limits),
        probe_(shared_->io) {
    ++shared_->connections;
    shared_->open.insert(this);
  }
  ~Connection() override {
    shared_->open.erase(this);
    --shared_->connections;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  asio::awaitable<void> run() {
    const auto self = shared_from_this();
    Error error;
    stream_.socket().set_option(Tcp::no_delay(true), error);
    while (!shared_->is_stopping) {
      is_idle_ = true;
      stream_.expires_after(shared_->limits.idle);
      if (!co_await reader_.wait()) break;
      is_idle_ = false;
      if (!co_await serve_request()) break;
    }
    stream_.socket().shutdown(Tcp::socket::shutdown_send, error);
  }
  /// The server stops: a connection that waits for a request is closed.
  void stop() override {
    if (is_idle_) close();
  }
  void give_up() override {
    if (answer_)
      answer_->give_up();
    else
      close();
  }

 private:
  void close() {
    Error error;
    stream_.socket().close(error);
  }

  /// Whether the connection goes on.
  asio::awaitable<bool> serve_request() {
    stream_.expires_after(shared_->limits.request);
    auto incoming = co_await reader_.read_head();
    if (!incoming) {
      HttpRequest nothing;
      co_return co_await refuse(nothing);
    }
    incoming->asked.id = shared_->next_id();
    HeldBodies::Share share(shared_->held);
    const auto& admit = shared_->handlers.admit;
    auto refusal = admit ? admit(incoming->asked) : std::nullopt;
    const bool is_body_left = refusal && reader_.has_body();
    if (!refusal && !co_await reader_.read_body(incoming->asked, share))
      co_return co_await refuse(incoming->asked);
    const bool goes_on = incoming->keeps_alive && !shared_->is_stopping && !is_body_left;
    version_ = incoming->version;
    answer_ = std::make_shared<Answer>(shared_, std::move(incoming->asked), std::move(share));
    stream_.expires_never();
    watch(answer_);
    if (refusal)
      answer_->respond(std::move(*refusal));
    else
      shared_->handlers.handle(answer_);
    const bool is_kept = co_await send(*answer_, goes_on, incoming->is_head);
    if (!answer_->is_sent()) answer_->leave();
    if (shared_->handlers.ended) shared_->handlers.ended(answer_->ended());
    answer_->close();
    answer_.reset();
    stop_watching();
    if (is_body_left) co_await drop_rest();
    co_return is_kept;
  }

  /// Notices that the client has left while its answer is made. What it sends of next requests is
  /// held; more than the reader holds ends the watch, and waits for its turn in the socket.
  void watch(const std::shared_ptr<Answer>& answer) {
    stream_.socket().async_wait(
        Tcp::socket::wait_read, [self = shared_from_this(), answer](Error error) {
          // The reader has its socket for itself once the answer is out.
          if (error || answer->has_left() || answer->is_closed()) return;
          Error ignored;
          self->stream_.socket().non_blocking(true, ignored);
          const ClientSide client = self->reader_.hold(self->stream_.socket());
          if (client == ClientSide::lost) return answer->leave();
          if (client == ClientSide::ended) return self->watch_silent(answer);
          if (!self->reader_.is_full()) self->watch(answer);
        });
  }

  /// A client that sends nothing more may have left, or have closed its half of the connection and
  /// wait: who has left answers the next bytes by a reset, which the system reports as an error.
  void watch_silent(const std::shared_ptr<Answer>& answer) {
    stream_.socket().async_wait(Tcp::socket::wait_error,
                                [self = shared_from_this(), answer](Error error) {
                                  if (!error && !answer->is_closed()) answer->leave();
                                });
    // What its handler has answered already is sent first.
    asio::post(shared_->io, [self = shared_from_this(), answer] { self->probe(answer); });
  }

  /// Keep-alive probes of TCP: the system of a client that has left answers them for a minute.
  void ask_system_to_probe() {
    const int socket = stream_.socket().native_handle();
    const auto set = [&](int level, int option, int value) {
      ::setsockopt(socket, level, option, &value, sizeof value);
    };
    set(IPPROTO_TCP, TCP_KEEPIDLE, 5);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
  }

  /// Sends a few bytes that mean nothing, now and then until the answer is out.
  void probe(const std::shared_ptr<Answer>& answer) {
    if (answer->has_left() || answer->is_closed()) return;
    if (answer->is_stream()) {
      answer->write(":\n\n");  // a comment of an event stream
    } else if (!answer->head()) {
      // Any client of HTTP/1.1 takes an interim answer; for older ones the system asks.
      constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
      Error error;
      if (version_ < 11)
        ask_system_to_probe();
      else if (stream_.socket().send(asio::buffer(go_on), 0, error) != go_on.size() || error)
        return answer->leave();
    }
    probe_.expires_after(std::chrono::seconds(5));
    probe_.async_wait([self = shared_from_this(), answer](Error error) {
      if (!error) self->probe(answer);
    });
  }
  void stop_watching() {
    Error error;
    stream_.socket().cancel(error);
    probe_.cancel();
  }

  /// Whether all of it could be sent. The one kind of write here: each further kind of buffers
  /// takes its own seconds to compile. The text has a name: GCC 12 destroys some temporaries twice
  /// if a coroutine waits within their expression.
  asio::awaitable<bool> write(const std::string& text) {
    stream_.expires_after(shared_->limits.request);
    Error error;
    co_await asio::async_write(stream_, asio::buffer(text),
                               asio::redirect_error(asio::use_awaitable, error));
    co_return !error;
  }

  /// Returns whether another request may follow on this connection.
  asio::awaitable<bool> send(Answer& answer, bool goes_on, bool is_head) {
    co_await answer.changed();
    if (answer.has_left() || !answer.head()) co_return false;
    const HttpResponse& head = *answer.head();
    http::response<http::empty_body> response = head_of(head, answer.request().id, version_);
    if (answer.is_shown_to_origin()) {
      response.set(http::field::access_control_allow_origin, answer.request().origin);
      response.set(http::field::vary, "Origin");
    }
    // Before HTTP/1.1 the end of the connection is the end of a stream.
    const bool is_chunked = version_ >= 11;
    goes_on = goes_on && !shared_->is_stopping && (answer.is_whole() || is_chunked);
    response.keep_alive(goes_on);
    if (answer.is_whole()) {
      response.content_length(head.body.size());
      std::string text = head_text(response);
      if (!is_head) text += head.body;
      if (!co_await write(text)) co_return false;
      answer.set_sent();
      co_return goes_on;
    }
    response.set(http::field::cache_control, "no-store");
    response.chunked(is_chunked);
    const std::string text = head_text(response);
    bool is_sent = co_await write(text);
    answer.head_is_sent();
    while (is_sent) {
      co_await answer.changed();
      if (answer.has_left()) co_return false;
      while (const auto part = answer.next_part()) {
        const std::string sent = is_chunked ? chunk_text(*part) : *part;
        is_sent = co_await write(sent);
        // What was left out cannot be made up for: its end must not look like an end.
        if (!is_sent || answer.has_left()) co_return false;
      }
      stream_.expires_never();
      if (!answer.is_ended()) continue;
      const std::string last = is_chunked ? chunk_text("") : "";
      if (!co_await write(last)) co_return false;
      answer.set_sent();
      co_return goes_on;
    }
    co_return false;
  }

  /// Answers what is not a request, if the client still listens. Returns false: the connection
  /// ends.
  asio::awaitable<bool> refuse(HttpRequest& request) {
    const NoRequest& no_request = reader_.no_request();
    if (no_request.status == 0) co_return false;
    if (request.id.empty()) request.id = shared_->next_id();
    const HttpResponse refusal = shared_->handlers.refuse(no_request.status, no_request.message);
    http::response<http::empty_body> response = head_of(refusal, request.id, 11);
    response.keep_alive(false);
    response.content_length(refusal.body.size());
    const std::string text = head_text(response) + refusal.body;
    const bool is_sent = co_await write(text);
    if (shared_->handlers.ended) shared_->handlers.ended({request, refusal.status, is_sent});
    if (is_sent) co_await drop_rest();
    co_return false;
  }

  /// Lets a client that still sends read its answer before the connection is closed.
  asio::awaitable<void> drop_rest() {
    Error error;
    stream_.socket().shutdown(Tcp::socket::shutdown_send, error);
    is_idle_ = true;
    stream_.expires_after(shared_->limits.request);
    co_await reader_.drop(std::max(shared_->limits.body_bytes, shared_->limits.large_body_bytes));
  }

  std::shared_ptr<Shared> shared_;
  beast::tcp_stream stream_;
  RequestReader<beast::tcp_stream> reader_;
  asio::steady_timer probe_;
  std::shared_ptr<Answer> answer_;  ///< that is under way
  unsigned version_ = 11;           ///< of its request
  bool is_idle_ = true;
};

asio::awaitable<void> accept(std::shared_ptr<Shared> shared, Tcp::acceptor& acceptor) {
  asio::steady_timer pause(shared->io);
  while (!shared->is_stopping) {
    if (shared->connections >= shared->limits.connections) {
      pause.expires_after(std::chrono::milliseconds(20));
      Error ignored;
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      continue;
    }
    Error error;
    Tcp::socket socket =
        co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted || !acceptor.is_open()) co_return;
    if (error) {  // no file descriptor is left, say: later there may be one
      pause.expires_after(std::chrono::milliseconds(100));
      Error ignored;
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      continue;
    }
    auto connection = std::make_shared<Connection>(shared, std::move(socket));
    asio::co_spawn(
        shared->io, [connection] { return connection->run(); }, asio::detached);
  }
}

}  // namespace

struct HttpServer::Parts {
  Parts(HttpHandlers handlers, HttpLimits limits)
      : shared(new Shared(io, std::move(handlers), std::move(limits))) {}

  // Destroyed last: the connections that it still holds refer to what they share.
  asio::io_context io{1};
  std::shared_ptr<Shared> shared;
  Tcp::acceptor acceptor{io};
  asio::steady_timer grace{io};
  asio::steady_timer look{io};
  std::vector<std::shared_ptr<asio::steady_timer>> timers;

  void give_up() {
    const std::set<OpenConnection*> all = shared->open;  // closing one takes it out
    for (OpenConnection* connection : all) connection->give_up();
    grace.expires_after(last_words);
    grace.async_wait([this](Error error) {
      if (!error) io.stop();
    });
  }
  void stop_when_idle() {
    for (OpenConnection* connection : shared->open) connection->stop();
    if (shared->connections == 0) return io.stop();
    look.expires_after(std::chrono::milliseconds(20));
    look.async_wait([this](Error error) {
      if (!error) stop_when_idle();
    });
  }
  void repeat(const std::shared_ptr<asio::steady_timer>& timer, std::chrono::milliseconds period,
              const std::function<void()>& job) {
    timer->expires_after(period);
    timer->async_wait([this, timer, period, job](Error error) {
      if (error || shared->is_stopping) return;
      job();
      repeat(timer, period, job);
    });
  }
};

HttpServer::HttpServer(const std::string& host, std::uint16_t port, HttpHandlers handlers,
                       HttpLimits limits)
    : parts_(std::make_shared<Parts>(std::move(handlers), std::move(limits))) {
  Error error;
  const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error)
    throw BadInput("--host", "\"" + host + "\" is not an IP address",
                   "give one, such as 127.0.0.1");
  auto& acceptor = parts_->acceptor;
  const Tcp::endpoint endpoint(address, port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    throw BadInput("--port " + std::to_string(port), "cannot listen there: " + error.message(),
                   "choose another port or address");
}
HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return parts_->acceptor.local_endpoint().port(); }

void HttpServer::run() {
  ask_for_short_turns();
  asio::co_spawn(
      parts_->shared->io, [this] { return accept(parts_->shared, parts_->acceptor); },
      asio::detached);
  parts_->shared->io.run();
}

void HttpServer::stop(std::chrono::milliseconds grace) {
  // What waits in the parts' own queue must not hold the parts: neither would ever be destroyed.
  asio::post(parts_->shared->io, [parts = parts_.get(), grace] {
    parts->grace.expires_after(grace);
    parts->grace.async_wait([parts](Error error_of_wait) {
      if (!error_of_wait) parts->give_up();
    });
    if (parts->shared->is_stopping) return;
    parts->shared->is_stopping = true;
    Error error;
    parts->acceptor.close(error);
    parts->stop_when_idle();
  });
}

void HttpServer::post(std::function<void()> job) { asio::post(parts_->shared->io, std::move(job)); }

void HttpServer::every(std::chrono::milliseconds period, std::function<void()> job) {
  asio::post(parts_->shared->io, [parts = parts_.get(), period, job = std::move(job)] {
    parts->timers.push_back(std::make_shared<asio::steady_timer>(parts->shared->io));
    parts->repeat(parts->timers.back(), period, job);
  });
}

std::size_t HttpServer::connections() const { return parts_->shared->connections; }

}  // namespace tempera::serve
