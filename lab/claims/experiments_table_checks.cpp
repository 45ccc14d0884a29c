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

/// Whether a ratio prints as `printed` when rounded to as many places: |ratio − printed| is at most
/// half of the last.
bool rounds_to(const Rational& ratio, const Rational& printed, const Rational& last_place) {
  return 2 * abs(ratio - printed) <= last_place;
}

const Rational hundredth(1, 100);
const Rational tenth(1, 10);

/// sec:runtime-memory: local-update times 1.03 and 1.72 of the single chain's.
CheckResult time_ratios(const CheckContext& context) {
  return on_tables(context, "ratios of times", [](Count& count, const PaperTables& tables) {
    const PaperTable& table = tables.at("tab:time-memory-main");
    const auto ratio = [&](const std::string& model) {
      return Rational(table.entry(model, "PPT", "Local-update time") /
                      table.entry(model, "Single chain", "Local-update time"));
    };
    count.expect(rounds_to(ratio("Qwen3-8B"), Rational(103, 100), hundredth), "Qwen3-8B");
    count.expect(rounds_to(ratio("Qwen3.5-9B"), Rational(172, 100), hundredth), "Qwen3.5-9B");
  });
}

/// sec:runtime-memory: peak memory 3.73 and 2.47 of the single chain's.
CheckResult memory_ratios(const CheckContext& context) {
  return on_tables(context, "ratios of memory", [](Count& count, const PaperTables& tables) {
    const PaperTable& table = tables.at("tab:time-memory-main");
    const auto ratio = [&](const std::string& model) {
      return Rational(table.entry(model, "PPT", "Peak KV cache memory") /
                      table.entry(model, "Single chain", "Peak KV cache memory"));
    };
    count.expect(rounds_to(ratio("Qwen3-8B"), Rational(373, 100), hundredth), "Qwen3-8B");
    count.expect(rounds_to(ratio("Qwen3.5-9B"), Rational(247, 100), hundredth), "Qwen3.5-9B");
  });
}

/// sec:runtime-memory: exchange takes 0.1 % of the time in both cases.
CheckResult exchange_share(const CheckContext& context) {
  return on_tables(context, "shares of exchange", [](Count& count, const PaperTables& tables) {
    const PaperTable& table = tables.at("tab:time-memory-main");
    for (const std::string model : {"Qwen3-8B", "Qwen3.5-9B"}) {
      const Rational& swap = table.entry(model, "PPT", "Swap overhead");
      const Rational percent = 100 * swap / (swap + table.entry(model, "PPT", "Local-update time"));
      count.expect(rounds_to(percent, tenth, tenth), model);
    }
  });
}

/// The least and greatest entry of some columns of tab:swap-acceptance.
std::pair<Rational, Rational> range_of(const PaperTables& tables,
                                       const std::vector<std::string>& columns) {
  const PaperTable& table = tables.at("tab:swap-acceptance");
  Rational least = 1, greatest = 0;
  for (const auto& [row, unused] : table.groups.at("acceptance"))
    for (const std::string& column : columns) {
      least = std::min(least, table.entry("acceptance", row, column));
      greatest = std::max(greatest, table.entry("acceptance", row, column));
    }
  return {least, greatest};
}

const std::vector<std::string> qwen3{"Qwen3-8B", "Qwen3-4B"};
const std::vector<std::string> others{"Qwen 2.5 MATH", "Qwen 2.5", "Tulu", "Phi 3.5 instruct"};

/// Acceptance Rates, "(0.18-0.37)" of the Qwen3 models: the ends of the table's columns, rounded.
CheckResult range_of_qwen3(const CheckContext& context) {
  return on_tables(context, "ends of the range", [](Count& count, const PaperTables& tables) {
    const auto [least, greatest] = range_of(tables, qwen3);
    count.expect(rounds_to(least, Rational(18, 100), hundredth),
                 "the table's least is " + to_decimal(least, 3));
    count.require(rounds_to(greatest, Rational(37, 100), hundredth),
                  "the table's greatest is " + to_decimal(greatest, 3));
  });
}

/// Acceptance Rates: 0.35 to 0.58 of the other models, rounded.
CheckResult range_of_others(const CheckContext& context) {
  return on_tables(context, "ends of the range", [](Count& count, const PaperTables& tables) {
    const auto [least, greatest] = range_of(tables, others);
    count.expect(rounds_to(least, Rational(35, 100), hundredth), "the least");
    count.expect(rounds_to(greatest, Rational(58, 100), hundredth), "the greatest");
  });
}

