#include "python/bindings/served_model.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bad_input_parts.hpp"
#include "base/error.hpp"
#include "python/bindings/called_model.hpp"

namespace tempera::python {
namespace {

/// Throws a BadInput of Python's, whose line this is.
[[noreturn]] void throw_again(const std::string& line) {
  if (const auto parts = bad_input_parts(line))
    throw BadInput(std::string(parts->where), std::string(parts->fault),
                   std::string(parts->remedy));
  // A program's own may be of another form.
  const std::size_t colon = std::min(line.find(": "), line.size());
  throw BadInput(line.substr(0, colon), line.substr(std::min(colon + 2, line.size())),
                 "ask for something else");
}

/// Returns what `ask` returns.
/// @throw ModelError for what Python raises in it; BadInput for its BadInput if `is_of_request`
template <class Ask>
auto without_python_errors(bool is_of_request, const Ask& ask) {
  try {
    return ask();
  } catch (nb::python_error& raised) {
    const nb::gil_scoped_acquire python;
    const nb::object value = nb::borrow(raised.value());
    const auto text = [](nb::handle object) { return nb::cast<std::string>(nb::str(object)); };
    const bool is_bad_input =
        raised.matches(nb::module_::import_("tempera.errors").attr("BadInput"));
    if (is_bad_input && is_of_request) throw_again(text(value));
    nb::module_::import_("traceback").attr("print_exception")(value);
    throw ModelError(is_bad_input ? text(value)
                                  : "the model raised " + text(raised.type().attr("__name__")) +
                                        "; the server's log has the traceback");
  }
}

class ServedModel final : public gpu::LanguageModel {
 public:
  explicit ServedModel(CalledModel& model) : model_(model) {}
  std::size_t vocabulary_size() const override { return model_.vocabulary_size(); }
  std::unique_ptr<gpu::Cache> empty_cache() const override { return model_.empty_cache(); }
  std::size_t cache_bytes(std::size_t tokens) const override { return model_.cache_bytes(tokens); }
  void next_logits(std::span<const gpu::Pass> passes, gpu::DeviceMemory<float>& rows) override {
    without_python_errors(false, [&] { model_.next_logits(passes, rows); });
  }

 private:
  CalledModel& model_;
};

class ServedText final : public gpu::TokenText {
 public:
  explicit ServedText(const gpu::TokenText& text) : text_(text) {}
  std::vector<gpu::TokenId> encode(std::string_view text, const std::string& where) const override {
    return without_python_errors(true, [&] { return text_.encode(text, where); });
  }
  std::vector<gpu::TokenId> encode_chat(std::span<const gpu::ChatMessage> messages,
                                        const gpu::ChatArguments& arguments,
                                        const std::string& where) const override {
    return without_python_errors(true,
                                 [&] { return text_.encode_chat(messages, arguments, where); });
  }
  std::string decode(std::span<const gpu::TokenId> tokens) const override {
    return without_python_errors(false, [&] { return text_.decode(tokens); });
  }
  std::unique_ptr<gpu::TextPieces> pieces() const override { return pieces_by_decoding(*this); }

 private:
  const gpu::TokenText& text_;
};

}  // namespace

std::optional<gpu::OpenedModel> served(const HeldModel& held) {
  const gpu::OpenedModel& opened = held.opened();
  auto* const called = dynamic_cast<CalledModel*>(&opened.model());
  if (called == nullptr) return std::nullopt;
  gpu::OpenedModel::Parts parts;
  parts.model = std::make_unique<ServedModel>(*called);
  parts.text = std::make_unique<ServedText>(opened.text());
  parts.terminal = opened.terminal();
  parts.positions = opened.positions();
  parts.accepts_empty_prompt = called->accepts_empty_prompt();
  parts.foreign = opened.foreign();
  return gpu::OpenedModel(std::move(parts));
}

}  // namespace tempera::python
