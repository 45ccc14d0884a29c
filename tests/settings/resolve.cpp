#include "settings/resolve.hpp"

#include <cmath>

#include "settings/defaults.hpp"
#include "settings/exact_wish.hpp"
#include "settings/presets.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu {
namespace {

const OpenedModel& worked_sum() {
  static const OpenedModel model = OpenedModel::open(TEMPERA_SOURCE_DIR "/toy_models/worked_sum");
  return model;
}

}  // namespace

TEST_CASE("a wish that says nothing is Algorithm 1 with the default of every value", "[session]") {
  const SamplerSettings settings = resolve_sampler({});
  CHECK(settings.sampler == "ppt");
  CHECK(settings.powers == std::vector<double>{1.0, 2.0, 4.0});
  CHECK(settings.horizon == 64);
  CHECK(settings.block == 16);
  CHECK(settings.rounds == std::vector<std::size_t>{4});
  CHECK(settings.local_moves == std::vector<std::size_t>{1});
  CHECK(settings.sweeps == std::vector<std::size_t>{1});
  CHECK(settings.output == 3);
  CHECK(settings.samples == 1);
  CHECK(settings.seed == 0);
  const Plan plan = settings.plan();
  CHECK(plan.stages.size() == 4);
  CHECK(plan.output == 2);
  for (const std::size_t horizon : {1, 2, 3, 4, 5, 8, 9, 1000}) {
    CHECK(defaults::block(horizon) == (horizon + 3) / 4);
    CHECK(defaults::exact_block(horizon) == (horizon + 1) / 2);
  }
}

TEST_CASE("samplers of one power, particles and temperatures have the defaults that suit them",
          "[session]") {
  const auto powers_of = [](const std::string& sampler) {
    return resolve_sampler({{.sampler = sampler}}).powers;
  };
  CHECK(powers_of("standard") == std::vector<double>{1.0});
  CHECK(powers_of("best-of-n") == std::vector<double>{1.0});
  CHECK(powers_of("low-temperature") == std::vector<double>{4.0});
  CHECK(resolve_sampler({{.sampler = "power-smc"}}).particles == 8);
  CHECK(resolve_sampler({{.sampler = "ppt"}}).particles == 0);
  CHECK(resolve_sampler({{.sampler = "uncoupled-ladder"}}).sweeps == std::vector<std::size_t>{0});
  const SamplerSettings warm = resolve_sampler({{.temperature = 0.25}});
  CHECK(warm.sampler == "low-temperature");
  CHECK(warm.powers == std::vector<double>{4.0});
  // Of a preset one power is its sharpest.
  CHECK(resolve_sampler({{.preset = "qwen3/gsm8k", .sampler = "low-temperature"}}).powers ==
        std::vector<double>{4.0});
}

TEST_CASE("what a user says overrides the preset's value, value by value", "[session]") {
  const Preset& preset = *find_preset("qwen3/humaneval");
  const SamplerSettings all = resolve_sampler({{.preset = "qwen3/humaneval"}});
  CHECK(all.powers == preset.powers);
  CHECK(all.horizon == 4096);
  CHECK(all.block == 2048);
  CHECK(all.rounds == std::vector<std::size_t>{20});
  const SamplerSettings some = resolve_sampler({{.preset = "qwen3/humaneval",
                                                 .powers = std::vector<double>{3.0},
                                                 .block = 100,
                                                 .rounds = std::vector<std::size_t>{2}}});
  CHECK(some.powers == std::vector<double>{3.0});
  CHECK(some.horizon == 4096);
  CHECK(some.block == 100);
  CHECK(some.rounds == std::vector<std::size_t>{2});
  CHECK(some.preset == "qwen3/humaneval");
  // Whichever of its names is given, the settings have one: a run may go on under the other.
  const SamplerSettings of_model = resolve_sampler({{.preset = "Qwen3-8B/humaneval"}});
  CHECK(of_model.preset == "qwen3/humaneval");
  CHECK(of_model.powers == preset.powers);
}

