#include "python/bindings/called_model.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "base/error.hpp"

namespace tempera::python {
namespace {

/// Memory that Python may write to until the object's end.
class LentMemory {
 public:
  LentMemory(void* memory, std::size_t bytes)
      : view_(nb::steal(PyMemoryView_FromMemory(static_cast<char*>(memory),
                                                static_cast<Py_ssize_t>(bytes), PyBUF_WRITE))) {
    if (!view_.is_valid()) nb::raise_python_error();
  }
  ~LentMemory() {
    // Arrays over it have ended. If an exception holds one, the memory is left to that.
    try {
      view_.attr("release")();
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("tempera: the memory of a pass");
    }
  }
  LentMemory(const LentMemory&) = delete;
  LentMemory& operator=(const LentMemory&) = delete;
  const nb::object& view() const { return view_; }

 private:
  nb::object view_;
};

class CalledPieces final : public gpu::TextPieces {
 public:
  explicit CalledPieces(const gpu::TokenText& text) : text_(text) {}
  std::string push(gpu::TokenId token) override {
    tokens_.push_back(token);
    const std::string all = text_.decode(tokens_);
    std::size_t certain = all.size();
    while (certain >= replacement.size() &&
           all.compare(certain - replacement.size(), replacement.size(), replacement) == 0)
      certain -= replacement.size();
    return take(all, certain);
  }
  std::string last_bytes() const override { return last_; }
  std::string finish() override {
    const std::string all = text_.decode(tokens_);
    return take(all, all.size());
  }

 private:
  static constexpr std::string_view replacement = "\xEF\xBF\xBD";

  std::string take(const std::string& all, std::size_t certain) {
    last_ = certain > given_ ? all.substr(given_, certain - given_) : "";
    given_ = std::max(given_, certain);
    return last_;
  }

  const gpu::TokenText& text_;
  std::vector<gpu::TokenId> tokens_;
  std::string last_;
  std::size_t given_ = 0;  // bytes
};

}  // namespace

HeldObject::~HeldObject() {
  if (!object_.is_valid()) return;
  const nb::gil_scoped_acquire python;
  object_.reset();
}

KeptState::KeptState(std::shared_ptr<Ended> ended) : ended_(std::move(ended)) {
  const std::lock_guard alone(ended_->mutex);
  number_ = ++ended_->last;
}

KeptState::~KeptState() {
  const std::lock_guard alone(ended_->mutex);
  ended_->numbers.push_back(number_);
}

std::unique_ptr<gpu::Cache> CalledCache::fork(std::size_t length) const {
  auto fork = std::make_unique<CalledCache>();
  fork->tokens_.assign(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(length));
  fork->from_ = from_;
  return fork;
}

std::unique_ptr<gpu::Cache> CalledModel::empty_cache() const {
  return std::make_unique<CalledCache>();
}

void CalledModel::next_logits(std::span<const gpu::Pass> passes, gpu::DeviceMemory<float>& rows) {
  if (passes.empty()) return;
  rows.ensure_size(passes.size() * vocabulary_size_);
  const nb::gil_scoped_acquire python;
  nb::list asked;
  for (const gpu::Pass& pass : passes) {
    auto& cache = dynamic_cast<CalledCache&>(*pass.cache);
    if (!cache.own_) cache.own_ = std::make_shared<KeptState>(ended_);
    std::vector<gpu::TokenId> tokens = cache.tokens_;
    tokens.insert(tokens.end(), pass.tokens.begin(), pass.tokens.end());
    asked.append(nb::make_tuple(
        cache.own_->number(), cache.from_ ? cache.from_->number() : 0,
        nb::bytes(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(tokens[0])),
        pass.tokens.size()));
  }
  std::vector<std::uint64_t> ended;
  {
    const std::lock_guard alone(ended_->mutex);
    ended = std::exchange(ended_->numbers, {});
  }
  {
    const LentMemory memory(rows.data(), passes.size() * vocabulary_size_ * sizeof(float));
    compute_.get()(ended, asked, memory.view());
  }
  for (const gpu::Pass& pass : passes) {
    auto& cache = dynamic_cast<CalledCache&>(*pass.cache);
    cache.tokens_.insert(cache.tokens_.end(), pass.tokens.begin(), pass.tokens.end());
    cache.from_ = cache.own_;
  }
}

std::vector<gpu::TokenId> CalledText::encode(std::string_view text,
                                             const std::string& /*where*/) const {
  const nb::gil_scoped_acquire python;
  return nb::cast<std::vector<gpu::TokenId>>(
      text_.get().attr("encode")(nb::str(text.data(), text.size())));
}

std::vector<gpu::TokenId> CalledText::encode_chat(std::span<const gpu::ChatMessage> messages,
                                                  const gpu::ChatArguments& arguments,
                                                  const std::string& /*where*/) const {
  const nb::gil_scoped_acquire python;
  nb::list pairs;
  for (const gpu::ChatMessage& message : messages)
    pairs.append(nb::make_tuple(message.role, message.content));
  return nb::cast<std::vector<gpu::TokenId>>(
      text_.get().attr("encode_chat")(pairs, arguments.json()));
}

std::string CalledText::decode(std::span<const gpu::TokenId> tokens) const {
  const nb::gil_scoped_acquire python;
  nb::list numbers;
  for (const gpu::TokenId token : tokens) numbers.append(token);
  return nb::cast<std::string>(text_.get().attr("decode")(numbers));
}

std::unique_ptr<gpu::TextPieces> pieces_by_decoding(const gpu::TokenText& text) {
  return std::make_unique<CalledPieces>(text);
}

}  // namespace tempera::python
