#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/session_options.hpp"
#include "runs/shard.hpp"
#include "serve/http/http_server.hpp"
#include "serve/protocol/client_keys.hpp"
#include "serve/protocol/generation_request.hpp"

namespace tempera::serve {

/// Where and how the server listens, and what it lets clients take.
struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;  ///< 0: any free one
  ClientKeys keys;            ///< that clients send as "Authorization: Bearer KEY"
  /// Origins of other web pages that may use the server, as PageRules has them.
  std::vector<std::string> allowed_origins;
  std::string model_name;           ///< under which the model is offered
  std::string model_path;           ///< which no answer may show
  std::string version;              ///< of tempera
  std::size_t most_choices = 1024;  ///< being drawn or waiting; more are answered by 429
  HttpLimits http;
  GenerationLimits generation;
  gpu::SessionOptions session;
  std::chrono::seconds grace{30};   ///< for what runs when the server is asked to stop
  std::chrono::seconds longest{0};  ///< that a request may be drawn; 0: no limit
  /// Where /v1/files and /v1/batches are kept; without it they are not offered.
  std::optional<std::string> batch_folder;
  /// Which of the servers that share this folder it is; clients ask that of shard 1 for batches.
  gpu::Shard shard{1, 1};
  /// The folder whose run folders the page shows, absolute; without it there are none.
  std::optional<std::string> runs;
  std::string model_digest;  ///< gpu::model_digest
  /// Where a line of JSON is written for each request; "-": stdout.
  std::optional<std::string> access_log;
  bool logs_prompts = false;  ///< whether these lines have what the model has read
  std::string revision;       ///< the commit of a model of the Hugging Face Hub
  /// Takes turns with others of the process that compute with the model, as EngineLoop does.
  std::function<void(const std::function<void()>& piece)> in_turn;
};

/// Says name (if it has none), path, digest and revision of a model of tempera's own, by what its
/// user calls it.
/// @throw BadInput as gpu::resolve_model and gpu::model_digest
void describe_model(ServerOptions& options, const std::string& name_or_path);

/// The options of a server's session: where no memory for caches is given, half of what is free now
/// is a limit as one that is given is, because one request beyond it would end the server.
gpu::SessionOptions with_cache_limit(gpu::SessionOptions options);

/// An OpenAI-compatible server of one model. One thread is for all connections, some read bodies
/// and encode prompts (Intake), and the caller of run() draws.
///
/// No request can hold it: a request that costs too much is refused, clients and their requests
/// have equal shares of the rows, and between two rows any request can be ended.
///
/// The answer to a request is a function of model, arithmetic, request and (seed, prompt, choice):
/// never of what else the server does.
class Server {
 public:
  /// Binds the address. The model must outlive the server.
  /// @throw BadInput as HttpServer, PageRules, LineLog, StoredRuns and Batches; for an address
  /// beyond this machine without a key, unless `without_key`; for the name of a sampler in that of
  /// the model, and prompts for an access log that is not there
  /// @pre with options.in_turn: in a turn of the model's, and so its end
  Server(const gpu::OpenedModel& model, ServerOptions options, bool without_key = false);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  /// Where clients find it, such as "http://127.0.0.1:8080".
  std::string url() const;
  /// Serves on the calling thread until `is_asked_to_stop`, which is asked ten times a second,
  /// answers true; then lets what runs end, for at most the grace.
  /// @throw what the model or the device throws, when no single request has caused it
  void run(const std::function<bool()>& is_asked_to_stop);
  /// Ends run() as if it were asked to stop, but for this grace; a second call may shorten it. Any
  /// thread may call, also before run().
  void stop(std::chrono::milliseconds grace);
  /// Opens the file of the access log by its name again, if there is one. Any thread may call.
  void reopen_access_log();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace tempera::serve
