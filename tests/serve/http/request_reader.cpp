// The bytes of a connection, mutated and split at any place: RequestReader, which is what the
// server reads with, gives the same requests however they come, and the body of each is read or
// refused. Beast's parser is in the loop. TEMPERA_FUZZ_INPUTS asks for more connections.
#include "serve/http/request_reader.hpp"

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "serve/protocol/generation_request.hpp"
#include "tests/catch.hpp"
#include "tests/serve/mutated.hpp"

namespace tempera::serve::request_reader_test {
namespace {

namespace asio = boost::asio;

/// What a client sends, in pieces, and then its end. What is sent to it is counted.
class Pieces {
 public:
  using executor_type = asio::any_io_executor;

  Pieces(asio::io_context& io, std::string_view bytes, std::vector<std::size_t> cuts)
      : executor_(io.get_executor()), bytes_(bytes), cuts_(std::move(cuts)) {}
  executor_type get_executor() const { return executor_; }
  std::size_t received() const { return received_; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    std::size_t length = std::min(next_cut(), bytes_.size()) - at_;
    length = asio::buffer_copy(buffers, asio::buffer(bytes_.data() + at_, length));
    at_ += length;
    return complete(length == 0 && asio::buffer_size(buffers) > 0
                        ? boost::system::error_code(asio::error::eof)
                        : boost::system::error_code(),
                    length, std::forward<Token>(token));
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    received_ += asio::buffer_size(buffers);
    return complete({}, asio::buffer_size(buffers), std::forward<Token>(token));
  }

 private:
  /// The end of the piece that is being read.
  std::size_t next_cut() {
    while (cut_ < cuts_.size() && cuts_[cut_] <= at_) ++cut_;
    return cut_ < cuts_.size() ? cuts_[cut_] : bytes_.size();
  }
  template <class Token>
  auto complete(boost::system::error_code error, std::size_t length, Token&& token) {
    return asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        [executor = executor_, error, length](auto handler) {
          asio::post(executor, [handler = std::move(handler), error, length]() mutable {
            std::move(handler)(error, length);
          });
        },
        token);
  }

