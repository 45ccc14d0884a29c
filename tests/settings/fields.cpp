#include "settings/fields.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "settings/field_json.hpp"
#include "settings/resolve.hpp"
#include "tests/bad_input.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu::fields_test {
namespace {

using nlohmann::json;
using Names = std::set<std::string>;

/// A value of each setting that is not its default: who adds a setting adds one.
const std::map<std::string, json>& values() {
  static const auto all = json::parse(R"({
    "sampler": "fixed-horizon", "powers": [2, 3.5], "temperature": 0.5, "particles": 3, "most_tokens": 12,
    "horizon": 7, "block": 2, "rounds": [3, 1], "local_moves": [2], "sweeps": [5],
    "schedule": "deo", "restart_weights": [4, 0, 1], "restart_range": "record", "output_rung": 2,
    "samples": 9, "seed": 18446744073709551615, "early_rejection": true, "confidence": true,
    "auditable": true, "prefetch": 1, "stop": ["a", "b"], "preset": "qwen3/gsm8k",
    "repetition_penalty": 1.25, "frequency_penalty": -0.5, "presence_penalty": 0.75, "min_tokens": 3, "ignore_eos": true,
    "top_k": 5, "min_p": 0.25, "top_p": 0.5})")
                              .get<std::map<std::string, json>>();
  return all;
}

/// The values that change nothing of the settings of tokenwise samplers.
const std::map<std::string, std::vector<std::string>> neutral_values{
    {"repetition_penalty", {"1", "1.0"}},
    {"frequency_penalty", {"0", "-0.0"}},
    {"presence_penalty", {"0", "0.0"}},
    {"min_tokens", {"0"}},
    {"ignore_eos", {"false"}},
    {"top_k", {"0", "0.0", "-1", "-1.0"}},
    {"min_p", {"0", "0.0"}},
    {"top_p", {"1", "1.0"}}};

/// The samplers on which a setting has no effect, written by hand from docs/reference/samplers.md.
Names without_effect(const std::string& key) {
  const Names no_moves{"standard",   "low-temperature", "power-smc",
                       "ramped-smc", "best-of-n",       "exact-rejection"};
  if (key == "temperature") return {};
  if (neutral_values.contains(key)) {
    Names all;
    for (const NamedSampler& sampler : named_samplers()) all.emplace(sampler.name);
    all.erase("standard");
    all.erase("low-temperature");
    return all;
  }
  if (key == "rounds" || key == "local_moves") return no_moves;
  Names no_local_moves = no_moves;
  no_local_moves.insert("power-sampling");
  for (const char* of_local_moves :
       {"restart_weights", "restart_range", "early_rejection", "prefetch"})
    if (key == of_local_moves) return no_local_moves;
  Names no_output = no_local_moves;
  no_output.insert({"fixed-horizon", "uncoupled-ladder-by-likelihood"});
  if (key == "output_rung") return no_output;
  if (key == "sweeps" || key == "schedule") {
    no_output.insert("uncoupled-ladder");
    return no_output;
  }
  if (key == "particles")
    return {"ppt",
            "standard",
            "low-temperature",
            "power-sampling",
            "fixed-horizon",
            "uncoupled-ladder",
            "uncoupled-ladder-by-likelihood",
            "exact-rejection"};
  if (key == "most_tokens") {
    Names all;
    for (const NamedSampler& sampler : named_samplers()) all.emplace(sampler.name);
    all.erase("exact-rejection");
    return all;
  }
  return {};
}

