#include <algorithm>

#include "lab/claims/checks.hpp"
#include "lab/claims/on_tables.hpp"
#include "lab/claims/paper_tables.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

using namespace reference;

/// Calls each(group, column, PPT's entry, the table) for every group and column of PPT's rows.
template <class Each>
void on_entries(const PaperTables& tables, const std::string& label, Each&& each) {
  const PaperTable& table = tables.at(label);
  for (const auto& [group, rows] : table.groups) {
    if (!rows.contains("PPT")) continue;
    for (const std::string& column : table.columns)
      if (rows.at("PPT")[static_cast<std::size_t>(
              std::find(table.columns.begin(), table.columns.end(), column) -
              table.columns.begin())])
        each(group, column, table.entry(group, "PPT", column), table);
  }
}

/// The greatest entry of a column of a group among rows other than PPT's.
Rational best_other(const PaperTable& table, const std::string& group, const std::string& column) {
  Rational best = -1;
  for (const auto& [row, unused] : table.groups.at(group))
    if (row != "PPT") best = std::max(best, table.entry(group, row, column));
  return best;
}

const std::vector<std::string> accuracy_tables{"tab:main-results", "tab:qwen35-9b"};

/// Main Results: best or tied-best in all 15 settings "within each model group": the reported
/// values of frontier models are none of them, as their grey and their dagger say.
CheckResult best_in_fifteen(const CheckContext& context) {
  return on_tables(context, "settings, best or tied", [](Count& count, const PaperTables& tables) {
    std::size_t settings = 0;
    for (const std::string& label : accuracy_tables)
      on_entries(tables, label,
                 [&](const auto& group, const auto& column, const Rational& ours,
                     const PaperTable& table) {
                   ++settings;
                   count.expect(ours >= best_other(table, group, column), group + ", " + column);
                 });
    count.expect(settings == 15, std::to_string(settings) + " settings");
  });
}

/// Main Results: the only tie is on GSM8K.
CheckResult only_tie(const CheckContext& context) {
  return on_tables(context, "settings, one tied", [](Count& count, const PaperTables& tables) {
    for (const std::string& label : accuracy_tables)
      on_entries(tables, label,
                 [&](const auto& group, const auto& column, const Rational& ours,
                     const PaperTable& table) {
                   count.expect((ours == best_other(table, group, column)) ==
                                    (group == "Qwen3-8B" && column == "GSM8K"),
                                group + ", " + column);
                 });
  });
}

/// "Outperforms every sampling-based baseline": in every setting of both tables, if the tie that is
/// printed two sentences earlier counts: PowerSMC has PPT's 95.5 on GSM8K.
CheckResult outperforms_samplers(const CheckContext& context) {
  return on_tables(context, "comparisons", [](Count& count, const PaperTables& tables) {
    for (const std::string& label : accuracy_tables)
      on_entries(tables, label,
                 [&](const auto& group, const auto& column, const Rational& ours,
                     const PaperTable& table) {
                   for (const auto& [row, unused] : table.groups.at(group)) {
                     if (row == "PPT" || row == "GRPO") continue;
                     const Rational& other = table.entry(group, row, column);
                     const std::string where = group + ", " + column + ": " + row;
                     count.expect(ours >= other, where);
                     count.expect_without(ours > other,
                                          where + " has " + to_decimal(other, 1) + " too");
                   }
                 });
  });
}

/// Main Results: Power Sampling is below standard decoding in most benchmarks of Qwen3.5-9B: 2
/// of 3.
CheckResult power_sampling_below(const CheckContext& context) {
  return on_tables(context, "comparison: below in 2 of 3",
                   [](Count& count, const PaperTables& tables) {
                     const PaperTable& table = tables.at("tab:qwen35-9b");
                     std::size_t below = 0;
                     for (const std::string& column : table.columns)
                       below += table.entry("Qwen3.5-9B", "Power Sampling", column) <
                                        table.entry("Qwen3.5-9B", "Standard", column)
                                    ? 1
                                    : 0;
                     count.expect(below == 2, std::to_string(below) + " of 3");
                   });
}

/// Main Results: PPT never falls below standard decoding, in any table.
CheckResult never_below_standard(const CheckContext& context) {
  return on_tables(context, "settings", [](Count& count, const PaperTables& tables) {
    for (const std::string label :
         {"tab:main-results", "tab:qwen35-9b", "tab:main-results-extended"})
      on_entries(tables, label,
                 [&](const auto& group, const auto& column, const Rational& ours,
                     const PaperTable& table) {
                   count.expect(ours >= table.entry(group, "Standard", column),
                                group + ", " + column);
                 });
  });
}

