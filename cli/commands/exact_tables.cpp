// `tempera exact` for a terminal.
#include <algorithm>
#include <ostream>

#include "cli/commands/exact_output.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"

namespace tempera::cli {
namespace {

using namespace reference;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t longest_fraction = 24;
constexpr unsigned printed_decimals = 10;

// A fraction that fits its column, else its decimal expansion.
std::string cell(const Rational& value) {
  std::string fraction = to_string(value);
  return fraction.size() <= longest_fraction
             ? fraction
             : std::string("~").append(to_decimal(value, printed_decimals));
}

/// The columns of each of the table's columns.
std::vector<std::size_t> widths_of(const Rows& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  return widths;
}

bool fits(const Rows& rows) {
  std::size_t columns = 0;
  for (const std::size_t width : widths_of(rows)) columns += 2 + width;
  return columns <= table_columns;
}

void print_rows(std::ostream& out, const Rows& rows) {
  const auto widths = widths_of(rows);
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line.append(2, ' ').append(row[i]).append(widths[i] - columns_of(row[i]), ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
  out << '\n';
}

void print_laws(std::ostream& out, const RungReport& report) {
  // Beside two columns of fractions.
  constexpr std::size_t name_columns = table_columns - 2 - 2 * (2 + longest_fraction);
  Rows rows{{"state", "p0", "target"}};
  for (std::size_t x = 0; x < report.states.size(); ++x)
    rows.push_back(
        {fitted(report.states[x], name_columns), cell(report.base[x]), cell(report.target[x])});
  print_rows(out, rows);
}

void print_matrix(std::ostream& out, const RungReport& report) {
  const auto& states = report.states;
  // Two columns and their margin are the least that an entry takes.
  Rows rows{{""}};
  if (3 * states.size() <= table_columns) {
    rows[0].insert(rows[0].end(), states.begin(), states.end());
    for (std::size_t x = 0; x < states.size(); ++x) {
      rows.push_back({states[x]});
      for (std::size_t y = 0; y < states.size(); ++y)
        rows.back().push_back(cell(report.kernel(x, y)));
    }
  }
  if (rows.size() == 1 || !fits(rows)) {
    out << "matrix: too wide for a terminal; see --json, or --no-matrix\n\n";
    return;
  }
  out << "matrix, from row to column\n";
  print_rows(out, rows);
}

const char* yes_or_no(bool holds) { return holds ? "yes" : "no"; }

void print_findings(std::ostream& out, const ChainVerdict& verdict) {
  const auto finding = [&](const std::string& text) {
    out << "  " << wrapped(text, table_columns, 4) << '\n';
  };
  if (const auto& moved = verdict.moved)
    finding("not invariant: one step changes the mass of (" + moved->state + ") from " +
            cell(moved->before) + " to " + cell(moved->after));
  if (const auto& pair = verdict.unbalanced)
    finding("not reversible: (" + pair->from + ") -> (" + pair->to + ") flows " +
            cell(pair->forward_flow) + ", back " + cell(pair->reverse_flow));
}

void print_verdict(std::ostream& out, const ChainVerdict& verdict) {
  out << "target invariant: " << yes_or_no(verdict.invariant())
      << "\nreversible:       " << yes_or_no(verdict.reversible())
      << "\nirreducible:      " << yes_or_no(verdict.irreducible) << '\n';
  print_findings(out, verdict);
}

void print_verdict(std::ostream& out, const CarriedReport& report) {
  ChainVerdict verdict;
  verdict.unbalanced = report.unbalanced;
  verdict.irreducible = report.irreducible;
  out << "target invariant: " << yes_or_no(report.invariant) << "\nreversible:       "
      << (report.reversible ? yes_or_no(*report.reversible) : "not decided")
      << "\nirreducible:      " << yes_or_no(report.irreducible) << '\n';
  print_findings(out, verdict);
}

void print_acceptances(std::ostream& out, const std::vector<Rational>& acceptances) {
  Rows rows{{"edge", "swap acceptance at equilibrium"}};
  for (const Rational& rate : acceptances)
    rows.push_back({std::to_string(rows.size()), cell(rate), to_decimal(rate, printed_decimals)});
  print_rows(out, rows);
}

std::string title_of(const RungHeading& heading) {
  return wrapped(heading.model + ", horizon " + std::to_string(heading.horizon) + ", power " +
                     to_string(heading.power.value()) + ", " + heading.kernel + " kernel",
                 table_columns, 2) +
         '\n';
}

std::string title_of(const JointHeading& heading) {
  std::string title = heading.model + ", horizon " + std::to_string(heading.horizon) + ", powers ";
  for (std::size_t k = 0; k < heading.ladder.rungs(); ++k)
    title += (k > 0 ? ", " : "") + to_string(heading.ladder[k].value());
  return wrapped(title + ", schedule " + heading.schedule, table_columns, 2) + '\n';
}

void print_curve(std::ostream& out, const std::vector<Rational>& total_variation) {
  if (total_variation.empty()) return;
  out << '\n';
  Rows rows{{"N", "total variation to the target"}};
  for (const Rational& distance : total_variation) {
    rows.push_back({std::to_string(rows.size() - 1), to_decimal(distance, printed_decimals)});
    if (const std::string fraction = cell(distance); fraction.front() != '~')
      rows.back().push_back(fraction);
  }
  print_rows(out, rows);
}

}  // namespace

void print_exact(std::ostream& out, const RungHeading& heading, const RungReport& report,
                 PrintedMatrix matrix) {
  out << title_of(heading) << report.states.size() << " states\n";
  print_laws(out, report);
  if (matrix == PrintedMatrix::yes) print_matrix(out, report);
  print_verdict(out, report.verdict);
  print_curve(out, report.total_variation);
}

void print_exact(std::ostream& out, const JointHeading& heading, const JointReport& report) {
  out << title_of(heading) << report.records.size() << " states\n";
  print_acceptances(out, report.swap_acceptance);
  print_verdict(out, report.verdict);
  print_curve(out, report.total_variation);
}

void print_exact(std::ostream& out, const RungHeading& heading, const CarriedReport& report) {
  out << title_of(heading) << report.size << " states, carried without a matrix\n\n";
  print_verdict(out, report);
  print_curve(out, report.total_variation);
}

void print_exact(std::ostream& out, const JointHeading& heading, const CarriedReport& report) {
  out << title_of(heading) << report.records << " states, " << report.size
      << " joint states, carried without a matrix\n";
  print_acceptances(out, report.swap_acceptance);
  print_verdict(out, report);
  print_curve(out, report.total_variation);
}

void print_exact(std::ostream& out, const reference::RoundTripReport& report) {
  out << "\none round trip, were acceptances independent of history: "
      << to_decimal(report.formula, printed_decimals) << " steps\n";
  Rows rows{{"N", "expected round trips"}};
  for (const Rational& trips : report.expected)
    rows.push_back({std::to_string(rows.size() - 1), to_decimal(trips, printed_decimals)});
  print_rows(out, rows);
}

void print_exact(std::ostream& out, const MixingHeading& heading,
                 const reference::MixingReport& report) {
  const auto decimal = [](const Rational& value) { return to_decimal(value, printed_decimals); };
  const auto at_least = [](const Rational& bound) {
    return to_decimal_below(bound, printed_decimals);
  };
  const auto at_most = [](const Rational& bound) {
    return to_decimal_above(bound, printed_decimals);
  };
  if (report.second) {
    const reference::Bracket& second = *report.second;
    if (heading.is_joint) out << "\nof P P*, P* the chain backwards:";
    out << "\nspectral gap:     " << at_least(1 - second.upper) << " to "
        << at_most(1 - second.lower) << '\n';
    if (second.lower != 1)
      out << "relaxation time:  " << at_least(1 / (1 - second.lower))
          << (second.upper == 1 ? " or more" : " to " + at_most(1 / (1 - second.upper))) << '\n';
  }
  if (report.time) {
    const reference::MixingTime& time = *report.time;
    out << "\nmixing time:      " << time.steps << " steps to within " << to_string(heading.within)
        << "; worst start (" << report.worst_start
        << ")\nTV one before:    " << decimal(time.before.lower)
        << "\nTV then:          " << decimal(time.after.lower) << '\n';
  }
  const auto print_cut = [&](const reference::NamedCut& named, const char* members) {
    const reference::Cut& cut = named.cut;
    out << '\n' << members << ':';
    for (const std::string& name : named.classes) out << " (" << name << ')';
    out << "\nmass:             " << decimal(cut.mass)
        << "\nconductance:      " << decimal(cut.conductance());
    if (!heading.is_joint) out << "\ngap at most:      " << at_most(cut.gap_at_most());
    if (const auto steps = cut.steps_at_least(heading.within))
      out << "\nsteps at least:   " << at_least(*steps) << " to within "
          << to_string(heading.within);
    out << '\n';
  };
  if (report.first_token_cut) print_cut(*report.first_token_cut, "narrowest cut, by first tokens");
  if (!report.any_cut) return;
  print_cut(*report.any_cut, "narrowest cut of all");
  if (!heading.is_joint)
    out << "gap at least:     " << at_least(report.any_cut->cut.gap_at_least()) << '\n';
}

}  // namespace tempera::cli
