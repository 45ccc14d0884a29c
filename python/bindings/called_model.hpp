#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/core/model/language_model.hpp"
#include "gpu/llm/models/opened_model.hpp"

namespace tempera::python {

namespace nb = nanobind;

/// An object of Python that any thread may hold and let go of: it takes the GIL to end.
class HeldObject {
 public:
  explicit HeldObject(nb::object object) : object_(std::move(object)) {}
  ~HeldObject();
  HeldObject(HeldObject&&) = default;
  HeldObject(const HeldObject&) = delete;
  HeldObject& operator=(const HeldObject&) = delete;
  /// @pre the thread has the GIL
  const nb::object& get() const { return object_; }
  /// For the collection of cycles. @pre the thread has the GIL
  void clear() { object_.reset(); }

 private:
  nb::object object_;
};

/// Names the state that Python keeps of one cache. The numbers of ended ones are given with
/// the next pass, so that a cache ends without Python.
class KeptState {
 public:
  struct Ended {
    std::mutex mutex;
    std::vector<std::uint64_t> numbers;
    std::uint64_t last = 0;  ///< the last number that was given
  };
  explicit KeptState(std::shared_ptr<Ended> ended);
  ~KeptState();
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;
  std::uint64_t number() const { return number_; }

 private:
  std::shared_ptr<Ended> ended_;
  std::uint64_t number_;
};

/// The tokens of a prefix, and which state of Python's was computed from a beginning of them. A
/// fork computes nothing: the pass that follows it names the state to begin from.
class CalledCache final : public gpu::Cache {
 public:
  std::size_t length() const override { return tokens_.size(); }
  std::unique_ptr<gpu::Cache> fork(std::size_t length) const override;

 private:
  friend class CalledModel;
  std::vector<gpu::TokenId> tokens_;
  std::shared_ptr<KeptState> own_;   ///< none before the first pass
  std::shared_ptr<KeptState> from_;  ///< whose first length() tokens are these; none: compute anew
};

/// A model whose logits an object of Python computes, one call a pass. It does not keep the promise
/// of LanguageModel::next_logits by itself: a row has the bits that the object gives it.
class CalledModel final : public gpu::LanguageModel {
 public:
  /// compute(ended, passes, rows): `passes` lists (own, from, tokens, new) of each row: the number
  /// of its state, that of the state to begin from or 0, the bytes of all tokens as uint32, and how
  /// many of these at the end are new. `rows` is memory for [passes, vocabulary_size] float32, good
  /// during the call.
  CalledModel(nb::object compute, std::size_t vocabulary_size, std::size_t bytes_per_token,
              bool accepts_empty_prompt)
      : compute_(std::move(compute)),
        vocabulary_size_(vocabulary_size),
        bytes_per_token_(bytes_per_token),
        accepts_empty_prompt_(accepts_empty_prompt) {}

  std::size_t vocabulary_size() const override { return vocabulary_size_; }
  std::unique_ptr<gpu::Cache> empty_cache() const override;
  std::size_t cache_bytes(std::size_t tokens) const override { return tokens * bytes_per_token_; }
  /// @throw nb::python_error what the object raises; no cache has changed then
  void next_logits(std::span<const gpu::Pass> passes, gpu::DeviceMemory<float>& rows) override;
  HeldObject& object() { return compute_; }
  bool accepts_empty_prompt() const { return accepts_empty_prompt_; }

 private:
  HeldObject compute_;
  std::size_t vocabulary_size_;
  std::size_t bytes_per_token_;
  bool accepts_empty_prompt_;
  std::shared_ptr<KeptState::Ended> ended_ = std::make_shared<KeptState::Ended>();
};

/// The text of tokens as they come: all are decoded with each, and what ends in half a character
/// waits.
std::unique_ptr<gpu::TextPieces> pieces_by_decoding(const gpu::TokenText& text);

/// The text of a model of Python's, by its methods encode(text), encode_chat(pairs, json) and
/// decode(tokens).
class CalledText final : public gpu::TokenText {
 public:
  explicit CalledText(nb::object text) : text_(std::move(text)) {}
  std::vector<gpu::TokenId> encode(std::string_view text, const std::string& where) const override;
  std::vector<gpu::TokenId> encode_chat(std::span<const gpu::ChatMessage> messages,
                                        const gpu::ChatArguments& arguments,
                                        const std::string& where) const override;
  std::string decode(std::span<const gpu::TokenId> tokens) const override;
  std::unique_ptr<gpu::TextPieces> pieces() const override { return pieces_by_decoding(*this); }
  HeldObject& object() const { return text_; }

 private:
  mutable HeldObject text_;
};

}  // namespace tempera::python
