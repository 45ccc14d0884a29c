#include "serve/protocol/served_samplers.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "settings/field_json.hpp"
#include "settings/resolve.hpp"

namespace tempera::serve {
namespace {

bool is_sampler(std::string_view name) {
  const auto named = gpu::named_samplers();
  return std::any_of(named.begin(), named.end(),
                     [&](const gpu::NamedSampler& sampler) { return sampler.name == name; });
}

/// True if a setting is of tokenwise sampling alone.
bool is_tokenwise(gpu::Takes needed) {
  return needed == gpu::Takes::tokens || needed == gpu::Takes::temperature;
}

/// The settings of tokenwise sampling, whose temperature is 1 if they have none.
gpu::SamplerWish with_temperature(gpu::SamplerWish wish) {
  wish.temperature = wish.temperature.value_or(1.0);
  return wish;
}

}  // namespace

AskedModel asked_model(std::string_view name) {
  const auto colon = name.rfind(':');
  if (colon == std::string_view::npos || !is_sampler(name.substr(colon + 1)))
    return {std::string(name), ""};
  return {std::string(name.substr(0, colon)), std::string(name.substr(colon + 1))};
}

ServedSamplers ServedSamplers::from_wish(gpu::SamplerWish wish, std::size_t most_horizon) {
  ServedSamplers samplers;
  samplers.default_sampler = std::exchange(wish.sampler, std::nullopt).value_or("");
  samplers.settings = std::move(wish);
  samplers.check(most_horizon);
  return samplers;
}

gpu::SamplerWish ServedSamplers::tokenwise() const {
  gpu::SamplerWish wish;
  gpu::visit_fields([&](const auto& field) {
    if (is_tokenwise(field.takes))
      gpu::member_of(wish, field.wish) = gpu::member_of(settings, field.wish);
  });
  return wish;
}

gpu::SamplerWish ServedSamplers::beginning(std::string_view sampler) const {
  const gpu::NamedSampler& named = gpu::sampler_named(sampler, "sampler");
  gpu::SamplerWish wish = settings;
  const gpu::SamplerWish open;
  gpu::visit_fields([&](const auto& field) {
    if (!gpu::takes(named, field.takes))
      gpu::member_of(wish, field.wish) = gpu::member_of(open, field.wish);
  });
  wish.sampler = std::string(sampler);
  if (named.powers == gpu::NamedSampler::Powers::base || wish.temperature)
    wish.powers = open.powers;
  if (named.powers == gpu::NamedSampler::Powers::one && wish.powers && !wish.powers->empty())
    wish.powers = {{wish.powers->back()}};
  return wish;
}

void require_few_powers(std::size_t powers, const std::string& where) {
  if (powers > most_powers)
    throw BadInput(where,
                   std::to_string(powers) + " are given, and each token is scored at every one",
                   "give at most " + std::to_string(most_powers));
}

void ServedSamplers::check(std::size_t most_horizon) const {
  const std::string sampler =
      default_sampler.empty() ? std::string(gpu::default_sampler) : default_sampler;
  gpu::SamplerWish wish = settings;
  if (default_sampler.empty()) {
    // Requests are then tokenwise, and the other settings are for those that name a sampler.
    gpu::resolve_sampler(with_temperature(tokenwise()), gpu::Spelling::flags);
    const gpu::SamplerWish open;
    gpu::visit_fields([&](const auto& field) {
      if (is_tokenwise(field.takes))
        gpu::member_of(wish, field.wish) = gpu::member_of(open, field.wish);
    });
  }
  gpu::refuse_without_effect(wish, gpu::sampler_named(sampler, "--default-sampler"),
                             gpu::Spelling::flags);
  wish.sampler = sampler;
  const gpu::SamplerSettings resolved = gpu::resolve_sampler(wish, gpu::Spelling::flags);
  require_few_powers(resolved.powers.size(), "--powers");
  if (resolved.horizon > most_horizon)
    throw BadInput("--horizon",
                   std::to_string(resolved.horizon) + " is more than a request may ask for",
                   "give at most " + std::to_string(most_horizon));
}

std::vector<std::string> ServedSamplers::names() const {
  std::vector<std::string> names;
  for (const gpu::NamedSampler& named : gpu::named_samplers()) try {
      gpu::resolve_sampler(beginning(named.name)).plan();
      names.emplace_back(named.name);
    } catch (const BadInput&) {
      // The settings are for another sampler: a request for this one has to give its own.
    }
  return names;
}

std::string ServedSamplers::text() const {
  bool says = !default_sampler.empty();
  gpu::visit_fields([&](const auto& field) { says = says || gpu::says(settings, field); });
  if (!says) return "";
  nlohmann::ordered_json all{{"default", default_sampler}};
  const gpu::SamplerSettings resolved = gpu::resolve_sampler(
      beginning(default_sampler.empty() ? gpu::default_sampler : default_sampler));
  gpu::write_config(all, resolved, gpu::InConfig::always);
  gpu::write_config(all, resolved, gpu::InConfig::unless_default);
  const gpu::SamplerWish plain = tokenwise();
  bool says_tokenwise = false;
  gpu::visit_fields([&](const auto& field) { says_tokenwise |= gpu::says(plain, field); });
  if (says_tokenwise) {
    const gpu::SamplerSettings rules = gpu::resolve_sampler(with_temperature(plain));
    for (const auto which : {gpu::InConfig::always, gpu::InConfig::unless_default})
      gpu::write_config(all["tokenwise"], rules, which);
  }
  return all.dump();
}

}  // namespace tempera::serve
