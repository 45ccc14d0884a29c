#include <nanobind/ndarray.h>

#include <optional>

#include "gpu/device/device_system.hpp"
#include "gpu/device/missing_device.hpp"
#include "gpu/session/token_scores.hpp"
#include "python/bindings/bindings.hpp"

namespace tempera::python {
namespace {

using Numbers = nb::ndarray<nb::numpy, double>;

/// A NumPy array of these numbers, whose memory moves into it.
Numbers array(std::vector<double> numbers, std::initializer_list<std::size_t> shape) {
  auto* held = new std::vector<double>(std::move(numbers));
  const nb::capsule owner(held,
                          [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return Numbers(held->data(), shape.size(), shape.begin(), owner);
}

SharedModel open(const std::string& name_or_path, const std::optional<std::string>& arithmetic,
                 const std::optional<std::string>& device,
                 const std::optional<std::string>& rope_factors) {
  std::shared_ptr<Turns> turns = turns_of_new_model();
  const Turn turn(*turns);
  const gpu::CurrentDevice here(gpu::require_device(device.value_or(""), "device",
                                                    "leave it out: the host gives the same bits"));
  std::optional<gpu::Arithmetic> chosen;
  if (arithmetic) {
    chosen = gpu::arithmetic_named(*arithmetic);
    if (!chosen)
      throw BadInput("arithmetic", "\"" + *arithmetic + "\" is not known",
                     "leave it out, or see docs/arithmetic.md");
  }
  std::optional<gpu::RopeFactors> factors;
  if (rope_factors) {
    for (const gpu::RopeFactors one : gpu::rope_factor_sets)
      if (gpu::name_of(one) == *rope_factors) factors = one;
    if (!factors)
      throw BadInput("rope_factors", "\"" + *rope_factors + "\" is not known",
                     "give \"short\" or \"long\"");
  }
  return std::make_shared<HeldModel>(gpu::OpenedModel::open(name_or_path, {}, chosen, factors),
                                     std::move(turns));
}

nb::tuple score(const HeldModel& model, const std::vector<gpu::TokenId>& tokens,
                const std::vector<double>& powers) {
  gpu::TokenScores scores;
  {
    const nb::gil_scoped_release others;
    if (tokens.size() > 1)
      model.opened().check_prompt(std::span(tokens).first(tokens.size() - 1), 1, "tokens");
    Turn turn(model.turns());
    scores =
        gpu::score_tokens(model.opened().model(), tokens, powers, [&] { const Pause pause(turn); });
  }
  std::vector<double> log_z;
  for (const auto& row : scores.log_z) log_z.insert(log_z.end(), row.begin(), row.end());
  const std::size_t positions = scores.log_p.size();
  return nb::make_tuple(array(std::move(scores.log_p), {positions}),
                        array(std::move(log_z), {positions, powers.size()}));
}

std::vector<gpu::TokenId> encode_chat(const HeldModel& model, const Messages& messages,
                                      const std::string& arguments) {
  std::vector<gpu::ChatMessage> turns;
  for (const auto& [role, content] : messages) turns.push_back({role, content});
  return model.opened().encode_chat(turns, chat_arguments(arguments), "messages");
}

}  // namespace

gpu::PromptWish wished(const Prompt& prompt) {
  if (const auto* text = std::get_if<std::string>(&prompt)) return *text;
  if (const auto* tokens = std::get_if<std::vector<gpu::TokenId>>(&prompt)) return *tokens;
  std::vector<gpu::ChatMessage> turns;
  for (const auto& [role, content] : std::get<Messages>(prompt)) turns.push_back({role, content});
  return turns;
}

gpu::ChatArguments chat_arguments(const std::string& json) {
  return gpu::ChatArguments::parse(json, "chat_template_kwargs");
}

std::shared_ptr<Turns> turns_of_new_model() {
  if (gpu::device_system() != "CUDA") return std::make_shared<Turns>(true);
  // Never destroyed: models may be there until the process exits.
  static auto& of_all_models = *new std::shared_ptr<Turns>(std::make_shared<Turns>(false));
  return of_all_models;
}

HeldModel::~HeldModel() {
  const nb::gil_scoped_release others;
  const Turn turn(*turns_);
  opened_.reset();
}

void bind_model(nb::module_& module) {
  nb::class_<HeldModel>(module, "OpenedModel")
      .def_static("open", &open, nb::arg("name_or_path"), nb::arg("arithmetic") = nb::none(),
                  nb::arg("device") = nb::none(), nb::arg("rope_factors") = nb::none(),
                  nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("arithmetic",
                   [](const HeldModel& model) {
                     const auto arithmetic = model.opened().arithmetic();
                     return arithmetic ? std::optional(std::string(gpu::name_of(*arithmetic)))
                                       : std::nullopt;
                   })
      .def_prop_ro("terminal", [](const HeldModel& model) { return model.opened().terminal(); })
      .def_prop_ro("positions", [](const HeldModel& model) { return model.opened().positions(); })
      .def_prop_ro("turns_asked", [](const HeldModel& model) { return model.turns().asked(); })
      .def_prop_ro("remark", [](const HeldModel& model) { return model.opened().remark(); })
      .def_prop_ro("vocabulary_size",
                   [](const HeldModel& model) { return model.opened().model().vocabulary_size(); })
      .def(
          "encode",
          [](const HeldModel& model, const std::string& text) {
            return model.opened().encode(text, "text");
          },
          nb::arg("text"))
      .def("encode_chat", &encode_chat, nb::arg("messages"), nb::arg("arguments") = "{}")
      .def(
          "decode",
          [](const HeldModel& held, const std::vector<gpu::TokenId>& tokens) {
            const gpu::OpenedModel& model = held.opened();
            for (const auto token : tokens)
              if (token >= model.model().vocabulary_size())
                throw BadInput(
                    "tokens", std::to_string(token) + " is outside the vocabulary",
                    "use numbers below " + std::to_string(model.model().vocabulary_size()));
            const std::string text = model.decode(tokens);
            // A byte token alone is no UTF-8: Python shows U+FFFD for it.
            return nb::steal<nb::str>(
                PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
          },
          nb::arg("tokens"))
      .def("score", &score, nb::arg("tokens"), nb::arg("powers"));
}

}  // namespace tempera::python
