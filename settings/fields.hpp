#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "gpu/core/lottery/tickets.hpp"
#include "gpu/session/cost.hpp"
#include "gpu/session/sample_request.hpp"
#include "settings/choices.hpp"
#include "settings/defaults.hpp"
#include "settings/named_sampler.hpp"

/// @file
/// The settings of a sampler. A setting is declared here and nowhere else: its place in SamplerWish
/// and SamplerSettings, and its row in visit_fields. From the rows come the flags of the command
/// and their help, the keys of config.json and of "tempera" in HTTP requests, the arguments of
/// Python, the OpenAPI document, the samplers that refuse the setting, docs/reference/settings.md,
/// and what `tempera eval` passes on.
namespace tempera::gpu {

/// The settings that a user gives to the sampler. What is left open takes the default of
/// settings/defaults.hpp.
struct SamplerWish : SamplerOptions {
  std::optional<RestartRange> restart_range = {};  ///< horizon
  std::optional<std::size_t> samples = {};         ///< defaults::samples
  std::optional<std::uint64_t> seed = {};          ///< defaults::seed
  std::vector<std::string> stop = {};              ///< none
  ChainOptions options = {};                       ///< what is at its default is not asked for
};

/// A sampler's settings with all defaults filled in: a request and the config.json of a run folder
/// are made from it.
struct SamplerSettings {
  std::string sampler{default_sampler};  ///< by its name, as sampler_named knows it
  std::vector<double> powers;            ///< α_1 < … < α_K
  std::size_t horizon = 0;               ///< T of prompts without one of their own
  std::size_t block = 0;                 ///< B
  std::vector<std::size_t> rounds;       ///< N_m: one number for all stages, or one for each
  std::vector<std::size_t> local_moves;  ///< n_local,m, likewise
  std::vector<std::size_t> sweeps;       ///< n_sweep,m, likewise
  Schedule schedule = Schedule::adj;
  std::vector<std::uint64_t> restart_weights;  ///< as Plan's; none: uniform
  RestartRange restart_range = RestartRange::horizon;
  std::size_t output = 0;       ///< output rung k*, from 1 as in the paper
  std::size_t particles = 0;    ///< N of a sampler of particles; else 0
  std::size_t most_tokens = 0;  ///< as Plan's; 0: any number
  std::size_t samples = 1;      ///< independent answers to each prompt
  std::uint64_t seed = 0;
  std::vector<std::string> stop;  ///< as SampleRequest::stop
  ChainOptions options;
  std::string preset;  ///< whose values those are that were left open; may be empty

  /// The schedule of Algorithm 1 at the horizon T.
  /// @throw BadInput for a sampler that is unknown or takes no such powers, particles or restarts,
  /// and for a ladder, stages, restart weights, output rung or number of samples that make no run
  Plan plan() const;
  /// The request of one prompt. Its own horizon, if it has one, is at most T (cut_at).
  /// @throw BadInput as plan, and naming `where` as cut_at
  SampleRequest request(std::vector<TokenId> prompt, PromptNumber number,
                        std::optional<std::size_t> own_horizon, std::vector<TokenId> terminal,
                        const std::string& where) const;

 protected:
  /// Checks that min_tokens are no more than the longest answer of one kind, which `what` names.
  void require_room(std::size_t longest, const std::string& what) const;

