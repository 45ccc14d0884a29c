#include "runs/run_folder.hpp"

#include <nanobind/stl/function.h>

#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "python/bindings/bindings.hpp"
#include "runs/job.hpp"

namespace tempera::python {
namespace {

/// Refuses to go on with a run that was asked for otherwise. How the model was named is no such
/// thing; at which path it is, is one.
void refuse_other_settings(const nlohmann::json& there, const nlohmann::json& asked,
                           const std::string& folder) {
  std::set<std::string> keys;
  for (const auto& json : {there, asked})
    for (const auto& [key, value] : json.items())
      if (key != "model") keys.insert(key);
  std::string differing;
  for (const std::string& key : keys)
    if (there.value(key, nlohmann::json()) != asked.value(key, nlohmann::json()))
      differing += (differing.empty() ? "" : ", ") + key;
  if (!differing.empty())
    throw BadInput(folder, "holds a run of other settings (" + differing + ")",
                   "give out another folder, or the settings of that run");
}

/// What the run depends on, resolved as `tempera sample` resolves its options.
gpu::SamplingSettings settings_of(const gpu::OpenedModel& model, const std::string& name,
                                  const std::vector<Prompt>& prompts,
                                  const std::vector<std::optional<std::string>>& ids,
                                  const std::string& arguments, const gpu::SamplerWish& wish) {
  gpu::SamplingSettings settings;
  static_cast<gpu::SamplerSettings&>(settings) = gpu::resolve_sampler(wish);
  settings.model = name;
  const gpu::ChatArguments asked = chat_arguments(arguments);
  std::vector<gpu::RunPrompt> listed;
  for (std::size_t number = 0; number < prompts.size(); ++number) {
    if (!asked.empty() && !std::holds_alternative<Messages>(prompts[number]))
      throw BadInput(asked.says_thinking_alone() ? "thinking" : "chat_template_kwargs",
                     "is about a conversation", "leave it out, or give messages");
    listed.push_back({ids[number], wished(prompts[number]),
                      prompts.size() == 1 ? "prompt" : "prompt " + std::to_string(number)});
  }
  gpu::resolve_prompts(settings, model, listed, asked, gpu::asked_horizon(wish, settings));
  return settings;
}

/// Draws a run into a folder; threads of other runs and sessions have a turn after each pass.
/// resume: goes on with the run that is there, if one is. is_left: asked after each pass whether
/// nobody waits any more; the run then ends with what it has, saved.
void draw_run(const SharedModel& model, const std::string& name, const std::string& folder,
              bool resume, const std::vector<Prompt>& prompts,
              const std::vector<std::optional<std::string>>& ids, const std::string& arguments,
              const nb::dict& wishes, const gpu::JobLayout& layout,
              const std::function<void()>& answered, const std::function<bool()>& is_left) {
  const gpu::SamplerWish wish = sampler_wish(wishes);
  const nb::gil_scoped_release others;
  gpu::SamplingSettings settings =
      settings_of(model->opened(), name, prompts, ids, arguments, wish);
  std::optional<gpu::RunFolder> run;
  if (resume && std::filesystem::exists(std::filesystem::path(folder) / "config.json")) {
    run.emplace(gpu::RunFolder::open(folder));
    refuse_other_settings(run->config(), nlohmann::json::parse(settings.to_json().dump()), folder);
  } else {
    run.emplace(gpu::RunFolder::create(folder, settings.to_json()));
  }
  if (run->finished()) return;
  std::exception_ptr interrupt;
  std::size_t untold = 0;  // answers: Python hears of them between two turns
  const auto tell = [&] {
    for (; untold > 0; --untold) answered();
  };
  gpu::JobWatcher watcher;
  Turn turn(model->turns());
  watcher.answer = [&](const gpu::SampledAnswer& /*answer*/) { ++untold; };
  watcher.stop = [&] {
    const Pause pause(turn);
    const nb::gil_scoped_acquire python;
    tell();
    if (PyErr_CheckSignals() == 0) return is_left();
    interrupt = std::make_exception_ptr(nb::python_error());
    return true;
  };
  const gpu::OpenedModel& opened = model->opened();
  gpu::Job job(opened.model(), settings, opened.text(), &*run, watcher, layout);
  try {
    job.run();
  } catch (const gpu::RunStopped&) {
    if (interrupt) std::rethrow_exception(interrupt);
  }
  const Pause pause(turn);
  tell();
}

}  // namespace

void bind_run_folder(nb::module_& module) {
  module.def(
      "draw_run",
      [](const SharedModel& model, const std::string& name, const std::string& folder, bool resume,
         const std::vector<Prompt>& prompts, const std::vector<std::optional<std::string>>& ids,
         const std::string& arguments, const nb::dict& wishes,
         const std::function<void()>& answered, const std::function<bool()>& is_left,
         std::size_t batch, std::size_t under_way, std::size_t cache_memory,
         double checkpoint_seconds) {
        draw_run(model, name, folder, resume, prompts, ids, arguments, wishes,
                 {.checkpoint_seconds = checkpoint_seconds,
                  .session = {{.largest_batch = batch,
                               .in_flight = under_way,
                               .cache_memory = cache_memory}}},
                 answered, is_left);
      },
      nb::arg("model"), nb::arg("name"), nb::arg("folder"), nb::arg("resume"), nb::arg("prompts"),
      nb::arg("ids"), nb::arg("arguments"), nb::arg("wishes"), nb::arg("answered"),
      nb::arg("is_left"), nb::arg("batch") = gpu::defaults::batch,
      nb::arg("under_way") = gpu::defaults::under_way, nb::arg("cache_memory") = 0,
      nb::arg("checkpoint_seconds") = gpu::defaults::checkpoint_seconds);
}

}  // namespace tempera::python
