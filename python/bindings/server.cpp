#include "serve/server.hpp"

#include <atomic>
#include <optional>

#include "base/error.hpp"
#include "python/bindings/bindings.hpp"
#include "python/bindings/served_model.hpp"

namespace tempera::python {
namespace {

/// A server of a model, while the program itself computes with the model.
class HeldServer {
 public:
  HeldServer(SharedModel model, serve::ServerOptions options, bool without_key)
      : model_(std::move(model)), served_(served(*model_)) {
    options.in_turn = [this](const std::function<void()>& piece) {
      const Turn turn(model_->turns());
      piece();
    };
    const Turn turn(model_->turns());
    server_ = std::make_unique<serve::Server>(served_ ? *served_ : model_->opened(),
                                              std::move(options), without_key);
  }
  /// Gives its caches back, in a turn.
  /// @pre the thread has the GIL
  ~HeldServer() {
    const nb::gil_scoped_release others;
    // A forked process does not have the threads that it would wait for.
    if (made_in_ != generation()) {
      static_cast<void>(server_.release());
      return;
    }
    const LastTurn turn(model_->turns());
    server_.reset();
  }
  HeldServer(const HeldServer&) = delete;
  HeldServer& operator=(const HeldServer&) = delete;

  serve::Server& server() const {
    if (made_in_ != generation())
      throw BadInput("server", "was opened before this process was forked",
                     "open one of its own in each process");
    return *server_;
  }
  void run() {
    if (has_run_.exchange(true)) throw BadInput("server", "has run before", "open another");
    server().run([] { return false; });
  }

 private:
  SharedModel model_;
  std::optional<gpu::OpenedModel> served_;
  std::unique_ptr<serve::Server> server_;
  std::atomic<bool> has_run_ = false;
  const unsigned made_in_ = generation();
};

/// The settings of requests that describe none.
gpu::SamplerWish served_wish(const nb::dict& wishes) {
  gpu::SamplerWish wish = sampler_wish(wishes);
  gpu::visit_fields([&](const auto& row) {
    if (!row.places.served && gpu::says(wish, row))
      throw BadInput(std::string(row.key), "is a matter of each request", "leave it out");
  });
  return wish;
}

/// Takes an option that a dictionary of Python has.
template <class Value, class Member>
void take(const nb::dict& said, const char* key, Member& member) {
  if (said.contains(key)) member = Member(nb::cast<Value>(said[key]));
}

/// @param remark becomes what its user should know, if there is anything
serve::ServerOptions server_options(const nb::dict& said, const nb::dict& wishes,
                                    std::string& remark) {
  serve::ServerOptions options;
  take<std::string>(said, "host", options.host);
  take<std::uint16_t>(said, "port", options.port);
  take<std::string>(said, "model_name", options.model_name);
  take<std::vector<std::string>>(said, "allow_origin", options.allowed_origins);
  take<std::string>(said, "access_log", options.access_log);
  take<bool>(said, "access_log_prompts", options.logs_prompts);
  take<std::string>(said, "batch_folder", options.batch_folder);
  take<std::string>(said, "runs", options.runs);
  take<std::size_t>(said, "queue", options.most_choices);
  take<std::size_t>(said, "grace", options.grace);
  take<std::size_t>(said, "longest", options.longest);
  take<std::size_t>(said, "batch", options.session.largest_batch);
  take<std::size_t>(said, "under_way", options.session.in_flight);
  take<std::size_t>(said, "cache_memory", options.session.cache_memory);
  options.generation.samplers =
      serve::ServedSamplers::from_wish(served_wish(wishes), options.generation.horizon);
  if (said.contains("api_key_file"))
    options.keys =
        serve::ClientKeys::read_file(nb::cast<std::string>(said["api_key_file"]), remark);
  return options;
}

void open_server(HeldServer* self, const SharedModel& model, const std::string& name,
                 const std::string& version, const nb::dict& said, const nb::dict& wishes,
                 const nb::object& say) {
  std::string remark;
  serve::ServerOptions options = server_options(said, wishes, remark);
  options.version = version;
  const bool without_key = said.contains("without_key") && nb::cast<bool>(said["without_key"]);
  {
    const nb::gil_scoped_release others;
    if (const auto& foreign = model->opened().foreign())
      options.model_digest = foreign->digest.value_or("");
    else
      serve::describe_model(options, name);
    new (self) HeldServer(model, std::move(options), without_key);
  }
  if (!remark.empty()) say(remark);
}

}  // namespace

void bind_server(nb::module_& module) {
  nb::class_<HeldServer>(module, "RawServer")
      .def("__init__", &open_server, nb::arg("model"), nb::arg("name"), nb::arg("version"),
           nb::arg("options"), nb::arg("wishes"), nb::arg("say"))
      .def_prop_ro("url", [](const HeldServer& held) { return held.server().url(); })
      .def("run", &HeldServer::run, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "stop",
          [](const HeldServer& held, std::size_t grace) {
            held.server().stop(std::chrono::seconds(grace));
          },
          nb::arg("grace"), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "reopen_access_log", [](const HeldServer& held) { held.server().reopen_access_log(); },
          nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tempera::python
