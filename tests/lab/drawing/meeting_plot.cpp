#include "lab/drawing/meeting_plot.hpp"

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "tests/catch.hpp"

namespace tempera::gpu {
namespace {

Certificate certificate_of(const std::vector<std::optional<std::size_t>>& meetings) {
  Certificate found;
  for (const auto& meeting : meetings) found.pairs.push_back({meeting, {}, {}});
  found.lag = 3;
  found.rounds = 4;
  found.most_rounds = 40;
  return found;
}

/// The points of every polyline.
std::vector<std::vector<std::pair<double, double>>> curves_of(const std::string& svg) {
  std::vector<std::vector<std::pair<double, double>>> curves;
  for (auto at = svg.find("points=\""); at != std::string::npos;
       at = svg.find("points=\"", at + 1)) {
    std::istringstream points(svg.substr(at + 8, svg.find('"', at + 8) - at - 8));
    auto& curve = curves.emplace_back();
    for (std::string point; points >> point;) {
      const auto comma = point.find(',');
      curve.emplace_back(std::stod(point.substr(0, comma)), std::stod(point.substr(comma + 1)));
    }
  }
  return curves;
}

/// The height of a curve of steps at a place between its steps.
double height_at(const std::vector<std::pair<double, double>>& curve, double x) {
  for (std::size_t i = 1; i < curve.size(); ++i)
    if (curve[i].first > x) return curve[i - 1].second;
  return curve.back().second;
}

}  // namespace

TEST_CASE("the picture of meetings has the pairs apart at every round, and the bound beneath") {
  const Certificate found = certificate_of({3, 8, 15, 27, 27});
  const std::string svg = meeting_plot(found, "a < b");
  const auto curves = curves_of(svg);
  REQUIRE(curves.size() == 3);
  const double left = curves[0].front().first;
  const double right = curves[0].back().first;
  const double foot = curves[0].back().second;  // all have met
  const double bound_foot = curves[1].back().second;
  const double head = 200.0;  // of the panels' height
  CHECK(curves[1].back().first == right);
  const double high = 8.0;  // the limit begins at 7.9, and ticks are 2 apart
  for (std::size_t t = 0; t < 24; ++t) {
    CAPTURE(t);
    const double x = left + (right - left) * (static_cast<double>(t) + 0.5) / 24.0;
    std::size_t apart = 0;
    double terms = 0.0;
    for (const std::size_t meeting : {3U, 8U, 15U, 27U, 27U}) {
      apart += meeting > t + 3 ? 1 : 0;
      for (std::size_t j = 1; j < 10; ++j) terms += meeting > t + 3 * j ? 1.0 : 0.0;
    }
    // Coordinates are written to two decimals.
    CHECK(std::abs((foot - height_at(curves[0], x)) / head - static_cast<double>(apart) / 5.0) <
          2e-4);
    CHECK(std::abs((bound_foot - height_at(curves[1], x)) / head - terms / 5.0 / high) < 2e-4);
    CHECK(std::abs((bound_foot - height_at(curves[2], x)) / head -
                   *upper_tv_bound(found.pairs, 3, t) / high) < 2e-4);
  }
  // Steps: each stroke is level or upright.
  for (const auto& curve : curves)
    for (std::size_t i = 1; i < curve.size(); ++i)
      CHECK((curve[i].first == curve[i - 1].first || curve[i].second == curve[i - 1].second));
  for (const char* words : {"a &lt; b", "5 pairs, lag 3", "share still apart", "limit, 95 %",
                            "the 4 rounds of the run"})
    CHECK(svg.find(words) != std::string::npos);
  CHECK(svg.find("no bound") == std::string::npos);
}

TEST_CASE("the picture of pairs that have not met has no bound, and ends where they did") {
  const std::string svg = meeting_plot(certificate_of({3, {}, 13, {}}), "open");
  const auto curves = curves_of(svg);
  REQUIRE(curves.size() == 1);
  // Half of them are apart at the end, after 37 rounds; the third meets after 10.
  CHECK(std::abs(curves[0].back().second - (curves[0].front().second + 50.0)) <
        0.02);  // 3/4 at first
  const double left = curves[0].front().first;
  const double right = curves[0].back().first;
  CHECK(std::abs(height_at(curves[0], left + (right - left) * 10.5 / 37.0) -
                 curves[0].back().second) < 0.02);
  CHECK(std::abs(height_at(curves[0], left + (right - left) * 9.5 / 37.0) -
                 curves[0].front().second) < 0.02);
  CHECK(svg.find("no bound: 2 pairs have not met") != std::string::npos);
}

TEST_CASE("pairs that meet at once, and many rounds, are drawn in few finite points") {
  const std::string at_once = meeting_plot(certificate_of({3, 3}), "");
  CHECK(at_once.find("nan") == std::string::npos);
  CHECK(at_once.find("inf") == std::string::npos);
  Certificate slow = certificate_of({20'000, 15'000});
  slow.lag = 1;
  const auto curves = curves_of(meeting_plot(slow, ""));
  for (const auto& curve : curves) {
    CHECK(curve.size() < 8000);
    CHECK(curve.size() > 2);
  }
}

}  // namespace tempera::gpu
