#pragma once

#include <string>

namespace tempera::cli {

/// The folder whose toy_models/ and proofs/ the command reads: `named` (--tree) if it is not empty,
/// else what the environment variable TEMPERA_MODELS names, else share/tempera beside the bin/ of
/// the installed command, if there is one, else the source tree that the command was built from.
/// @throw BadInput if TEMPERA_MODELS is empty, or for a pipe or a device
std::string shipped_tree(const std::string& named);

/// Lets the Python programs that this process starts find the package tempera of shipped_tree(""),
/// if it has one: it comes last in PYTHONPATH, so that folders the user names there win.
void offer_python_package();

/// What help says of it.
inline constexpr const char* tree_help =
    "Folder with toy_models/ and proofs/ (default: $TEMPERA_MODELS, else share/tempera beside the "
    "installed command, else the source tree it was built from)";

}  // namespace tempera::cli
