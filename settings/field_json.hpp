#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "base/json_document.hpp"
#include "settings/fields.hpp"

/// @file
/// The rows of settings/fields.hpp in JSON.
namespace tempera::gpu {

/// Writes the settings that config.json has always, or those that it has unless they are at their
/// default.
void write_config(nlohmann::ordered_json& config, const SamplerSettings& settings, InConfig which);
/// The keys that write_config may write.
std::vector<std::string_view> config_keys();
/// Reads what write_config wrote.
/// @throw BadInput naming the key
void read_config(const JsonObject& config, SamplerSettings& settings);

/// The keys that are settings, of the object "tempera" in the body of an HTTP request, or of the
/// body itself (Places::beside).
std::vector<std::string_view> body_keys(bool Places::*place = &Places::body);
/// Reads them; counts of stages may be one number or a list.
/// @throw BadInput naming the key
void read_body(const JsonObject& tempera, SamplerWish& wish, bool Places::*place = &Places::body);
/// The JSON schemas of these keys. Each may also be null.
nlohmann::ordered_json body_schemas(bool Places::*place = &Places::body);

/// Describes all settings and samplers: {"settings": [{"key", "kind", "default", …}], "samplers":
/// [{"name", "description", "powers", "takes": [keys]}]}.
nlohmann::ordered_json describe_settings();

}  // namespace tempera::gpu
