#include "lab/drawing/comparison_plot.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>

#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

using namespace tempera;
using Catch::Contains;

namespace {

const lab::ExactComparison& compared(const std::string& model) {
  static std::map<std::string, lab::ExactComparison> known;
  const auto [entry, is_new] = known.try_emplace(model);
  if (is_new)
    entry->second = lab::compare_exactly(
        shipped(model), {2, 1, reference::parse_ladder("1,2", "powers"), 1, 1, 1, 4});
  return entry->second;
}

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

struct Words {
  double x, y;
  std::string text;
};

/// The texts that begin at their place, and so go to the right of it.
std::vector<Words> texts_of(const std::string& svg) {
  std::vector<Words> found;
  const std::regex form(
      "<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" text-anchor=\"start\" [^>]*>([^<]*)<");
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), form); at != std::sregex_iterator();
       ++at)
    found.push_back({std::stod((*at)[1]), std::stod((*at)[2]), (*at)[3]});
  return found;
}

}  // namespace

TEST_CASE("a curve follows its sampler from its least effort past the tokens of ppt") {
  const auto& comparison = compared("bimodal");
  REQUIRE(comparison.curves.size() == comparison.rows.size());
  const auto& ppt = comparison.curves[8];
  REQUIRE(ppt.sampler == "ppt");
  REQUIRE(ppt.rows.size() == 3);
  CHECK(ppt.rows[2].effort == "4 rounds");
  for (std::size_t k = 0; k < comparison.rows.size(); ++k) {
    const lab::ExactCurve& curve = comparison.curves[k];
    CAPTURE(curve.sampler);
    CHECK(curve.sampler == comparison.rows[k].sampler);
    for (std::size_t i = 1; i < curve.rows.size(); ++i)
      CHECK(curve.rows[i - 1].decode_tokens < curve.rows[i].decode_tokens);
    if (comparison.rows[k].effort.empty()) CHECK(curve.rows.size() == 1);
    if (curve.sampler == "fixed-horizon" || curve.sampler == "best-of-n")
      CHECK(curve.rows.back().decode_tokens >= ppt.rows[2].decode_tokens);
  }
}

TEST_CASE("every row of every curve is marked at its logarithms") {
  const auto& comparison = compared("four_state");
  const std::string svg = lab::comparison_panel(comparison, gpu::on_white());
  // The axes, read off the ticks: the first and last of tokens, and 1 and the foot of TV.
  const std::regex tick(
      "<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" text-anchor=\"(middle|end)\" "
      "[^>]*>([0-9.]+)<");
  std::vector<std::pair<double, double>> across, up;  // value, place
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), tick); at != std::sregex_iterator();
       ++at)
    ((*at)[3] == "middle" ? across : up)
        .emplace_back(std::stod((*at)[4]),
                      (*at)[3] == "middle" ? std::stod((*at)[1]) : std::stod((*at)[2]) - 4.5);
  REQUIRE(across.size() >= 3);
  REQUIRE(up.size() >= 2);
  const auto entry = [](const auto& ticks, double value) {
    const auto& [first, begin] = ticks.front();
    const auto& [last, end] = ticks.back();
    return begin + (end - begin) * std::log(value / first) / std::log(last / first);
  };
  for (const auto& [value, at] : across) CHECK(std::abs(entry(across, value) - at) < 0.02);
  std::set<std::pair<double, double>> marks;
  const std::regex disc("<circle cx=\"([0-9.]+)\" cy=\"([0-9.]+)\"");
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), disc); at != std::sregex_iterator();
       ++at)
    marks.emplace(std::stod((*at)[1]), std::stod((*at)[2]));
  for (const std::size_t k : {0U, 6U, 7U, 8U, 9U})  // those whose marks are circles
    for (const lab::ExactRow& row : comparison.curves[k].rows) {
      CAPTURE(row.sampler, row.effort);
      const double x = entry(across, row.decode_tokens.convert_to<double>());
      const double y = entry(up, row.tv.convert_to<double>());
      CHECK(std::any_of(marks.begin(), marks.end(), [&](const auto& mark) {
        return std::abs(mark.first - x) < 0.03 && std::abs(mark.second - y) < 0.03;
      }));
    }
  // Two places may be one if two laws are, so they are counted as they are written.
  CHECK(times_in(svg, "<circle") == 1 + 3 + 3 + 3 + 3 + 1);  // the last is at the foot
}

TEST_CASE("a distance of zero is at the foot") {
  auto comparison = compared("four_state");
  comparison.curves[8].rows[0].tv = 0;
  CHECK_THAT(lab::comparison_panel(comparison, gpu::on_white()),
             !Contains("inf") && !Contains("nan"));
}

TEST_CASE("the names below the panels do not overlap, in one column or two") {
  const std::vector<lab::ExactComparison> two{compared("four_state"), compared("bimodal")};
  for (const std::size_t panels : {1U, 2U}) {
    const std::string svg = lab::comparison_plot(std::span(two).first(panels));
    CHECK(times_in(svg, "decode tokens of one answer") == panels);
    auto words = texts_of(svg);
    for (const lab::ExactRow& row : two[0].rows)
      CHECK(std::count_if(words.begin(), words.end(),
                          [&](const Words& one) { return one.text == row.sampler; }) == 1);
    std::smatch width;
    REQUIRE(std::regex_search(svg, width, std::regex("viewBox=\"0 0 ([0-9]+)")));
    for (const Words& one : words) {
      // A letter of the sans-serif face, 13 high, is at most 7 wide on average.
      const double end = one.x + 7.0 * static_cast<double>(one.text.size());
      CAPTURE(one.text);
      CHECK(end <= std::stod(width[1]));
      for (const Words& other : words)
        if (&one != &other && std::abs(one.y - other.y) < 15.0 && other.x >= one.x)
          CHECK(end + 4.0 <= other.x - 32.0);  // the other's sign is 32 before its name
    }
  }
}

TEST_CASE("every colour of the picture has another where the reader's system is dark") {
  const std::vector<lab::ExactComparison> one{compared("four_state")};
  const std::string svg = lab::comparison_plot(one);
  const auto style = svg.find("<style>@media (prefers-color-scheme: dark)");
  REQUIRE(style != std::string::npos);
  const std::string rules = svg.substr(style, svg.find("</style>") - style);
  const std::regex colour("(fill|stroke)=\"(#[0-9a-f]{6})\"");
  std::set<std::string> used;
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), colour); at != std::sregex_iterator();
       ++at)
    used.insert((*at)[0]);
  CHECK(used.size() > 8);
  for (const std::string& attribute : used) CHECK_THAT(rules, Contains('[' + attribute + "]{"));
}
