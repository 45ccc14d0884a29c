// A histogram against the times themselves.
#include "serve/sessions/histogram.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/between.hpp"
#include "tests/law.hpp"

namespace tempera::serve::histogram_test {
namespace {

/// The number of the line that begins with this.
double value_of(const std::string& text, const std::string& begin) {
  const auto at = text.find("\n" + begin + " ");
  return at == std::string::npos ? -1.0 : std::stod(text.substr(at + begin.size() + 2));
}

}  // namespace

TEST_CASE("each bucket counts the times up to its bound, the bound itself too", "[serve]") {
  law("a bucket counts what is not above it", [] {
    Histogram histogram;
    std::vector<double> times;
    for (std::size_t i = between<std::size_t>(0, 40); i > 0; --i) {
      const double bound = Histogram::bounds[between<std::size_t>(0, Histogram::bounds.size() - 1)];
      // At the bound, or beside it.
      times.push_back(bound * *rc::gen::element(0.5, 0.999, 1.0, 1.001, 2.0));
      histogram.add(std::chrono::duration<double>(times.back()));
    }
    std::string text;
    histogram.write(text, "seconds", "Times.");
    RC_ASSERT(text.starts_with("# HELP seconds Times.\n# TYPE seconds histogram\n"));
    double sum = 0.0;
    for (const double time : times) sum += time;
    for (const double bound : Histogram::bounds) {
      std::size_t below = 0;
      for (const double time : times) below += time <= bound ? 1 : 0;
      std::string name = std::to_string(bound);  // "0.002500"
      name.erase(name.find_last_not_of('0') + 1);
      if (name.back() == '.') name.pop_back();
      RC_ASSERT(value_of(text, "seconds_bucket{le=\"" + name + "\"}") ==
                static_cast<double>(below));
    }
    const auto count = static_cast<double>(times.size());
    RC_ASSERT(value_of(text, "seconds_bucket{le=\"+Inf\"}") == count);
    RC_ASSERT(value_of(text, "seconds_count") == count);
    // It is written with nine digits.
    RC_ASSERT(std::abs(value_of(text, "seconds_sum") - sum) <= 1e-8 * sum);
  });
}

}  // namespace tempera::serve::histogram_test
