#include "tempera/model.hpp"

#include "api/sampling/model_parts.hpp"
#include "gpu/device/device_system.hpp"

namespace tempera {
namespace {

std::optional<gpu::Arithmetic> arithmetic_of(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  if (const auto known = gpu::arithmetic_named(*name)) return known;
  std::string list;
  for (const auto each : gpu::arithmetics)
    list += (list.empty() ? "" : ", ") + std::string(gpu::name_of(each));
  throw BadInput("arithmetic", "\"" + *name + "\" is not known", "give one of " + list);
}

std::optional<gpu::RopeFactors> rope_factors_of(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  for (const auto each : gpu::rope_factor_sets)
    if (gpu::name_of(each) == *name) return each;
  throw BadInput("rope_factors", "\"" + *name + "\" is not known", "give short or long");
}

}  // namespace

const std::string& Model::name() const { return parts_->name; }
std::string Model::arithmetic() const {
  const auto arithmetic = parts_->opened.arithmetic();
  return arithmetic ? std::string(gpu::name_of(*arithmetic)) : std::string();
}
std::size_t Model::vocabulary_size() const { return parts_->opened.model().vocabulary_size(); }
std::size_t Model::positions() const { return parts_->opened.positions(); }
const std::vector<TokenId>& Model::terminal() const { return parts_->opened.terminal(); }

std::vector<TokenId> Model::encode(const std::string& text) const {
  return parts_->opened.encode(text, "text");
}
std::vector<TokenId> Model::encode(std::span<const Message> conversation) const {
  std::vector<gpu::ChatMessage> messages;
  for (const Message& message : conversation) messages.push_back({message.role, message.content});
  return parts_->opened.encode_chat(messages, gpu::ChatArguments(), "conversation");
}
std::string Model::decode(std::span<const TokenId> tokens) const {
  return parts_->opened.decode(tokens);
}

Model open_model(const std::string& name_or_path, const ModelOptions& options) {
  const gpu::CurrentDevice here(gpu::require_device(options.device.value_or(""), "device"));
  return Model(std::make_shared<const Model::Parts>(Model::Parts{
      name_or_path, gpu::OpenedModel::open(name_or_path, {}, arithmetic_of(options.arithmetic),
                                           rope_factors_of(options.rope_factors))}));
}

}  // namespace tempera