 private:
  void check_sampler() const;
};

/// The kinds of values, each with what it may be.
namespace field {

struct Count {  ///< a whole number
  std::uint64_t least = 0;
  std::uint64_t most = UINT64_MAX;
};
struct Counts {  ///< one whole number for all stages, or one for each
  std::uint64_t least = 0;
  std::uint64_t most = UINT64_MAX;
};
struct Weights {  ///< a list of whole numbers up to `most`
  std::uint64_t most = UINT64_MAX;
};
struct Limit {  ///< a whole number; -1 and 0 say none
  std::uint64_t most = UINT64_MAX;
};
struct Number {
  double least = 0.0;
  double most = 1.0;
  bool is_above = false;  ///< whether `least` itself is refused
};
struct Powers {};          ///< a list of numbers above 0
struct Temperature {};     ///< a number above 0
struct Truth {};           ///< true or false
struct Name {};            ///< a text
struct Sampler : Name {};  ///< the name of a sampler
struct Texts {};           ///< a list of texts
template <class Value, std::size_t n>
struct OneOf {
  const std::array<Choice<Value>, n>& choices;
};
template <class Value, std::size_t n>
OneOf(const std::array<Choice<Value>, n>&) -> OneOf<Value, n>;

}  // namespace field

/// The property of a sampler without which a setting has no effect on it.
enum class Takes : std::uint8_t {
  always,
  temperature,
  tokens,
  particles,
  proposals,
  moves,
  swaps,
  local_moves,
  output
};
/// Returns whether a setting has an effect on the sampler.
bool takes(const NamedSampler& sampler, Takes needed);

/// When config.json has the key.
enum class InConfig : std::uint8_t { always, unless_default, never };

/// Where a setting is spelt, besides in `tempera sample` and Python.
struct Places {
  InConfig config = InConfig::unless_default;
  bool body = true;  ///< in the object "tempera" of an HTTP request
  bool chat = true;  ///< as a flag of `tempera chat`
  /// In the body of an HTTP request itself, where other servers have it. Then not in "tempera".
  bool beside = false;
  /// `tempera serve` has it as a flag, for requests that leave it open.
  bool served = body;
  std::string_view alias = {};
};

/// The value of a setting that is left open, and what people read after it.
struct Default {
  std::variant<std::monostate, std::uint64_t, double, std::vector<double>, std::string_view> value =
      {};
  std::string more = {};
};

/// A row of the table.
/// Wish: pointer to a member of SamplerWish or of its options. Kept: the same of SamplerSettings,
/// or std::nullptr_t for a setting that becomes another one.
template <class Wish, class Kept, class Kind>
struct Field {
  std::string_view key;
  Wish wish;
  Kept kept;
  Kind kind;
  Default open;
  Takes takes;
  std::string_view help;
  Places places;

