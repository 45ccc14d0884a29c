#include "settings/field_json.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "base/in_quotes.hpp"

namespace tempera::gpu {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

template <class Choices>
auto names_of(const Choices& choices) {
  std::array<std::string_view, std::tuple_size_v<Choices>> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = choices[i].name;
  return names;
}

// The value of a key, by the kind of its setting.

std::size_t read(const JsonObject& object, const std::string& key, const field::Count& kind) {
  return object.whole_number(key, kind.least, kind.most);
}
std::size_t read(const JsonObject& object, const std::string& key, const field::Limit& kind) {
  const json& value = object.at(key);
  // 2^64 - 1 is equal to -1 in the library of JSON; -1.0 and 0.0 say what -1 and 0 say.
  if (value.is_number() && !value.is_number_unsigned() && (value == -1 || value == 0)) return 0;
  return object.whole_number(key, 0, kind.most);
}
double read(const JsonObject& object, const std::string& key, const field::Number& kind) {
  const std::string place = object.where() + ": key " + in_quotes(key);
  return in_range(object.finite_number(key), kind, place);
}
std::vector<std::size_t> read(const JsonObject& object, const std::string& key,
                              const field::Counts& kind) {
  const auto counts = object.whole_numbers(key, kind.least, kind.most);
  return {counts.begin(), counts.end()};
}
std::vector<std::uint64_t> read(const JsonObject& object, const std::string& key,
                                const field::Weights& kind) {
  return object.whole_numbers(key, 0, kind.most);
}
std::vector<double> read(const JsonObject& object, const std::string& key, const field::Powers&) {
  return object.positive_numbers(key);
}
double read(const JsonObject& object, const std::string& key, const field::Temperature&) {
  return object.finite_number(key);
}
bool read(const JsonObject& object, const std::string& key, const field::Truth&) {
  return object.boolean(key);
}
std::string read(const JsonObject& object, const std::string& key, const field::Name&) {
  return object.text(key);
}
std::vector<std::string> read(const JsonObject& object, const std::string& key,
                              const field::Texts&) {
  return object.texts(key);
}
template <class Value, std::size_t n>
Value read(const JsonObject& object, const std::string& key, const field::OneOf<Value, n>& kind) {
  return kind.choices[object.choice(key, names_of(kind.choices))].value;
}

template <class Kind, class Value>
ordered_json written(const Kind& kind, const Value& value) {
  if constexpr (requires { kind.choices; })
    return name_in(kind.choices, value);
  else
    return value;
}

/// A kind's name, for Python.
std::string_view name_of(const field::Count&) { return "count"; }
std::string_view name_of(const field::Limit&) { return "limit"; }
std::string_view name_of(const field::Number&) { return "number"; }
std::string_view name_of(const field::Counts&) { return "counts"; }
std::string_view name_of(const field::Weights&) { return "weights"; }
std::string_view name_of(const field::Powers&) { return "powers"; }
std::string_view name_of(const field::Temperature&) { return "number"; }
std::string_view name_of(const field::Truth&) { return "truth"; }
std::string_view name_of(const field::Name&) { return "text"; }
std::string_view name_of(const field::Texts&) { return "texts"; }
template <class Value, std::size_t n>
std::string_view name_of(const field::OneOf<Value, n>&) {
  return "choice";
}

ordered_json list_of(ordered_json item) {
  return {{"type", "array"}, {"items", std::move(item)}, {"minItems", 1}};
}
template <class Whole>
ordered_json whole_number(Whole least, std::uint64_t most) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}

template <class Kind>
ordered_json schema_of(const Kind& kind) {
  const ordered_json above_0{{"type", "number"}, {"exclusiveMinimum", 0}};
  if constexpr (std::is_same_v<Kind, field::Count>) {
    return whole_number(kind.least, kind.most);
  } else if constexpr (std::is_same_v<Kind, field::Limit>) {
    return whole_number(-1, kind.most);
  } else if constexpr (std::is_same_v<Kind, field::Number>) {
    return {{"type", "number"},
            {kind.is_above ? "exclusiveMinimum" : "minimum", kind.least},
            {"maximum", kind.most}};
  } else if constexpr (std::is_same_v<Kind, field::Counts>) {
    const ordered_json count = whole_number(kind.least, kind.most);
    return {{"oneOf", ordered_json::array({count, list_of(count)})}};
  } else if constexpr (std::is_same_v<Kind, field::Weights>) {
    return list_of(whole_number(0, kind.most));
  } else if constexpr (std::is_same_v<Kind, field::Powers>) {
    return list_of(above_0);
  } else if constexpr (std::is_same_v<Kind, field::Temperature>) {
    return above_0;
  } else if constexpr (std::is_same_v<Kind, field::Truth>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_same_v<Kind, field::Sampler>) {
    auto names = ordered_json::array();
    for (const NamedSampler& sampler : named_samplers()) names.push_back(sampler.name);
    return {{"type", "string"}, {"enum", std::move(names)}};
  } else if constexpr (std::is_same_v<Kind, field::Name>) {
    return {{"type", "string"}};
  } else if constexpr (std::is_same_v<Kind, field::Texts>) {
    return list_of({{"type", "string"}});
  } else {
    return {{"type", "string"}, {"enum", names_of(kind.choices)}};
  }
}

