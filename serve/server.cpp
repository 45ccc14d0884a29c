#include "serve/server.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/memory_reserve.hpp"
#include "base/sha256.hpp"
#include "gpu/llm/models/hub_model.hpp"
#include "gpu/llm/models/model_digest.hpp"
#include "gpu/llm/models/named_model.hpp"
#include "gpu/session/cache_memory.hpp"
#include "serve/batches/batch_paths.hpp"
#include "serve/batches/batches.hpp"
#include "serve/http/line_log.hpp"
#include "serve/http/request_target.hpp"
#include "serve/page/page.hpp"
#include "serve/protocol/access_line.hpp"
#include "serve/protocol/error_body.hpp"
#include "serve/protocol/json_response.hpp"
#include "serve/protocol/neutral_fields.hpp"
#include "serve/protocol/openapi.hpp"
#include "serve/protocol/page_rules.hpp"
#include "serve/protocol/public_paths.hpp"
#include "serve/protocol/request_body.hpp"
#include "serve/sessions/client_account.hpp"
#include "serve/sessions/engine_loop.hpp"
#include "serve/sessions/generation.hpp"
#include "serve/sessions/intake.hpp"
#include "serve/stored_runs/stored_runs.hpp"

namespace tempera::serve {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

}  // namespace

class Server::Work {
 public:
  Work(const gpu::OpenedModel& model, ServerOptions options)
      : model_(model),
        options_(bounded(std::move(options))),
        pages_(options_.allowed_origins, !options_.keys.empty(), options_.host),
        identity_{options_.model_name, arithmetic_name(model), {}, hidden_paths_of(options_)},
        session_(model, options_.session),
        loop_(
            session_, [this] { return after_turn(); }, [this] { free_memory(); }, options_.in_turn),
        runs_(options_.runs),
        log_(options_.access_log ? std::make_unique<LineLog>(*options_.access_log) : nullptr),
        http_(options_.host, options_.port, handlers(), limits_of(options_)),
        intake_({.jobs = options_.most_choices + IntakeLimits{}.threads}) {
    for (std::size_t client = 0; client < options_.keys.size(); ++client)
      accounts_.push_back(std::make_shared<ClientAccount>(options_.keys[client].limits,
                                                          std::chrono::steady_clock::now()));
    counters_.cache_limit = options_.session.cache_memory;
    if (!options_.model_digest.empty()) identity_.digest = options_.model_digest;
    // Two states of one repository differ in this; twelve digits are enough for a commit of Git.
    const std::string revision =
        options_.revision.empty()
            ? ""
            : "@" + options_.revision.substr(0, 12) + "-" + options_.model_digest.substr(0, 12);
    identity_.fingerprint =
        identity_.model + revision + "-" + identity_.arithmetic + "-tempera-" + options_.version;
    // The server decides what a request leaves open, so this decides its answer too.
    if (const std::string samplers = options_.generation.samplers.text(); !samplers.empty())
      identity_.fingerprint += "-" + sha256(samplers).substr(0, 12);
    if (!options_.batch_folder) return;
    GenerationMakings makings{
        model_,
        identity_,
        counters_,
        options_.generation,
        [this](std::string text) { return identity_.without_paths(std::move(text)); },
        options_.model_digest};
    makings.ended = [this](const Batch& batch) {
      if (log_) log_->write(batch_line(batch, std::chrono::system_clock::now()));
    };
    batches_ =
        std::make_unique<Batches>(*options_.batch_folder, std::move(makings), options_.shard);
  }

  std::uint16_t port() const { return http_.port(); }
  std::string url() const {
    const bool is_ipv6 = options_.host.find(':') != std::string::npos;
    return "http://" + (is_ipv6 ? "[" + options_.host + "]" : options_.host) + ":" +
           std::to_string(port());
  }
  void reopen_access_log() {
    if (log_) log_->reopen();
  }
  void stop(std::chrono::milliseconds grace) {
    is_stopping_ = true;
    http_.stop(grace);
  }

