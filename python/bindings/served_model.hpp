#pragma once

#include <optional>

#include "gpu/llm/models/opened_model.hpp"
#include "python/bindings/bindings.hpp"

namespace tempera::python {

/// The model of Python's that a server takes in place of `held`, which must outlive it; none if
/// tempera computes the model, which is then served as it is.
///
/// It throws no exception of Python: a BadInput that an object raises becomes ours, and all else a
/// ModelError, which ends the rows that cannot be had and no others. Clients read the name of its
/// type alone. The traceback, which may say anything, is printed on stderr.
std::optional<gpu::OpenedModel> served(const HeldModel& held);

}  // namespace tempera::python
