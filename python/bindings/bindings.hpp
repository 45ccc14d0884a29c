#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "gpu/models/opened_model.hpp"

namespace tempera::python {

/// A model that Python holds; a session of it keeps it open.
using SharedModel = std::shared_ptr<gpu::OpenedModel>;

void bind_model(nanobind::module_& module);
void bind_session(nanobind::module_& module);

}  // namespace tempera::python
