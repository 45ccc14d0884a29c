#include "lab/drawing/run_plot.hpp"

#include <algorithm>
#include <cmath>

#include "lab/drawing/picture.hpp"

namespace tempera::gpu {
namespace {

constexpr double picture_width = 960.0;
constexpr double picture_height = 1010.0;
constexpr double line_height = 18.0;
constexpr Panel index_panel{90.0, 80.0, 740.0, 230.0};
constexpr Panel acceptance_panel{90.0, 400.0, 740.0, 190.0};
constexpr Panel log_p0_panel{90.0, 690.0, 740.0, 250.0};

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

std::string power_text(double power) { return in_decimal(power, "%.4g"); }

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
    // Beside each other if they share no rung; a little apart, so that exchanges can be seen.
    const double shift = (share_of(replica - 1, rungs) - 0.5) * 0.3 / static_cast<double>(rungs);
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      const auto& held = sample[i].replicas;
      const auto k =
          static_cast<std::size_t>(std::find(held.begin(), held.end(), replica) - held.begin());
      points.emplace_back(index_panel.x(share_of(i, sample.size())),
                          index_panel.y(height(k) + shift));
    }
    picture.curve(points, on_white().curve(replica - 1));
    picture.key(index_panel, replica - 1, "replica " + std::to_string(replica));
  }
}

void draw_acceptances(Picture& picture, const RunTraces& run) {
  picture.frame(acceptance_panel, "Acceptance, all samples", "share accepted");
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
    picture.y_tick(acceptance_panel, share, in_decimal(share));
  const std::size_t bars = run.moves.size() + run.swaps.size();
  const double slot = acceptance_panel.width / static_cast<double>(bars);
  const auto draw = [&](std::size_t index, const AcceptanceCount& count, const std::string& fill,
                        const std::string& name) {
    const double left = acceptance_panel.left + static_cast<double>(index) * slot;
    const double share =
        count.tried == 0 ? 0.0
                         : static_cast<double>(count.accepted) / static_cast<double>(count.tried);
    const double top = acceptance_panel.y(share);
    picture.bar(left + 0.2 * slot, top, 0.6 * slot, acceptance_panel.y(0.0) - top, fill);
    if (bars > 16) return;
    picture.text(left + 0.5 * slot, top - 4.0, count.tried == 0 ? "none" : in_decimal(share),
                 "middle");
    picture.text(left + 0.5 * slot, acceptance_panel.y(0.0) + 19.0, name, "middle");
  };
  for (std::size_t k = 0; k < run.moves.size(); ++k)
    draw(k, run.moves[k], on_white().curve(0), std::to_string(k + 1));
  for (std::size_t k = 0; k < run.swaps.size(); ++k)
    draw(run.moves.size() + k, run.swaps[k], on_white().curve(1),
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
                   in_decimal(low + static_cast<double>(i) * step, "%.4g"));
  picture.x_ticks(log_p0_panel, sample.size() - 1, rounds_name);
  mark_stages(picture, log_p0_panel, sample);
  for (std::size_t k = 0; k < run.settings.powers.size(); ++k) {
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < sample.size(); ++i)
      points.emplace_back(log_p0_panel.x(share_of(i, sample.size())),
                          log_p0_panel.y((sample[i].log_p0[k] - low) / (high - low)));
    picture.curve(points, on_white().curve(k));
    picture.key(log_p0_panel, k,
                "rung " + std::to_string(k + 1) + " (" + power_text(run.settings.powers[k]) + ")");
  }
}

void draw_diagnostics(Picture& picture, std::span<const RungDiagnostics> chains) {
  double y = picture_height;
  const auto cell = [&](double x, const std::string& words) { picture.text(x, y, words, "end"); };
  const auto figures = [&](double left, const ChainFigures& found) {
    cell(left + 80.0, in_decimal(found.ess_bulk, "%.4g"));
    cell(left + 150.0, in_decimal(found.ess_tail, "%.4g"));
    cell(left + 220.0, found.r_hat ? in_decimal(*found.r_hat, "%.4g") : "-");
    cell(left + 300.0, in_decimal(found.mcse, "%.3g"));
  };
  const auto heading = [&](double left, const char* quantity) {
    cell(left + 80.0, std::string(quantity) + ": ESS");
    cell(left + 150.0, "tail");
    cell(left + 220.0, "R-hat");
    cell(left + 300.0, "MC error");
  };
  picture.text(log_p0_panel.left, y,
               "Mixing of the last stage's records, " + std::to_string(chains.front().chains) +
                   " answers of this prompt");
  y += line_height;
  cell(log_p0_panel.left + 40.0, "rung");
  heading(log_p0_panel.left + 70.0, "log p0");
  heading(log_p0_panel.left + 410.0, "length");
  for (const RungDiagnostics& at : chains) {
    y += line_height;
    cell(log_p0_panel.left + 40.0, std::to_string(at.rung));
    figures(log_p0_panel.left + 70.0, at.log_p0);
    figures(log_p0_panel.left + 410.0, at.length);
  }
  y += line_height;
  cell(log_p0_panel.left + 40.0, "rung");
  heading(log_p0_panel.left + 70.0, "commonest answer");
  cell(log_p0_panel.left + 490.0, "its share");
  for (const RungDiagnostics& at : chains) {
    y += line_height;
    cell(log_p0_panel.left + 40.0, std::to_string(at.rung));
    figures(log_p0_panel.left + 70.0, at.answer);
    cell(log_p0_panel.left + 490.0, in_decimal(at.answer.mean, "%.4g"));
  }
}

}  // namespace

std::string run_plot(const RunTraces& run, std::span<const RoundTrace> sample,
                     std::span<const RungDiagnostics> chains, const std::string& title) {
  const double lines = chains.empty() ? 0.0 : static_cast<double>(2 * chains.size() + 3);
  Picture picture(picture_width, picture_height + lines * line_height, title, on_white());
  picture.text(picture_width / 2.0, 30.0, title, "middle", "font-size=\"17\" font-weight=\"bold\"");
  draw_index_process(picture, run, sample);
  draw_acceptances(picture, run);
  draw_log_p0(picture, run, sample);
  if (!chains.empty()) draw_diagnostics(picture, chains);
  return picture.end();
}

}  // namespace tempera::gpu