  void run(const std::function<bool()>& is_asked_to_stop) {
    http_.every(std::chrono::milliseconds(100), [&] {
      if (batches_ && batches_->is_waiting()) wake();
      if (!is_stopping_ && is_asked_to_stop()) stop(options_.grace);
    });
    const MemoryReserve reserve;
    const MemoryReserve::Use books(MemoryReserve::Purpose::books);
    wake();  // for the batches of an earlier process
    std::thread connections([this] {
      const MemoryReserve::Use use(MemoryReserve::Purpose::connections);
      for (bool has_ended = false; !has_ended;) {
        try {
          http_.run();
          has_ended = true;
        } catch (const std::bad_alloc&) {
          // It was the memory of one connection, which is closed; the others go on.
        }
      }
      loop_.stop();
    });
    const std::exception_ptr failure = loop_.run();
    loop_.take_turn([&] {
      // The model or the device is gone: tell those who wait, then end.
      if (failure)
        give_up_all(500, "the model has failed; see the server's log");
      else
        give_up_all(503, shutting_down);
      is_stopping_ = true;
      if (batches_) batches_->save(session_);
    });
    if (failure) http_.stop(std::chrono::seconds(2));
    connections.join();
    generations_.clear();
    if (failure) std::rethrow_exception(failure);
  }

 private:
  static ServerOptions bounded(ServerOptions options) {
    options.session = with_cache_limit(options.session);
    options.session.clock = gpu::seconds_now;
    return options;
  }
  static std::string arithmetic_name(const gpu::OpenedModel& model) {
    if (model.foreign()) return model.foreign()->name;
    return model.arithmetic() ? std::string(gpu::name_of(*model.arithmetic())) : "given";
  }

  static std::vector<std::pair<std::string, std::string>> hidden_paths_of(
      const ServerOptions& options) {
    std::vector<std::pair<std::string, std::string>> hidden_paths;
    const auto add = [&](const std::string& path, const std::string& name) {
      // A word alone says nothing of this machine, and messages may have it for other reasons.
      if (path.find('/') != std::string::npos) hidden_paths.emplace_back(path, name);
    };
    add(options.model_path, options.model_name);
    if (options.batch_folder) add(*options.batch_folder, "the server's disk");
    if (options.runs) add(*options.runs, "the server's runs");
    return hidden_paths;
  }
  static HttpLimits limits_of(const ServerOptions& options) {
    HttpLimits limits = options.http;
    if (options.batch_folder) limits.large_path = "/v1/files";
    return limits;
  }
  static constexpr const char* shutting_down = "the server is shutting down";

  void give_up_all(unsigned status, const std::string& message) {
    for (const auto& generation : generations_) generation->give_up(status, message);
  }
  /// Memory has run out where nobody could be ended for it: all are.
  void free_memory() {
    const MemoryReserve::Use reserve(MemoryReserve::Purpose::answers);
    give_up_all(503, "the server has run out of memory; ask for less, or try again later");
    generations_.clear();
    if (batches_) batches_->wait(session_, "the server has run out of memory");
  }

  /// Lets the session's thread look what there is to do.
  void wake() {
    loop_.post([](gpu::Session&) {});
  }

  HttpHandlers handlers() {
    return {[this](const std::shared_ptr<Exchange>& exchange) { handle(exchange); },
            [](unsigned status, const std::string& what) { return error_response(status, what); },
            [this](HttpRequest& request) { return refusal(request); },
            [](unsigned status, const std::string& what) { return error_event(status, what); },
            [this](const EndedRequest& ended) { note(ended); }};
  }

