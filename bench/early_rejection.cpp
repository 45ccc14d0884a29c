// What early rejection and prefetching save: decode tokens, steps of the model (the latency of a
// round) and time with each and both, as ratios to those with neither, in turns within one run.
// Usage: bench_early_rejection [MODEL PROMPTS.jsonl]; worked_sum's own prompts otherwise. The
// prompts of a file are asked one after the other, as a user's turns of conversations, so that a
// batch has room; worked_sum's together, four samples each.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/seconds_of.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/draw_answers.hpp"
#include "gpu/session/presets.hpp"
#include "gpu/session/prompt_file.hpp"

using namespace tempera;
using bench::seconds_of;

namespace {

struct Answers final : gpu::DrawListener {
  void drawn(std::size_t, const gpu::Answer& answer) override { tokens.push_back(answer.tokens); }
  std::vector<std::vector<gpu::TokenId>> tokens;
};

/// What is switched on, and what it took.
struct Form {
  const char* name;
  bool early;
  std::size_t prefetch;
  std::uint64_t tokens = 0;
  std::uint64_t passes = 0;
  std::vector<double> seconds = {};
  std::vector<std::vector<gpu::TokenId>> answers = {};
};

/// Draws the answers to groups of prompts, one group after the other.
void draw(const gpu::OpenedModel& model, const std::vector<std::vector<gpu::Prompt>>& groups,
          gpu::DrawSettings settings, Form& form) {
  settings.options.early_rejection = form.early;
  settings.options.prefetch = form.prefetch;
  Answers answers;
  form.tokens = form.passes = 0;
  form.seconds.push_back(seconds_of([&] {
    for (const std::vector<gpu::Prompt>& prompts : groups) {
      const gpu::SessionTotals totals = gpu::draw_answers(
          model.model(), prompts, gpu::parallel_power_tempering, settings, answers);
      form.tokens += totals.decode_tokens;
      form.passes += totals.batches;
    }
  }));
  form.answers = std::move(answers.tokens);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string text_of(const std::vector<double>& powers) {
  std::string text;
  for (const double power : powers) {
    char number[16];
    std::snprintf(number, sizeof number, "%s%g", text.empty() ? "" : ",", power);
    text += number;
  }
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  const bool is_named = count > 2;
  const gpu::OpenedModel model =
      gpu::OpenedModel::open(is_named ? arguments[1] : TEMPERA_SOURCE_DIR "/toy_models/worked_sum");
  std::vector<std::vector<gpu::Prompt>> groups;
  if (is_named) {
    for (const gpu::PromptLine& line : gpu::read_prompt_file(arguments[2]))
      groups.push_back(
          {{model.encode_chat(std::vector<gpu::ChatMessage>{{"user", line.text}}, {}, line.where),
            gpu::prompt_number(line.id)}});
  } else {
    groups.emplace_back();
    for (const char* text : {"4+7+9+3?", "3+9+2+1+7+2+3+3?", "8+6+2+5+1+9?", "1+1?"})
      groups[0].push_back({model.encode(text, "prompt"), gpu::prompt_number(text)});
  }
  std::size_t horizon = is_named ? 32 : 128;
  for (const auto& prompts : groups)
    for (const gpu::Prompt& prompt : prompts)
      horizon = model.horizon_after(prompt.tokens.size(), 0, horizon, "prompt").value_or(horizon);
  // A named model has the ladder and the rounds of the paper's preset for GSM8K, all presets having
  // one local move a round; four shorter stages.
  const gpu::Preset& preset = *gpu::find_preset("qwen3/gsm8k");
  const std::vector<std::vector<double>> ladders =
      is_named ? std::vector<std::vector<double>>{preset.powers}
               : std::vector<std::vector<double>>{{1, 2, 4}, {2, 3, 4}, {2, 4, 8}};
  std::printf("%-20s %7s  %-18s %8s %6s %8s %6s %6s\n", "powers", "horizon", "with", "tokens",
              "ratio", "passes", "ratio", "time");
  for (const std::vector<double>& powers : ladders) {
    gpu::DrawSettings settings{
        gpu::Ladder(powers),
        {gpu::make_stages(horizon, (horizon + 3) / 4, {preset.rounds}, {1}, {1}),
         gpu::Schedule::adj, powers.size() - 1},
        model.terminal()};
    settings.seed = 1;
    settings.samples = is_named ? 1 : 4;
    std::vector<Form> forms{{"neither", false, 0},
                            {"early rejection", true, 0},
                            {"prefetch 1", false, 1},
                            {"prefetch 3", false, 3},
                            {"both, prefetch 3", true, 3}};
    for (int turn = 0; turn < (is_named ? 1 : 3); ++turn)
      for (Form& form : forms) draw(model, groups, settings, form);
    const Form& neither = forms.front();
    for (const Form& form : forms) {
      if (form.answers != neither.answers) {
        std::printf("the answers differ\n");
        return EXIT_FAILURE;
      }
      std::printf("%-20s %7zu  %-18s %8llu %6.3f %8llu %6.3f %6.3f\n", text_of(powers).c_str(),
                  horizon, form.name, static_cast<unsigned long long>(form.tokens),
                  ratio(form.tokens, neither.tokens), static_cast<unsigned long long>(form.passes),
                  ratio(form.passes, neither.passes),
                  median(form.seconds) / median(neither.seconds));
    }
  }
  return EXIT_SUCCESS;
}