  executor_type executor_;
  std::string_view bytes_;
  std::vector<std::size_t> cuts_;
  std::size_t cut_ = 0;
  std::size_t at_ = 0;
  std::size_t received_ = 0;
};

struct Outcome {
  std::vector<HttpRequest> requests;
  unsigned end = 0;  ///< NoRequest::status
};

/// The next request, whole.
asio::awaitable<std::optional<IncomingRequest>> read(RequestReader<Pieces>& reader,
                                                     HeldBodies& held) {
  auto incoming = co_await reader.read_head();
  if (!incoming) co_return std::nullopt;
  HeldBodies::Share share(held);
  const bool is_whole = co_await reader.read_body(incoming->asked, share);
  if (!is_whole) co_return std::nullopt;
  co_return incoming;
}

/// What the server reads of a connection.
Outcome read_all(asio::io_context& io, std::string_view bytes, std::vector<std::size_t> cuts,
                 const HttpLimits& limits) {
  Outcome outcome;
  bool is_over = false;
  Pieces stream(io, bytes, std::move(cuts));
  RequestReader<Pieces> reader(stream, limits);
  HeldBodies held(limits.held_bytes);
  asio::co_spawn(
      io,
      [&]() -> asio::awaitable<void> {
        while (co_await reader.wait()) {
          auto incoming = co_await read(reader, held);
          if (!incoming) {
            outcome.end = reader.no_request().status;
            break;
          }
          const bool goes_on = incoming->keeps_alive;
          outcome.requests.push_back(std::move(incoming->asked));
          if (!goes_on) break;
        }
        is_over = true;
      },
      asio::detached);
  io.restart();
  io.run();
  REQUIRE(is_over);
  return outcome;
}

bool same(const HttpRequest& a, const HttpRequest& b) {
  return a.method == b.method && a.path == b.path && a.query == b.query &&
         a.authorization == b.authorization && a.content_type == b.content_type && a.body == b.body;
}

HttpLimits small_limits() {
  HttpLimits limits;
  limits.header_bytes = 400;
  limits.body_bytes = 600;
  limits.large_path = "/v1/files";
  limits.large_body_bytes = 1500;
  return limits;
}

/// A request, and the bytes by which a client may send it.
struct Sent {
  HttpRequest request;
  std::string bytes;
};

const std::vector<std::string>& bodies() {
  static const std::vector<std::string> all{
      R"({"prompt": "4+7?", "max_tokens": 28, "seed": 5, "n": 2})",
      R"({"prompt": ["1?", "2?"], "tempera": {"powers": [1, 2, 4], "block": 4}, "stream": true})",
      R"({"prompt": "\u00e9", "top_p": 0.5})",
      "",
      "no JSON\r\n\r\nGET / HTTP/1.1\r\n\r\n",
  };
  return all;
}

Sent one_request(Chance& chance) {
  Sent sent;
  HttpRequest& request = sent.request;
  const bool has_body = chance.below(3) > 0;
  request.method = has_body ? "POST" : chance.below(2) == 0 ? "GET" : "HEAD";
  request.path = has_body ? (chance.below(4) == 0 ? "/v1/files" : "/v1/completions") : "/health";
  if (chance.below(3) == 0) request.query = "after=x&limit=2";
  sent.bytes = request.method + " " + request.path;
  if (!request.query.empty()) sent.bytes += "?" + request.query;
  sent.bytes += " HTTP/1.1\r\nHost: x\r\n";
  if (chance.below(3) == 0) {
    request.authorization = "Bearer secret";
    sent.bytes += "aUTHORIZATION:  Bearer secret \r\n";
  }
  if (has_body) {
    request.content_type = "application/json";
    sent.bytes += "Content-Type: application/json\r\n";
    request.body = chance.of(bodies());
    if (chance.below(4) == 0) sent.bytes += "Expect: 100-continue\r\n";
  }
  if (has_body && chance.below(3) == 0) {
    sent.bytes += "Transfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < request.body.size();) {
      const std::size_t length =
          std::min<std::size_t>(1 + chance.below(40), request.body.size() - at);
      constexpr const char* digits = "0123456789abcdef";
      if (length >= 16) sent.bytes += digits[length / 16];
      sent.bytes += digits[length % 16];
      if (chance.below(4) == 0) sent.bytes += ";name=value";
      sent.bytes += "\r\n" + request.body.substr(at, length) + "\r\n";
      at += length;
    }
    sent.bytes += "0\r\n";
    if (chance.below(4) == 0) sent.bytes += "Name: value\r\n";
    sent.bytes += "\r\n";
  } else {
    if (has_body) sent.bytes += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    sent.bytes += "\r\n" + request.body;
  }
  return sent;
}

/// What readers of HTTP stumble over.
const std::vector<std::string>& stones() {
  static const std::vector<std::string> all{"\r\n",
                                            "\r\n\r\n",
                                            "\n\n",
                                            "\r",
                                            std::string(1, '\0'),
                                            "\xff",
                                            ":",
                                            "?",
                                            " ",
                                            "\t",
                                            "\r\n ",
                                            "0\r\n\r\n",
                                            "ffffffffffffffff\r\n",
                                            "fffffffffffffffff\r\n",
                                            "-1\r\n",
                                            "Content-Length: 5\r\n",
                                            "Content-Length: 18446744073709551616\r\n",
                                            "Content-Length: -1\r\n",
                                            "Content-Length: 1500\r\n",
                                            "Content-Length: 601\r\n",
                                            "Transfer-Encoding: chunked\r\n",
                                            "Transfer-Encoding: gzip, chunked\r\n",
                                            "Connection: close\r\n",
                                            "Connection: upgrade\r\nUpgrade: websocket\r\n",
                                            "Expect: 100-continue\r\n",
                                            "HTTP/1.0\r\n",
                                            "HTTP/2.0\r\n",
                                            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                            "GET http://other/ HTTP/1.1\r\n",
                                            "Host: y\r\n",
                                            "X: " + std::string(500, 'a') + "\r\n",
                                            std::string(700, 'a'),
                                            "POST"};
  return all;
}

std::vector<std::size_t> cuts_of(Chance& chance, std::size_t size) {
  std::vector<std::size_t> cuts;
  // Byte by byte now and then; else a few pieces.
  const bool is_single = chance.below(8) == 0;
  for (std::size_t at = 1; at < size; at += is_single ? 1 : 1 + chance.below(size))
    cuts.push_back(at);
  return cuts;
}

}  // namespace

