// No draw of a whole run shares its address with another, and each is where the paper's algorithm
// puts it: recomputed from the run's events alone.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "tests/catch.hpp"
#include "tests/gpu/core/lottery/recording_lottery.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"

namespace tempera::gpu::addresses_test {
namespace {

constexpr std::size_t vocabulary = 7;
constexpr std::uint64_t seed = 4;
const std::vector<Context> contexts{{{3, 4}, {0}}, {{5}, {0}}, {{2, 2}, {0}}};
constexpr std::uint32_t samples = 3;

/// A table whose terminal token 0 is rare, so that records are long and some of them end.
TableModel long_table() {
  return TableModel(vocabulary, [](std::span<const TokenId> prefix) {
    Word state{{static_cast<std::uint32_t>(prefix.size()), 0, 0, 1}};
    for (const TokenId token : prefix) {
      state.limb[3] = token + 1;
      state = philox(state, 77);
    }
    std::vector<float> row{-4.5F};
    for (std::size_t v = 1; v < vocabulary; ++v)
      row.push_back(static_cast<float>(state.limb[v % 4] >> (3 * v) & 7U) / 8.0F);
    return row;
  });
}

/// 68 rounds, 136 local moves of a rung and 136 sweeps, in three stages up to 70 tokens.
Plan plan_of(Schedule schedule) {
  return {make_stages(70, 30, {20, 4, 44}, {2}, {2}), schedule, 2};
}

enum class Sampler { adj, deo, truncating };

struct Witness final : Observer {
  void round_ended(const Progress&, std::span<const Event> now) override {
    events.insert(events.end(), now.begin(), now.end());
  }
  std::vector<Event> events;
};

/// What one sampler drew for all prompts and samples on one engine, and its runs' events.
struct Recording {
  std::vector<RecordedDraw> drawn;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Event>> events;
};

Recording record(Sampler sampler, RecordingLottery::Defect defect = {}, std::uint8_t pilot = 0,
                 bool early = false) {
  TableModel model = long_table();
  RecordingLottery lottery(std::move(defect));
  const auto rows = make_device_row_lottery();
  Engine engine(model, *rows, lottery);
  const Ladder ladder = sampler == Sampler::truncating ? Ladder({2.0}) : Ladder({1.0, 1.5, 2.5});
  const Plan plan = plan_of(sampler == Sampler::deo ? Schedule::deo : Schedule::adj);
  const std::size_t count = contexts.size() * samples;
  std::vector<Chain> runs;
  runs.reserve(count);
  std::vector<Progress> progress(count);
  std::vector<Witness> witnesses(count);
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < count; ++i) {
    const auto prompt = static_cast<std::uint32_t>(i / samples);
    const auto sample = static_cast<std::uint32_t>(i % samples);
    runs.push_back({engine, contexts[prompt], ladder, seed, prompt, sample});
    runs.back().pilot = pilot;
    runs.back().options.early_rejection = early;
    tasks.push_back(sampler == Sampler::truncating
                        ? truncating_power_sampling(runs[i], plan, progress[i], &witnesses[i])
                        : parallel_power_tempering(runs[i], plan, progress[i], &witnesses[i]));
  }
  engine.run(tasks);
  Recording recording{lottery.drawn(), {}};
  for (std::size_t i = 0; i < count; ++i)
    recording.events[{runs[i].prompt_index, runs[i].sample_index}] = witnesses[i].events;
  return recording;
}

/// Seed, then prompt, sample, rung, turn, position, purpose, then outcomes.
using Address = std::array<std::uint64_t, 8>;

Address address_of(const RecordedDraw& drawn) {
  const DrawAddress& at = drawn.draw.address;
  return {drawn.draw.seed,
          at.prompt_index,
          at.sample_index,
          at.rung,
          at.turn,
          at.position,
          static_cast<std::uint64_t>(at.purpose),
          drawn.tickets};
}

/// Where Algorithm 1 (and the truncating sampler) draws, from the events of each run: a plain
/// account of the records' lengths, event by event.
std::vector<Address> specified(const Recording& recording, Sampler sampler) {
  std::vector<Address> addresses;
  for (const auto& [run, events] : recording.events) {
    std::array<std::uint64_t, 3> length{};
    std::uint64_t horizon = 0;
    for (const Event& event : events) {
      const auto at = [&, prompt = run.first, sample = run.second](
                          std::uint64_t position, Purpose purpose, std::uint64_t outcomes) {
        addresses.push_back({seed, prompt, sample, event.rung, event.turn, position,
                             static_cast<std::uint64_t>(purpose), outcomes});
      };
      std::uint64_t& own = length[event.rung];
      if (event.kind == Event::Kind::extension) {
        horizon = std::array<std::uint64_t, 3>{30, 60, 70}[event.turn];
        for (std::size_t i = 0; i < event.tokens; ++i)
          at(own + i, Purpose::extension_token, vocabulary);
        own += event.tokens;
      } else if (event.kind == Event::Kind::local_move) {
        at(0, Purpose::restart_position, sampler == Sampler::truncating ? own : horizon);
        for (std::size_t i = 0; i < event.tokens; ++i)
          at(event.restart - 1 + i, Purpose::proposal_token, vocabulary);
        if (event.proposed) at(0, Purpose::accept, 2);
        if (event.accepted) own = event.restart - 1 + event.tokens;
      } else {
        at(0, Purpose::swap, 2);
        if (event.accepted) std::swap(own, length[event.rung + 1]);
      }
    }
  }
  return addresses;
}

using Counter = std::function<Word(const DrawAddress&)>;

/// The first thing that is wrong with the addresses of a recording; empty if nothing is.
std::string fault_of(const Recording& recording, Sampler sampler,
                     const Counter& counter = counter_of) {
  std::set<Address> addresses;
  std::set<std::array<std::uint32_t, 4>> counters;
  std::vector<Address> drawn;
  for (const RecordedDraw& one : recording.drawn) {
    Address address = address_of(one);
    drawn.push_back(address);
    address.back() = 0;  // the number of outcomes is no part of the address
    if (!addresses.insert(address).second) return "an address is drawn twice";
    const Word word = counter(one.draw.address);
    if (!counters.insert({word.limb[0], word.limb[1], word.limb[2], word.limb[3]}).second)
      return "two addresses share a counter";
  }
  std::vector<Address> expected = specified(recording, sampler);
  std::sort(drawn.begin(), drawn.end());
  std::sort(expected.begin(), expected.end());
  return drawn == expected ? "" : "a draw is not where the algorithm puts it";
}

/// One planted defect for each field of an address.
struct Mask {
  std::string field;
  RecordingLottery::Defect plant;
};

const std::vector<Mask>& masks() {
  static const std::vector<Mask> all{
      {"prompt", [](DrawAddress& at) { at.prompt_index &= 1U; }},
      {"sample", [](DrawAddress& at) { at.sample_index &= 1U; }},
      {"rung", [](DrawAddress& at) { at.rung &= 1U; }},
      {"turn", [](DrawAddress& at) { at.turn &= 127U; }},
      {"position", [](DrawAddress& at) { at.position &= 63U; }},
      {"purpose",
       [](DrawAddress& at) { at.purpose = static_cast<Purpose>(std::uint16_t(at.purpose) & 3U); }}};
  return all;
}

}  // namespace