ordered_json json_of(const Default& open) {
  return std::visit(
      [](const auto& value) -> ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
          return nullptr;
        else
          return value;
      },
      open.value);
}

std::string_view name_of(NamedSampler::Powers powers) {
  switch (powers) {
    case NamedSampler::Powers::base:
      return "base";
    case NamedSampler::Powers::one:
      return "one";
    case NamedSampler::Powers::ladder:
      return "ladder";
  }
  return {};
}

}  // namespace

void write_config(ordered_json& config, const SamplerSettings& settings, InConfig which) {
  const SamplerSettings defaults;
  visit_fields([&](const auto& field) {
    if constexpr (std::remove_cvref_t<decltype(field)>::is_kept) {
      const auto& value = member_of(settings, field.kept);
      const bool is_default = value == member_of(defaults, field.kept);
      if (field.places.config == which && (which == InConfig::always || !is_default))
        config[std::string(field.key)] = written(field.kind, value);
    }
  });
}

std::vector<std::string_view> config_keys() {
  std::vector<std::string_view> keys;
  visit_fields([&](const auto& field) {
    if (field.places.config != InConfig::never) keys.push_back(field.key);
  });
  return keys;
}

void read_config(const JsonObject& config, SamplerSettings& settings) {
  visit_fields([&](const auto& field) {
    if constexpr (std::remove_cvref_t<decltype(field)>::is_kept) {
      const std::string key(field.key);
      const InConfig place = field.places.config;
      if (place == InConfig::always || (place == InConfig::unless_default && config.has(key)))
        member_of(settings, field.kept) = read(config, key, field.kind);
    }
  });
}

std::vector<std::string_view> body_keys(bool Places::*place) {
  std::vector<std::string_view> keys;
  visit_fields([&](const auto& field) {
    if (field.places.*place) keys.push_back(field.key);
  });
  return keys;
}

void read_body(const JsonObject& tempera, SamplerWish& wish, bool Places::*place) {
  visit_fields([&](const auto& field) {
    const std::string key(field.key);
    if (!(field.places.*place) || !tempera.has(key)) return;
    auto& member = member_of(wish, field.wish);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field.kind)>, field::Counts>) {
      if (tempera.at(key).is_number()) {
        member =
            std::vector<std::size_t>{tempera.whole_number(key, field.kind.least, field.kind.most)};
        return;
      }
    }
    member = read(tempera, key, field.kind);
  });
}

ordered_json body_schemas(bool Places::*place) {
  ordered_json schemas;
  visit_fields([&](const auto& field) {
    if (field.places.*place)
      schemas[std::string(field.key)] = {
          {"description", field.help},
          {"anyOf", ordered_json::array({schema_of(field.kind), {{"type", "null"}}})}};
  });
  return schemas;
}

ordered_json describe_settings() {
  auto settings = ordered_json::array();
  std::vector<std::pair<std::string_view, Takes>> needs;
  visit_fields([&](const auto& field) {
    needs.emplace_back(field.key, field.takes);
    settings.push_back({{"key", field.key},
                        {"flag", spelt(field.key, Spelling::flags)},
                        {"kind", name_of(field.kind)},
                        {"default", json_of(field.open)},
                        {"default_more", field.open.more},
                        {"chat", field.places.chat},
                        {"body", field.places.body},
                        {"beside", field.places.beside},
                        {"config", field.places.config != InConfig::never},
                        {"help", field.help},
                        {"schema", schema_of(field.kind)}});
    if (!field.places.alias.empty()) settings.back()["alias"] = field.places.alias;
  });
  auto samplers = ordered_json::array();
  for (const NamedSampler& sampler : named_samplers()) {
    samplers.push_back({{"name", sampler.name},
                        {"description", sampler.description},
                        {"powers", name_of(sampler.powers)},
                        {"takes", ordered_json::array()}});
    for (const auto& [key, needed] : needs)
      if (takes(sampler, needed)) samplers.back()["takes"].push_back(key);
  }
  return {{"settings", std::move(settings)}, {"samplers", std::move(samplers)}};
}

}  // namespace tempera::gpu
