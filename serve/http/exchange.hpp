#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tempera::serve {

/// A request as it came in, whole.
struct HttpRequest {
  std::string id;                     ///< by which its answer and the access log name it
  std::string method;                 ///< "GET", "POST", …
  std::string path;                   ///< of the target, up to its '?'
  std::string query;                  ///< the target after its '?'
  std::string authorization;          ///< the header of this name, or empty; admit() may take it
  std::optional<std::size_t> client;  ///< whose key it gives, as admit() has found
  std::string content_type;           ///< the same
  std::string content_encoding;       ///< the same
  std::string host;                   ///< the same, or the target's own
  std::string origin;                 ///< the same: of the web page that has sent it
  std::string asked_method;  ///< of Access-Control-Request-Method, by which browsers ask first
  std::string body;
};

/// An answer that is whole before its first byte is sent.
struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  ///< further ones
};

/// The tokens that an answer to a request for text took.
struct AnswerFacts {
  std::string id;  ///< of the answer
  std::size_t prompt_tokens = 0;
  std::size_t answer_tokens = 0;
  std::uint64_t decode_tokens = 0;  ///< that were drawn, also for proposals
};

/// A request whose answer is out, or whose client has left.
struct EndedRequest {
  const HttpRequest& request;  ///< without its body; only its id where a request could not be read
  unsigned status = 0;         ///< of the answer; 0 if none was made
  bool is_sent = false;        ///< whole
  bool is_stream = false;
  /// From when it had come in whole until its first text was made, if it was, ...
  std::optional<std::chrono::duration<double>> first_text = std::nullopt;
  /// ... and until the end.
  std::chrono::duration<double> whole{};
  std::optional<AnswerFacts> facts = std::nullopt;
  std::vector<std::string> prompts = {};  ///< by tell_prompts()
};

/// One request and the way back to its client. Its functions may be called from any thread and in
/// any state of the connection: what is sent to a client that has left is dropped.
///
/// It is answered either by one respond(), or by begin_stream(), any number of write() and one
/// end().
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const HttpRequest& request() const = 0;
  /// Forgets the request's body, whose bytes count among those that the server holds.
  /// @pre nobody else reads the body
  virtual void drop_body() {}

  virtual void respond(HttpResponse response) = 0;
  /// Sends the status line and headers of an answer whose body follows in parts.
  virtual void begin_stream(unsigned status, std::string content_type) = 0;
  virtual void write(std::string part) = 0;
  virtual void end() = 0;

  /// Tells what the answer has taken so far, for the server's own records, before its last part.
  virtual void tell(const AnswerFacts& /*facts*/) {}
  /// Tells what the model has read, for the same records.
  virtual void tell_prompts(std::vector<std::string>&& /*prompts*/) {}
  /// The first text that was drawn is about to be written.
  virtual void tell_first_text() {}

  /// Lets the browser show the answer to pages of the request's origin: the answer names it.
  /// @pre neither respond() nor begin_stream() has been called
  virtual void show_to_origin() {}

  /// Calls `left` once if the client leaves, or reads so slowly that its answer no longer fits the
  /// connection's memory, before the answer has been sent whole. `left` runs on the server's own
  /// thread; it runs at once if the client has left already.
  virtual void on_leave(std::function<void()> left) = 0;
};

/// How a server answers.
struct HttpHandlers {
  /// Called on the server's thread for every whole request; must not block.
  std::function<void(const std::shared_ptr<Exchange>&)> handle;
  /// The answer to what handle() never sees: what is not a request, or is too much.
  std::function<HttpResponse(unsigned status, const std::string& message)> refuse;
  /// Asked once the header of a request is there and its body is not: an answer that refuses it.
  /// The body is then not read. Without this function every request is admitted.
  std::function<std::optional<HttpResponse>(HttpRequest&)> admit = {};
  /// The last part of a stream that the server itself ends; without this function it just ends.
  std::function<std::string(unsigned status, const std::string& message)> last_part = {};
  /// Called for every request that is over, on the server's thread; must not block.
  std::function<void(const EndedRequest&)> ended = {};
};

}  // namespace tempera::serve