TEST_CASE("a mutated connection is read the same however it is split", "[fuzz]") {
  const std::uint64_t inputs = asked_inputs() / 10;
  const HttpLimits limits = small_limits();
  asio::io_context io{1};
  Chance chance(4);
  const auto is_known = [](unsigned end) {
    return end == 0 || end == 400 || end == 413 || end == 431;
  };
  std::uint64_t whole = 0;
  std::uint64_t refused = 0;
  std::uint64_t taken = 0;
  std::uint64_t named_otherwise = 0;
  for (std::uint64_t i = 0; i < inputs; ++i) {
    std::vector<Sent> sent;
    std::string bytes;
    for (std::uint64_t left = 1 + chance.below(3); left > 0; --left) {
      sent.push_back(one_request(chance));
      bytes += sent.back().bytes;
    }
    const std::string changed = mutated(chance, {bytes}, stones());
    CAPTURE(changed);
    const Outcome outcome = read_all(io, changed, {}, limits);
    // An independent figure: what was sent unchanged is what was read.
    if (changed == bytes) {
      ++whole;
      REQUIRE(outcome.end == 0);
      REQUIRE(outcome.requests.size() == sent.size());
      for (std::size_t at = 0; at < sent.size(); ++at)
        REQUIRE(same(outcome.requests[at], sent[at].request));
    }
    for (const HttpRequest& request : outcome.requests) {
      REQUIRE(request.body.size() <= (request.path == limits.large_path && request.query.empty()
                                          ? limits.large_body_bytes
                                          : limits.body_bytes));
      REQUIRE(request.path.size() + request.query.size() < limits.header_bytes);
      REQUIRE(request.path.find_first_of(std::string_view("\0\r\n ?", 5)) == std::string::npos);
      if (request.path != "/v1/completions") continue;
      try {
        // Not within REQUIRE, which would catch what is thrown.
        const GenerationRequest read =
            read_generation_request(request.body, BodyForm::completion, {}, 7);
        taken += read.wishes.empty() ? 0 : 1;
      } catch (const BadInput&) {
      }
    }
    REQUIRE(is_known(outcome.end));
    refused += outcome.end > 0 ? 1 : 0;
    const Outcome split = read_all(io, changed, cuts_of(chance, changed.size()), limits);
    REQUIRE(split.requests.size() == outcome.requests.size());
    for (std::size_t at = 0; at < split.requests.size(); ++at)
      REQUIRE(same(split.requests[at], outcome.requests[at]));
    // With several faults, or one and an end too early, the pieces decide which Beast meets first.
    REQUIRE(is_known(split.end));
    named_otherwise += split.end == outcome.end ? 0 : 1;
  }
  // Not degenerate: all outcomes are common.
  CHECK(whole > inputs / 20);
  CHECK(refused > inputs / 20);
  CHECK(taken > inputs / 20);
  CHECK(named_otherwise < inputs / 20);
}

TEST_CASE("one path alone has large bodies, and each takes them up to its limit", "[serve]") {
  const HttpLimits limits = small_limits();
  asio::io_context io;
  const std::vector<std::pair<std::string, std::size_t>> most_of{
      {"/v1/files", limits.large_body_bytes}, {"/v1/files?a=1", limits.body_bytes},
      {"/v1/files/", limits.body_bytes},      {"/v1/files/x", limits.body_bytes},
      {"/v1/file", limits.body_bytes},        {"/v1/completions", limits.body_bytes}};
  for (const auto& [target, most] : most_of)
    for (const std::size_t size : {most, most + 1}) {
      CAPTURE(target, size);
      const Outcome outcome = read_all(
          io,
          "POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(size) +
              "\r\n\r\n" + std::string(size, 'x'),
          {}, limits);
      CHECK(outcome.end == (size > most ? 413 : 0));
      CHECK(outcome.requests.size() == (size > most ? 0 : 1));
    }
}

