#include "lab/drawing/meeting_plot.hpp"

#include <algorithm>
#include <cmath>

#include "lab/drawing/picture.hpp"

namespace tempera::gpu {
namespace {

constexpr double meeting_width = 960.0;
constexpr double meeting_height = 660.0;
constexpr Panel apart_panel{90.0, 90.0, 700.0, 200.0};
constexpr Panel bound_panel{90.0, 390.0, 700.0, 200.0};
/// Points that are nearer than this to the one before are left out, the last excepted.
constexpr double least_distance = 0.2;

constexpr const char* behind_name = "rounds of the run behind";

/// A curve that keeps its value from one round to the next that is listed.
class Steps {
 public:
  Steps(const Panel& panel, double rounds) : panel_(panel), rounds_(rounds) {}
  void push(std::size_t round, double share, bool is_last) {
    const double x = panel_.x(static_cast<double>(round) / rounds_);
    if (!points_.empty() && !is_last && x - points_.back().first < least_distance) return;
    if (!points_.empty()) points_.emplace_back(x, points_.back().second);
    points_.emplace_back(x, panel_.y(share));
  }
  const std::vector<std::pair<double, double>>& points() const { return points_; }

 private:
  const Panel& panel_;
  double rounds_;
  std::vector<std::pair<double, double>> points_;
};

}  // namespace

std::string meeting_plot(const Certificate& found, const std::string& title) {
  const std::vector<MeetingRound> rounds = found.meeting_rounds();
  const std::size_t last = std::max<std::size_t>(rounds.back().round, 1);
  const auto range = static_cast<double>(last);
  const auto pairs = static_cast<double>(found.pairs.size());
  Picture picture(meeting_width, meeting_height, title, on_white());
  picture.text(meeting_width / 2.0, 30.0, title, "middle", "font-size=\"17\" font-weight=\"bold\"");

  picture.frame(apart_panel, "Pairs that have not met", "share still apart");
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
    picture.y_tick(apart_panel, share, in_decimal(share));
  picture.x_ticks(apart_panel, last, behind_name);
  Steps apart(apart_panel, range);
  for (const MeetingRound& at : rounds)
    apart.push(at.round, static_cast<double>(at.apart) / pairs, &at == &rounds.back());
  picture.curve(apart.points(), on_white().curve(0));
  picture.key(apart_panel, 0,
              std::to_string(found.pairs.size()) + " pairs, lag " + std::to_string(found.lag));

  picture.frame(bound_panel, "The bound after so many rounds", "total variation at most");
  picture.x_ticks(bound_panel, last, behind_name);
  if (rounds.front().bound) {
    double most = 0.0;
    for (const MeetingRound& at : rounds) most = std::max(most, *at.limit);
    const double step = nice_step(most, 5.0);
    const auto steps = static_cast<std::size_t>(std::ceil(most / step));
    const double high = static_cast<double>(steps) * step;
    for (std::size_t i = 0; i <= steps; ++i) {
      const double at = static_cast<double>(i) * step;
      picture.y_tick(bound_panel, at / high, in_decimal(at, "%.4g"));
    }
    Steps mean(bound_panel, range);
    Steps limit(bound_panel, range);
    for (const MeetingRound& at : rounds) {
      mean.push(at.round, at.bound->mean / high, &at == &rounds.back());
      limit.push(at.round, *at.limit / high, &at == &rounds.back());
    }
    picture.curve(mean.points(), on_white().curve(0));
    picture.curve(limit.points(), on_white().curve(1), "stroke-dasharray=\"5 3\"");
    picture.key(bound_panel, 0, "estimate");
    picture.key(bound_panel, 1, "limit, 95 %");
  } else {
    picture.text(
        bound_panel.x(0.5), bound_panel.y(0.5),
        "no bound: " + std::to_string(found.pairs.size() - found.met()) + " pairs have not met",
        "middle");
  }
  if (found.rounds <= last)
    for (const Panel* panel : {&apart_panel, &bound_panel}) {
      const double x = panel->x(static_cast<double>(found.rounds) / range);
      picture.line(x, panel->top, x, panel->y(0.0), on_white().axis, 1.0,
                   "stroke-dasharray=\"2 4\"");
    }
  picture.text(bound_panel.left, meeting_height - 12.0,
               "dotted: the " + std::to_string(found.rounds) + " rounds of the run that is judged");
  return picture.end();
}

}  // namespace tempera::gpu
