// `tempera compare --ablations`: the paper's ablations on finite models, by exact laws.
#include "cli/commands/compare_ablations.hpp"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/in_quotes.hpp"
#include "cli/commands/exact_rows.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/progress_line.hpp"
#include "lab/contest/ablations.hpp"

namespace tempera::cli {
namespace {

using Loaded = std::pair<std::string, reference::FiniteModel>;

void print_line(const std::string& first, const std::string& effort, const std::string& tokens,
                const std::string& tv, const std::string& likelihood, const std::string& answer,
                const std::string& open) {
  std::printf("  %-32s %-16s %7s %9s %9s %8s %8s\n", first.c_str(), effort.c_str(), tokens.c_str(),
              tv.c_str(), likelihood.c_str(), answer.c_str(), open.c_str());
}

void print_ablation(const lab::ExactRow& row) {
  print_line("  " + row.sampler, row.effort, reference::to_decimal(row.decode_tokens, 2),
             reference::to_decimal(row.tv, 7), row.log_likelihood.str(5, std::ios::fixed),
             row.answer_probability ? reference::to_decimal(*row.answer_probability, 6) : "",
             reference::to_decimal(row.open_probability, 5));
}

std::string title_of(const Loaded& model, const lab::ExactComparisonSettings& settings,
                     const std::string& powers) {
  const std::string answers = answers_of(model.second);
  return model.first + ": horizon " + std::to_string(settings.horizon) + ", block " +
         std::to_string(settings.block) + ", powers " + powers +
         (answers.empty() ? "" : "; answers " + in_quotes(answers));
}

}  // namespace

void run_ablations(const std::vector<Loaded>& models, const lab::ExactComparisonSettings& settings,
                   const std::string& powers, bool json) {
  constexpr std::size_t number = 7;
  std::vector<std::vector<lab::Ablation>> tables;
  ProgressLine line;
  for (std::size_t i = 0; i < models.size(); ++i)
    tables.push_back(lab::ablations(models[i].second, settings, [&](std::size_t done) {
      line.show_step(number * i + done - 1, number * models.size(), models[i].first);
    }));
  line.clear();
  nlohmann::ordered_json report{{"models", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto all = lab::chosen(models[i].second, settings);
    nlohmann::ordered_json of_model{{"model", models[i].first},
                                    {"horizon", all.horizon},
                                    {"block", all.block},
                                    {"powers", powers},
                                    {"ablations", nlohmann::ordered_json::array()}};
    if (!json) {
      std::printf("%s\n", wrapped(title_of(models[i], all, powers), table_columns, 2).c_str());
      print_line("", "", "tokens", "TV", "E log p0", "answer", "open");
    }
    for (const lab::Ablation& ablation : tables[i]) {
      auto rows = nlohmann::ordered_json::array();
      for (const lab::ExactRow& row : ablation.rows) rows.push_back(row_json(row));
      of_model["ablations"].push_back(
          {{"ablation", ablation.name}, {"label", ablation.label}, {"rows", rows}});
      if (json) continue;
      std::printf("  %s (%s)\n", ablation.name.c_str(), ablation.label.c_str());
      for (const lab::ExactRow& row : ablation.rows) print_ablation(row);
    }
    report["models"].push_back(std::move(of_model));
  }
  if (json)
    std::cout << report.dump() << '\n';
  else
    std::printf(
        "  tokens: expected decode tokens of one answer; TV: of the answer's law from the target, "
        "the power\n  distribution at the last power; open: the probability that it ends without a "
        "terminal token\n");
}

}  // namespace tempera::cli