std::string read_whole(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("every setting has a value in these tests, and no key twice", "[fields]") {
  Names keys;
  visit_fields([&](const auto& field) { CHECK(keys.insert(std::string(field.key)).second); });
  Names tested;
  for (const auto& [key, value] : values()) tested.insert(key);
  CHECK(keys == tested);
}

TEST_CASE("a key of a body says its setting and no other", "[fields]") {
  for (const auto place : {&Places::body, &Places::beside})
    for (const std::string_view key : body_keys(place)) {
      const json body{{std::string(key), values().at(std::string(key))}};
      CAPTURE(body.dump());
      SamplerWish wish;
      read_body(JsonObject(body, "body"), wish, place);
      visit_fields([&](const auto& field) { CHECK(says(wish, field) == (field.key == key)); });
    }
  CHECK(body_keys(&Places::beside).size() == neutral_values.size());
  SamplerWish wish;
  const json body = json::parse(R"({"rounds": 3, "sweeps": null})");
  read_body(JsonObject(body, "body"), wish);
  CHECK(wish.rounds == std::vector<std::size_t>{3});
  CHECK_FALSE(wish.sweeps);
  const auto refused = [](const std::string& key, const std::string& value, std::string what) {
    const json wrong = json::parse("{\"" + key + "\": " + value + "}");
    SamplerWish unused;
    require_bad_input([&] { read_body(JsonObject(wrong, "body"), unused); },
                      {"body", "\"" + key + "\"", std::move(what)});
  };
  refused("schedule", R"("both")", "not adj or deo");
  refused("restart_range", R"("all")", "not horizon or record");
  refused("particles", "0", "65536");
  refused("output_rung", "65536", "65535");
  refused("prefetch", "4097", "4096");
  refused("rounds", "16777216", "16777215");
  refused("rounds", "[1, 16777216]", "16777215");
  refused("early_rejection", "1", "true or false");
}

TEST_CASE("values of the body's own settings have their ranges, and some change nothing",
          "[fields]") {
  const auto read_value = [](const std::string& key, const std::string& value) {
    const json body = json::parse("{\"" + key + "\": " + value + "}");
    SamplerWish wish;
    read_body(JsonObject(body, "body"), wish, &Places::beside);
    return wish;
  };
  for (const auto& [key, list] : neutral_values)
    for (const std::string& value : list) {
      CAPTURE(key, value);
      const SamplerWish wish = read_value(key, value);
      visit_fields([&](const auto& field) { CHECK_FALSE(says(wish, field)); });
    }
  const std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>>
      taken_and_refused{
          {"top_p", {{"1e-9", "0.999"}, {"0", "-0.1", "1.000001", "true", "\"1\""}}},
          {"min_p", {{"1", "1e-9"}, {"-1e-9", "1.01", "[]"}}},
          {"top_k", {{"1", "262144"}, {"-2", "262145", "1.5", "18446744073709551615"}}},
          {"repetition_penalty", {{"10", "0.001"}, {"0", "10.1", "-1"}}},
          {"frequency_penalty", {{"-2", "2"}, {"-2.01", "2.01"}}},
          {"presence_penalty", {{"-2", "2"}, {"-2.01", "2.01"}}},
          {"min_tokens", {{"1"}, {"-1", "0.5"}}},
          {"ignore_eos", {{"true"}, {"1", "\"true\""}}}};
  CHECK(taken_and_refused.size() == neutral_values.size());
  for (const auto& [key, both] : taken_and_refused) {
    for (const std::string& value : both.first) {
      CAPTURE(key, value);
      CHECK_NOTHROW(read_value(key, value));
    }
    for (const std::string& value : both.second) {
      CAPTURE(key, value);
      require_bad_input([&, name = key] { read_value(name, value); }, {"body", "\"" + key + "\""});
    }
  }
}

TEST_CASE("config.json has each setting under its key, in one order, and gives it back",
          "[fields]") {
  const std::vector<std::string> always{"powers",      "horizon", "block",    "rounds",
                                        "local_moves", "sweeps",  "schedule", "output_rung",
                                        "samples",     "seed"};
  const std::vector<std::string> unless_default{"sampler",
                                                "repetition_penalty",
                                                "frequency_penalty",
                                                "presence_penalty",
                                                "min_tokens",
                                                "ignore_eos",
                                                "top_k",
                                                "min_p",
                                                "top_p",
                                                "particles",
                                                "most_tokens",
                                                "restart_weights",
                                                "restart_range",
                                                "early_rejection",
                                                "confidence",
                                                "auditable",
                                                "stop",
                                                "preset"};
  json config;
  for (const auto& [key, value] : values())
    if (key != "temperature" && key != "prefetch") config[key] = value;
  SamplerSettings settings;
  read_config(JsonObject(config, "config.json"), settings);
  CHECK(settings.rounds == std::vector<std::size_t>{3, 1});
  CHECK(settings.schedule == Schedule::deo);
  CHECK(settings.seed == UINT64_MAX);
  CHECK(settings.output == 2);
  CHECK(settings.options.confidence);
  CHECK(settings.options.auditable);
  const auto keys_of = [](const nlohmann::ordered_json& written) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : written.items()) keys.push_back(key);
    return keys;
  };
  nlohmann::ordered_json written;
  write_config(written, settings, InConfig::always);
  CHECK(keys_of(written) == always);
  nlohmann::ordered_json more;
  write_config(more, settings, InConfig::unless_default);
  CHECK(keys_of(more) == unless_default);
  written.update(more);
  CHECK(json(written) == config);
  CHECK(config_keys().size() == always.size() + unless_default.size());
  nlohmann::ordered_json none;
  write_config(none, SamplerSettings(), InConfig::unless_default);
  CHECK(none.empty());
  config["rounds"] = 3U;
  require_bad_input([&] { read_config(JsonObject(config, "config.json"), settings); },
                    {"config.json", "\"rounds\""});
}