/// Main Results: above GRPO in all twelve settings of tab:main-results.
CheckResult above_grpo(const CheckContext& context) {
  return on_tables(context, "settings above GRPO", [](Count& count, const PaperTables& tables) {
    on_entries(
        tables, "tab:main-results",
        [&](const auto& group, const auto& column, const Rational& ours, const PaperTable& table) {
          count.expect(ours > table.entry(group, "GRPO", column), group + ", " + column);
        });
  });
}

/// The abstract's "outperforms RL-post-trained models": in the twelve settings of the main table;
/// of the thirty of tab:main-results-extended that have GRPO it is above in 28.
CheckResult above_post_training(const CheckContext& context) {
  return on_tables(context, "settings with GRPO", [](Count& count, const PaperTables& tables) {
    on_entries(
        tables, "tab:main-results",
        [&](const auto& group, const auto& column, const Rational& ours, const PaperTable& table) {
          count.expect(ours > table.entry(group, "GRPO", column), group + ", " + column);
        });
    std::size_t with_grpo = 0;
    on_entries(
        tables, "tab:main-results-extended",
        [&](const auto& group, const auto& column, const Rational& ours, const PaperTable& table) {
          if (!table.groups.at(group).contains("GRPO")) return;
          ++with_grpo;
          const Rational& trained = table.entry(group, "GRPO", column);
          count.expect_without(ours > trained, group + ", " + column + ": " + to_decimal(ours, 1) +
                                                   " against GRPO's " + to_decimal(trained, 1));
        });
    count.require(with_grpo == 30, std::to_string(with_grpo) + " settings with GRPO");
  });
}

/// "Matches and even exceeds frontier models": at each benchmark one of the three reported at
/// least, if that is enough; at none all of them.
CheckResult frontier_models(const CheckContext& context) {
  return on_tables(
      context, "comparisons with reported values", [](Count& count, const PaperTables& tables) {
        const PaperTable& table = tables.at("tab:qwen35-9b");
        for (const std::string& column : table.columns) {
          const Rational& ours = table.entry("Qwen3.5-9B", "PPT", column);
          std::size_t reached = 0;
          for (const auto& [model, unused] : table.groups.at("Reported"))
            reached += ours >= table.entry("Reported", model, column) ? 1 : 0;
          count.expect(reached >= 1, column + ": none is reached");
          count.expect_without(reached == 3,
                               column + ": " + std::to_string(reached) + " of 3 are reached");
        }
      });
}

Rational gain(const PaperTable& table, const std::string& model, const std::string& column) {
  return table.entry(model, "PPT", column) - table.entry(model, "Single chain", column);
}

/// apx:compute-matched: higher accuracy in all eight comparisons, on no more tokens.
CheckResult eight_comparisons(const CheckContext& context) {
  return on_tables(
      context, "comparisons of accuracy and tokens", [](Count& count, const PaperTables& tables) {
        const PaperTable& table = tables.at("tab:compute-matched-single-chain");
        for (const std::string model : {"Qwen3-4B", "Qwen3-8B"})
          for (const std::string column : {"MATH500", "GPQA", "AIME 24&25", "LCB v5"}) {
            count.expect(gain(table, model, column) > 0, model + ", " + column);
            count.expect(gain(table, model, column + " tokens") <= 0,
                         model + ", tokens of " + column);
          }
      });
}

/// apx:compute-matched, "with the largest gains on AIME": the largest of all eight, and the largest
/// mean of both models; of Qwen3-8B alone LCB v5 gains more, as sec:compute-matched says.
CheckResult largest_gain_aime(const CheckContext& context) {
  return on_tables(context, "comparisons of gains", [](Count& count, const PaperTables& tables) {
    const PaperTable& table = tables.at("tab:compute-matched-single-chain");
    const std::string aime = "AIME 24&25", small = "Qwen3-4B", large = "Qwen3-8B";
    for (const std::string column : {"MATH500", "GPQA", "LCB v5"}) {
      for (const std::string& model : {small, large})
        count.expect(gain(table, small, aime) > gain(table, model, column), model + ", " + column);
      count.expect(gain(table, small, aime) + gain(table, large, aime) >
                       gain(table, small, column) + gain(table, large, column),
                   "the mean of both models, " + column);
      count.expect_without(gain(table, large, aime) > gain(table, large, column),
                           large + ": " + column + " gains " +
                               to_decimal(gain(table, large, column), 1) + ", AIME " +
                               to_decimal(gain(table, large, aime), 1));
    }
  });
}