  /// On the connections' thread, when a request is over.
  void note(const EndedRequest& ended) {
    if (ended.facts && ended.is_sent && ended.status == 200) {
      counters_.request_seconds.add(ended.whole);
      if (ended.is_stream && ended.first_text) counters_.first_token_seconds.add(*ended.first_text);
    }
    if (!log_) return;
    const auto client = ended.request.client;
    log_->write(access_line(ended,
                            client ? std::optional(options_.keys[*client].name) : std::nullopt,
                            std::chrono::system_clock::now()));
  }

  /// Why a request is refused by its header alone, or nothing.
  std::optional<HttpResponse> refusal(HttpRequest& request) const {
    // Once for each request: it is compared with every key.
    request.client = options_.keys.find(std::exchange(request.authorization, {}));
    if (auto refusal = pages_.refusal(request)) return refusal;
    if (is_public(request.path) || pages_.is_question(request) || options_.keys.empty() ||
        request.client)
      return std::nullopt;
    HttpResponse refusal = error_response(401, "give a key of this server as a bearer token");
    pages_.show(request, refusal);
    return refusal;
  }

  void handle(const std::shared_ptr<Exchange>& exchange) {
    const HttpRequest& request = exchange->request();
    if (pages_.may_read(request)) exchange->show_to_origin();
    if (pages_.is_question(request)) return exchange->respond(PageRules::permission());
    std::string allowed;  // methods of the path, if it is known
    const auto on = [&](const char* method, const char* path) {
      if (request.path != path) return false;
      allowed = std::string(method) == "GET" ? "GET, HEAD" : method;
      return request.method == method || (request.method == "HEAD" && std::string(method) == "GET");
    };
    if (on("GET", "/health"))
      return exchange->respond(is_stopping_ ? error_response(503, shutting_down)
                                            : json_response({{"status", "ok"}}));
    if (on("GET", "/")) return exchange->respond(page());
    if (on("GET", "/openapi.json")) return exchange->respond(openapi(options_.version));
    if (on("GET", "/v1/models")) return exchange->respond(json_response(models()));
    constexpr std::string_view one_model = "/v1/models/";
    if (request.path.starts_with(one_model) && request.path.size() > one_model.size() &&
        on("GET", request.path.c_str()))
      return exchange->respond(model_named(without_escapes(request.path.substr(one_model.size()))));
    if (on("GET", "/metrics")) return exchange->respond(metrics());
    if (on("GET", "/tokenizer_info"))
      return on_intake(exchange, [this](const auto& /*request*/) { return tokenizer_info(); });
    if (on("POST", "/v1/completions")) return generate(exchange, BodyForm::completion);
    if (on("POST", "/v1/chat/completions")) return generate(exchange, BodyForm::chat);
    if (on("POST", "/v1/responses")) return generate(exchange, BodyForm::response);
    if (on("POST", "/tokenize"))
      return later(exchange, [this](auto& body, auto text) { return tokenize(body, text); });
    if (on("POST", "/detokenize"))
      return later(exchange, [this](auto& body, auto /*text*/) { return detokenize(body); });
    if (is_batch_path(request.path)) return batch_request(exchange);
    if (StoredRuns::is_path(request.path)) return run_request(exchange);
    exchange->respond(allowed.empty() ? no_such_path(request.path) : wrong_method(allowed));
  }

  static HttpResponse no_such_path(const std::string& path) {
    if (path.starts_with("/v1/responses/"))
      return error_response(404,
                            "this server keeps no responses: POST /v1/responses answers one,"
                            " and what it says is all there is of it");
    if (path == "/v1/embeddings" || path.starts_with("/v1/embeddings/"))
      return error_response(404,
                            "/v1/embeddings is not offered: this server samples texts from a"
                            " model, and has no vectors for texts; ask a server of an embedding"
                            " model");
    for (const char* other :
         {"/v1/audio", "/v1/images", "/v1/moderations", "/v1/assistants", "/v1/threads"})
      if (path == other || path.starts_with(std::string(other) + "/"))
        return error_response(404, std::string(other) +
                                       " is not offered; use /v1/chat/completions,"
                                       " /v1/responses or /v1/completions");
    return error_response(404, "there is no such path; GET /openapi.json lists them");
  }