TEST_CASE("a sampler refuses the settings that have no effect on it, and no others", "[fields]") {
  for (const NamedSampler& sampler : named_samplers())
    for (const auto& [name, value] : values()) {
      CAPTURE(std::string(sampler.name), name);
      SamplerWish wish;
      const json body{{name, value}};
      const bool is_beside = neutral_values.contains(name);
      read_body(JsonObject(body, "body"), wish, is_beside ? &Places::beside : &Places::body);
      const auto check = [&] { refuse_without_effect(wish, sampler, Spelling::flags); };
      if (without_effect(name).count(std::string(sampler.name)) == 0)
        CHECK_NOTHROW(check());
      else
        require_bad_input(
            check, {spelt(name, Spelling::flags),
                    is_beside ? "draws whole answers by a power" : "has no effect on the sampler",
                    std::string(sampler.name)});
    }
}

TEST_CASE("what is said is in the settings", "[fields]") {
  SamplerWish wish{{.sampler = "ppt",
                    .powers = std::vector<double>{1.0, 2.0},
                    .horizon = 12,
                    .block = 5,
                    .rounds = std::vector<std::size_t>{3, 2, 1},
                    .local_moves = std::vector<std::size_t>{2},
                    .sweeps = std::vector<std::size_t>{4},
                    .schedule = Schedule::deo,
                    .restart_weights = std::vector<std::uint64_t>{2, 1},
                    .output_rung = 1}};
  wish.restart_range = RestartRange::record;
  wish.samples = 3;
  wish.seed = 7;
  wish.stop = {"."};
  wish.options.early_rejection = true;
  wish.options.prefetch = 2;
  const SamplerSettings settings = resolve_sampler(wish);
  CHECK(settings.powers == std::vector<double>{1.0, 2.0});
  CHECK(settings.horizon == 12);
  CHECK(settings.block == 5);
  CHECK(settings.rounds == std::vector<std::size_t>{3, 2, 1});
  CHECK(settings.local_moves == std::vector<std::size_t>{2});
  CHECK(settings.sweeps == std::vector<std::size_t>{4});
  CHECK(settings.schedule == Schedule::deo);
  CHECK(settings.restart_weights == std::vector<std::uint64_t>{2, 1});
  CHECK(settings.restart_range == RestartRange::record);
  CHECK(settings.output == 1);
  CHECK(settings.samples == 3);
  CHECK(settings.seed == 7);
  CHECK(settings.stop == std::vector<std::string>{"."});
  CHECK(settings.options.early_rejection);
  CHECK(settings.options.prefetch == 2);
}

// A setting is spelt in its row alone: what reads and writes it goes by the rows. These names mean
// nothing else in the folders below, so that a second list of settings is found by them.
TEST_CASE("a setting is spelt in its row and nowhere else", "[fields]") {
  const std::filesystem::path tree = TEMPERA_SOURCE_DIR;
  std::map<std::string, Names> files;
  for (const char* folder : {"settings", "serve", "runs", "gpu", "api"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree / folder)) {
      const std::string name = entry.path().extension().string();
      if (name != ".cpp" && name != ".hpp" && entry.path().filename() != "openapi.json") continue;
      const std::string text = read_whole(entry.path());
      for (const char* key : {"early_rejection", "restart_weights", "restart_range"})
        for (const std::string& spelling : {std::string(key), spelt(key, Spelling::flags)})
          if (text.find('"' + spelling + '"') != std::string::npos)
            files[key].insert(std::filesystem::relative(entry.path(), tree).string());
    }
  const std::string row = "settings/fields.hpp";
  CHECK(files["early_rejection"] == Names{row});
  // The figures of an answer name what it used.
  const std::string figures = "serve/sessions/generation_body.cpp";
  CHECK(files["restart_weights"] == Names{row, figures});
  CHECK(files["restart_range"] == Names{row, figures});
}

}  // namespace tempera::gpu::fields_test
