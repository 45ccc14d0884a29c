#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "gpu/llm/transformer/architectures/rope_factors.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/weights/gguf.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "gpu/llm/transformer/weights/packed_weights_file.hpp"

namespace tempera::gpu {

/// What makes one transformer differ from another: its forward pass over rows of tokens, and what
/// it keeps of a token in a page of the cache. Everything else (texts, batches, caches, launches)
/// is Transformer's and the same for all.
class Architecture {
 public:
  virtual ~Architecture() = default;

  virtual const Kernels& kernels() const = 0;
  virtual std::size_t vocabulary_size() const = 0;
  /// The longest text, in tokens.
  virtual std::size_t max_position() const = 0;
  /// The tokens that config.json, or the metadata of a GGUF file, names as ends of a text,
  /// ascending; may be empty.
  virtual std::span<const std::uint32_t> named_ends() const = 0;
  /// What a user has to know of a choice that was made for the model, as one clause; may be empty.
  virtual std::string remark() const { return {}; }
  /// The set of rotary factors that was chosen, of a model that has two.
  virtual std::optional<RopeFactors> rope_factors() const { return std::nullopt; }

  /// What a step of decoding does with the model's matrices: layers and head.
  virtual MatrixWork step_work() const = 0;

  /// How a page, page_tokens tokens wide, is cut into arrays; what is where in each is the
  /// architecture's own.
  virtual ArraysLayout page_layout() const = 0;
  /// The same of a recurrent state, float32; of no bytes for an architecture that has none. The
  /// rows of one that has come with batch.recurrent.
  virtual ArraysLayout state_layout() const { return {0, 0, 0}; }
  /// Computes the rows and writes what is kept of them into their pages.
  virtual void forward(const TokenRows& batch, const PageMemory& memory) = 0;
  /// logits[row, token], [rows, vocabulary_size], after each of these tokens, from the pages alone.
  virtual void logits(const CachedRows& batch, const PageMemory& memory,
                      const LogitRows& logits) = 0;
  /// forward of `computed`, and then logits of `asked`, as many rows: a whole step of decoding,
  /// if the architecture can in fewer kernels. What a row asks for it computes, or it was there
  /// before.
  virtual void step(const TokenRows& computed, const CachedRows& asked, const PageMemory& memory,
                    const LogitRows& logits_of_rows) {
    forward(computed, memory);
    logits(asked, memory, logits_of_rows);
  }
};

/// The model of a folder in Hugging Face form, of the architecture that the `model_type` of its
/// config.json names, or that of a GGUF file, whose `general.architecture` names it.
///
/// rope_factors: of a model that has two sets; if none is given, those of short texts.
/// packed: where packed weights are taken from, and put; null: they are packed in memory.
/// @throw BadInput naming file, place and remedy; for an unknown architecture, what it may be; and
/// if rope_factors are given for a model that has one set
/// @throw NoPackedWeights as PackedWeightsFile::matrix
std::unique_ptr<Architecture> load_architecture(
    const std::filesystem::path& path, const Kernels& kernels,
    std::optional<RopeFactors> rope_factors = std::nullopt, PackedWeightsFile* packed = nullptr);
/// That of a GGUF file which is open.
std::unique_ptr<Architecture> load_architecture(
    const GgufFile& file, const Kernels& kernels,
    std::optional<RopeFactors> rope_factors = std::nullopt, PackedWeightsFile* packed = nullptr);

}  // namespace tempera::gpu
