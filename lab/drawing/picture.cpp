#include "lab/drawing/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tempera::gpu {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return result;
}

std::string in_decimal(double value, const char* format) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

double nice_step(double range, double parts) {
  const double rough = std::max(range, 1e-300) / parts;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10.0 * power;
}

const Inks& on_white() {
  static const Inks inks{
      "#222222",
      "#444444",
      "#e4e4e4",
      "#ffffff",
      {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"}};
  return inks;
}

Picture::Picture(double width, double height, const std::string& name, Inks inks)
    : inks_(std::move(inks)) {
  const std::string size_x = in_decimal(width, "%.0f"), size_y = in_decimal(height, "%.0f");
  svg_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size_x + "\" height=\"" + size_y +
         "\" viewBox=\"0 0 " + size_x + " " + size_y +
         "\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\" fill=\"" + inks_.text +
         "\">\n<title>" + escaped(name) + "</title>\n";
  if (!inks_.background.empty())
    svg_ += "<rect width=\"100%\" height=\"100%\" fill=\"" + inks_.background + "\"/>\n";
}

void Picture::text(double x, double y, const std::string& words, const std::string& anchor,
                   const std::string& more) {
  svg_ += "<text x=\"" + in_decimal(x) + "\" y=\"" + in_decimal(y) + "\" text-anchor=\"" + anchor +
          "\" " + more + ">" + escaped(words) + "</text>\n";
}

void Picture::line(double x1, double y1, double x2, double y2, const std::string& stroke,
                   double width, const std::string& more) {
  svg_ += "<line x1=\"" + in_decimal(x1) + "\" y1=\"" + in_decimal(y1) + "\" x2=\"" +
          in_decimal(x2) + "\" y2=\"" + in_decimal(y2) + "\" stroke=\"" + stroke +
          "\" stroke-width=\"" + in_decimal(width) + "\" " + more + "/>\n";
}

void Picture::arrow(double x1, double x2, double y, const std::string& stroke) {
  const double back = x2 > x1 ? -7.0 : 7.0;
  line(x1, y, x2 + back, y, stroke, 1.6);
  svg_ += "<path d=\"M" + in_decimal(x2) + " " + in_decimal(y) + "l" + in_decimal(back) +
          " -4.5v9z\" fill=\"" + stroke + "\"/>\n";
}

void Picture::bar(double x, double top, double width, double height, const std::string& fill,
                  const std::string& more) {
  svg_ += "<rect x=\"" + in_decimal(x) + "\" y=\"" + in_decimal(top) + "\" width=\"" +
          in_decimal(width) + "\" height=\"" + in_decimal(height) + "\" fill=\"" + fill + "\" " +
          more + "/>\n";
}

void Picture::dot(double x, double y, double radius, const std::string& fill) {
  svg_ += "<circle cx=\"" + in_decimal(x) + "\" cy=\"" + in_decimal(y) + "\" r=\"" +
          in_decimal(radius) + "\" fill=\"" + fill + "\"/>\n";
}

void Picture::mark(Mark shape, double x, double y, const std::string& colour) {
  const auto filled = [&](const std::string& path) {
    svg_ += "<path d=\"M" + in_decimal(x) + " " + in_decimal(y) + path + "z\" fill=\"" + colour +
            "\"/>\n";
  };
  switch (shape) {
    case Mark::disc:
      return dot(x, y, 3.4, colour);
    case Mark::ring:
      svg_ += "<circle cx=\"" + in_decimal(x) + "\" cy=\"" + in_decimal(y) +
              "\" r=\"3.4\" fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"1.6\"/>\n";
      return;
    case Mark::square:
      return filled("m-3.2 -3.2h6.4v6.4h-6.4");
    case Mark::diamond:
      return filled("m0 -4.6l4.6 4.6l-4.6 4.6l-4.6 -4.6");
    case Mark::triangle:
      return filled("m0 -4.4l4.4 7.6h-8.8");
    case Mark::cross:
      line(x - 3.4, y - 3.4, x + 3.4, y + 3.4, colour, 2.0);
      line(x - 3.4, y + 3.4, x + 3.4, y - 3.4, colour, 2.0);
      return;
  }
}

void Picture::darken(const Inks& dark) {
  std::string rules;
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (const char* attribute : {"fill", "stroke"})
      rules += "[" + std::string(attribute) + "=\"" + from + "\"]{" + attribute + ":" + to + "}";
  };
  replace(inks_.text, dark.text);
  replace(inks_.axis, dark.axis);
  replace(inks_.grid, dark.grid);
  if (!inks_.background.empty()) replace(inks_.background, dark.background);
  for (std::size_t k = 0; k < inks_.curves.size(); ++k) replace(inks_.curve(k), dark.curve(k));
  svg_ += "<style>@media (prefers-color-scheme: dark){" + rules + "}</style>\n";
}

void Picture::curve(const std::vector<std::pair<double, double>>& points, const std::string& stroke,
                    const std::string& more) {
  svg_ += "<polyline fill=\"none\" stroke=\"" + stroke +
          "\" stroke-width=\"1.8\" stroke-linejoin=\"round\" " + more + " points=\"";
  for (const auto& [x, y] : points) svg_ += in_decimal(x) + "," + in_decimal(y) + " ";
  svg_ += "\"/>\n";
}

void Picture::frame(const Panel& panel, const std::string& title, const std::string& y_name) {
  line(panel.left, panel.y(0.0), panel.x(1.0), panel.y(0.0), inks_.axis, 1.0);
  line(panel.left, panel.top, panel.left, panel.y(0.0), inks_.axis, 1.0);
  if (!title.empty())
    text(panel.left, panel.top - 20.0, title, "start", "font-size=\"15\" font-weight=\"bold\"");
  const double across = panel.left - 62.0, middle = panel.y(0.5);
  text(across, middle, y_name, "middle",
       "transform=\"rotate(-90 " + in_decimal(across) + " " + in_decimal(middle) + ")\"");
}

void Picture::y_tick(const Panel& panel, double share, const std::string& words) {
  line(panel.left, panel.y(share), panel.x(1.0), panel.y(share), inks_.grid, 0.8);
  text(panel.left - 8.0, panel.y(share) + 4.5, words, "end");
}

void Picture::x_ticks(const Panel& panel, std::size_t last, const std::string& name) {
  const double range = std::max(1.0, static_cast<double>(last));
  const double step = std::max(1.0, nice_step(range, 10.0));
  const auto steps = static_cast<std::size_t>(range / step + 1e-9);
  for (std::size_t i = 0; i <= steps; ++i) {
    const double at = static_cast<double>(i) * step;
    x_tick(panel, at / range, in_decimal(at, "%.0f"));
  }
  text(panel.x(0.5), panel.y(0.0) + 38.0, name, "middle");
}

void Picture::x_tick(const Panel& panel, double share, const std::string& words) {
  line(panel.x(share), panel.y(0.0), panel.x(share), panel.y(0.0) + 5.0, inks_.axis, 1.0);
  text(panel.x(share), panel.y(0.0) + 19.0, words, "middle");
}

void Picture::key(const Panel& panel, std::size_t k, const std::string& words) {
  const double y = panel.top + 8.0 + 17.0 * static_cast<double>(k);
  if (y > panel.y(0.0)) return;
  line(panel.x(1.0) + 10.0, y, panel.x(1.0) + 28.0, y, inks_.curve(k), 2.5);
  text(panel.x(1.0) + 33.0, y + 4.5, words);
}

}  // namespace tempera::gpu
