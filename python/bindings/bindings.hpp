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

#include "gpu/models/opened_model.hpp"
#include "gpu/session/defaults.hpp"
#include "gpu/session/resolve.hpp"
#include "python/bindings/errors.hpp"

namespace tempera::python {

/// A model that Python holds; a session of it keeps it open.
using SharedModel = std::shared_ptr<gpu::OpenedModel>;

/// A prompt as Python gives it: text, tokens, or pairs of role and content.
using Messages = std::vector<std::pair<std::string, std::string>>;
using Prompt = std::variant<std::string, std::vector<gpu::TokenId>, Messages>;

gpu::PromptWish wished(const Prompt& prompt);
/// None, True or False as Python says whether a model thinks first.
gpu::Thinking wished(std::optional<bool> thinking);

/// What a dictionary of Python says about the sampler.
gpu::SamplerWish sampler_wish(const nb::dict& wishes);

void bind_model(nb::module_& module);
void bind_session(nb::module_& module);
void bind_tempering(nb::module_& module);
void bind_run_folder(nb::module_& module);

}  // namespace tempera::python