TEST_CASE("what has no effect, no range or no name is refused by its name", "[session]") {
  const auto refused = [](const SamplerWish& wish, std::initializer_list<std::string> keys,
                          std::initializer_list<std::string> flags) {
    require_bad_input([&] { resolve_sampler(wish); }, keys);
    require_bad_input([&] { resolve_sampler(wish, Spelling::flags); }, flags);
  };
  const std::vector<std::size_t> two{2};
  refused({{.sampler = "standard", .local_moves = two}},
          {"local_moves: has no effect on the sampler standard"},
          {"--local-moves: has no effect on the sampler standard", "--sampler"});
  refused({{.sampler = "fixed-horizon", .sweeps = two}}, {"sweeps"}, {"--sweeps"});
  refused({{.sampler = "fixed-horizon", .schedule = Schedule::deo}}, {"schedule"}, {"--schedule"});
  refused({{.particles = 3}}, {"particles"}, {"--particles"});
  refused({{.sampler = "standard", .output_rung = 1}}, {"output_rung"}, {"--output-rung"});
  const auto drawing = [](const SamplerOptions& sampler, const TokenOptions& tokens) {
    SamplerWish wish{sampler};
    wish.options = {{}, tokens};
    return wish;
  };
  refused(drawing({}, {.top_p = 0.9}), {"top_p: changes the law of each token, and ppt"},
          {"--top-p: changes", "the sampler standard or low-temperature"});
  refused(drawing({.sampler = "standard"}, {.top_p = std::nan("")}), {"top_p", "above 0"},
          {"--top-p"});
  refused(drawing({.sampler = "standard"}, {.repetition_penalty = 0.0}), {"repetition_penalty"},
          {"--repetition-penalty"});
  refused(drawing({.sampler = "standard", .horizon = 4}, {.min_tokens = 5}),
          {"min_tokens: is 5", "at most 4 tokens"}, {"min_tokens"});
  CHECK(resolve_sampler(drawing({.sampler = "standard", .horizon = 4}, {.min_tokens = 4}))
            .options.min_tokens == 4);
  CHECK(resolve_sampler(drawing({.temperature = 0.5}, {.top_k = 3})).options.top_k == 3);
  const auto moving = [](const SamplerOptions& sampler, const MoveOptions& moves) {
    SamplerWish wish{sampler};
    wish.options = {moves, {}};
    return wish;
  };
  refused(moving({.sampler = "standard"}, {.early_rejection = true}), {"early_rejection"},
          {"--early-rejection"});
  refused(moving({.sampler = "standard"}, {.prefetch = 1}), {"prefetch"}, {"--prefetch"});
  refused(moving({.rounds = std::vector<std::size_t>{1}}, {.prefetch = 1}),
          {"prefetch", "rounds 2"}, {"--prefetch", "--rounds 2"});
  refused({{.sampler = "standart"}}, {"sampler", "did you mean standard?"}, {"--sampler"});
  refused({{.preset = "qwen3/gsm8"}}, {"preset", "did you mean qwen3/gsm8k?"}, {"--preset"});
  refused({{.temperature = 0.0}}, {"temperature", "above 0"}, {"--temperature"});
  refused({{.temperature = -1.0}}, {"temperature"}, {"--temperature"});
  refused({{.sampler = "ppt", .temperature = 0.5}}, {"temperature", "ppt"}, {"--temperature"});
  refused({{.powers = std::vector<double>{2.0}, .temperature = 0.5}},
          {"temperature: says the same as powers"}, {"--temperature", "--powers"});
  refused({{.horizon = 0}}, {"horizon"}, {"horizon"});
  refused({{.block = 0}}, {"block"}, {"block"});
  SamplerWish none;
  none.samples = 0;
  refused(none, {"samples"}, {"samples"});
  refused({{.output_rung = 4}}, {"output rung"}, {"output rung"});
  refused({{.powers = std::vector<double>{2.0, 1.0}}}, {"powers"}, {"powers"});
  SamplerWish endless;
  endless.stop = {"a", ""};
  refused(endless, {"stop"}, {"--stop"});
}

