#include "lab/report/sections.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/truncating_kernel.hpp"

namespace tempera::lab {
namespace {

using reference::Rational;

constexpr std::size_t last_update = 12;
constexpr double greatest_shown = 0.9;  // of a total variation: both begin at 5/6

struct Curves {
  std::vector<Rational> fixed, truncating;  ///< by N
};

Curves four_state_curves() {
  const auto model = reference::parse_finite_model(reference::four_state_model, "four-state");
  const reference::Power power{Rational(2)};
  const reference::FixedHorizonSpace fixed(model, 2);
  const reference::ComparisonSpace comparison(model, 2);
  return {
      reference::total_variation_curve({reference::FactoredKernel(reference::fixed_horizon_kernel(
                                           fixed, power, reference::RestartLaw::uniform(2)))},
                                       fixed.parse("a a", "X_4"),
                                       reference::power_target(fixed, power), last_update),
      reference::total_variation_curve(
          {reference::FactoredKernel(reference::truncating_kernel(comparison, power))},
          comparison.parse("a a", "X_4"), reference::power_target(comparison, power), last_update)};
}

std::string picture_of(const Curves& curves) {
  const gpu::Inks& inks = page_inks();
  gpu::Picture picture(390, 290,
                       "Total variation to the target by the number of updates: the fixed "
                       "horizon's falls to 0, the truncating one's rises again, to 1/2",
                       inks);
  constexpr gpu::Panel panel{76.0, 14.0, 304.0, 226.0};
  picture.frame(panel, "", "total variation to the target");
  for (const double tv : {0.0, 0.2, 0.4, 0.6, 0.8})
    picture.y_tick(panel, tv / greatest_shown, gpu::in_decimal(tv, "%.1f"));
  picture.x_ticks(panel, last_update, "local updates N from the record a a");
  const double floor = panel.y(0.5 / greatest_shown);
  picture.line(panel.left, floor, panel.x(1.0), floor, inks.axis, 1.0, "stroke-dasharray=\"5 4\"");
  picture.text(panel.x(1.0), floor - 6.0, "its limit, 1/2", "end");
  const auto draw = [&](const std::vector<Rational>& tv, std::size_t k, const std::string& name,
                        double name_at) {
    std::vector<std::pair<double, double>> points;
    for (std::size_t n = 0; n < tv.size(); ++n)
      points.emplace_back(panel.x(static_cast<double>(n) / static_cast<double>(last_update)),
                          panel.y(tv[n].convert_to<double>() / greatest_shown));
    picture.curve(points, inks.curve(k));
    for (const auto& [x, y] : points) picture.dot(x, y, 2.6, inks.curve(k));
    picture.text(panel.x(1.0), panel.y(name_at / greatest_shown), name, "end",
                 "style=\"fill:" + inks.curve(k) + "\" font-weight=\"bold\"");
  };
  draw(curves.truncating, 1, "truncating", 0.37);
  draw(curves.fixed, 0, "fixed horizon", 0.06);
  return picture.end();
}

std::string cell(const Rational& value) {
  return "<td>" + element("code", "", reference::to_string(value)) +
         element("small", "", reference::to_decimal(value, 5)) + "</td>";
}

}  // namespace

Section curves_section() {
  const Curves curves = four_state_curves();
  std::string body =
      "<p>The paper's four-state example: tokens a and e of probability 1/2, T = 2, power 2. With "
      "the fixed horizon the law goes to the target. Truncating, no record grows again: the "
      "distance falls to 37/128 at N = 4 and rises to 1/2, so that coming nearer for a while shows "
      "nothing. Both curves are computed from the two kernels, in rationals.</p>\n"
      "<div class=\"beside\"><figure>" +
      picture_of(curves) +
      "</figure>\n<table><thead><tr><th>N</th><th>fixed horizon</th><th>truncating</th></tr>"
      "</thead><tbody>\n";
  for (const std::size_t n : {0U, 1U, 2U, 3U, 4U, 5U, 10U})
    body += "<tr><th>" + std::to_string(n) + "</th>" + cell(curves.fixed[n]) +
            cell(curves.truncating[n]) + "</tr>\n";
  return {"curves", "Fixed horizon against truncating", body + "</tbody></table></div>\n"};
}

}  // namespace tempera::lab
