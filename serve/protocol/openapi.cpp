#include "serve/protocol/openapi.hpp"

#include <initializer_list>
#include <nlohmann/json.hpp>

#include "serve/protocol/json_response.hpp"
#include "serve/protocol/neutral_fields.hpp"
#include "serve/protocol/public_paths.hpp"
#include "settings/field_json.hpp"

namespace tempera::serve {
namespace {

struct HolderSchema {
  const char* schema;
  Holder holder;
};
constexpr std::initializer_list<HolderSchema> holder_schemas{
    {"Completion", Holder::completion},
    {"Chat", Holder::chat},
    {"AssistantMessage", Holder::message},
    {"OtherMessage", Holder::message},
    {"StreamOptions", Holder::stream_options},
    {"NewBatch", Holder::batch},
    {"TextPart", Holder::part},
    {"Tempera", Holder::tempera},
    {"TokenizeText", Holder::tokenize_text},
    {"TokenizeChat", Holder::tokenize_chat},
    {"Detokenize", Holder::detokenize},
    {"NewResponse", Holder::response},
    {"InputMessage", Holder::input_item},
    {"InputPart", Holder::part}};

}  // namespace

HttpResponse openapi(const std::string& version) {
  using nlohmann::ordered_json;
  ordered_json document = ordered_json::parse(openapi_text());
  document["info"]["version"] = version;
  for (const std::string_view path : public_paths)
    for (auto& operation : document["paths"][std::string(path)])
      operation["security"] = ordered_json::array();
  for (const HolderSchema& each : holder_schemas) {
    auto& properties = document["components"]["schemas"][each.schema]["properties"];
    for (const NeutralField& field : neutral_fields())
      if ((field.holders & static_cast<unsigned>(each.holder)) != 0)
        properties[std::string(field.key)] = schema_of(field);
  }
  const ordered_json beside = gpu::body_schemas(&gpu::Places::beside);
  for (const char* of : {"Completion", "Chat", "NewResponse"})
    document["components"]["schemas"][of]["properties"].update(beside);
  auto& settings = document["components"]["schemas"]["Tempera"]["properties"];
  const ordered_json schemas = gpu::body_schemas();
  for (const auto& [key, schema] : schemas.items()) settings[key] = schema;
  return json_response(document);
}

}  // namespace tempera::serve