TEST_CASE("a connection ends at the limits, and each says which", "[serve]") {
  asio::io_context io{1};
  const HttpLimits limits = small_limits();
  const auto end_of = [&](const std::string& bytes) {
    const Outcome outcome = read_all(io, bytes, {}, limits);
    CHECK(outcome.requests.empty());
    return outcome.end;
  };
  const auto post = [](const std::string& path, std::size_t length) {
    return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) +
           "\r\n\r\n" + std::string(length, 'a');
  };
  CHECK(end_of("GET /" + std::string(400, 'a') + " HTTP/1.1\r\n\r\n") == 431);
  CHECK(end_of(post("/v1/completions", 601)) == 413);
  CHECK(end_of(post("/v1/files", 1501)) == 413);
  CHECK(end_of("POST /v1/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
               "259\r\n" +
               std::string(601, 'a') + "\r\n0\r\n\r\n") == 413);
  CHECK(end_of("garbage\r\n\r\n") == 400);
  CHECK(end_of("GET / HTTP/1.1\r\n") == 0);  // and then nothing: nobody listens
  CHECK(read_all(io, post("/v1/completions", 600), {}, limits).requests.size() == 1);
  CHECK(read_all(io, post("/v1/files", 1500), {}, limits).requests.size() == 1);
}

TEST_CASE("the limit of a header is that of all its bytes, however they are split", "[serve]") {
  asio::io_context io{1};
  const HttpLimits limits = small_limits();
  const auto with_header_of = [&](std::size_t bytes) {
    std::string text = "GET /" + std::string(150, 'a') + " HTTP/1.1\r\nHost: x\r\nX: \r\n\r\n";
    text.insert(text.size() - 4, bytes - text.size(), 'x');
    return text;
  };
  for (std::size_t bytes = 390; bytes < 410; ++bytes) {
    const std::string text = with_header_of(bytes);
    REQUIRE(text.size() == bytes);
    for (std::size_t cut = 0; cut < bytes; cut += cut == 0 ? 1 : 7) {
      CAPTURE(bytes, cut);
      const auto cuts = cut == 0 ? std::vector<std::size_t>{} : std::vector<std::size_t>{cut};
      const Outcome outcome = read_all(io, text, cuts, limits);
      CHECK(outcome.requests.size() == (bytes <= limits.header_bytes ? 1 : 0));
      CHECK(outcome.end == (bytes <= limits.header_bytes ? 0 : 431));
    }
  }
}

TEST_CASE("a request names its Host once, as RFC 9112 asks in its section 3.2", "[serve]") {
  asio::io_context io{1};
  const HttpLimits limits = small_limits();
  const auto outcome_of = [&](const std::string& version, const std::string& fields) {
    return read_all(io, "GET / HTTP/" + version + "\r\n" + fields + "\r\n", {}, limits);
  };
  for (const std::string fields : {"Host: a\r\n", "hOST:a\r\n", "X: b\r\nHost:\r\n"}) {
    CAPTURE(fields);
    CHECK(outcome_of("1.1", fields).requests.size() == 1);
  }
  CHECK(outcome_of("1.0", "").requests.size() == 1);
  CHECK(outcome_of("1.1", "Host: a\r\n").requests.front().host == "a");
  // Which of two is meant nobody can tell, also if they are the same.
  for (const std::string fields : {"Host: a\r\nHost: b\r\n", "Host: a\r\nHost: a\r\n",
                                   "Host: a\r\nX: b\r\nhOST: b\r\n", "Host:\r\nHost: a\r\n"})
    for (const std::string version : {"1.0", "1.1"}) {
      CAPTURE(fields, version);
      const Outcome outcome = outcome_of(version, fields);
      CHECK(outcome.requests.empty());
      CHECK(outcome.end == 400);
    }
  CHECK(outcome_of("1.1", "").end == 400);
  // A request before it was whole, and is answered.
  const Outcome second =
      read_all(io, "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\n\r\n", {}, limits);
  CHECK(second.requests.size() == 1);
  CHECK(second.end == 400);
}

TEST_CASE("a target in the absolute form has the host before the path", "[serve]") {
  asio::io_context io{1};
  const auto read_target_of = [&](const std::string& target, const std::string& host) {
    const Outcome outcome = read_all(
        io, "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n", {}, small_limits());
    REQUIRE(outcome.requests.size() == 1);
    const HttpRequest& request = outcome.requests.front();
    return std::vector{request.host, request.path, request.query};
  };
  using Parts = std::vector<std::string>;
  CHECK(read_target_of("/health", "a") == Parts{"a", "/health", ""});
  CHECK(read_target_of("/health?", "a") == Parts{"a", "/health", ""});
  CHECK(read_target_of("/health?x=1?y", "a") == Parts{"a", "/health", "x=1?y"});
  CHECK(read_target_of("http://localhost/health", "a") == Parts{"localhost", "/health", ""});
  CHECK(read_target_of("HTTPS://B:8/v1/files?limit=2", "a") ==
        Parts{"B:8", "/v1/files", "limit=2"});
  CHECK(read_target_of("http://b", "a") == Parts{"b", "/", ""});
  CHECK(read_target_of("http://b?x", "a") == Parts{"b", "/", "x"});
  CHECK(read_target_of("/http://b/c", "a") == Parts{"a", "/http://b/c", ""});
  CHECK(read_target_of("ftp://b/c", "a") == Parts{"a", "ftp://b/c", ""});
  // The large bodies of one path are those of it in either form.
  const auto post = [](const std::string& target) {
    return "POST " + target + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1500\r\n\r\n" +
           std::string(1500, 'a');
  };
  CHECK(read_all(io, post("http://x/v1/files"), {}, small_limits()).requests.size() == 1);
  CHECK(read_all(io, post("http://x/v1/completions"), {}, small_limits()).end == 413);
}

