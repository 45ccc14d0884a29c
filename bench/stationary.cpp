// bench_stationary FILE: seconds of the exact stationary law of compiled chains, by number of
// states: the lifted system against dense rational elimination. Writes each chain as
// FILE-<states>.drn, Storm's explicit format, and its law beside it, for bench/against_storm.
#include <cstdio>
#include <fstream>
#include <string>

#include "bench/seconds_of.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/stationary_law.hpp"
#include "reference/analysis/stationary_law.hpp"

using namespace tempera;
using bench::seconds_of;

namespace {

void write_chain(const std::string& file, const reference::Matrix& matrix) {
  std::ofstream out(file);
  out << "@type: DTMC\n@value_type: rational\n@parameters\n\n@reward_models\n\n@nr_states\n"
      << matrix.rows() << "\n@nr_choices\n"
      << matrix.rows() << "\n@model\n";
  for (std::size_t x = 0; x < matrix.rows(); ++x) {
    out << "state " << x << (x == 0 ? " init\n" : "\n") << "\taction 0\n";
    for (std::size_t y = 0; y < matrix.columns(); ++y)
      if (matrix(x, y) != 0)
        out << "\t\t" << y << " : " << reference::to_string(matrix(x, y)) << '\n';
  }
}

void measure(const std::string& file, const char* name, std::size_t horizon,
             const std::vector<double>& powers, bool has_dense) {
  const reference::FiniteModel model =
      reference::load_finite_model(std::string(TEMPERA_SOURCE_DIR "/toy_models/") + name + ".json");
  const lab::FiniteLogits logits(model);
  lab::LawReport report;
  const double whole = seconds_of([&] {
    report = lab::compiled_law(logits.enumerable(), nullptr, {horizon, powers, {}});
  });
  const double lifted = seconds_of([&] { lab::exact_stationary_law(report.matrix); });
  std::size_t bits = 0;
  for (const auto& mass : report.stationary)
    bits = std::max<std::size_t>(bits, msb(reference::Integer(denominator(mass))));
  std::string dense = "-";
  if (has_dense) {
    bool same = false;
    const double seconds =
        seconds_of([&] { same = reference::stationary_law(report.matrix) == report.stationary; });
    dense = std::to_string(seconds) + (same ? "" : "  DIFFERENT");
  }
  const std::size_t states = report.states.size();
  std::printf("%-16s %4zu %6zu %6zu %10zu %12.3f %12.3f  %s\n", name, horizon, powers.size(),
              states, bits, whole, lifted, dense.c_str());
  std::fflush(stdout);
  const std::string stem = file + "-" + std::to_string(states);
  write_chain(stem + ".drn", report.matrix);
  std::ofstream law(stem + ".law");
  for (const auto& mass : report.stationary) law << reference::to_string(mass) << '\n';
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: bench_stationary FILE\n", stderr);
    return 2;
  }
  std::printf("%-16s %4s %6s %6s %10s %12s %12s  %s\n", "model", "T", "rungs", "states", "bits",
              "law, s", "lifted, s", "dense, s");
  const std::string file = arguments[1];
  measure(file, "never_ends", 3, {2.0}, true);
  measure(file, "never_ends", 4, {2.0}, true);
  measure(file, "never_ends", 5, {2.0}, true);
  measure(file, "never_ends", 3, {1.0, 2.0}, true);
  measure(file, "never_ends", 7, {2.0}, false);
  measure(file, "never_ends", 4, {1.0, 2.0}, false);
  measure(file, "four_state", 20, {1.0, 2.0}, false);
  measure(file, "never_ends", 9, {2.0}, false);
  measure(file, "never_ends", 5, {1.0, 2.0}, false);
}
