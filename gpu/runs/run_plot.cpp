#include "gpu/runs/run_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tempera::gpu {
namespace {

/// The place of a panel's axes in the picture.
struct Panel {
  double left, top, width, height;
  double x(double share) const { return left + share * width; }
  double y(double share) const { return top + (1.0 - share) * height; }
};

constexpr double picture_width = 960.0;
constexpr double picture_height = 1010.0;
constexpr Panel index_panel{90.0, 80.0, 740.0, 230.0};
constexpr Panel acceptance_panel{90.0, 400.0, 740.0, 190.0};
constexpr Panel log_p0_panel{90.0, 690.0, 740.0, 250.0};

/// Colours that stay apart in print and for colour-blind eyes (Okabe and Ito), without the yellow
/// that a light background swallows.
std::string colour(std::size_t k) {
  constexpr std::array<const char*, 7> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                               "#56b4e9", "#e69f00", "#000000"};
  return colours.at(k % colours.size());
}

std::string number(double value, const char* format = "%.2f") {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result;
}

/// A step of 1, 2 or 5 times a power of ten that cuts a range into at most `parts` or so.
double nice_step(double range, double parts) {
  const double rough = std::max(range, 1e-300) / parts;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10.0 * power;
}

class Picture {
 public:
  explicit Picture(const std::string& title) {
    svg_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(picture_width, "%.0f") +
           "\" height=\"" + number(picture_height, "%.0f") + "\" viewBox=\"0 0 " +
           number(picture_width, "%.0f") + " " + number(picture_height, "%.0f") +
           "\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222222\">\n<title>" +
           escaped(title) + "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    text(picture_width / 2.0, 30.0, title, "middle", "font-size=\"17\" font-weight=\"bold\"");
  }
  std::string end() { return svg_ + "</svg>\n"; }

  void text(double x, double y, const std::string& words, const std::string& anchor = "start",
            const std::string& more = "") {
    svg_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor +
            "\" " + more + ">" + escaped(words) + "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2, const std::string& stroke, double width) {
    svg_ += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
            "\" y2=\"" + number(y2) + "\" stroke=\"" + stroke + "\" stroke-width=\"" +
            number(width) + "\"/>\n";
  }
  void bar(double x, double top, double width, double height, const std::string& fill) {
    svg_ += "<rect x=\"" + number(x) + "\" y=\"" + number(top) + "\" width=\"" + number(width) +
            "\" height=\"" + number(height) + "\" fill=\"" + fill + "\"/>\n";
  }
  void curve(const std::vector<std::pair<double, double>>& points, const std::string& stroke) {
    svg_ += "<polyline fill=\"none\" stroke=\"" + stroke +
            "\" stroke-width=\"1.8\" stroke-linejoin=\"round\" points=\"";
    for (const auto& [x, y] : points) svg_ += number(x) + "," + number(y) + " ";
    svg_ += "\"/>\n";
  }

  /// Frame, title and the name of the y-axis.
  void frame(const Panel& panel, const std::string& title, const std::string& y_name) {
    line(panel.left, panel.y(0.0), panel.x(1.0), panel.y(0.0), "#444444", 1.0);
    line(panel.left, panel.top, panel.left, panel.y(0.0), "#444444", 1.0);
    text(panel.left, panel.top - 20.0, title, "start", "font-size=\"15\" font-weight=\"bold\"");
    const double middle = panel.y(0.5);
    text(28.0, middle, y_name, "middle", "transform=\"rotate(-90 28 " + number(middle) + ")\"");
  }
  void y_tick(const Panel& panel, double share, const std::string& words) {
    line(panel.left, panel.y(share), panel.x(1.0), panel.y(share), "#e4e4e4", 0.8);
    text(panel.left - 8.0, panel.y(share) + 4.5, words, "end");
  }
  /// Whole numbers from 0 to `last`, and the axis's name.
  void x_ticks(const Panel& panel, std::size_t last, const std::string& name) {
    const double range = std::max(1.0, static_cast<double>(last));
    const double step = std::max(1.0, nice_step(range, 10.0));
    const auto steps = static_cast<std::size_t>(range / step + 1e-9);
    for (std::size_t i = 0; i <= steps; ++i) {
      const double at = static_cast<double>(i) * step;
      line(panel.x(at / range), panel.y(0.0), panel.x(at / range), panel.y(0.0) + 5.0, "#444444",
           1.0);
      text(panel.x(at / range), panel.y(0.0) + 19.0, number(at, "%.0f"), "middle");
    }
    text(panel.x(0.5), panel.y(0.0) + 38.0, name, "middle");
  }
  void key(const Panel& panel, std::size_t k, const std::string& words) {
    const double y = panel.top + 8.0 + 17.0 * static_cast<double>(k);
    if (y > panel.y(0.0)) return;
    line(panel.x(1.0) + 10.0, y, panel.x(1.0) + 28.0, y, colour(k), 2.5);
    text(panel.x(1.0) + 33.0, y + 4.5, words);
  }

 private:
  std::string svg_;
};

constexpr const char* rounds_name =
    "block extensions and rounds, through all stages (dashes: a stage begins)";

double share_of(std::size_t i, std::size_t count) {
  return count < 2 ? 0.0 : static_cast<double>(i) / static_cast<double>(count - 1);
}

