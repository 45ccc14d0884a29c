#include <nanobind/ndarray.h>

#include <optional>

#include "gpu/device/device_system.hpp"
#include "gpu/device/missing_device.hpp"
#include "gpu/llm/models/hub_model.hpp"
#include "gpu/llm/models/model_digest.hpp"
#include "gpu/session/token_scores.hpp"
#include "python/bindings/bindings.hpp"
#include "python/bindings/called_model.hpp"

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
                     "leave it out, or see docs/reference/arithmetic.md");
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

/// A model that an object of Python computes; `text` is its text.
SharedModel called(nb::object compute, nb::object text, std::size_t vocabulary_size,
                   std::vector<gpu::TokenId> terminal, std::size_t positions,
                   bool accepts_empty_prompt, std::size_t bytes_per_token,
                   const std::string& arithmetic, const std::optional<std::string>& digest) {
  gpu::OpenedModel::Parts parts;
  parts.model = std::make_unique<CalledModel>(std::move(compute), vocabulary_size, bytes_per_token,
                                              accepts_empty_prompt);
  parts.text = std::make_unique<CalledText>(std::move(text));
  parts.terminal = std::move(terminal);
  parts.positions = positions;
  parts.accepts_empty_prompt = accepts_empty_prompt;
  parts.foreign = gpu::ForeignArithmetic{arithmetic, digest};
  const nb::gil_scoped_release others;
  return std::make_shared<HeldModel>(gpu::OpenedModel(std::move(parts)), turns_of_new_model());
}

/// The objects of Python that a model is computed by; none of a model that tempera computes.
std::vector<HeldObject*> objects_of(PyObject* self) {
  if (!nb::inst_ready(self)) return {};
  const HeldModel& held = *nb::inst_ptr<HeldModel>(self);
  auto* const model = dynamic_cast<CalledModel*>(&held.opened().model());
  if (model == nullptr) return {};
  return {&model->object(), &dynamic_cast<const CalledText&>(held.opened().text()).object()};
}

// Such an object may hold the model that it computes: Python collects the two together.
int visit_objects(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  for (const HeldObject* object : objects_of(self)) Py_VISIT(object->get().ptr());
  return 0;
}
int clear_objects(PyObject* self) {
  for (HeldObject* object : objects_of(self)) object->clear();
  return 0;
}
PyType_Slot model_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_objects)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear_objects)},
                             {0, nullptr}};

/// A cache of a model, for those who look at its logits.
class HeldCache {
 public:
  HeldCache(SharedModel model, std::unique_ptr<gpu::Cache> cache)
      : model_(std::move(model)), cache_(std::move(cache)) {}
  ~HeldCache() {
    if (!cache_) return;
    const nb::gil_scoped_release others;
    const LastTurn turn(model_->turns());
    cache_.reset();
  }
  HeldCache(HeldCache&&) = default;
  HeldCache(const HeldCache&) = delete;
  HeldCache& operator=(const HeldCache&) = delete;
  const SharedModel& model() const { return model_; }
  gpu::Cache& cache() const { return *cache_; }

 private:
  SharedModel model_;
  std::unique_ptr<gpu::Cache> cache_;
};

HeldCache empty_cache(const SharedModel& model) {
  const nb::gil_scoped_release others;
  const Turn turn(model->turns());
  return {model, model->opened().model().empty_cache()};
}

HeldCache fork(const HeldCache& held, std::size_t length) {
  const nb::gil_scoped_release others;
  const Turn turn(held.model()->turns());
  if (length > held.cache().length())
    throw BadInput("length", std::to_string(length) + " exceeds the cache's",
                   "give at most " + std::to_string(held.cache().length()));
  return {held.model(), held.cache().fork(length)};
}

/// The logits after each cache and its new tokens: [caches, vocabulary].
nb::ndarray<nb::numpy, float> next_logits(const SharedModel& model,
                                          const std::vector<HeldCache*>& caches,
                                          const std::vector<std::vector<gpu::TokenId>>& tokens) {
  if (caches.size() != tokens.size())
    throw BadInput("tokens", "are not one list for each cache", "give as many of each");
  const std::size_t vocabulary = model->opened().model().vocabulary_size();
  auto logits = std::make_unique<std::vector<float>>();
  {
    const nb::gil_scoped_release others;
    const Turn turn(model->turns());
    const gpu::CurrentDevice here(model->opened().model().device());
    std::vector<gpu::Pass> passes;
    for (std::size_t row = 0; row < caches.size(); ++row) {
      if (caches[row]->model() != model)
        throw BadInput("caches, number " + std::to_string(row + 1), "is of another model",
                       "give caches of this one");
      for (const gpu::TokenId token : tokens[row])
        if (token >= vocabulary)
          throw BadInput("tokens, list " + std::to_string(row + 1),
                         std::to_string(token) + " is outside the vocabulary",
                         "use numbers below " + std::to_string(vocabulary));
      passes.push_back({&caches[row]->cache(), tokens[row]});
    }
    gpu::DeviceMemory<float> rows;
    model->opened().model().next_logits(passes, rows);
    *logits = rows.download(0, passes.size() * vocabulary);
  }
  const nb::capsule owner(logits.get(),
                          [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  return {logits.release()->data(), {caches.size(), vocabulary}, owner};
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
  const LastTurn turn(*turns_);
  opened_.reset();
}

/// Returns path, commit, digest and repository of a name of the Hub; nothing for a path.
std::optional<nb::tuple> hub_snapshot(const std::string& name_or_path) {
  const auto snapshot = gpu::find_snapshot(name_or_path);
  if (!snapshot) return std::nullopt;
  return nb::make_tuple(snapshot->path.string(), snapshot->commit,
                        gpu::model_digest(snapshot->path.string()), snapshot->name.repository);
}

/// Returns the arguments of hub_download.py's download(); nothing if nothing is missing.
std::optional<nb::tuple> missing_of_hub(const std::string& name_or_path) {
  const auto name = gpu::missing_snapshot(name_or_path);
  if (!name) return std::nullopt;
  return nb::make_tuple(name->repository, name->file, name->revision, gpu::hub_cache().string());
}

void bind_model(nb::module_& module) {
  module.def("hub_snapshot", &hub_snapshot, nb::arg("name_or_path"));
  module.def("missing_of_hub", &missing_of_hub, nb::arg("name_or_path"));
  nb::class_<HeldModel>(module, "OpenedModel", nb::type_slots(model_slots))
      .def_static("open", &open, nb::arg("name_or_path"), nb::arg("arithmetic") = nb::none(),
                  nb::arg("device") = nb::none(), nb::arg("rope_factors") = nb::none(),
                  nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("arithmetic",
                   [](const HeldModel& model) {
                     if (const auto& foreign = model.opened().foreign())
                       return std::optional(foreign->name);
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
      .def("score", &score, nb::arg("tokens"), nb::arg("powers"))
      .def_static("called", &called, nb::arg("compute"), nb::arg("text"),
                  nb::arg("vocabulary_size"), nb::arg("terminal"), nb::arg("positions"),
                  nb::arg("accepts_empty_prompt"), nb::arg("bytes_per_token"),
                  nb::arg("arithmetic"), nb::arg("digest").none())
      .def_static("empty_cache", &empty_cache, nb::arg("model"))
      .def_static("next_logits", &next_logits, nb::arg("model"), nb::arg("caches"),
                  nb::arg("tokens"));
  nb::class_<HeldCache>(module, "HeldCache")
      .def_prop_ro("length", [](const HeldCache& held) { return held.cache().length(); })
      .def("fork", &fork, nb::arg("length"));
}

}  // namespace tempera::python
