#include "lab/drawing/comparison_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tempera::lab {
namespace {

using gpu::Mark;
using gpu::Panel;
using gpu::Picture;

constexpr double cell_width = 440.0;
constexpr double cell_height = 330.0;
constexpr double least_shown = 1e-6;  // of a distance; what is less is at the foot
constexpr double key_line = 22.0;

constexpr Panel panel_in_cell{78.0, 40.0, 346.0, 232.0};

/// How a sampler is drawn: samplers of one kind share a colour.
struct Sign {
  std::size_t colour;
  Mark mark;
  bool dashed = false;
};

/// The sign of a sampler, in the order of compare_exactly.
const Sign& sign_of(std::size_t sampler) {
  static constexpr std::array<Sign, 10> signs{{{6, Mark::disc},
                                               {6, Mark::cross},
                                               {1, Mark::triangle},
                                               {4, Mark::diamond},
                                               {2, Mark::square},
                                               {3, Mark::triangle, true},
                                               {5, Mark::disc},
                                               {5, Mark::ring, true},
                                               {0, Mark::disc},
                                               {0, Mark::ring, true}}};
  return signs.at(sampler % signs.size());
}

const gpu::Inks& light() {
  static const gpu::Inks inks{
      "#1b1d21",
      "#565c65",
      "#d7dade",
      "#ffffff",
      {"#00629c", "#b84a00", "#00795a", "#a8477f", "#6b4fbb", "#8a6200", "#33373d"}};
  return inks;
}

const gpu::Inks& dark() {
  static const gpu::Inks inks{
      "#e7e9ec",
      "#a6adb6",
      "#373c44",
      "#14161a",
      {"#6cbcf0", "#ff9f5a", "#4fd0a4", "#f09ccb", "#b8a5ff", "#e7b257", "#d5d9de"}};
  return inks;
}

/// A logarithmic axis between two positive numbers.
struct Axis {
  double least, most;
  double share(double value) const {
    return (std::log10(value) - std::log10(least)) / (std::log10(most) - std::log10(least));
  }
};

double decimal(const reference::Rational& value) { return value.convert_to<double>(); }

/// The next of 1, 2, 5 times a power of ten at or below a number, or at or above it.
double round_number(double value, bool up) {
  const double power = std::pow(10.0, std::floor(std::log10(value) + 1e-12));
  double below = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    const double step = factor * power;
    if (up && step >= value * (1 - 1e-12)) return step;
    if (!up && step > value * (1 + 1e-12)) return below;
    below = step;
  }
  return below;
}

/// Calls visit(row) for every row of every curve.
template <class Visit>
void for_rows(const ExactComparison& comparison, const Visit& visit) {
  for (const ExactCurve& curve : comparison.curves)
    for (const ExactRow& row : curve.rows) visit(row);
}

Axis token_axis(const ExactComparison& comparison) {
  double least = 1e300, most = 0.0;
  for_rows(comparison, [&](const ExactRow& row) {
    least = std::min(least, decimal(row.decode_tokens));
    most = std::max(most, decimal(row.decode_tokens));
  });
  return {round_number(least, false), std::max(round_number(most, true), 2.0 * least)};
}

Axis tv_axis(const ExactComparison& comparison) {
  double least = 0.5;
  bool has_foot = false;
  for_rows(comparison, [&](const ExactRow& row) {
    const double tv = decimal(row.tv);
    if (tv >= least_shown)
      least = std::min(least, tv);
    else
      has_foot = true;
  });
  const double decade = std::pow(10.0, std::floor(std::log10(least)));
  return {has_foot ? decade / 10.0 : decade, 1.0};
}

void draw_axes(Picture& picture, const Panel& panel, const Axis& tokens, const Axis& tv) {
  picture.frame(panel, "", "TV to the target");
  const auto decades = static_cast<int>(std::lround(-std::log10(tv.least)));
  for (int d = 0; d <= decades; ++d)
    picture.y_tick(panel, 1.0 - static_cast<double>(d) / decades,
                   gpu::in_decimal(std::pow(10.0, -d), "%.6g"));
  for (double at = tokens.least; at <= tokens.most * 1.001; at = round_number(at * 1.01, true))
    picture.x_tick(panel, tokens.share(at), gpu::in_decimal(at, "%.6g"));
  picture.text(panel.x(0.5), panel.y(0.0) + 38.0, "expected decode tokens of one answer", "middle");
}

