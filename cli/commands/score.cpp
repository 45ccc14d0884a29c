#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands/command.hpp"
#include "cli/commands/open_model.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/option_values.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/session/token_scores.hpp"

namespace tempera::cli {
namespace {

constexpr const char* score_examples = R"(Examples:
  tempera score --model toy_models/worked_sum --text '4+7?' --powers 1,2,4
  tempera score --model toy_models/worked_sum --tokens 4,11,10,12 --json
  tempera score --model toy_models/four_state.json --text 'a a e')";

struct ScoreOptions {
  bool download = false;
  std::string model;
  std::vector<gpu::TokenId> tokens;
  std::string text;
  std::string device;
  std::vector<double> powers{1.0};
  std::optional<gpu::Arithmetic> arithmetic;
  std::optional<gpu::RopeFactors> rope_factors;
  bool json = false;
};

/// Four powers fill a line beside token, log p0 and text; more go into tables of their own.
void print(const gpu::TokenScores& scores, const gpu::OpenedModel& model,
           const ScoreOptions& options) {
  constexpr std::size_t powers_in_line = 4;
  const std::size_t powers = options.powers.size();
  for (std::size_t first = 0; first < powers; first += powers_in_line) {
    const std::size_t end = std::min(powers, first + powers_in_line);
    std::printf("%s%10s %12s", first == 0 ? "" : "\n", "token", "log p0");
    for (std::size_t k = first; k < end; ++k)
      std::printf(" %15s", ("log z_" + decimal_of(options.powers[k])).c_str());
    std::printf("   text\n");
    const std::size_t text_columns = table_columns - 23 - 16 * (end - first) - 3;
    for (std::size_t t = 0; t < scores.log_p.size(); ++t) {
      const gpu::TokenId token = options.tokens[t + 1];
      std::printf("%10u %12.6f", token, scores.log_p[t]);
      for (std::size_t k = first; k < end; ++k) std::printf(" %15.6f", scores.log_z[t][k]);
      std::printf("   %s\n", fitted(model.decode(std::span(&token, 1)), text_columns).c_str());
    }
  }
  double sum = 0.0;
  for (const double log_p : scores.log_p) sum += log_p;
  std::printf("%10s %12.6f\n", "sum", sum);
}

void run_score(ScoreOptions options) {
  const gpu::CurrentDevice here(gpu::require_device(options.device));
  obtain_if_asked(options.download, options.model);
  const gpu::OpenedModel model =
      open_model(options.model, options.arithmetic, options.rope_factors);
  if (!options.text.empty()) options.tokens = model.encode(options.text, "--text");
  const std::span<const gpu::TokenId> scored = options.tokens;
  if (scored.size() > 1)
    model.check_prompt(scored.first(scored.size() - 1), 1,
                       options.text.empty() ? "--tokens" : "--text");
  const gpu::TokenScores scores = gpu::score_tokens(model.model(), options.tokens, options.powers);
  if (options.json)
    std::cout << nlohmann::ordered_json{{"tokens", options.tokens},
                                        {"log_p", scores.log_p},
                                        {"log_z", scores.log_z}}
                     .dump()
              << '\n';
  else
    print(scores, model, options);
}

}  // namespace

void add_score(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "score", "log p0 of each token of a sequence, and log z of every power at its position");
  auto options = std::make_shared<ScoreOptions>();
  CLI::Option* model = add_text(*command, "--model", options->model, "MODEL",
                                "Hugging Face folder, GGUF file, or finite model (JSON)");
  add_download(*command, options->download);
  CLI::Option* tokens = add_token_numbers(
      *command, "--tokens", options->tokens,
      "Token numbers, such as 5,17,3; needs no tokenizer. The first is given, those after it are "
      "scored");
  CLI::Option* text = add_text(*command, "--text", options->text, "TEXT", "The sequence as text");
  add_powers(*command, "--powers", options->powers,
             "Powers whose log z to print" + default_text(decimals_of(options->powers)));
  add_device(*command, options->device);
  add_arithmetic(*command, options->arithmetic);
  add_rope_factors(*command, options->rope_factors);
  command->add_flag("--json", options->json,
                    "Print {\"tokens\", \"log_p\", \"log_z\"}: log_p and log_z have one entry for "
                    "each token after the first");
  command->footer(score_examples);
  command->callback([=] {
    refuse_beside(*text, *tokens, "give the sequence once");
    require(*model, "give --model MODEL, a Hugging Face folder or a finite model (JSON)");
    if (text->count() == 0) require(*tokens, "give --tokens or --text");
    run_score(*options);
  });
}

}  // namespace tempera::cli