TEST_CASE("the end of an empty body may come byte by byte", "[serve]") {
  asio::io_context io{1};
  const std::string bytes =
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    std::vector<std::size_t> cuts;
    for (std::size_t at = cut; at < bytes.size(); ++at) cuts.push_back(at);
    CHECK(read_all(io, bytes, cuts, small_limits()).requests.size() == 1);
  }
}

TEST_CASE("what stands beside the chunks of a body may be as large as a header", "[serve]") {
  asio::io_context io{1};
  const HttpLimits limits = small_limits();
  // So many bytes: those of the text, with others at the mark.
  const auto padded = [](std::string text, std::size_t size) {
    const std::size_t mark = text.find('@');
    return text.replace(mark, 1, size - (text.size() - 1), 'x');
  };
  // A chunk's head with an extension, alone and after another chunk, and the fields after the last.
  const auto first = [&](std::size_t size) {
    return padded("2;a=@\r\n", size) + "ab\r\n0\r\n\r\n";
  };
  const auto second = [&](std::size_t size) {
    return "2\r\nab" + padded("\r\n2;a=@\r\n", size) + "cd\r\n0\r\n\r\n";
  };
  const auto fields = [&](std::size_t size) {
    return "2\r\nab" + padded("\r\n0\r\nA: @\r\n\r\n", size);
  };
  const std::string head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto end_of = [&](const std::string& body, std::size_t piece) {
    std::vector<std::size_t> cuts;
    for (std::size_t at = piece; piece > 0 && at < head.size() + body.size(); at += piece)
      cuts.push_back(at);
    return read_all(io, head + body, cuts, limits);
  };
  const auto without_end = [](const std::string& begin) { return begin + std::string(5000, 'x'); };
  for (const std::size_t piece : {0, 1, 7, 400}) {
    CAPTURE(piece);
    for (const std::size_t size : {20, 200, 399, 401, 1000, 5000}) {
      CAPTURE(size);
      for (const std::string& body : {first(size), second(size), fields(size)}) {
        CAPTURE(body);
        const Outcome outcome = end_of(body, piece);
        CHECK(outcome.requests.size() == (size <= limits.header_bytes ? 1 : 0));
        CHECK(outcome.end == (size <= limits.header_bytes ? 0 : 431));
      }
    }
    for (const std::string& body :
         {without_end("2;"), without_end("2\r\nab\r\n2;"), without_end("0\r\nA: ")})
      CHECK(end_of(body, piece).end == 431);
  }
}

TEST_CASE("a client that asks whether to go on is told so before its body", "[serve]") {
  asio::io_context io{1};
  const HttpLimits limits = small_limits();
  // Before HTTP/1.1 there were no interim answers: such a client takes it for the answer.
  for (const std::string version : {"1.1", "1.0"}) {
    CAPTURE(version);
    const std::string bytes = "POST / HTTP/" + version +
                              "\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nab";
    Pieces stream(io, bytes, {});
    RequestReader<Pieces> reader(stream, limits);
    HeldBodies held(limits.held_bytes);
    std::optional<IncomingRequest> incoming;
    asio::co_spawn(
        io, [&]() -> asio::awaitable<void> { incoming = co_await read(reader, held); },
        asio::detached);
    io.restart();
    io.run();
    REQUIRE(incoming.has_value());
    CHECK(incoming->asked.body == "ab");
    CHECK((stream.received() > 0) == (version == "1.1"));
  }
}

}  // namespace tempera::serve::request_reader_test