  ordered_json model_entry(const std::string& name) const {
    ordered_json entry{{"id", name},
                       {"object", "model"},
                       {"created", started_},
                       {"owned_by", "tempera"},
                       {"arithmetic", identity_.arithmetic}};
    if (!options_.revision.empty()) {
      entry["revision"] = options_.revision;
      entry["digest"] = options_.model_digest;
    }
    if (model_.positions() > 0) entry["max_model_len"] = model_.positions();
    return entry;
  }
  ordered_json models() const {
    auto entries = ordered_json::array({model_entry(identity_.model)});
    for (const std::string& sampler : options_.generation.samplers.names())
      entries.push_back(model_entry(identity_.model + ":" + sampler));
    return {{"object", "list"}, {"data", std::move(entries)}};
  }
  HttpResponse model_named(const std::string& name) const {
    try {
      require_model(name, identity_);
      return json_response(model_entry(name));
    } catch (const OtherModel& error) {
      return error_response(404, error.what(), "model");
    }
  }

  HttpResponse metrics() {
    counters_.connections = http_.connections();
    if (log_) counters_.log_lines_lost = log_->lost();
    HttpResponse response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = counters_.prometheus();
    return response;
  }

  HttpResponse tokenizer_info() const {
    ordered_json info{{"tokenizer_class", "tempera"}};
    const auto& terminal = model_.terminal();
    if (terminal.empty())
      info["eos_token"] = nullptr;
    else
      info["eos_token"] = model_.decode(std::span(&terminal.front(), 1));
    info["eos_token_ids"] = terminal;
    const auto beginning = beginning_tokens();
    if (beginning.empty())
      info["bos_token"] = nullptr;
    else
      info["bos_token"] = model_.decode(beginning);
    if (model_.positions() > 0) info["model_max_length"] = model_.positions();
    return json_response(info);
  }

  /// The tokens that the tokenizer puts before every text.
  std::vector<gpu::TokenId> beginning_tokens() const {
    try {
      return model_.encode("", "prompt");
    } catch (const BadInput&) {
      return {};
    }
  }

  HttpResponse tokenize(const JsonObject& body, std::string_view text) const {
    const bool is_chat = body.has("messages");
    if (is_chat)
      check_fields(body, Holder::tokenize_chat,
                   {"model", "messages", "chat_template_kwargs", "return_token_strs"});
    else
      check_fields(body, Holder::tokenize_text,
                   {"model", "prompt", "add_special_tokens", "return_token_strs"});
    require_model(body.optional_text("model").value_or(""), identity_);
    std::vector<gpu::TokenId> tokens;
    if (is_chat) {
      tokens = model_.encode_chat(read_messages(body), read_chat_arguments(body, text), "messages");
    } else {
      tokens = model_.encode(body.text("prompt"), "prompt");
      const auto beginning = beginning_tokens();
      if (!body.boolean_or("add_special_tokens", true) && tokens.size() >= beginning.size() &&
          std::equal(beginning.begin(), beginning.end(), tokens.begin()))
        tokens.erase(tokens.begin(),
                     tokens.begin() + static_cast<std::ptrdiff_t>(beginning.size()));
    }
    ordered_json said{{"count", tokens.size()}, {"tokens", tokens}};
    if (body.boolean_or("return_token_strs", false)) {
      said["token_strs"] = ordered_json::array();
      for (const gpu::TokenId token : tokens)
        said["token_strs"].push_back(model_.decode(std::span(&token, 1)));
    }
    if (model_.positions() > 0) said["max_model_len"] = model_.positions();
    return json_response(said);
  }

  HttpResponse detokenize(const JsonObject& body) const {
    check_fields(body, Holder::detokenize, {"model", "tokens"});
    require_model(body.optional_text("model").value_or(""), identity_);
    std::vector<gpu::TokenId> tokens;
    for (const auto token : body.whole_numbers("tokens", 0, model_.model().vocabulary_size() - 1))
      tokens.push_back(static_cast<gpu::TokenId>(token));
    return json_response({{"prompt", model_.decode(tokens)}});
  }

