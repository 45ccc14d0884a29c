#include "lab/claims/experiment_functions.hpp"
#include "lab/claims/paper_tables.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/numbers/rational.hpp"
#include "settings/presets.hpp"
#include "tests/lab/claims/planted.hpp"

namespace tempera::test {
namespace {

using namespace reference;
using lab::FunctionsUnderTest;

/// Another value in one place of one table.
Planted misread(const std::string& check, const std::string& label, const std::string& group,
                const std::string& row, const std::string& column, const Rational& value) {
  return {check, label + ", " + group + ", " + row + ", " + column + " misread",
          [=](FunctionsUnderTest& functions) {
            functions.of<lab::ExperimentFunctions>().paper_tables = [=](const std::string& tree) {
              lab::PaperTables tables = lab::read_paper_tables(tree);
              tables.at(label).entry(group, row, column) = value;
              return tables;
            };
          }};
}

}  // namespace

std::vector<Planted> planted_in_tables() {
  const std::string main = "tab:main-results", latest = "tab:qwen35-9b";
  const std::string extended = "tab:main-results-extended", cost = "tab:time-memory-main";
  const std::string rates = "tab:swap-acceptance", app = "tab:compute-matched-app";
  const std::string single = "tab:compute-matched-single-chain";
  const std::string hyper = "tab:ppt-hyperparams-qwen3-4b";
  return {
      misread("time_ratios", cost, "Qwen3-8B", "PPT", "Local-update time", Rational(376, 10)),
      misread("memory_ratios", cost, "Qwen3.5-9B", "PPT", "Peak KV cache memory",
              Rational(753, 100)),
      misread("exchange_share", cost, "Qwen3-8B", "PPT", "Swap overhead", Rational(37, 100)),
      misread("best_in_fifteen", main, "Qwen3-4B", "GRPO", "MATH500", 87),
      misread("best_in_fifteen", latest, "Qwen3.5-9B", "PPT", "GPQA", 82),
      misread("only_tie", main, "Qwen3-4B", "GRPO", "MATH500", 86),
      misread("outperforms_samplers", main, "Qwen3-8B", "PowerSMC", "GSM8K", 95),
      misread("outperforms_samplers", main, "Qwen3-8B", "PowerSMC", "GPQA", 61),
      misread("power_sampling_below", latest, "Qwen3.5-9B", "Power Sampling", "GPQA", 83),
      misread("never_below_standard", extended, "Tulu", "Standard", "LCB v5", 13),
      misread("above_grpo", main, "Qwen3-4B", "GRPO", "MATH500", 86),
      misread("above_post_training", main, "Qwen3-4B", "GRPO", "MATH500", 87),
      misread("frontier_models", latest, "Reported", "GPT-5", "LCB v5", 85),
      misread("frontier_models", latest, "Qwen3.5-9B", "PPT", "AIME 24&25", 93),
      misread("eight_comparisons", single, "Qwen3-4B", "Single chain", "GPQA", 54),
      misread("eight_comparisons", single, "Qwen3-4B", "Single chain", "GPQA tokens", 112),
      misread("largest_gain_aime", single, "Qwen3-8B", "Single chain", "AIME 24&25", 73),
      misread("largest_gaps", "tab:compute-matched-main", "Qwen3-8B", "GPQA", "Single chain", 56),
      misread("largest_gaps", "tab:compute-matched-main", "Qwen3-8B", "MATH500", "PPT",
              Rational(879, 10)),
      misread("swaps_improve", "tab:swap-ablation", "Qwen3-8B", "Uncoupled ladder", "MATH500 Vote",
              91),
      misread("strongest_single_trace", app, "Qwen3-8B", "Best-of-N", "GPQA Pass@1", 61),
      misread("strongest_single_trace", app, "Qwen3-4B", "Uncoupled ladder, coldest rung",
              "AIME 24&25 Pass@1", 79),
      misread("range_of_qwen3", rates, "acceptance", "AIME 24&25", "Qwen3-8B", Rational(18, 100)),
      misread("range_of_others", rates, "acceptance", "HumanEval", "Qwen 2.5", Rational(59, 100)),
      misread("qwen3_accept_less", rates, "acceptance", "HumanEval", "Qwen3-4B",
              Rational(425, 1000)),
      misread("horizon_ablation", "tab:cold-replica-results", "Qwen3-4B", "PPT", "Hit capacity",
              Rational(67, 10)),
      misread("horizon_ablation", "tab:cold-replica-results", "Qwen3-4B", "Fixed-horizon, K = 1",
              "Accuracy", 83),
      misread("adj_above_deo", "tab:deo-adj", "Qwen3-4B", "DEO", "GPQA", 54),
      misread("largest_margins", main, "Qwen3-8B", "GRPO", "AIME 24&25", Rational(739, 10)),
      misread("extended_settings", extended, "Qwen 2.5", "PPT", "LCB v5", 17),
      misread("whole_items", main, "Qwen3-4B", "Standard", "AIME 24&25", Rational(708, 10)),
      misread("whole_items", app, "Qwen3-8B", "Best-of-N", "AIME 24&25 Vote", Rational(787, 10)),
      misread("printed_ladders", "tab:ppt-hyperparams-qwen3-4b", "Qwen3", "GPQA", "K", 4),
      misread("printed_ladders", "tab:ppt-hyperparams-qwen35-9b", "Qwen3.5-9B", "GPQA", "T", 65536),
      misread("printed_ladders", "tab:ppt-hyperparams-qwen3-4b", "Qwen3", "GPQA", "alpha_2",
              Rational(16, 10)),
      misread("powersmc_on_aime", main, "Qwen3-8B", "PowerSMC", "AIME 24&25", 66),
      misread("nearly_all_settings", extended, "Qwen 2.5", "PPT", "LCB v5", 17),
      misread("taken_together", app, "Qwen3-8B", "Best-of-N", "GPQA Pass@1", 61),
      misread("taken_together", single, "Qwen3-8B", "Single chain", "LCB v5", 59),
      misread("aime_margin", app, "Qwen3-8B", "Uncoupled ladder", "AIME 24&25 Vote", 82),
      misread("lower_temperature_gains", latest, "Qwen3.5-9B", "Lower Temperature", "GPQA", 85),
      misread("best_steps", hyper, "Qwen3", "HumanEval", "N_MCMC", 10),
      misread("most_by_four", "fig:local_update_ablation", "gain", "MATH500", "4 steps", 2),
      misread("replica_gain_again", "fig:replica_tradeoff", "text", "MATH500", "gain of K = 4",
              Rational(28, 10)),
      misread("cost_of_four", "fig:replica_tradeoff", "text", "MATH500", "cost of K = 4", 4),
      misread("peak_at_five", "fig:replica_tradeoff", "text", "HumanEval", "gain of K = 5", 5),
      misread("clearest_for_qwen3", extended, "Qwen 2.5 MATH", "PPT", "GSM8K", 93),
      misread("clearest_for_qwen3", extended, "Qwen 2.5 MATH", "PPT", "GSM8K", 90),
      misread("two_regimes", rates, "acceptance", "HumanEval", "Qwen3-4B", Rational(43, 100)),
      misread("two_regimes", rates, "acceptance", "HumanEval", "Qwen3-4B", Rational(34, 100)),
      misread("governed_by_model", rates, "acceptance", "HumanEval", "Qwen3-4B", 2),
      misread("runtime_ladders", hyper, "Qwen3", "LCB v5", "K", 3),
      misread("one_stage", hyper, "Qwen3", "LCB v5", "B", 8192),
      misread("printed_spacing", hyper, "Qwen3", "LCB v5", "alpha_2", Rational(19, 10)),
      misread("printed_spacing", hyper, "Qwen3", "GSM8K", "alpha_3", Rational(27, 10)),
      misread("bold_marks", main, "Qwen3-4B", "GRPO", "MATH500", 86),
      misread("bold_marks", app, "Qwen3-4B", "Best-of-N", "MATH500 Vote", 88),
      misread("bold_marks", "tab:compute-matched-main", "Qwen3-8B", "GPQA", "Single chain", 61),
      misread("bold_marks", single, "Qwen3-4B", "Single chain", "AIME 24&25", 79),
      misread("bold_marks", "tab:cold-replica-results", "Qwen3-4B", "Fixed-horizon, K = 1",
              "Accuracy", 87),
      misread("bold_marks", "tab:deo-adj", "Qwen3-4B", "DEO", "GPQA", Rational(536, 10)),
      {"bold_marks", "a bold entry more",
       [=](FunctionsUnderTest& functions) {
         functions.of<lab::ExperimentFunctions>().paper_tables = [=](const std::string& tree) {
           lab::PaperTables tables = lab::read_paper_tables(tree);
           tables.at(single).bold.insert({"Qwen3-4B", "Single chain", "GPQA"});
           return tables;
         };
       }},
      misread("gains_from_swaps", "tab:cold-replica-results", "Qwen3-8B", "Fixed-horizon, K = 1",
              "Accuracy", 89),
      misread("adj_in_regime", cost, "Qwen3-8B", "PPT", "Swap overhead", 4),
      misread("implied_lengths", single, "Qwen3-8B", "PPT", "AIME 24&25 tokens", 349),
      misread("implied_lengths", hyper, "Qwen3", "GPQA", "N_MCMC", 10),
      misread("dataset_sums", "sec:exp-settings", "items", "MATH", "test", 4000),
      misread("extra_refinement", single, "Qwen3-8B", "Single chain", "MATH500", Rational(858, 10)),
      misread("possible_deviations", extended + ", deviations", "Tulu", "PPT", "AIME 24&25",
              Rational(30, 10)),
      misread("printed_configuration", hyper, "Qwen3", "GSM8K", "N_MCMC", 11),
      {"printed_configuration", "a preset with another power",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().presets.front().powers.back() = 3.0;
       }},
  };
}

}  // namespace tempera::test