  static constexpr bool is_kept = !std::is_same_v<Kept, std::nullptr_t>;
};

/// The member of a wish or of settings that a row is about.
template <class Settings, class Value, class Owner>
auto& member_of(Settings& settings, Value Owner::*member) {
  if constexpr (std::is_base_of_v<Owner, ChainOptions>)
    return settings.options.*member;
  else
    return settings.*member;
}

/// Calls `visitor` with each row, in the order of the help and of config.json.
template <class Visitor>
void visit_fields(const Visitor& visitor) {
  using namespace field;
  const auto visit = [&visitor](std::string_view key, auto wish, auto kept, auto kind, Default open,
                                Takes needed, std::string_view help, Places places = {}) {
    visitor(Field<decltype(wish), decltype(kept), decltype(kind)>{
        key, wish, kept, std::move(kind), std::move(open), needed, help, places});
  };
  constexpr Places decided{.config = InConfig::always};
  constexpr std::uint64_t rounds = addressable_turns - 1;
  constexpr std::uint64_t rungs = addressable_rungs - 1;
  constexpr Places beside{.body = false, .beside = true};
  constexpr Places served_beside{.body = false, .beside = true, .served = true};

  visit("sampler", &SamplerWish::sampler, &SamplerSettings::sampler, Sampler{},
        {default_sampler, "; with a temperature low-temperature"}, Takes::always, "sampler");
  visit("powers", &SamplerWish::powers, &SamplerSettings::powers, Powers{},
        {std::vector<double>(defaults::powers.begin(), defaults::powers.end()),
         "; of a sampler of one power the last, of best-of-n 1"},
        Takes::always, "powers α of the rungs, strictly increasing; one power is a single chain",
        decided);
  visit("temperature", &SamplerWish::temperature, nullptr, Temperature{}, {}, Takes::temperature,
        "temperature t of tokenwise sampling: its power is 1/t. It is not the law of whole answers "
        "that powers ask for",
        {.config = InConfig::never, .body = false, .served = true});
  visit("repetition_penalty", &ChainOptions::repetition_penalty, &ChainOptions::repetition_penalty,
        Number{0.0, 10.0, true}, {1.0}, Takes::tokens,
        "the logit of a token that the prompt or the answer has is divided by this if it is above "
        "0, else multiplied",
        served_beside);
  visit("frequency_penalty", &ChainOptions::frequency_penalty, &ChainOptions::frequency_penalty,
        Number{-2.0, 2.0}, {0.0}, Takes::tokens,
        "is taken from a token's logit for each time that the answer has it", served_beside);
  visit("presence_penalty", &ChainOptions::presence_penalty, &ChainOptions::presence_penalty,
        Number{-2.0, 2.0}, {0.0}, Takes::tokens,
        "is taken from a token's logit once if the answer has it", served_beside);
  visit("min_tokens", &ChainOptions::min_tokens, &ChainOptions::min_tokens,
        Count{0, longest_horizon}, {std::uint64_t{0}}, Takes::tokens,
        "tokens that an answer has before one that ends it, unless the model allows no other",
        beside);
  visit("ignore_eos", &ChainOptions::ignore_eos, &ChainOptions::ignore_eos, Truth{}, {},
        Takes::tokens, "draw no token that ends an answer, unless the model allows no other",
        beside);
  visit("top_k", &ChainOptions::top_k, &ChainOptions::top_k, Limit{largest_vocabulary},
        {std::uint64_t{0}, ", as -1: all"}, Takes::tokens,
        "draw the likeliest tokens alone: this many, and those as likely as the last",
        served_beside);
  visit("min_p", &ChainOptions::min_p, &ChainOptions::min_p, Number{0.0, 1.0}, {0.0}, Takes::tokens,
        "draw tokens alone that have at least this share of the likeliest one's probability at the "
        "temperature",
        served_beside);
  visit("top_p", &ChainOptions::top_p, &ChainOptions::top_p, Number{0.0, 1.0, true}, {1.0},
        Takes::tokens,
        "draw the likeliest tokens alone: as few as have this probability together at the "
        "temperature, among those that top_k and min_p leave",
        served_beside);
  visit("particles", &SamplerWish::particles, &SamplerSettings::particles, Count{1, most_particles},
        {defaults::particles}, Takes::particles,
        "N of power-smc, which looks at the weights after each block, and of best-of-n");
  visit("most_tokens", &SamplerWish::most_tokens, &SamplerSettings::most_tokens,
        Count{1, largest_token_limit}, {std::string_view("any number")}, Takes::proposals,
        "the most tokens that the proposals of one answer of exact-rejection may take, after which "
        "it is \"not drawn\"");
  visit("horizon", &SamplerWish::horizon, &SamplerSettings::horizon, Count{1, longest_horizon},
        {defaults::horizon, ", and after a prompt that leaves less room, that"}, Takes::always,
        "horizon T: the longest answer, in tokens",
        {.config = InConfig::always, .body = false, .served = true, .alias = "max_tokens"});
  visit("block", &SamplerWish::block, &SamplerSettings::block, Count{1, UINT32_MAX},
        {std::string_view("T/4")}, Takes::always, "block width B of the stages", decided);
  visit("rounds", &SamplerWish::rounds, &SamplerSettings::rounds, Counts{0, rounds},
        {defaults::rounds}, Takes::moves,
        "refinement rounds N_m: one number, or one for each stage", decided);
  visit("local_moves", &SamplerWish::local_moves, &SamplerSettings::local_moves, Counts{0, rounds},
        {defaults::local_moves}, Takes::moves,
        "local moves of each rung in a round, n_local: one number, or one for each stage", decided);
  visit("sweeps", &SamplerWish::sweeps, &SamplerSettings::sweeps, Counts{0, rounds},
        {defaults::sweeps}, Takes::swaps,
        "sweeps in a round, n_sweep: one number, or one for each stage", decided);
  visit("schedule", &SamplerWish::schedule, &SamplerSettings::schedule, OneOf{schedules},
        {name_of(Schedule::adj)}, Takes::swaps,
        "adj: ordered sweeps over all edges; deo: even and odd edges in turn", decided);
  visit("restart_weights", &SamplerWish::restart_weights, &SamplerSettings::restart_weights,
        Weights{largest_restart_weight},
        {std::string_view("all positions alike"), "; `tempera ladder` suggests some"},
        Takes::local_moves,
        "weights of the restart positions in as many equal parts of 1..T_m, whole numbers, the "
        "first above 0");
  visit("restart_range", &SamplerWish::restart_range, &SamplerSettings::restart_range,
        OneOf{restart_ranges}, {name_of(RestartRange::horizon)}, Takes::local_moves,
        "restart positions: horizon: all of 1..T, those after an early end propose nothing; "
        "record: only positions of the record, and the acceptance ratio corrects for it");
  visit("output_rung", &SamplerWish::output_rung, &SamplerSettings::output, Count{1, rungs},
        {std::string_view("the last")}, Takes::output, "rung k* whose record is the answer, from 1",
        decided);
  visit("samples", &SamplerWish::samples, &SamplerSettings::samples, Count{1, addressable_samples},
        {defaults::samples}, Takes::always, "independent answers to each prompt",
        {.config = InConfig::always, .body = false, .chat = false});
  visit("seed", &SamplerWish::seed, &SamplerSettings::seed, Count{}, {defaults::seed},
        Takes::always, "the same seed gives the same answers, from 0 to 2^64 - 1",
        {.config = InConfig::always, .body = false});
  visit("early_rejection", &ChainOptions::early_rejection, &ChainOptions::early_rejection, Truth{},
        {}, Takes::local_moves,
        "end a proposal as soon as its rejection is certain: no answer, record or acceptance "
        "changes, only the tokens drawn");
  visit("confidence", &ChainOptions::confidence, &ChainOptions::confidence, Truth{}, {},
        Takes::always,
        "measure after each round the confidence of each rung's record (mean negative entropy of "
        "its tokens), for events.jsonl and the summary; it takes time and changes no answer",
        {.body = false, .chat = false});
  visit("auditable", &ChainOptions::auditable, &ChainOptions::auditable, Truth{}, {}, Takes::always,
        "keep in events.jsonl the tokens of all proposals, so that `tempera audit` need not draw "
        "them again; it changes no answer",
        {.body = false, .chat = false});
  visit("prefetch", &ChainOptions::prefetch, &ChainOptions::prefetch, Count{0, most_prefetch},
        {std::uint64_t{0}}, Takes::local_moves,
        "local moves of each rung that may begin ahead of the one under way, those of the stage's "
        "later rounds too. They begin as if no move or swap before them changed the record. Fewer "
        "steps if a batch has rows left; wasted tokens if a record did. It changes no answer and "
        "no event",
        {.config = InConfig::never});
  visit("stop", &SamplerWish::stop, &SamplerSettings::stop, Texts{}, {}, Takes::always,
        "the answer ends before this text; may be given several times. The sampler's law stays "
        "that of whole records, and the record that it has drawn is cut there",
        {.body = false});
  visit("preset", &SamplerWish::preset, &SamplerSettings::preset, Name{}, {}, Takes::always,
        "the paper's values for powers, horizon, block and rounds (`tempera presets` lists them); "
        "a value that is given overrides the preset's");
}

/// Returns whether a wish says anything of a row: what is at its default says nothing.
template <class Row>
bool says(const SamplerWish& wish, const Row& row) {
  static const SamplerWish open;
  return member_of(wish, row.wish) != member_of(open, row.wish);
}

/// The value, if it is in the range of its setting.
/// @throw BadInput naming `where`
double in_range(double value, const field::Number& kind, const std::string& where);

/// Puts what a wish says in place of what the settings hold.
void take_said(const SamplerWish& wish, SamplerSettings& settings);

/// How error messages name what a user said.
enum class Spelling : std::uint8_t {
  keys,   ///< "local_moves"
  flags,  ///< "--local-moves"
};
/// "local_moves" as the spelling has it.
std::string spelt(std::string_view key, Spelling spelling);

/// Refuses what a user said of a sampler that does not take it.
/// @throw BadInput for the first such value
void refuse_without_effect(const SamplerWish& wish, const NamedSampler& sampler, Spelling spelling);

}  // namespace tempera::gpu