  /// Answers from a parsed body on the intake's thread.
  void later(const std::shared_ptr<Exchange>& exchange,
             std::function<HttpResponse(const JsonObject&, std::string_view)> answer) {
    on_intake(exchange, [this, answer = std::move(answer)](const HttpRequest& request) {
      const HeldJson parsed = parse_body(request.body);
      return answer(JsonObject(*parsed, "body"), request.body);
    });
  }

  void batch_request(const std::shared_ptr<Exchange>& exchange) {
    if (!batches_)
      return exchange->respond(error_response(
          404, "this server keeps no files and batches; start it with --batch-folder FOLDER"));
    if (!batches_->is_asked())
      return exchange->respond(
          error_response(404, "this server draws shard " + options_.shard.text() +
                                  " of the batches of another one; ask that of shard 1"));
    const HttpRequest& asked = exchange->request();
    if (const auto client = asked.client; client && options_.keys[*client].limits.any() &&
                                          asked.method == "POST" && asked.path == "/v1/batches")
      return exchange->respond(error_response(
          403,
          "this key has limits, and a batch would be held to none; ask for the answers one by"
          " one, or with a key that has no limits"));
    on_intake(exchange, [this](const HttpRequest& request) {
      HttpResponse response;
      try {
        // One after the other: a file must not go while a batch of it is made.
        const std::scoped_lock lock(batch_requests_);
        response = *answer_batch_request(*batches_, request);
      } catch (const BadInput& error) {
        // What names a place on this machine is the disk's fault and not the client's.
        const std::string message = error.what();
        if (message.find(*options_.batch_folder) == std::string::npos) throw;
        std::fprintf(stderr, "%s\n", message.c_str());
        response = error_response(507, identity_.without_paths(message));
      }
      wake();
      return response;
    });
  }

  void run_request(const std::shared_ptr<Exchange>& exchange) {
    on_intake(exchange, [this](const HttpRequest& request) {
      try {
        return runs_.answer(request);
      } catch (const BadInput& error) {
        // The request is right; what it names cannot be shown.
        return error_response(422, identity_.without_paths(error.what()));
      }
    });
  }

  void on_intake(const std::shared_ptr<Exchange>& exchange,
                 std::function<HttpResponse(const HttpRequest&)> answer) {
    const auto answer_now = [this, exchange, answer = std::move(answer)] {
      HttpResponse response = [&] {
        try {
          return answer(exchange->request());
        } catch (...) {
          return response_to_failure();
        }
      }();
      // A client that reads slowly holds its answer, and no body beside it.
      exchange->drop_body();
      exchange->respond(std::move(response));
    };
    const bool taken = intake_.post(exchange, [exchange, answer_now](auto&) {
      or_refuse(answer_now, [&](HttpResponse response) { exchange->respond(std::move(response)); });
    });
    if (!taken) exchange->respond(error_response(429, "too many requests wait; try again later"));
  }

  /// Calls `work`. If memory is missing there, `refuse` gets an answer that says so, and both are
  /// made of the reserve.
  template <class Work, class Refuse>
  static void or_refuse(const Work& work, const Refuse& refuse) {
    try {
      work();
    } catch (const std::bad_alloc&) {
      const MemoryReserve::Use reserve(MemoryReserve::Purpose::answers);
      refuse(error_response(503, Generation::no_memory));
    }
  }

  /// The answer to a request whose exception is being handled.
  /// @throw std::bad_alloc if it is that
  HttpResponse response_to_failure() const {
    try {
      throw;
    } catch (const OtherModel& error) {
      return error_response(404, error.what(), "model");
    } catch (const BadInput& error) {
      return wrong_request(identity_.without_paths(error.what()));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      return error_response(500, identity_.without_paths(error.what()));
    }
  }