void mark_stages(Picture& picture, const Panel& panel, std::span<const RoundTrace> sample) {
  for (std::size_t i = 1; i < sample.size(); ++i) {
    if (sample[i].round != 0) continue;
    const double x = panel.x(share_of(i, sample.size()));
    const auto dashes = static_cast<std::size_t>(panel.height / 8.0);
    for (std::size_t dash = 0; dash <= dashes; ++dash) {
      const double y = panel.top + 8.0 * static_cast<double>(dash);
      picture.line(x, y, x, std::min(y + 4.0, panel.y(0.0)), "#999999", 0.8);
    }
  }
}

std::string power_text(double power) { return number(power, "%.4g"); }

void draw_index_process(Picture& picture, const RunTraces& run,
                        std::span<const RoundTrace> sample) {
  const std::size_t rungs = run.settings.powers.size();
  picture.frame(index_panel, "Index process: the rung of each replica", "rung (power)");
  const auto height = [&](std::size_t k) {
    return (static_cast<double>(k) + 0.5) / static_cast<double>(rungs);
  };
  for (std::size_t k = 0; k < rungs; ++k)
    picture.y_tick(index_panel, height(k),
                   std::to_string(k + 1) + " (" + power_text(run.settings.powers[k]) + ")");
  picture.x_ticks(index_panel, sample.size() - 1, rounds_name);
  mark_stages(picture, index_panel, sample);
  for (std::size_t replica = 1; replica <= rungs; ++replica) {
    // Beside each other where they share no rung; a little apart, so that exchanges can be seen.
    const double shift = (share_of(replica - 1, rungs) - 0.5) * 0.3 / static_cast<double>(rungs);
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      const auto& held = sample[i].replicas;
      const auto k =
          static_cast<std::size_t>(std::find(held.begin(), held.end(), replica) - held.begin());
      points.emplace_back(index_panel.x(share_of(i, sample.size())),
                          index_panel.y(height(k) + shift));
    }
    picture.curve(points, colour(replica - 1));
    picture.key(index_panel, replica - 1, "replica " + std::to_string(replica));
  }
}

void draw_acceptances(Picture& picture, const RunTraces& run) {
  picture.frame(acceptance_panel, "Acceptance, all samples", "share accepted");
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
    picture.y_tick(acceptance_panel, share, number(share));
  const std::size_t bars = run.moves.size() + run.swaps.size();
  const double slot = acceptance_panel.width / static_cast<double>(bars);
  const auto draw = [&](std::size_t place, const AcceptanceCount& count, const std::string& fill,
                        const std::string& name) {
    const double left = acceptance_panel.left + static_cast<double>(place) * slot;
    const double share =
        count.tried == 0 ? 0.0
                         : static_cast<double>(count.accepted) / static_cast<double>(count.tried);
    const double top = acceptance_panel.y(share);
    picture.bar(left + 0.2 * slot, top, 0.6 * slot, acceptance_panel.y(0.0) - top, fill);
    if (bars > 16) return;
    picture.text(left + 0.5 * slot, top - 4.0, count.tried == 0 ? "none" : number(share), "middle");
    picture.text(left + 0.5 * slot, acceptance_panel.y(0.0) + 19.0, name, "middle");
  };
  for (std::size_t k = 0; k < run.moves.size(); ++k)
    draw(k, run.moves[k], colour(0), std::to_string(k + 1));
  for (std::size_t k = 0; k < run.swaps.size(); ++k)
    draw(run.moves.size() + k, run.swaps[k], colour(1),
         std::to_string(k + 1) + "-" + std::to_string(k + 2));
  picture.text(acceptance_panel.x(0.5), acceptance_panel.y(0.0) + 38.0,
               "local moves by rung, then swaps by pair of rungs", "middle");
  picture.key(acceptance_panel, 0, "local moves");
  picture.key(acceptance_panel, 1, "swaps");
}

void draw_log_p0(Picture& picture, const RunTraces& run, std::span<const RoundTrace> sample) {
  double least = sample.front().log_p0.front();
  double most = least;
  for (const RoundTrace& trace : sample)
    for (const double value : trace.log_p0) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
  if (most - least < 1e-9) least = most - 1.0;
  const double step = nice_step(most - least, 5.0);
  const double low = std::floor(least / step) * step;
  const double high = std::ceil(most / step) * step;
  picture.frame(log_p0_panel, "Log-likelihood of each rung's record", "log p0(x) in nats");
  const auto steps = static_cast<std::size_t>(std::lround((high - low) / step));
  for (std::size_t i = 0; i <= steps; ++i)
    picture.y_tick(log_p0_panel, share_of(i, steps + 1),
                   number(low + static_cast<double>(i) * step, "%.4g"));
  picture.x_ticks(log_p0_panel, sample.size() - 1, rounds_name);
  mark_stages(picture, log_p0_panel, sample);
  for (std::size_t k = 0; k < run.settings.powers.size(); ++k) {
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < sample.size(); ++i)
      points.emplace_back(log_p0_panel.x(share_of(i, sample.size())),
                          log_p0_panel.y((sample[i].log_p0[k] - low) / (high - low)));
    picture.curve(points, colour(k));
    picture.key(log_p0_panel, k,
                "rung " + std::to_string(k + 1) + " (" + power_text(run.settings.powers[k]) + ")");
  }
}

}  // namespace

std::string run_plot(const RunTraces& run, std::span<const RoundTrace> sample,
                     const std::string& title) {
  Picture picture(title);
  draw_index_process(picture, run, sample);
  draw_acceptances(picture, run);
  draw_log_p0(picture, run, sample);
  return picture.end();
}

}  // namespace tempera::gpu
