#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/core/model/arithmetic.hpp"
#include "gpu/core/model/language_model.hpp"
#include "gpu/llm/models/packed_weights.hpp"
#include "gpu/llm/text/token_text.hpp"
#include "gpu/llm/transformer/architectures/rope_factors.hpp"

namespace tempera::gpu {

/// What computes the logits of a model that tempera does not compute itself.
struct ForeignArithmetic {
  std::string name;                   ///< such as "torch 2.15.0 on cpu, float32"
  std::optional<std::string> digest;  ///< of the model, as its user gives it
  friend bool operator==(const ForeignArithmetic&, const ForeignArithmetic&) = default;
};

/// A model that a user has named, with its text: of a Hugging Face folder or a GGUF file the
/// tokenizer's, or, if a folder has no tokenizer.json, the numbers of the tokens.
class OpenedModel {
 public:
  /// What a kind of model is made of.
  struct Parts {
    std::unique_ptr<LanguageModel> model;
    std::vector<TokenId> terminal;
    std::unique_ptr<TokenText> text;
    std::size_t positions = 0;              ///< tokens that the model holds; 0: any number
    bool accepts_empty_prompt = false;      ///< whether it has a law without any prompt
    bool undefined_after_terminal = false;  ///< whether it has no law after a terminal token
    std::optional<Arithmetic> arithmetic;   ///< of its logits; none if they are given
    /// What computes the logits, for people and config.json, if it is a program of the user's.
    std::optional<ForeignArithmetic> foreign = std::nullopt;
    std::string remark;  ///< what its user should know
    /// The set of rotary factors that it computes with, if the model has two.
    std::optional<RopeFactors> rope_factors = std::nullopt;
  };
  /// Opens a model that is in one file; gpu/ knows none of that kind.
  using OpenFile = std::function<Parts(const std::string& path)>;

  /// Opens what resolve_model says. A transformer computes in the arithmetic that is asked for,
  /// float32 if none is, and of two sets of rotary factors with the one that is asked for, that
  /// of short texts if none is. The logits of a model that is in one file are given, and it
  /// has neither to choose. `packed` says where packed weights are kept, which decides no bits.
  /// @throw BadInput naming file, place and remedy
  static OpenedModel open(const std::string& name_or_path, const OpenFile& open_file = {},
                          std::optional<Arithmetic> arithmetic = std::nullopt,
                          std::optional<RopeFactors> rope_factors = std::nullopt,
                          const PackedWeights& packed = {});

  /// A model that is open already.
  explicit OpenedModel(Parts parts) : parts_(std::move(parts)) {}

  LanguageModel& model() const { return *parts_.model; }
  std::optional<Arithmetic> arithmetic() const { return parts_.arithmetic; }
  const std::optional<ForeignArithmetic>& foreign() const { return parts_.foreign; }
  /// The set of rotary factors that it computes with, if the model has two.
  std::optional<RopeFactors> rope_factors() const { return parts_.rope_factors; }
  /// What a user has to know of a choice that was made for the model; may be empty.
  const std::string& remark() const { return parts_.remark; }
  const std::vector<TokenId>& terminal() const { return parts_.terminal; }
  /// The most tokens of prompt and answer together; 0 for any number.
  std::size_t positions() const { return parts_.positions; }
  /// The prompt that a text stands for.
  /// @throw BadInput naming `where` for invalid UTF-8 and unknown tokens
  std::vector<TokenId> encode(std::string_view text, const std::string& where) const {
    return parts_.text->encode(text, where);
  }
  /// The prompt that a conversation stands for.
  /// @throw BadInput as TokenText::encode_chat
  std::vector<TokenId> encode_chat(std::span<const ChatMessage> messages,
                                   const ChatArguments& arguments, const std::string& where) const {
    return parts_.text->encode_chat(messages, arguments, where);
  }
  /// How its tokens are written and read.
  const TokenText& text() const { return *parts_.text; }
  std::string decode(std::span<const TokenId> tokens) const { return parts_.text->decode(tokens); }
  /// @throw BadInput naming `where` for a prompt that the model cannot start from, or whose answer
  /// of `horizon` tokens it cannot hold
  void check_prompt(std::span<const TokenId> prompt, std::size_t horizon,
                    const std::string& where) const;
  /// The horizon that fits after a prompt of this many tokens if `margin` positions are left
  /// free, if it is below `asked`; else nothing.
  /// @throw BadInput naming `where` if not one token fits
  std::optional<std::size_t> horizon_after(std::size_t prompt, std::size_t margin,
                                           std::size_t asked, const std::string& where) const;

 private:
  [[noreturn]] void refuse_length(const std::string& where, const std::string& what,
                                  const std::string& remedy) const;

  Parts parts_;
};

}  // namespace tempera::gpu