/// sec:compute-matched: the largest gaps of Qwen3-8B are on LCB v5 and AIME, from the values given;
/// its table is a part of the appendix's.
CheckResult largest_gaps(const CheckContext& context) {
  return on_tables(context, "gaps and entries", [](Count& count, const PaperTables& tables) {
    const PaperTable& table = tables.at("tab:compute-matched-main");
    const PaperTable& whole = tables.at("tab:compute-matched-single-chain");
    const auto gap = [&](const std::string& row) {
      return Rational(table.entry("Qwen3-8B", row, "PPT") -
                      table.entry("Qwen3-8B", row, "Single chain"));
    };
    for (const std::string large : {"LCB v5", "AIME 24&25"})
      for (const std::string small : {"MATH500", "GPQA"})
        count.expect(gap(large) > gap(small), large + " against " + small);
    for (const auto& [row, unused] : table.groups.at("Qwen3-8B"))
      for (const std::string method : {"PPT", "Single chain"})
        count.expect(table.entry("Qwen3-8B", row, method) == whole.entry("Qwen3-8B", method, row),
                     row + ", " + method);
  });
}

/// sec:compute-matched: swaps improve Pass@1 and vote in every setting.
CheckResult swaps_improve(const CheckContext& context) {
  return on_tables(
      context, "settings, and entries of both tables", [](Count& count, const PaperTables& tables) {
        const PaperTable& whole = tables.at("tab:compute-matched-app");
        on_entries(tables, "tab:swap-ablation",
                   [&](const auto& group, const auto& column, const Rational& ours,
                       const PaperTable& table) {
                     const Rational& without = table.entry(group, "Uncoupled ladder", column);
                     count.expect(ours > without, group + ", " + column);
                     count.expect(ours == whole.entry(group, "PPT", column) &&
                                      without == whole.entry(group, "Uncoupled ladder", column),
                                  group + ", " + column + ": the other table");
                   });
      });
}

/// apx:compute-matched: of the single-trace readouts PPT's is the best in every setting, against
/// both of the uncoupled ladder and Best-of-N's.
CheckResult strongest_single_trace(const CheckContext& context) {
  return on_tables(context, "single traces", [](Count& count, const PaperTables& tables) {
    on_entries(
        tables, "tab:compute-matched-app",
        [&](const auto& group, const auto& column, const Rational& ours, const PaperTable& table) {
          if (column.find("Vote") != std::string::npos) return;
          for (const std::string other :
               {"Uncoupled ladder", "Uncoupled ladder, coldest rung", "Best-of-N"})
            count.expect(ours > table.entry(group, other, column),
                         group + ", " + column + ": " + other);
        });
  });
}

/// Fixed Horizon vs One-Way Truncation: accuracy rises from each row to the next, the hit-capacity
/// rate falls with the fixed horizon and then changes by at most 0.4; accuracies are those of
/// tab:main-results.
CheckResult horizon_ablation(const CheckContext& context) {
  return on_tables(context, "comparisons and entries", [](Count& count, const PaperTables& tables) {
    const PaperTable& table = tables.at("tab:cold-replica-results");
    const PaperTable& main = tables.at("tab:main-results");
    for (const std::string model : {"Qwen3-4B", "Qwen3-8B"}) {
      const auto at = [&](const std::string& row, const std::string& column) {
        return table.entry(model, row, column);
      };
      const std::string first = "Truncating, K = 1", second = "Fixed-horizon, K = 1";
      count.expect(at(first, "Accuracy") < at(second, "Accuracy") &&
                       at(second, "Accuracy") < at("PPT", "Accuracy"),
                   model + ": accuracy");
      count.expect(
          at(second, "Hit capacity") < at(first, "Hit capacity") &&
              abs(at("PPT", "Hit capacity") - at(second, "Hit capacity")) <= Rational(4, 10),
          model + ": hit capacity");
      count.expect(at(first, "Accuracy") == main.entry(model, "Power Sampling", "MATH500") &&
                       at("PPT", "Accuracy") == main.entry(model, "PPT", "MATH500"),
                   model + ": tab:main-results");
    }
  });
}