void draw_curve(Picture& picture, const Panel& panel, const Axis& tokens, const Axis& tv,
                const ExactCurve& curve, const Sign& sign, const gpu::Inks& inks) {
  std::vector<std::pair<double, double>> points;
  for (const ExactRow& row : curve.rows)
    points.emplace_back(panel.x(tokens.share(decimal(row.decode_tokens))),
                        panel.y(tv.share(std::max(decimal(row.tv), tv.least))));
  const std::string& colour = inks.curve(sign.colour);
  if (points.size() > 1)
    picture.curve(points, colour, sign.dashed ? "stroke-dasharray=\"5 3\"" : "");
  for (const auto& [x, y] : points) picture.mark(sign.mark, x, y, colour);
}

void draw(Picture& picture, const Panel& panel, const ExactComparison& comparison,
          const gpu::Inks& inks) {
  const Axis tokens = token_axis(comparison), tv = tv_axis(comparison);
  picture.text(panel.left, panel.top - 24.0,
               comparison.model + ", T = " + std::to_string(comparison.horizon) +
                   ", B = " + std::to_string(comparison.block),
               "start", "font-weight=\"bold\"");
  picture.text(panel.x(1.0), panel.top - 7.0, "dotted: the tokens of ppt in the table", "end",
               "font-size=\"11\"");
  draw_axes(picture, panel, tokens, tv);
  for (const ExactRow& row : comparison.rows) {
    if (row.sampler != "ppt") continue;
    const double x = panel.x(tokens.share(decimal(row.decode_tokens)));
    picture.line(x, panel.top, x, panel.y(0.0), inks.axis, 1.0, "stroke-dasharray=\"2 4\"");
  }
  for (std::size_t k = 0; k < comparison.curves.size(); ++k)
    draw_curve(picture, panel, tokens, tv, comparison.curves[k], sign_of(k), inks);
}

void draw_sign(Picture& picture, double x, double y, const Sign& sign, const gpu::Inks& inks) {
  const std::string& colour = inks.curve(sign.colour);
  picture.line(x, y, x + 26.0, y, colour, 1.8, sign.dashed ? "stroke-dasharray=\"5 3\"" : "");
  picture.mark(sign.mark, x + 13.0, y, colour);
}

}  // namespace

std::string comparison_panel(const ExactComparison& comparison, const gpu::Inks& inks) {
  Picture picture(cell_width, cell_height,
                  "TV to the target against expected decode tokens on " + comparison.model, inks);
  draw(picture, panel_in_cell, comparison, inks);
  return picture.end();
}

std::string sampler_sign(const std::string& sampler, std::size_t k, const gpu::Inks& inks) {
  Picture picture(26.0, 14.0, sampler, inks);
  draw_sign(picture, 0.0, 7.0, sign_of(k), inks);
  return picture.end();
}

std::string comparison_plot(std::span<const ExactComparison> comparisons) {
  const std::size_t columns = std::min<std::size_t>(2, comparisons.size());
  const std::size_t lines = (comparisons.size() + columns - 1) / columns;
  const double width = cell_width * static_cast<double>(columns) + (columns == 1 ? 60.0 : 80.0);
  const auto& samplers = comparisons.front().curves;
  const std::size_t key_columns = 1 + columns;
  const std::size_t key_lines = (samplers.size() + key_columns - 1) / key_columns;
  const double key_top = cell_height * static_cast<double>(lines) + 20.0;
  Picture picture(width, key_top + key_line * static_cast<double>(key_lines),
                  "TV to the target against expected decode tokens, by sampler", light());
  picture.darken(dark());
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    Panel panel = panel_in_cell;
    panel.left += cell_width * static_cast<double>(i % columns);
    panel.top += cell_height * static_cast<double>(i / columns);
    draw(picture, panel, comparisons[i], light());
  }
  const double column_width = (width - 20.0) / static_cast<double>(key_columns);
  for (std::size_t k = 0; k < samplers.size(); ++k) {
    const double x = 14.0 + column_width * static_cast<double>(k / key_lines);
    const double y = key_top + key_line * static_cast<double>(k % key_lines);
    draw_sign(picture, x, y, sign_of(k), light());
    picture.text(x + 32.0, y + 4.5, samplers[k].sampler);
  }
  return picture.end();
}

}  // namespace tempera::lab
