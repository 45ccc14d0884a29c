// What early rejection saves: decode tokens and time with it, as ratios to those without it, in
// turns within one run. Usage: bench_early_rejection [MODEL PROMPTS.jsonl]; worked_sum's own
// prompts otherwise.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/seconds_of.hpp"
#include "gpu/runs/draw_answers.hpp"
#include "gpu/runs/opened_model.hpp"
#include "gpu/runs/prompt_file.hpp"

using namespace tempera;
using bench::seconds_of;

namespace {

struct Answers final : gpu::DrawObserver {
  void drawn(std::size_t, const gpu::Answer& answer) override { tokens.push_back(answer.tokens); }
  std::vector<std::vector<gpu::TokenId>> tokens;
};

struct Drawn {
  std::uint64_t tokens = 0;
  double seconds = 0.0;
  std::vector<std::vector<gpu::TokenId>> answers;
};

Drawn draw(const gpu::OpenedModel& model, const std::vector<gpu::Prompt>& prompts,
           gpu::DrawSettings settings, bool early) {
  settings.early_rejection = early;
  Answers answers;
  Drawn drawn;
  drawn.seconds = seconds_of([&] {
    drawn.tokens =
        gpu::draw_answers(model.model(), prompts, gpu::parallel_power_tempering, settings, answers)
            .decode_tokens;
  });
  drawn.answers = std::move(answers.tokens);
  return drawn;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string named = count > 1 ? arguments[1] : TEMPERA_SOURCE_DIR "/toy_models/worked_sum";
  const gpu::OpenedModel model = gpu::OpenedModel::open(named);
  std::vector<gpu::Prompt> prompts;
  if (count > 2) {
    for (const gpu::PromptLine& line : gpu::read_prompt_file(arguments[2]))
      prompts.push_back({model.encode(line.text, line.where), gpu::prompt_number(line.id)});
  } else {
    for (const char* text : {"4+7+9+3?", "3+9+2+1+7+2+3+3?", "8+6+2+5+1+9?", "1+1?"})
      prompts.push_back({model.encode(text, "prompt"), gpu::prompt_number(text)});
  }
  std::printf("%-12s %8s %14s %14s %8s %8s\n", "powers", "horizon", "tokens without", "with",
              "ratio", "time");
  for (const std::vector<double>& powers :
       {std::vector{1.0, 2.0, 4.0}, std::vector{2.0, 3.0, 4.0}, std::vector{2.0, 4.0, 8.0}}) {
    std::size_t horizon = 128;
    for (const gpu::Prompt& prompt : prompts)
      horizon = model.horizon_behind(prompt.tokens.size(), horizon);
    gpu::DrawSettings settings{
        gpu::Ladder(powers),
        {gpu::make_stages(horizon, (horizon + 3) / 4, {8}, {1}, {1}), gpu::Schedule::adj, 2},
        model.terminal()};
    settings.seed = 1;
    settings.samples = 4;
    std::vector<double> ratios;
    Drawn whole, early;
    for (int turn = 0; turn < 3; ++turn) {
      whole = draw(model, prompts, settings, false);
      early = draw(model, prompts, settings, true);
      ratios.push_back(early.seconds / whole.seconds);
      if (whole.answers != early.answers) {
        std::printf("the answers differ\n");
        return EXIT_FAILURE;
      }
    }
    std::sort(ratios.begin(), ratios.end());
    std::printf("%-12s %8zu %14llu %14llu %8.3f %8.3f\n",
                (std::to_string(int(powers[0])) + "," + std::to_string(int(powers[1])) + "," +
                 std::to_string(int(powers[2])))
                    .c_str(),
                horizon, static_cast<unsigned long long>(whole.tokens),
                static_cast<unsigned long long>(early.tokens),
                static_cast<double>(early.tokens) / static_cast<double>(whole.tokens), ratios[1]);
  }
  return EXIT_SUCCESS;
}
