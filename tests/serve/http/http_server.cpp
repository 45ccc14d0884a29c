// Clients that send or read too slowly, against limits that are shorter than a real server's.
#include "serve/http/http_server.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <ctime>
#include <functional>
#include <future>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
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

template <class Condition>
void wait_for(const Condition& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// A server that answers /small at once, /later and the stream /events when the test says so, as
/// also /read, whose body it drops at once, and
/// /large by 256 parts of 64 KiB. /held begins with a part that no socket holds, and when the test
/// says so it continues with 1,024 more.
class SmallServer {
 public:
  using Admit = std::function<std::optional<HttpResponse>(const HttpRequest&)>;

  explicit SmallServer(const HttpLimits& limits, Admit admit = {})
      : http_("127.0.0.1", 0,
              {[this](const std::shared_ptr<Exchange>& exchange) { answer(exchange); },
               [](unsigned status, const std::string& what) {
                 return HttpResponse{status, "text/plain", what, {}};
               },
               std::move(admit), [](unsigned, const std::string& what) { return "end: " + what; }},
              limits),
        thread_([this] { http_.run(); }) {}
  ~SmallServer() {
    let_go_on();  // also if a test has failed before it did
    stop();
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
  /// The stream /driven, whose parts the test writes.
  std::shared_ptr<Exchange> driven() {
    wait_for([&] { return is_driven_.load(); });
    return driven_;
  }
  void stop() { http_.stop(std::chrono::milliseconds(0)); }
  /// Gives the server's thread turns until so many connections are open. Returns false if 1,000
  /// turns do not suffice.
  bool comes_to(std::size_t connections) {
    for (int turns = 0; turns < 1000 && http_.connections() != connections; ++turns) {
      std::promise<void> done;
      http_.post([&] { done.set_value(); });
      done.get_future().wait();
    }
    return http_.connections() == connections;
  }
  /// The turn that the server's thread had when it answered last.
  std::uint64_t turn_of_thread() const { return turn_of_thread_; }

 private:
  void answer(const std::shared_ptr<Exchange>& exchange) {
    turn_of_thread_ = scheduling_of_this_thread()[turn];
    ++asked_;
    const std::string path = exchange->request().path;
    if (path == "/driven") {
      exchange->on_leave([this] { has_dropped_ = true; });
      exchange->begin_stream(200, "text/plain");
      driven_ = exchange;
      is_driven_ = true;
      return;
    }
    if (path == "/later" || path == "/events" || path == "/read") {
      if (path == "/read") exchange->drop_body();
      exchange->on_leave([this] { has_dropped_ = true; });
      writers_.emplace_back([this, exchange, is_whole = path != "/events"] {
        // By one thread: the server takes in order what each thread tells it.
        if (!is_whole) exchange->begin_stream(200, "text/event-stream");
        if (!is_whole) exchange->write("begun\n\n");
        while (!may_go_on_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (is_whole)
          return exchange->respond(
              {200, "text/plain", std::to_string(exchange->request().body.size()) + " later", {}});
        exchange->write("later");
        exchange->end();
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
  std::shared_ptr<Exchange> driven_;
  std::atomic<bool> is_driven_{false};
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

/// Limits of which the test waits for one; by the other it would hang.
HttpLimits short_request() {
  HttpLimits limits;
  limits.request = std::chrono::seconds(1);
  limits.idle = std::chrono::hours(1);
  return limits;
}
HttpLimits short_idle() {
  HttpLimits limits;
  limits.request = std::chrono::hours(1);
  limits.idle = std::chrono::seconds(1);
  return limits;
}

std::string get(const std::string& path, const std::string& version = "1.1",
                const std::string& fields = "") {
  return "GET " + path + " HTTP/" + version + "\r\nHost: x\r\n" + fields + "\r\n";
}
std::string post(const std::string& path, std::size_t length, const std::string& fields = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + fields +
         "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

/// What comes until `end` has come.
std::string read_until(Tcp::socket& socket, const std::string& end) {
  std::string text;
  asio::read_until(socket, asio::dynamic_buffer(text), end);
  return text;
}

/// All that comes for a text that is sent at once. On a busy machine that may be later than a short
/// limit, and is tried again.
std::string answered_in_time(SmallServer& server, const std::string& text) {
  for (;;) {
    auto socket = server.client();
    send(socket, text);
    if (const std::string answer = rest_of(socket); !answer.empty()) return answer;
  }
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++count;
  return count;
}

}  // namespace

TEST_CASE("the thread of the connections asks for short turns", "[serve]") {
  if (!has_turns()) {
    std::cout << "SKIPPED: the turns of the server's thread: this system has none to choose\n";
    return;
  }
  SmallServer server(HttpLimits{});
  auto client = server.client();
  send(client, "GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(rest_of(client).ends_with("small"));
  CHECK(server.turn_of_thread() == shortest);
  CHECK(scheduling_of_this_thread()[turn] != shortest);
}

TEST_CASE("A client that sends too slowly is let go", "[serve]") {
  SmallServer server(short_request());
  for (const std::string& text :
       {std::string("G"), get("/small").substr(0, 30), post("/small", 9) + "abc"}) {
    CAPTURE(text);
    auto socket = server.client();
    send(socket, text);
    CHECK(rest_of(socket).empty());
  }
  // One that sends all of it is answered, and let go if its next request does not come.
  CHECK(answered_in_time(server, get("/small") + "G").ends_with("small"));
  CHECK(answered_in_time(server, get("/small", "1.1", "Connection: close\r\n")).ends_with("small"));
  // A byte now and then does not hold it for longer.
  auto slow = server.client();
  boost::system::error_code error;
  while (!error) {
    asio::write(slow, asio::buffer("G", 1), error);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  CHECK(error);
}

TEST_CASE("A client that sends nothing is let go, also after an answer", "[serve]") {
  SmallServer server(short_idle());
  auto silent = server.client();
  CHECK(rest_of(silent).empty());
  CHECK(answered_in_time(server, get("/small")).ends_with("small"));
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
  HttpLimits limits;
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
  const std::string closing = get("/small", "1.1", "Connection: close\r\n");
  for (const std::string next : {"", "GET /small HTTP/1.1\r\nHost: x\r\n\r\n", "GET /sm"}) {
    CAPTURE(next);
    SmallServer server(HttpLimits{});
    {
      auto client = server.client();
      send(client, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
      while (server.asked() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      send(client, next);
      // By then the server's thread, which takes in order what comes, has seen it.
      for (int i = 0; i < 2; ++i) CHECK(answered_in_time(server, closing).ends_with("small"));
      CHECK_FALSE(server.has_dropped());
    }
    wait_for([&] { return server.has_dropped(); });
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
  CHECK(answers.find("\r\n\r\n0 later") < answers.find("\r\n\r\nsmall"));
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

TEST_CASE("As many connections as may be are served, and the next one waits until one ends",
          "[serve]") {
  const std::size_t most = GENERATE(1U, 3U);
  HttpLimits limits;
  limits.connections = most;
  SmallServer server(limits);
  const auto ask = [](Tcp::socket& socket) {
    send(socket, get("/small"));
    CHECK(read_until(socket, "small").starts_with("HTTP/1.1 200"));
  };
  std::vector<Tcp::socket> served;
  for (std::size_t i = 0; i < most; ++i) ask(served.emplace_back(server.client()));
  for (int turn = 0; turn < 3; ++turn) {
    for (Tcp::socket& each : served) {
      each.shutdown(Tcp::socket::shutdown_send);
      CHECK(rest_of(each).empty());
    }
    REQUIRE(server.comes_to(0));
    for (Tcp::socket& each : served) ask(each = server.client());
  }
  for (int turn = 0; turn < 3; ++turn) {  // the whole of it, over and over
    auto next = server.client();
    send(next, get("/small"));
    for (int i = 0; i < 50; ++i) ask(served.back());
    CHECK(next.available() == 0);
    served.front().close();
    CHECK(read_until(next, "small").starts_with("HTTP/1.1 200"));
    served.front() = std::move(next);
  }
}

TEST_CASE("What has been sent of a stream gives its memory back, however much of it there is",
          "[serve]") {
  // Each limit another value, and that of unsent bytes the least that takes a part.
  const std::size_t most = GENERATE(1U, 7U, 4096U);
  HttpLimits limits;
  limits.unsent_bytes = most;
  limits.body_bytes = 301;
  limits.held_bytes = 302;
  limits.header_bytes = 303;
  SmallServer server(limits);
  auto socket = server.client();
  send(socket, "GET /driven HTTP/1.0\r\nHost: x\r\n\r\n");
  const auto stream = server.driven();
  read_until(socket, "\r\n\r\n");
  for (int part = 0; part < 40; ++part) {
    const std::string text = std::string(most - 1, 'a') + static_cast<char>('b' + part % 5);
    stream->write(text);
    std::string come(most, '\0');
    boost::system::error_code error;
    asio::read(socket, asio::buffer(come), error);
    REQUIRE(come == text);
  }
  CHECK_FALSE(server.has_dropped());
  // One byte more than it takes is too much for a client that has read all.
  stream->write(std::string(most + 1, 'c'));
  CHECK(rest_of(socket).empty());
  CHECK(server.has_dropped());
}

TEST_CASE("A client that closes its half of the connection is answered", "[serve]") {
  for (const std::string version : {"1.0", "1.1"})
    for (const std::string path : {"/small", "/later", "/events"}) {
      CAPTURE(version, path);
      SmallServer server(HttpLimits{});
      auto client = server.client();
      // Two requests; an older client has one.
      send(client, version == "1.0" ? get(path, version) : get(path) + get("/small"));
      std::string answers;
      if (path == "/events") answers = read_until(client, "begun\n\n");
      client.shutdown(Tcp::socket::shutdown_send);
      wait_for([&] { return server.asked() > 0; });
      // The server has seen the end once it probes: a client that waits, and no other.
      const bool is_probed = version == "1.1" && path == "/later";
      if (is_probed) answers = read_until(client, "100 Continue");
      if (path == "/events") answers += read_until(client, ":\n\n");
      CHECK_FALSE(server.has_dropped());
      server.let_go_on();
      answers += rest_of(client);
      CAPTURE(answers);
      CHECK(answers.find(path == "/small" ? "small" : "later") != std::string::npos);
      CHECK(count_of(" 200 OK", answers) == (version == "1.0" ? 1 : 2));
      CHECK((count_of(" 100 Continue", answers) > 0) == is_probed);
      CHECK_FALSE(server.has_dropped());
    }
}

TEST_CASE("A client that leaves after it closed its half of the connection is noticed", "[serve]") {
  for (const std::string path : {"/later", "/events"}) {
    CAPTURE(path);
    SmallServer server(HttpLimits{});
    {
      auto client = server.client();
      send(client, get(path));
      client.shutdown(Tcp::socket::shutdown_send);
      read_until(client, path == "/later" ? "100 Continue" : "begun\n\n");
      CHECK_FALSE(server.has_dropped());
    }
    wait_for([&] { return server.has_dropped(); });
    server.let_go_on();
  }
}

TEST_CASE("A stream without chunks ends with its connection, and says so", "[serve]") {
  SmallServer server(HttpLimits{});
  server.let_go_on();
  for (const std::string wish : {"", "Connection: keep-alive\r\n"}) {
    auto client = server.client();
    send(client, get("/events", "1.0", wish));
    const std::string answer = rest_of(client);
    CAPTURE(answer);
    CHECK(answer.ends_with("\r\n\r\nbegun\n\nlater"));
    CHECK(answer.find("keep-alive") == std::string::npos);
    CHECK(answer.find("chunked") == std::string::npos);
  }
  // A whole answer has a length, so its connection may be kept.
  auto kept = server.client();
  send(kept, get("/small", "1.0", "Connection: keep-alive\r\n"));
  CHECK(read_until(kept, "small").find("Connection: keep-alive") != std::string::npos);
  send(kept, get("/events", "1.1", "Connection: close\r\n"));
  const std::string stream = rest_of(kept);
  CHECK(stream.find("Connection: close") != std::string::npos);
  CHECK(stream.ends_with("\r\n0\r\n\r\n"));
}

TEST_CASE("An answer has its date", "[serve]") {
  SmallServer server(HttpLimits{});
  for (const std::string& request : {get("/small", "1.0"), std::string("garbage\r\n\r\n")}) {
    auto client = server.client();
    send(client, request);
    const std::string answer = rest_of(client);
    const auto at = answer.find("\r\nDate: ");
    REQUIRE(at != std::string::npos);
    std::tm date{};
    const char* end = ::strptime(answer.c_str() + at + 8, "%a, %d %b %Y %H:%M:%S GMT\r\n", &date);
    REQUIRE(end != nullptr);
    const std::time_t then = ::timegm(&date);
    CHECK(then <= std::time(nullptr));
    CHECK(then + 86400 > std::time(nullptr));
    // The day of the week is that of the date.
    const int weekday = date.tm_wday;
    std::tm same{};
    ::gmtime_r(&then, &same);
    CHECK(same.tm_wday == weekday);
  }
}

TEST_CASE("A request that is not admitted is refused before its body comes", "[serve]") {
  SmallServer server(HttpLimits{}, [](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.authorization == "key") return std::nullopt;
    return HttpResponse{401, "text/plain", "no key", {}};
  });
  for (const std::string& request :
       {post("/small", 1 << 20), post("/small", 1 << 20, "Expect: 100-continue\r\n"),
        post("/small", std::size_t{1} << 40),
        std::string("POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")}) {
    CAPTURE(request);
    auto client = server.client();
    send(client, request);
    // The server closes its half, so the answer is all that comes.
    const std::string answer = rest_of(client);
    CHECK(answer.starts_with("HTTP/1.1 401"));
    CHECK(answer.find("Connection: close") != std::string::npos);
    CHECK(answer.ends_with("no key"));
  }
  CHECK(server.asked() == 0);
  // A client that first sends all of its body can read the answer.
  auto sending = server.client();
  send(sending, post("/small", std::size_t{16} << 20));
  send(sending, std::string(std::size_t{16} << 20, 'a'));
  CHECK(rest_of(sending).ends_with("no key"));
  // Without a body the connection is kept, and the next request has its own answer.
  auto kept = server.client();
  send(kept, get("/small") + get("/small", "1.1", "Authorization: key\r\nConnection: close\r\n"));
  const std::string answers = rest_of(kept);
  CHECK(answers.starts_with("HTTP/1.1 401"));
  CHECK(answers.ends_with("small"));
  CHECK(server.asked() == 1);
}

TEST_CASE("All bodies together are bounded, and what one held the next may hold", "[serve]") {
  constexpr std::size_t body = 3000;
  HttpLimits limits;
  limits.held_bytes = body;
  SmallServer server(limits);
  const std::string chunked =
      "POST /later HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nbb8\r\n" +
      std::string(body, 'a') + "\r\n0\r\n\r\n";
  auto holder = server.client();
  send(holder, post("/later", body) + std::string(body, 'a'));
  wait_for([&] { return server.asked() == 1; });
  for (const std::string& request : {post("/later", 1) + "a", chunked}) {
    auto other = server.client();
    send(other, request);
    CHECK(rest_of(other).starts_with("HTTP/1.1 503"));
  }
  CHECK(server.asked() == 1);
  server.let_go_on();
  read_until(holder, "later");
  for (int i = 0; i < 3; ++i)
    for (const std::string& request : {post("/later", body) + std::string(body, 'a'), chunked}) {
      send(holder, request);
      CHECK(read_until(holder, "later").starts_with("HTTP/1.1 200"));
    }
  // What left in the middle of its body holds nothing.
  for (int i = 0; i < 3; ++i) {
    auto gone = server.client();
    send(gone, post("/later", body) + std::string(body - 1, 'a'));
    gone.close();
    // The server's thread has seen the end once it answers another client of later.
    for (std::string answer; !answer.starts_with("HTTP/1.1 200");) {
      auto next = server.client();
      send(next, post("/later", body, "Connection: close\r\n") + std::string(body, 'a'));
      answer = rest_of(next);
    }
  }
  // One byte more than all may hold is never taken.
  auto large = server.client();
  send(large, post("/later", body + 1) + std::string(body + 1, 'a'));
  CHECK(rest_of(large).starts_with("HTTP/1.1 503"));
}

TEST_CASE("A body that its handler has read gives its bytes back while its answer is made",
          "[serve]") {
  constexpr std::size_t body = 3000;
  HttpLimits limits;
  limits.held_bytes = body;
  SmallServer server(limits);
  // All that may be held, three times over, before any of the answers is there.
  std::vector<Tcp::socket> readers;
  for (int i = 1; i <= 3; ++i) {
    readers.push_back(server.client());
    send(readers.back(), post("/read", body) + std::string(body, 'a'));
    wait_for([&] { return server.asked() == i; });
  }
  // One whose body is kept takes all, and only once.
  auto holder = server.client();
  send(holder, post("/later", body) + std::string(body, 'a'));
  wait_for([&] { return server.asked() == 4; });
  auto other = server.client();
  send(other, post("/read", 1) + "a");
  CHECK(rest_of(other).starts_with("HTTP/1.1 503"));
  server.let_go_on();
  for (Tcp::socket& reader : readers)
    CHECK(read_until(reader, "later").ends_with("\r\n\r\n0 later"));
  CHECK(read_until(holder, "later").ends_with("\r\n\r\n3000 later"));
  // Bytes that were given back early are not given back once more with the answer.
  for (int i = 0; i < 2; ++i) {
    send(holder, post("/later", body) + std::string(body, 'a'));
    CHECK(read_until(holder, "later").starts_with("HTTP/1.1 200"));
  }
}

TEST_CASE("When the grace is over, every client that waits is told so", "[serve]") {
  SmallServer server(HttpLimits{});
  auto whole = server.client();
  auto stream = server.client();
  auto half = server.client();
  auto idle = server.client();
  send(whole, get("/later"));
  send(stream, get("/events"));
  send(half, post("/small", 10) + "abc");
  wait_for([&] { return server.asked() == 2; });
  read_until(stream, "begun\n\n");
  server.stop();
  const std::string answer = rest_of(whole);
  CHECK(answer.starts_with("HTTP/1.1 503"));
  CHECK(answer.ends_with("the server is shutting down"));
  CHECK(answer.find("Connection: close") != std::string::npos);
  const std::string rest = rest_of(stream);
  CHECK(rest.find("end: the server is shutting down") != std::string::npos);
  CHECK(rest.ends_with("\r\n0\r\n\r\n"));
  CHECK(rest_of(half).empty());
  CHECK(rest_of(idle).empty());
}

}  // namespace tempera::serve