TEST_CASE("an exact run that says nothing answers with its last rung", "[session]") {
  for (const std::size_t rungs : {1U, 2U, 5U}) {
    CHECK(resolve_exact({}, 8, rungs, ExactBlock::of_run).output == rungs - 1);
    CHECK(resolve_exact({.output_rung = 1}, 8, rungs, ExactBlock::of_run).output == 0);
    CHECK(resolve_exact({.output_rung = rungs}, 8, rungs, ExactBlock::of_run).output == rungs - 1);
    for (const std::size_t none : {std::size_t{0}, rungs + 1})
      require_bad_input([&] { resolve_exact({.output_rung = none}, 8, rungs, ExactBlock::of_run); },
                        {"output_rung", "1 to " + std::to_string(rungs)});
  }
}

TEST_CASE("a limit of tokens is taken from the horizon on", "[session]") {
  SamplerWish wish;
  wish.sampler = "exact-rejection";
  wish.horizon = 9;
  wish.most_tokens = 9;
  CHECK(resolve_sampler(wish).most_tokens == 9);
  wish.most_tokens = 8;
  require_bad_input([&] { resolve_sampler(wish); }, {"most tokens", "8", "9", "horizon"});
}

TEST_CASE("a request has the prompt's tokens, its number and the horizon that fits", "[session]") {
  const OpenedModel& model = worked_sum();
  const std::vector<TokenId> tokens = model.encode("3+9+2?", "prompt");
  SamplerWish wish{{.horizon = 12}};
  wish.samples = 3;
  wish.seed = 5;
  const SampleRequest text = resolve(model, {.prompt = "3+9+2?", .id = "a", .sampler = wish});
  CHECK(text.prompt == tokens);
  CHECK(text.number == prompt_number("a"));
  CHECK(text.terminal == model.terminal());
  CHECK(text.plan.stages.back().horizon == 12);
  CHECK(text.plan.stages.size() == 4);
  CHECK(text.samples == 3);
  CHECK(text.seed == 5);
  CHECK(resolve(model, {.prompt = tokens}).prompt == tokens);
  CHECK(resolve(model, {.prompt = tokens}).number == PromptNumber{});
  // A conversation is the model's own matter: this one has none.
  require_bad_input(
      [&] {
        resolve(model, {.prompt = std::vector<ChatMessage>{{"user", "3+9?"}}});
      },
      {"chat"});
  require_bad_input(
      [&] { resolve(model, {.prompt = "3+9?", .arguments = ChatArguments::of_thinking(true)}); },
      {"thinking", "conversation"});
  require_bad_input([&] { resolve(model, {.prompt = "x"}); }, {"prompt"});
  require_bad_input([&] { resolve(model, {.prompt = std::vector<TokenId>{100000}}); },
                    {"prompt", "outside the vocabulary"});
}

TEST_CASE("a horizon that nobody gave is what fits after the prompt, and a preset leaves a margin",
          "[session]") {
  const OpenedModel& model = worked_sum();
  const std::vector<TokenId> prompt(10, 4);
  const std::size_t positions = model.horizon_after(0, 0, 1 << 20, "prompt").value();
  const SamplerSettings settings = resolve_sampler({});
  const auto own = [&](std::size_t length, AskedHorizon asked) {
    return resolve_prompt(model, std::vector<TokenId>(length, 4), {}, asked, "prompt").horizon;
  };
  CHECK_FALSE(own(10, {20}).has_value());
  CHECK(own(positions - 5, {20}) == 5);
  CHECK(own(positions - 30, {20, false, 16}) == 14);
  require_bad_input([&] { own(positions - 5, {20, true}); }, {"prompt", "positions"});
  SamplerWish wish{{.preset = "qwen3/gsm8k"}};
  CHECK(asked_horizon(wish, resolve_sampler(wish)).margin == preset_margin);
  CHECK_FALSE(asked_horizon(wish, resolve_sampler(wish)).is_given);
  wish.horizon = 7;
  CHECK(asked_horizon(wish, resolve_sampler(wish)).is_given);
  CHECK(asked_horizon(wish, resolve_sampler(wish)).tokens == 7);
  CHECK(asked_horizon({}, settings).margin == 0);
}

}  // namespace tempera::gpu
