#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gpu/llm/models/opened_model.hpp"
#include "python/bindings/errors.hpp"
#include "python/bindings/turns.hpp"
#include "settings/defaults.hpp"
#include "settings/resolve.hpp"

namespace tempera::python {

/// A model that Python holds, and the turns of the threads that compute with it.
class HeldModel {
 public:
  HeldModel(gpu::OpenedModel opened, std::shared_ptr<Turns> turns)
      : turns_(std::move(turns)), opened_(std::move(opened)) {}
  /// Gives its memory back, in a turn.
  /// @pre the thread has the GIL
  ~HeldModel();
  HeldModel(const HeldModel&) = delete;
  HeldModel& operator=(const HeldModel&) = delete;

  /// What is read of it needs no turn; a pass, a cache and its end do.
  const gpu::OpenedModel& opened() const { return *opened_; }
  Turns& turns() const { return *turns_; }

 private:
  std::shared_ptr<Turns> turns_;
  std::optional<gpu::OpenedModel> opened_;
};

/// A session of a model keeps it open.
using SharedModel = std::shared_ptr<HeldModel>;

/// A prompt as Python gives it: text, tokens, or pairs of role and content.
using Messages = std::vector<std::pair<std::string, std::string>>;
using Prompt = std::variant<std::string, std::vector<gpu::TokenId>, Messages>;

gpu::PromptWish wished(const Prompt& prompt);
/// Reads the chat template's arguments, which Python gives as JSON.
gpu::ChatArguments chat_arguments(const std::string& json);

/// What a dictionary of Python says about the sampler.
gpu::SamplerWish sampler_wish(const nb::dict& wishes);
/// All settings and samplers, as gpu::describe_settings has them, in JSON.
std::string describe_settings();

void bind_model(nb::module_& module);
void bind_server(nb::module_& module);
void bind_session(nb::module_& module);
void bind_tempering(nb::module_& module);
void bind_run_folder(nb::module_& module);
/// What os.fork calls before and after (python/tempera/native.py registers it).
void bind_turns(nb::module_& module);

}  // namespace tempera::python