/// Acceptance Rates: on every dataset each Qwen3 model accepts less than each other, and all are
/// between 0.15 and 0.6.
CheckResult qwen3_accept_less(const CheckContext& context) {
  return on_tables(context, "pairs of models", [](Count& count, const PaperTables& tables) {
    const PaperTable& table = tables.at("tab:swap-acceptance");
    for (const auto& [row, unused] : table.groups.at("acceptance"))
      for (const std::string& low : qwen3)
        for (const std::string& high : others) {
          const Rational& less = table.entry("acceptance", row, low);
          const Rational& more = table.entry("acceptance", row, high);
          count.expect(less < more && less > Rational(15, 100) && more < Rational(6, 10),
                       row + ", " + low + " against " + high);
        }
  });
}

/// The evaluation's items: five seeds make a percentage a whole number of 5 n items, n in the
/// benchmark. The main tables' are, rounded; of tab:compute-matched-app 72.8 and 78.6 on AIME are
/// whole numbers of 6 n.
CheckResult whole_items(const CheckContext& context) {
  return on_tables(
      context, "percentages; 72.8 and 78.6 on AIME are of 360 and not of 300",
      [](Count& count, const PaperTables& tables) {
        const std::map<std::string, unsigned> items{{"MATH500", 500},
                                                    {"GPQA", 198},
                                                    {"HumanEval", 164},
                                                    {"GSM8K", 1319},
                                                    {"AIME 24&25", 60}};
        const auto possible = [](const Rational& percent, unsigned number, unsigned seeds = 5) {
          const Rational solved = percent * number * seeds / 100;
          const Integer below = numerator(solved) / denominator(solved);
          for (const Integer& whole : {below, Integer(below + 1)})
            if (rounds_to(100 * Rational(whole) / Rational(number * seeds), percent, tenth))
              return true;
          return false;
        };
        for (const std::string label :
             {"tab:main-results", "tab:qwen35-9b", "tab:main-results-extended"})
          for (const auto& [group, rows] : tables.at(label).groups)
            for (const auto& [row, unused] : rows)
              for (const std::string& column : tables.at(label).columns)
                if (items.contains(column) && group != "Reported")
                  count.expect(
                      possible(tables.at(label).entry(group, row, column), items.at(column)),
                      label + ", " + group + ", " + row + ", " + column);
        const PaperTable& table = tables.at("tab:compute-matched-app");
        for (const std::string column : {"AIME 24&25 Pass@1", "AIME 24&25 Vote"})
          count.expect(!possible(table.entry("Qwen3-8B", "Best-of-N", column), 60) &&
                           possible(table.entry("Qwen3-8B", "Best-of-N", column), 60, 6),
                       column);
      });
}

/// The hyperparameter tables: as many powers as K, increasing, from 1 on; blocks no longer than T;
/// and the horizons that the text lists.
CheckResult printed_ladders(const CheckContext& context) {
  return on_tables(context, "rows and horizons", [](Count& count, const PaperTables& tables) {
    for (const std::string label :
         {"tab:ppt-hyperparams-qwen3-4b", "tab:ppt-hyperparams-qwen35-9b"}) {
      const PaperTable& table = tables.at(label);
      for (const auto& [group, rows] : table.groups)
        for (const auto& [row, entries] : rows) {
          std::size_t rungs = 0;
          bool increasing = true;
          for (std::size_t k = 4; k < entries.size() && entries[k]; ++k, ++rungs)
            increasing = increasing && *entries[k] >= (k > 4 ? *entries[k - 1] : Rational(1)) &&
                         (k == 4 || *entries[k] != *entries[k - 1]);
          count.expect(increasing && Rational(rungs) == table.entry(group, row, "K") &&
                           table.entry(group, row, "B") <= table.entry(group, row, "T"),
                       label + ", " + row);
        }
    }
    const auto are_horizons = [&](const std::string& label, const std::string& group,
                                  const std::map<std::string, unsigned>& printed) {
      const auto& rows = tables.at(label).groups.at(group);
      count.expect(rows.size() == printed.size(), label + ": another number of rows");
      for (const auto& [row, horizon] : printed)
        count.expect(tables.at(label).entry(group, row, "T") == horizon,
                     group + ", the horizon of " + row);
    };
    are_horizons("tab:ppt-hyperparams-qwen3-4b", "Qwen3",
                 {{"GSM8K", 3072},
                  {"HumanEval", 4096},
                  {"MATH500", 8192},
                  {"LCB v5", 8192},
                  {"GPQA", 16384},
                  {"AIME 24&25", 32768}});
    are_horizons("tab:ppt-hyperparams-qwen35-9b", "Qwen3.5-9B",
                 {{"GPQA", 131072}, {"AIME 24&25", 65536}, {"LCB v5", 131072}});
  });
}

}  // namespace

std::map<std::string, Check> experiments_table_checks() {
  return {{"time_ratios", time_ratios},         {"memory_ratios", memory_ratios},
          {"exchange_share", exchange_share},   {"range_of_qwen3", range_of_qwen3},
          {"range_of_others", range_of_others}, {"qwen3_accept_less", qwen3_accept_less},
          {"whole_items", whole_items},         {"printed_ladders", printed_ladders}};
}

}  // namespace tempera::lab
