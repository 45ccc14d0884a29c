// Clients that send or read too slowly, against limits that are shorter than a real server's.
#include "serve/http/http_server.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

namespace tempera::serve {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

constexpr std::size_t part_bytes = 1 << 16;
constexpr std::size_t held_bytes = std::size_t{32} << 20;

/// sched_attr as the system has it: its fourth pair of words is the turn of a thread, in
/// nanoseconds.
using SchedulingWords = std::array<std::uint64_t, 6>;
constexpr std::size_t turn = 3;
constexpr std::uint64_t shortest = 100'000;

SchedulingWords scheduling_of_this_thread() {
  SchedulingWords words{};
  ::syscall(SYS_sched_getattr, 0, words.data(), sizeof(words), 0);
  return words;
}

/// Whether a thread of this system may choose how long its turns are.
bool has_turns() {
  bool has = false;
  std::thread([&has] {
    SchedulingWords words = scheduling_of_this_thread();
    words[turn] = 2 * shortest;
    ::syscall(SYS_sched_setattr, 0, words.data(), 0);
    has = scheduling_of_this_thread()[turn] == 2 * shortest;
  }).join();
  return has;
}

/// A server that answers /small at once, /later when the test says so, and /large by 256 parts of
/// 64 KiB. /held begins with a part that no socket holds, and when the test says so it goes on with
/// 1,024 more.
class SmallServer {
 public:
  explicit SmallServer(const HttpLimits& limits)
      : http_(
            "127.0.0.1", 0, [this](const std::shared_ptr<Exchange>& exchange) { answer(exchange); },
            [](unsigned status, const std::string& what) {
              return HttpResponse{status, "text/plain", what, {}};
            },
            limits),
        thread_([this] { http_.run(); }) {}
  ~SmallServer() {
    let_go_on();  // also if a test has failed before it did
    http_.stop(std::chrono::milliseconds(0));
    thread_.join();
    for (std::thread& writer : writers_) writer.join();
  }
  SmallServer(const SmallServer&) = delete;
  SmallServer& operator=(const SmallServer&) = delete;

  Tcp::socket client() {
    Tcp::socket socket(io_);
    socket.connect({asio::ip::make_address("127.0.0.1"), http_.port()});
    return socket;
  }
  bool has_dropped() const { return has_dropped_; }
  bool has_ended() const { return has_ended_; }
  /// Requests that have come in.
  int asked() const { return asked_; }
  void let_go_on() { may_go_on_ = true; }
  /// The turn that the server's thread had when it answered last.
  std::uint64_t turn_of_thread() const { return turn_of_thread_; }

