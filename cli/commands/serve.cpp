#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/open_model.hpp"
#include "cli/commands/sampler_flags.hpp"
#include "cli/terminal/interruption.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/version.hpp"
#include "gpu/device/device_system.hpp"
#include "serve/server.hpp"

namespace tempera::cli {
namespace {

constexpr const char* serve_examples = R"(Examples:
  tempera serve --model smollm2
  tempera serve --model smollm2 --default-sampler ppt --powers 1.5,2,3
  tempera serve --model toy_models/worked_sum --port 8081
  curl localhost:8080/v1/completions -d '{"prompt": "4+7?", "max_tokens": 28,
    "tempera": {"powers": [1, 2, 4], "block": 4}}')";

struct ServeOptions {
  std::string model;
  std::string key_file;
  std::string device;
  std::optional<gpu::Arithmetic> arithmetic;
  std::optional<gpu::RopeFactors> rope_factors;
  serve::ServerOptions server;
  SamplerFlags sampler;
  std::size_t port = 8080;
  std::size_t grace = 30;
  std::size_t longest = 0;
  std::string access_log;
  std::string batch_folder;
  std::string runs;
  std::string shard;
  std::string packed_weights;
  bool without_key = false;
  bool download = false;
};

/// A connection is an open file, and the usual limit of 1024 is for programs that use select().
void raise_limit_of_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::atomic<bool> has_hung_up{false};

/// From now on SIGHUP ends no server: it asks that files be opened again.
void note_hangups() {
  struct sigaction action {};
  action.sa_handler = [](int) { has_hung_up = true; };
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGHUP, &action, nullptr);
}

void run_serve(ServeOptions options) {
  serve::GenerationLimits& generation = options.server.generation;
  generation.samplers =
      serve::ServedSamplers::from_wish(options.sampler.wish(), generation.horizon);
  const gpu::CurrentDevice here(gpu::require_device(options.device));
  obtain_if_asked(options.download, options.model);
  const gpu::OpenedModel model =
      open_model(options.model, options.arithmetic, options.rope_factors,
                 packed_weights(options.packed_weights, !options.shard.empty()));
  std::string remark;
  if (!options.key_file.empty())
    options.server.keys = serve::ClientKeys::read_file(options.key_file, remark);
  serve::describe_model(options.server, options.model);
  options.server.version = version_number();
  options.server.port = static_cast<std::uint16_t>(options.port);
  options.server.grace = std::chrono::seconds(options.grace);
  options.server.longest = std::chrono::seconds(options.longest);
  if (!options.batch_folder.empty())
    options.server.batch_folder = std::filesystem::absolute(options.batch_folder).string();
  if (!options.runs.empty())
    options.server.runs = std::filesystem::absolute(options.runs).lexically_normal().string();
  if (!options.shard.empty()) {
    if (options.batch_folder.empty())
      throw BadInput("--shard", "deals the lines of batches, and no folder for them is given",
                     "give --batch-folder FOLDER too");
    options.server.shard = gpu::read_shard(options.shard, "--shard");
  }
  raise_limit_of_open_files();
  // A closed terminal or a limit of file sizes is an error of one write and no reason to end.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  end_on_interrupt("");
  const NotedInterrupts noted;
  if (!options.access_log.empty()) {
    options.server.access_log = options.access_log;
    note_hangups();
  }
  serve::Server server(model, options.server, options.without_key);
  std::fprintf(stderr, "tempera serves %s on %s (a page to watch runs on: /)\n",
               options.server.model_name.c_str(), server.url().c_str());
  if (!remark.empty()) std::fprintf(stderr, "%s\n", remark.c_str());
  // A server ends by being stopped: its exit code is then 0, which supervisors take for success.
  server.run([&] {
    if (has_hung_up.exchange(false)) server.reopen_access_log();
    return NotedInterrupts::any();
  });
}

}  // namespace

void add_serve(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "serve", "Answer programs that speak the OpenAI protocol, and show runs on a page");
  auto options = std::make_shared<ServeOptions>();
  CLI::Option* model = add_text(*command, "--model", options->model, "MODEL",
                                "Hugging Face folder, GGUF file, name of a model, or finite model");
  add_download(*command, options->download);
  add_text(
      *command, "--model-name", options->server.model_name, "NAME",
      "Name under which clients find the model (default: that of its file, folder or repository)");
  add_text(*command, "--host", options->server.host, "ADDRESS",
           "IP address to listen on (default: " + options->server.host + ", this machine alone)");
  add_whole_number(*command, "--port", options->port, {0, 65535},
                   "Port to listen on; 0: any free one" + default_text(options->port));
  add_text(
      *command, "--api-key-file", options->key_file, "FILE",
      "File with the key that clients must send as a bearer token, or a line NAME KEY for each "
      "client; limits follow the key, such as requests=4 tokens-per-minute=60000");
  add_text(*command, "--access-log", options->access_log, "FILE",
           "File that gets a line of JSON for each request, without what was asked; -: stdout; "
           "opened again at SIGHUP");
  command->add_flag("--access-log-prompts", options->server.logs_prompts,
                    "Write what the model has read into the access log too");
  command->add_flag("--without-key", options->without_key,
                    "Serve addresses beyond this machine without a key");
  add_texts(
      *command, "--allow-origin", options->server.allowed_origins, "ORIGIN",
      "Let web pages of this origin, such as https://example.org, use the server; *: all; may "
      "be repeated (default: those of the server alone)");
  add_device(*command, options->device);
  add_arithmetic(*command, options->arithmetic);
  add_rope_factors(*command, options->rope_factors);
  add_whole_number(
      *command, "--batch", options->server.session.largest_batch, {1, 4096},
      "Most records of a forward pass" + default_text(options->server.session.largest_batch));
  add_whole_number(*command, "--under-way", options->server.session.in_flight, {1, 65536},
                   "Most choices that are drawn at once; beyond them each request has its part" +
                       default_text(options->server.session.in_flight));
  add_whole_number(*command, "--queue", options->server.most_choices, {1, 1000000},
                   "Most choices that are drawn or wait; further ones are refused with 429" +
                       default_text(options->server.most_choices));
  add_whole_number(*command, "--grace", options->grace, {0, 86400},
                   "Seconds that running requests have to end when the server is stopped" +
                       default_text(options->grace))
      ->type_name("SECONDS");
  add_whole_number(
      *command, "--longest", options->longest, {0, 31536000},
      "Seconds that a request may be drawn; 0: no limit" + default_text(options->longest))
      ->type_name("SECONDS");
  add_text(*command, "--batch-folder", options->batch_folder, "FOLDER",
           "Folder for /v1/files and /v1/batches, resumed after a restart (default: they "
           "are not offered)");
  add_text(*command, "--shard", options->shard, "I/N",
           "Draw shard I of every batch of --batch-folder, which N servers share; clients ask the "
           "server of shard 1");
  add_text(*command, "--runs", options->runs, "FOLDER",
           "Folder whose run folders, made by tempera sample --out, the page opens; they are only "
           "read (default: none)");
  options->sampler.add_to(*command, SamplerFlags::Of::server);
  add_packed_weights(*command, options->packed_weights);
  add_bytes(*command, "--cache-memory", options->server.session.cache_memory,
            "Most memory that caches of answers under way may take, such as 8GiB (default: half "
            "of the free memory)");
  command->footer(serve_examples);
  command->callback([=] {
    require(*model, "give --model MODEL, a Hugging Face folder, a GGUF file or a name");
    run_serve(*options);
  });
}

}  // namespace tempera::cli
