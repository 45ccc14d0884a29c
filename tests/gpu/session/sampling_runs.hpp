// Runs with a run folder, for the tests of run folders and of resuming.
#pragma once

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/core/model/forwarding_model.hpp"
#include "runs/job.hpp"
#include "tests/gpu/core/sampler/small_models.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu {

inline SamplingSettings small_settings() {
  SamplingSettings settings;
  settings.model = "small";
  settings.model_path = "/small";
  settings.prompts = {{std::nullopt, {7, 8, 9}}};
  settings.terminal = {0, 1};
  settings.powers = {1.0, 3.0};
  settings.horizon = 5;
  settings.block = 3;
  settings.rounds = {2, 1};
  settings.local_moves = {1};
  settings.sweeps = {1};
  settings.output = 2;
  settings.samples = 3;
  settings.seed = 31;
  return settings;
}

/// The numbers of the tokens.
class NumbersOf final : public TokenText {
 public:
  std::vector<TokenId> encode(std::string_view, const std::string&) const override { return {}; }
  std::string decode(std::span<const TokenId> tokens) const override {
    std::string text;
    for (const TokenId token : tokens) text += std::to_string(token) + " ";
    return text;
  }
};
inline const NumbersOf numbers_of;

/// The plug was pulled.
struct Killed {};

/// A model whose run is cut short at its n-th forward pass.
class KilledModel final : public ForwardingModel {
 public:
  KilledModel(LanguageModel& model, std::size_t passes) : ForwardingModel(model), left_(passes) {}

 private:
  void before(std::span<const Pass> /*passes*/) override {
    if (left_-- == 0) throw Killed{};
  }

  std::size_t left_;
};

/// Runs to the end; the answers in the order in which they were given out.
inline std::vector<Answer> draw(LanguageModel& model, const SamplingSettings& settings,
                                RunFolder* folder = nullptr, double checkpoint_seconds = 0.0) {
  std::vector<Answer> answers;
  const JobWatcher watcher{
      [&](const SampledAnswer& sampled) { answers.push_back(sampled.answer); }, {}, {}};
  if (folder != nullptr && folder->finished())
    for_each_answer(*folder, settings, watcher.answer);
  else
    Job(model, settings, numbers_of, folder, watcher, {.checkpoint_seconds = checkpoint_seconds})
        .run();
  return answers;
}

inline std::vector<Answer> begin_run(LanguageModel& model, const SamplingSettings& settings,
                                     const std::filesystem::path& path,
                                     double checkpoint_seconds = 0.0) {
  RunFolder folder = RunFolder::create(path, settings.to_json());
  return draw(model, settings, &folder, checkpoint_seconds);
}

inline std::vector<Answer> resume_run(LanguageModel& model, const std::filesystem::path& path) {
  RunFolder folder = RunFolder::open(path);
  const auto settings = SamplingSettings::from_json(folder.config(), path / "config.json");
  return draw(model, settings, &folder);
}

/// Counts the tokens of the rounds that have ended, and of which runs they were.
struct EndedTokens final : DrawListener {
  void round_ended(RequestId run_index, std::size_t, const Progress&,
                   std::span<const Event> events) override {
    for (const Event& event : events) tokens += event.tokens;
    runs.resize(std::max(runs.size(), run_index + 1));
    runs[run_index] = true;
  }
  std::uint64_t tokens = 0;
  std::vector<bool> runs;
};

/// Nothing if the run has ended before that pass.
inline std::optional<EndedTokens> ended_before_pass(LanguageModel& model,
                                                    const SamplingSettings& settings,
                                                    std::size_t pass) {
  KilledModel killed(model, pass);
  EndedTokens ended;
  const auto numbered = settings.numbered_prompts();
  try {
    draw_answers(killed, numbered, parallel_power_tempering, settings.draw_settings(), ended);
    return std::nullopt;
  } catch (const Killed&) {
    return ended;
  }
}

/// How many tokens a process draws that takes the run up and ends it.
inline std::uint64_t tokens_of_resumed(LanguageModel& model, const std::filesystem::path& path) {
  RunFolder folder = RunFolder::open(path);
  const auto settings = SamplingSettings::from_json(folder.config(), path / "config.json");
  const std::uint64_t earlier = folder.speed().totals.decode_tokens;
  Job sampling(model, settings, numbers_of, &folder);
  sampling.run();
  return sampling.speed().at("decode_tokens").get<std::uint64_t>() - earlier;
}

/// What a run leaves, byte for byte; nothing but these files and the checkpoint is there.
struct Left {
  std::string config, events, samples, summary, prompt_reports;
  friend bool operator==(const Left&, const Left&) = default;

  explicit Left(const std::filesystem::path& path)
      : config(read_bytes(path / "config.json")),
        events(read_bytes(path / "events.jsonl")),
        samples(read_bytes(path / "samples.jsonl")),
        summary(read_bytes(path / "summary.json")) {
    if (std::filesystem::exists(path / "prompt_reports.jsonl"))
      prompt_reports = read_bytes(path / "prompt_reports.jsonl");
  }
};

}  // namespace tempera::gpu