 private:
  void answer(const std::shared_ptr<Exchange>& exchange) {
    turn_of_thread_ = scheduling_of_this_thread()[turn];
    ++asked_;
    const std::string path = exchange->request().path;
    if (path == "/later") {
      exchange->on_leave([this] { has_dropped_ = true; });
      writers_.emplace_back([this, exchange] {
        while (!may_go_on_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        exchange->respond({200, "text/plain", "later", {}});
      });
      return;
    }
    if (path != "/large" && path != "/held")
      return exchange->respond({200, "text/plain", "small", {}});
    exchange->on_leave([this] { has_dropped_ = true; });
    exchange->begin_stream(200, "text/plain");
    writers_.emplace_back([this, exchange, is_held = path == "/held"] {
      if (is_held) exchange->write(std::string(held_bytes, 'h'));
      while (is_held && !may_go_on_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      for (int i = 0; i < (is_held ? 1024 : 256); ++i)
        exchange->write(std::string(part_bytes, 'a'));
      exchange->end();
      has_ended_ = true;
    });
  }

  asio::io_context io_;
  std::atomic<int> asked_{0};
  std::atomic<bool> has_dropped_{false};
  std::atomic<bool> has_ended_{false};
  std::atomic<bool> may_go_on_{false};
  std::atomic<std::uint64_t> turn_of_thread_{0};
  std::vector<std::thread> writers_;  // those of the server's thread, joined after it
  HttpServer http_;
  std::thread thread_;
};

void send(Tcp::socket& socket, const std::string& text) { asio::write(socket, asio::buffer(text)); }

/// All that comes until the server closes the connection.
std::string rest_of(Tcp::socket& socket) {
  std::string text;
  boost::system::error_code error;
  asio::read(socket, asio::dynamic_buffer(text), error);
  return text;
}

HttpLimits short_limits() {
  HttpLimits limits;
  limits.request = std::chrono::seconds(1);
  limits.idle = std::chrono::seconds(1);
  return limits;
}

}  // namespace

TEST_CASE("the thread of the connections asks for short turns", "[serve]") {
  if (!has_turns()) {
    std::cout << "SKIPPED: the turns of the server's thread: this system has none to choose\n";
    return;
  }
  SmallServer server(short_limits());
  auto client = server.client();
  send(client, "GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(rest_of(client).ends_with("small"));
  CHECK(server.turn_of_thread() == shortest);
  CHECK(scheduling_of_this_thread()[turn] != shortest);
}

TEST_CASE("A client that sends too slowly, or nothing, is let go", "[serve]") {
  SmallServer server(short_limits());
  for (const std::string text :
       {"", "G", "GET /small HTTP/1.1\r\nHost: x\r\n",
        "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"}) {
    CAPTURE(text);
    auto socket = server.client();
    send(socket, text);
    CHECK(rest_of(socket).empty());
  }
  // A byte now and then does not hold it for longer.
  auto slow = server.client();
  boost::system::error_code error;
  while (!error) {
    asio::write(slow, asio::buffer("G", 1), error);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  CHECK(error);
  // One that sends all of it is answered.
  auto quick = server.client();
  send(quick, "GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(rest_of(quick).ends_with("small"));
}

TEST_CASE("A client that reads too slowly is dropped when its answer fits the memory no more",
          "[serve]") {
  HttpLimits limits;
  limits.unsent_bytes = 20 * part_bytes;
  SmallServer server(limits);
  auto slow = server.client();
  send(slow, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  while (!server.has_dropped()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(rest_of(slow).size() < 256 * part_bytes);
}

TEST_CASE("An answer of which parts were dropped never looks whole", "[serve]") {
  HttpLimits limits = short_limits();
  limits.request = std::chrono::seconds(30);
  limits.unsent_bytes = held_bytes;
  SmallServer server(limits);
  auto slow = server.client();
  send(slow, "GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
  std::string rest(1000, ' ');
  asio::read(slow, asio::buffer(rest));  // the first part is on its way
  server.let_go_on();
  while (!server.has_ended()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // The server's thread takes what it was told in order: after this answer it knows of the end.
  auto quick = server.client();
  send(quick, "GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(rest_of(quick).ends_with("small"));
  CHECK(server.has_dropped());
  rest += rest_of(slow);
  CHECK(rest.size() < held_bytes + 1024 * part_bytes);
  CHECK_FALSE(rest.ends_with("\r\n0\r\n\r\n"));
}

TEST_CASE("A client that leaves is noticed, also one that has sent its next requests", "[serve]") {
  for (const std::string next : {"", "GET /small HTTP/1.1\r\nHost: x\r\n\r\n", "GET /sm"}) {
    CAPTURE(next);
    SmallServer server(HttpLimits{});
    {
      auto client = server.client();
      send(client, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
      while (server.asked() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      send(client, next);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      CHECK_FALSE(server.has_dropped());
    }
    for (int i = 0; i < 10000 && !server.has_dropped(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(server.has_dropped());
    server.let_go_on();
  }
}

TEST_CASE("Requests that come while another is answered have their answers in order", "[serve]") {
  SmallServer server(HttpLimits{});
  auto client = server.client();
  send(client, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  while (server.asked() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // One after the other, also in pieces, and more of them than the server holds.
  for (int i = 0; i < 2000; ++i) {
    send(client, "GET /small HT");
    send(client, "TP/1.1\r\nHost: x\r\n\r\n");
  }
  send(client, "GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(server.asked() == 1);
  server.let_go_on();
  const std::string answers = rest_of(client);
  CHECK(server.asked() == 2002);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = answers.find("\r\n\r\nsmall", at)) != std::string::npos; ++at)
    ++count;
  CHECK(count == 2001);
  CHECK(answers.find("\r\n\r\nlater") < answers.find("\r\n\r\nsmall"));
}

TEST_CASE("A client whose first request is not answered cannot fill the server's memory",
          "[serve]") {
  SmallServer server(HttpLimits{});
  auto client = server.client();
  send(client, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  while (server.asked() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  client.non_blocking(true);
  const std::string part(part_bytes, 'a');
  std::size_t sent = 0;
  int waits = 0;
  while (waits < 200 && sent < 4 * held_bytes) {
    boost::system::error_code error;
    const std::size_t written = client.write_some(asio::buffer(part), error);
    sent += written;
    waits = written > 0 ? 0 : waits + 1;
    if (written == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(sent < 4 * held_bytes);  // what the system itself holds is less
  server.let_go_on();
}

TEST_CASE("A large answer reaches a client that reads", "[serve]") {
  HttpLimits limits;
  limits.unsent_bytes = 300 * part_bytes;
  SmallServer server(limits);
  auto socket = server.client();
  send(socket, "GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(rest_of(socket).size() > 256 * part_bytes);
  CHECK_FALSE(server.has_dropped());
}

}  // namespace tempera::serve