/// apx:deo-adj: ADJ is above DEO in every setting, with the entries of the other tables.
CheckResult adj_above_deo(const CheckContext& context) {
  return on_tables(context, "settings", [](Count& count, const PaperTables& tables) {
    const PaperTable& table = tables.at("tab:deo-adj");
    const PaperTable& whole = tables.at("tab:main-results-extended");
    for (const auto& [model, unused] : table.groups)
      for (const std::string& column : table.columns) {
        const Rational& adj = table.entry(model, "ADJ", column);
        count.expect(
            adj > table.entry(model, "DEO", column) && adj == whole.entry(model, "PPT", column),
            model + ", " + column);
      }
  });
}

/// Extended Main Results: the largest margins over the strongest baseline are 5.0 on AIME of
/// Qwen3-4B and 4.3 on LCB v5 of Qwen3-8B; the latter is also that on AIME.
CheckResult largest_margins(const CheckContext& context) {
  return on_tables(context, "margins", [](Count& count, const PaperTables& tables) {
    on_entries(
        tables, "tab:main-results",
        [&](const auto& group, const auto& column, const Rational& ours, const PaperTable& table) {
          const Rational margin = ours - best_other(table, group, column);
          const bool small = group == "Qwen3-4B";
          const Rational largest = small ? Rational(5) : Rational(43, 10);
          const std::string where = group + ", " + column;
          if (column == (small ? "AIME 24&25" : "LCB v5")) {
            count.expect(margin == largest, where);
            return;
          }
          count.expect(margin <= largest, where);
          count.expect_without(margin < largest, where + ": " + to_decimal(margin, 1) + " too");
        });
  });
}

/// Extended Main Results: best or tied-best in 34 of 36 settings; the rows of the main table again.
CheckResult extended_settings(const CheckContext& context) {
  return on_tables(context, "settings and entries", [](Count& count, const PaperTables& tables) {
    std::size_t best = 0, settings = 0;
    on_entries(
        tables, "tab:main-results-extended",
        [&](const auto& group, const auto& column, const Rational& ours, const PaperTable& table) {
          ++settings;
          best += ours >= best_other(table, group, column) ? 1 : 0;
        });
    count.expect(settings == 36 && best == 34,
                 std::to_string(best) + " of " + std::to_string(settings));
    const PaperTable& extended = tables.at("tab:main-results-extended");
    for (const auto& [group, rows] : tables.at("tab:main-results").groups)
      count.expect(extended.groups.at(group) == rows, group + ": the main table's rows");
  });
}

/// Main Results: PowerSMC trails standard decoding on AIME by 9.0 and 7.7 points, more than on any
/// other benchmark.
CheckResult powersmc_on_aime(const CheckContext& context) {
  return on_tables(
      context, "differences; 9.0 and 7.7 on AIME", [](Count& count, const PaperTables& tables) {
        const PaperTable& table = tables.at("tab:main-results");
        for (const std::string model : {"Qwen3-4B", "Qwen3-8B"}) {
          const auto behind = [&](const std::string& column) {
            return Rational(table.entry(model, "Standard", column) -
                            table.entry(model, "PowerSMC", column));
          };
          count.expect(
              behind("AIME 24&25") == (model == "Qwen3-4B" ? Rational(9) : Rational(77, 10)),
              model);
          for (const std::string& column : table.columns)
            count.expect(column == "AIME 24&25" || behind(column) < 4, model + ", " + column);
        }
      });
}

}  // namespace

std::map<std::string, Check> experiments_accuracy_checks() {
  return {{"best_in_fifteen", best_in_fifteen},
          {"only_tie", only_tie},
          {"outperforms_samplers", outperforms_samplers},
          {"power_sampling_below", power_sampling_below},
          {"never_below_standard", never_below_standard},
          {"above_grpo", above_grpo},
          {"above_post_training", above_post_training},
          {"frontier_models", frontier_models},
          {"eight_comparisons", eight_comparisons},
          {"largest_gain_aime", largest_gain_aime},
          {"largest_gaps", largest_gaps},
          {"swaps_improve", swaps_improve},
          {"strongest_single_trace", strongest_single_trace},
          {"horizon_ablation", horizon_ablation},
          {"adj_above_deo", adj_above_deo},
          {"largest_margins", largest_margins},
          {"extended_settings", extended_settings},
          {"powersmc_on_aime", powersmc_on_aime}};
}

}  // namespace tempera::lab