  void generate(const std::shared_ptr<Exchange>& exchange, BodyForm form) {
    ++counters_.requests;
    if (is_stopping_) return refuse(exchange, error_response(503, shutting_down));
    const auto client = exchange->request().client;
    // Shared, because a job of the intake is copied; prepare() takes what is in it.
    const auto place = std::make_shared<std::unique_ptr<ClientPlace>>();
    if (client) {
      ClientAccount::Refusal refusal;
      *place = accounts_[*client]->begin(std::chrono::steady_clock::now(), refusal);
      if (!*place) return refuse(exchange, too_many_requests(refusal.message, refusal.retry_after));
    }
    if (intake_.post(
            exchange,
            [this, exchange, form, client, place](Leaving& leaving) {
              prepare(exchange, form, client, std::move(*place), leaving);
            },
            [this] { ++counters_.cancelled; }))
      return;
    place->reset();
    refuse(exchange, error_response(429, "too many requests wait; try again later"));
  }
  void refuse(const std::shared_ptr<Exchange>& exchange, HttpResponse response) {
    ++counters_.refused;
    exchange->respond(std::move(response));
  }

  /// On the intake's thread: reads the body, encodes the prompts, and hands over to the session's.
  void prepare(const std::shared_ptr<Exchange>& exchange, BodyForm form,
               std::optional<std::size_t> client, std::unique_ptr<ClientPlace> place,
               Leaving& leaving) {
    // Before the answer: its client may ask again at once.
    const auto refuse_now = [&](HttpResponse response) {
      place.reset();
      refuse(exchange, std::move(response));
    };
    const auto begin = [&] {
      ResolvedGeneration resolved = resolve_generation(model_, identity_, exchange->request().body,
                                                       form, options_.generation);
      exchange->drop_body();
      if (options_.access_log && options_.logs_prompts) tell_prompts(resolved, *exchange);
      const std::size_t choices = resolved.choices();
      auto entry = QueueEntry::take(counters_, choices, options_.most_choices);
      if (!entry) return refuse_now(error_response(429, "the queue is full; try again later"));
      if (place) entry->keep(std::move(place));
      const auto generation = std::make_shared<Generation>(
          model_, identity_, counters_, std::move(resolved), GenerationName::fresh(form), exchange,
          std::move(entry), next_share(client));
      leaving.call([this, weak = std::weak_ptr<Generation>(generation)] {
        loop_.post([weak](gpu::Session& session) {
          if (const auto left = weak.lock()) left->leave(session);
        });
      });
      // Last: from here on the generation answers.
      loop_.post([this, generation](gpu::Session& session) {
        {
          // Without its place here it would never be answered.
          const MemoryReserve::Use reserve(MemoryReserve::Purpose::answers);
          generations_.insert(generation);
        }
        generation->begin(session);
      });
    };
    or_refuse(
        [&] {
          try {
            begin();
          } catch (...) {
            refuse_now(response_to_failure());
          }
        },
        refuse_now);
  }

  /// As texts: what a conversation has become by its template too.
  void tell_prompts(const ResolvedGeneration& resolved, Exchange& exchange) const {
    std::vector<std::string> prompts;
    for (const gpu::SampleRequest& request : resolved.requests)
      prompts.push_back(model_.decode(request.prompt));
    exchange.tell_prompts(std::move(prompts));
  }

  /// The share of a new request. Its client is whoever has the key, and without keys its
  /// connection, which has no other request.
  gpu::Share next_share(std::optional<std::size_t> client) {
    constexpr std::uint64_t first = batches_share.client + 1;
    const std::uint64_t number = first + ++requests_so_far_;
    return {client ? first + *client : number, number};
  }

