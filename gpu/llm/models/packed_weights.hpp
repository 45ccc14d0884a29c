#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "gpu/core/model/arithmetic.hpp"
#include "gpu/llm/transformer/weights/packed_weights_file.hpp"

namespace tempera::gpu {

/// Whether the weights of a model are packed in memory, as with an empty folder, or mapped from a
/// file of a folder, which is made if it is not there. The bits of answers are the same.
struct PackedWeights {
  std::filesystem::path folder = {};
  /// The size of a model's weights, as they are stored, below which they are packed in memory.
  std::uint64_t least_bytes = 0;
  /// The program, with its version: a file is used by none but the one that made it.
  std::string program = {};
  /// What a user should know: that the disk is used, or why it is not. One line each.
  PackedWeightsFile::Say say = [](const std::string&) {};
  Disk* disk = &Disk::real();
};

/// $XDG_CACHE_HOME/tempera/packed, or ~/.cache/tempera/packed; empty if neither is said.
std::filesystem::path packed_weights_folder();

/// The file of a model's packed weights under an arithmetic, mapped or to be made: its name and key
/// follow from the path, size and times of the model's files, bytes of each (model_digest), the
/// arithmetic whose weights it packs_as, the program, and how it packs (packing_digest). So a model
/// that was changed has another file. Nothing where weights are to be packed in memory, which `say`
/// hears of if a folder was given.
class ModelWeightsFile {
 public:
  ModelWeightsFile(const std::string& model, Arithmetic arithmetic, const PackedWeights& asked);
  PackedWeightsFile* file() const { return file_.get(); }
  /// To be called once the model is loaded: gives a new file its name, and removes those of the
  /// model's earlier states.
  /// @throw NoPackedWeights if the disk does not take it, or the model has changed meanwhile
  void finish();
  /// Weights are packed in memory because of this.
  void give_up(const std::string& why);

 private:
  std::string model_;
  PackedWeights asked_;
  std::string state_;
  std::string begin_of_name_;  ///< of all files of this model and arithmetic
  std::string state_in_name_;
  std::unique_ptr<PackedWeightsFile> file_;
};

}  // namespace tempera::gpu
