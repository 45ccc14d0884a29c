#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "gpu/core/model/arithmetic.hpp"
#include "gpu/llm/models/opened_model.hpp"

namespace tempera::cli {

/// The model that a user has named. If the model has a remark, one line on stderr says it.
/// @throw BadInput as OpenedModel::open and open_finite_model
gpu::OpenedModel open_model(const std::string& name_or_path,
                            std::optional<gpu::Arithmetic> arithmetic,
                            std::optional<gpu::RopeFactors> rope_factors = std::nullopt,
                            const gpu::PackedWeights& packed = {});

/// --download.
void add_download(CLI::App& command, bool& value);
/// Obtains the model that a user has named, if it is not there and `asked` says so.
/// @throw BadInput as gpu::download_snapshot and gpu::obtain
void obtain_if_asked(bool asked, const std::string& name_or_path);

/// --packed-weights FOLDER|none.
CLI::Option* add_packed_weights(CLI::App& command, std::string& value);
/// What --packed-weights says, as gpu::resolve_packed_weights means it; it is heard on stderr.
gpu::PackedWeights packed_weights(const std::string& asked, bool is_shard);

}  // namespace tempera::cli