  /// On the session's thread, after each pass.
  bool after_turn() {
    if (MemoryReserve::is_low()) free_memory();
    if (options_.longest.count() > 0) end_late_ones();
    std::erase_if(generations_, [](const auto& generation) { return generation->is_over(); });
    const gpu::SessionTotals totals = session_.totals();
    counters_.decode_tokens = totals.decode_tokens;
    counters_.batches = totals.batches;
    counters_.forward_seconds = totals.times.forward;
    counters_.draw_seconds = totals.times.draw;
    counters_.accept_seconds = totals.times.accept;
    counters_.swap_seconds = totals.times.swap;
    counters_.score_seconds = totals.score;
    counters_.cache_bytes = totals.cache_bytes;
    counters_.most_cache_bytes = model_.model().most_cache_bytes();
    // Half of what may be under way is left to clients, whose requests are begun in their turn.
    return batches_ && !is_stopping_ &&
           batches_->advance(session_, std::max<std::size_t>(1, options_.session.in_flight / 2));
  }

  void end_late_ones() {
    const auto begun_before = std::chrono::steady_clock::now() - options_.longest;
    for (const auto& generation : generations_)
      // No status that clients answer by asking for the same again.
      if (generation->begun_at() < begun_before)
        generation->give_up(400, "it took longer than this server's limit of " +
                                     std::to_string(options_.longest.count()) +
                                     " seconds; ask for less, or use /v1/batches");
  }

  const gpu::OpenedModel& model_;
  const ServerOptions options_;
  const PageRules pages_;
  Identity identity_;
  const std::int64_t started_ = static_cast<std::int64_t>(std::time(nullptr));
  Counters counters_;
  std::atomic<bool> is_stopping_{false};
  std::atomic<std::uint64_t> requests_so_far_{0};
  std::vector<std::shared_ptr<ClientAccount>> accounts_;  ///< by client
  std::mutex batch_requests_;
  gpu::Session session_;
  std::set<std::shared_ptr<Generation>> generations_;  ///< the session's thread's own
  std::unique_ptr<Batches> batches_;
  EngineLoop loop_;
  const StoredRuns runs_;
  std::unique_ptr<LineLog> log_;
  // The connections end last: the others hold exchanges.
  HttpServer http_;
  Intake intake_;
};

gpu::SessionOptions with_cache_limit(gpu::SessionOptions options) {
  options.cache_memory = gpu::resolve_cache_memory(options.cache_memory).bytes;
  return options;
}

void describe_model(ServerOptions& options, const std::string& name_or_path) {
  options.model_path = gpu::resolve_model(name_or_path);
  options.model_digest = gpu::model_digest(options.model_path);
  if (const auto snapshot = gpu::find_snapshot(name_or_path)) {
    options.revision = snapshot->commit;
    if (options.model_name.empty()) options.model_name = snapshot->name.repository;
  }
  if (options.model_name.empty())
    options.model_name = std::filesystem::path(name_or_path).filename().string();
}

Server::Server(const gpu::OpenedModel& model, ServerOptions options, bool without_key) {
  if (!asked_model(options.model_name).sampler.empty())
    throw BadInput("--model-name", in_quotes(options.model_name) + " ends as if it named a sampler",
                   "give another name");
  if (options.logs_prompts && !options.access_log)
    throw BadInput("--access-log-prompts", "there is no access log", "give --access-log FILE too");
  if (options.keys.empty() && !without_key && !is_loopback(options.host))
    throw BadInput("--host " + options.host, "others than this machine could use the model",
                   "give --api-key-file FILE, or --without-key to let everybody in");
  work_ = std::make_unique<Work>(model, std::move(options));
}
Server::~Server() = default;

std::uint16_t Server::port() const { return work_->port(); }
std::string Server::url() const { return work_->url(); }
void Server::stop(std::chrono::milliseconds grace) { work_->stop(grace); }
void Server::reopen_access_log() { work_->reopen_access_log(); }
void Server::run(const std::function<bool()>& is_asked_to_stop) { work_->run(is_asked_to_stop); }

}  // namespace tempera::serve
