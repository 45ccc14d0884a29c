#pragma once

/// @file
/// Opening a language model.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tempera/error.hpp"

namespace tempera {

/// The number of a token in a model's vocabulary.
using TokenId = std::uint32_t;

/// How a model is opened.
struct ModelOptions {
  /// Bits of the logits: "float32", "tensor-core", … (docs/reference/arithmetic.md). None: float32.
  std::optional<std::string> arithmetic = {};
  /// "host", "cuda" or "cuda:1" (the second GPU); refused if this build or machine has it not.
  /// None: what the build has, and of several GPUs the first. Models on several devices, each with
  /// its Session, may be open in one process.
  std::optional<std::string> device = {};
  /// "short" or "long", for a model with two sets of rotary factors. None: short.
  std::optional<std::string> rope_factors = {};
};

/// One message of a conversation.
struct Message {
  std::string role = {};     ///< "system", "user" or "assistant"
  std::string content = {};  ///< its text
};

/// A language model p0 that is open: weights, tokenizer, arithmetic. Copies share one model.
///
/// Any thread may call these functions at any time. For sample(), score() and Session, which
/// compute with the model, see Session.
class Model {
 public:
  /// The name or path that it was opened by.
  const std::string& name() const;
  /// The arithmetic of its logits.
  std::string arithmetic() const;
  /// |V|, the number of tokens.
  std::size_t vocabulary_size() const;
  /// The most tokens of prompt and answer together; 0 for any number.
  std::size_t positions() const;
  /// The tokens that end an answer.
  const std::vector<TokenId>& terminal() const;

  /// The tokens of a text, with those that the tokenizer puts before it.
  /// @throw BadInput for invalid UTF-8 and for text that the model has no tokens for
  std::vector<TokenId> encode(const std::string& text) const;
  /// The tokens of a conversation, up to where the model's answer begins, by its own template.
  /// @throw BadInput for a model without a chat template, and for what the template refuses
  std::vector<TokenId> encode(std::span<const Message> conversation) const;
  /// The text of tokens.
  /// @pre every token is below vocabulary_size()
  std::string decode(std::span<const TokenId> tokens) const;

  /// @cond
  struct Parts;
  explicit Model(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  const Parts& parts() const { return *parts_; }
  /// @endcond

 private:
  std::shared_ptr<const Parts> parts_;
};

/// Opens a Hugging Face folder, a GGUF file, a model that `tempera models` knows by its name, or
/// one of the Hugging Face Hub that is in its cache, such as "Qwen/Qwen3-8B".
/// @throw BadInput naming file, place and remedy for a model that cannot be used
/// @throw DeviceError for a device that this build or this machine lacks
Model open_model(const std::string& name_or_path, const ModelOptions& options = {});

}  // namespace tempera
