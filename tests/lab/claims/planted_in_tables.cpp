#include "tests/lab/claims/planted.hpp"

namespace tempera::test {
namespace {

using namespace reference;
using lab::Judged;

/// Another value in one place of one table.
Planted misread(const std::string& check, const std::string& label, const std::string& group,
                const std::string& row, const std::string& column, const Rational& value) {
  return {check, label + ", " + group + ", " + row + ", " + column + " misread",
          [=](Judged& judged) {
            judged.paper_tables = [=](const std::string& tree) {
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
  return {
      misread("time_ratios", cost, "Qwen3-8B", "PPT", "Local-update time", Rational(376, 10)),
      misread("memory_ratios", cost, "Qwen3.5-9B", "PPT", "Peak KV cache memory",
              Rational(753, 100)),
      misread("exchange_share", cost, "Qwen3-8B", "PPT", "Swap overhead", Rational(37, 100)),
      misread("best_in_fifteen", main, "Qwen3-4B", "GRPO", "MATH500", 87),
      misread("best_in_fifteen", latest, "Qwen3.5-9B", "PPT", "GPQA", 87),
      misread("only_tie", main, "Qwen3-4B", "GRPO", "MATH500", 86),
      misread("outperforms_samplers", main, "Qwen3-8B", "PowerSMC", "GSM8K", 95),
      misread("power_sampling_below", latest, "Qwen3.5-9B", "Power Sampling", "GPQA", 83),
      misread("never_below_standard", extended, "Tulu", "Standard", "LCB v5", 13),
      misread("above_grpo", main, "Qwen3-4B", "GRPO", "MATH500", 86),
      misread("grpo_somewhere_above", extended, "Qwen 2.5", "GRPO", "LCB v5", Rational(69, 10)),
      misread("frontier_models", latest, "Reported", "GPT-5", "LCB v5", 85),
      misread("frontier_models", latest, "Qwen3.5-9B", "PPT", "AIME 24&25", 95),
      misread("eight_comparisons", single, "Qwen3-4B", "Single chain", "GPQA", 54),
      misread("eight_comparisons", single, "Qwen3-4B", "Single chain", "GPQA tokens", 112),
      misread("largest_gain_aime", single, "Qwen3-8B", "Single chain", "AIME 24&25", 73),
      misread("largest_gaps", "tab:compute-matched-main", "Qwen3-8B", "GPQA", "Single chain", 56),
      misread("largest_gaps", "tab:compute-matched-main", "Qwen3-8B", "MATH500", "PPT",
              Rational(879, 10)),
      misread("swaps_improve", "tab:swap-ablation", "Qwen3-8B", "Uncoupled ladder", "MATH500 Vote",
              91),
      misread("strongest_single_trace", app, "Qwen3-8B", "Best-of-N", "GPQA Pass@1", 61),
      misread("strongest_single_trace", app, "Qwen3-8B", "Best-of-N", "MATH500 Vote", 89),
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
      misread("printed_ladders", "tab:ppt-hyperparams-qwen3-4b", "Qwen3", "GPQA", "alpha_2",
              Rational(16, 10)),
      misread("powersmc_on_aime", main, "Qwen3-8B", "PowerSMC", "AIME 24&25", 66),
  };
}

}  // namespace tempera::test