TEST_CASE("no address of a whole run is drawn twice, and each draw is where it belongs") {
  for (const Sampler sampler : {Sampler::adj, Sampler::deo, Sampler::truncating}) {
    CAPTURE(static_cast<int>(sampler));
    const Recording recording = record(sampler);
    CHECK(fault_of(recording, sampler) == "");
    // The run is as large as the fields that a mask could cut, and its records end and go on.
    std::uint32_t turn = 0, position = 0, prompt = 0, sample = 0;
    std::size_t unproposed = 0, accepted = 0;
    for (const RecordedDraw& one : recording.drawn) {
      turn = std::max(turn, one.draw.address.turn);
      position = std::max(position, one.draw.address.position);
      prompt = std::max(prompt, one.draw.address.prompt_index);
      sample = std::max(sample, one.draw.address.sample_index);
    }
    for (const auto& [run, events] : recording.events)
      for (const Event& event : events) {
        if (event.kind == Event::Kind::local_move && !event.proposed) ++unproposed;
        if (event.accepted) ++accepted;
      }
    CHECK(turn == 2 * (20 + 4 + 44) - 1);
    CHECK(position > 64);
    CHECK(prompt == contexts.size() - 1);
    CHECK(sample == samples - 1);
    CHECK(accepted > 0);
    if (sampler != Sampler::truncating) CHECK(unproposed > 0);
  }
}

