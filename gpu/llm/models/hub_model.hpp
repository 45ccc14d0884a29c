#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tempera::gpu {

/// A model's name on the Hugging Face Hub: OWNER/NAME[/FILE.gguf][@REVISION].
struct HubName {
  std::string repository;         ///< OWNER/NAME
  std::string file;               ///< of a repository of GGUF files; else empty
  std::string revision = "main";  ///< a branch, a tag or a commit
};

/// The files that such a name stands for on this machine.
struct HubSnapshot {
  HubName name;
  std::filesystem::path path;  ///< a folder, or a GGUF file
  std::string commit;          ///< of the repository
};

/// Reads such a name; nothing if the text cannot be one.
std::optional<HubName> read_hub_name(std::string_view text);

/// Where huggingface_hub keeps what it has downloaded: $HF_HUB_CACHE, $HUGGINGFACE_HUB_CACHE,
/// $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub. Nothing is asked of
/// the network.
std::filesystem::path hub_cache();

/// The snapshot of a model that is in the cache. Nothing if the text names a file or folder that
/// exists, or cannot be a name of the Hub.
/// @throw BadInput with the command that downloads it if it is not there, and if a repository has
/// several GGUF files and none is named
std::optional<HubSnapshot> find_snapshot(const std::string& name_or_path);

/// Refuses a snapshot that lacks a file which its weights need.
/// @throw BadInput naming the file and the command that downloads it
void require_complete(const HubSnapshot& snapshot);

/// The name of a model that is incomplete in the cache; nothing if nothing is, and for a
/// file or folder that exists.
/// @throw BadInput if the text cannot be a name of the Hub
std::optional<HubName> missing_snapshot(const std::string& name_or_path);

/// Downloads through `python3` and its huggingface_hub what is missing of a model: nothing of the
/// network if missing_snapshot gives nothing.
/// @throw BadInput if the text cannot be a name of the Hub, if huggingface_hub is not installed,
/// and for what it says if it fails
void download_snapshot(const std::string& name_or_path);

}  // namespace tempera::gpu