TEST_CASE(
    "any field of the address masked to a few bits is found, in the program and in the packing") {
  const Recording sound = record(Sampler::adj);
  for (const Mask& mask : masks()) {
    CAPTURE(mask.field);
    CHECK(fault_of(record(Sampler::adj, mask.plant), Sampler::adj) == "an address is drawn twice");
    CHECK(fault_of(sound, Sampler::adj, [&](DrawAddress address) {
            mask.plant(address);
            return counter_of(address);
          }) == "two addresses share a counter");
  }
}

namespace {

/// How many counters two recordings share.
std::size_t shared_counters(const Recording& a, const Recording& b) {
  std::set<std::array<std::uint32_t, 4>> counters;
  for (const RecordedDraw& one : a.drawn) {
    const Word word = counter_of(one.draw.address);
    counters.insert({word.limb[0], word.limb[1], word.limb[2], word.limb[3]});
  }
  return static_cast<std::size_t>(
      std::count_if(b.drawn.begin(), b.drawn.end(), [&](const RecordedDraw& one) {
        const Word word = counter_of(one.draw.address);
        return counters.count({word.limb[0], word.limb[1], word.limb[2], word.limb[3]}) != 0;
      }));
}

}  // namespace

TEST_CASE("a pilot shares no address with a run, nor with another pilot") {
  const Recording run = record(Sampler::adj);
  const Recording first = record(Sampler::adj, {}, 1);
  const Recording last = record(Sampler::adj, {}, 255);
  CHECK(first.drawn.size() > 1000);
  CHECK(shared_counters(run, first) == 0);
  CHECK(shared_counters(run, last) == 0);
  CHECK(shared_counters(first, last) == 0);
  // A pilot whose number is lost on the way is found.
  const auto loses_pilot = [](DrawAddress& at) { at.pilot = 0; };
  CHECK(shared_counters(run, record(Sampler::adj, loses_pilot, 1)) > 1000);
  CHECK(shared_counters(first, record(
                                   Sampler::adj, [](DrawAddress& at) { at.pilot &= 1U; }, 255)) >
        1000);
}

TEST_CASE("early rejection draws at no address of its own, and at fewer") {
  const Recording whole = record(Sampler::deo);
  const Recording early = record(Sampler::deo, {}, 0, true);
  CHECK(shared_counters(whole, early) == early.drawn.size());
  CHECK(early.drawn.size() < whole.drawn.size());
  CHECK(fault_of(early, Sampler::deo) == "");
}

TEST_CASE("a purpose that two decisions share is found") {
  for (const Sampler sampler : {Sampler::adj, Sampler::deo}) {
    const auto swap_draws_at_accept = [](DrawAddress& at) {
      if (at.purpose == Purpose::swap) at.purpose = Purpose::accept;
    };
    CHECK(fault_of(record(sampler, swap_draws_at_accept), sampler) == "an address is drawn twice");
    const auto proposal_draws_at_extension = [](DrawAddress& at) {
      if (at.purpose == Purpose::proposal_token) at.purpose = Purpose::extension_token;
    };
    CHECK(fault_of(record(sampler, proposal_draws_at_extension), sampler) ==
          "an address is drawn twice");
  }
}

TEST_CASE("a draw at an address of its own that is not the algorithm's is found") {
  const auto counts_positions_from_1 = [](DrawAddress& at) {
    if (at.purpose == Purpose::proposal_token) ++at.position;
  };
  CHECK(fault_of(record(Sampler::deo, counts_positions_from_1), Sampler::deo) ==
        "a draw is not where the algorithm puts it");
  Recording recording = record(Sampler::truncating);
  CHECK(fault_of(recording, Sampler::truncating) == "");
  recording.drawn.pop_back();
  CHECK(fault_of(recording, Sampler::truncating) == "a draw is not where the algorithm puts it");
}

}  // namespace tempera::gpu::addresses_test
