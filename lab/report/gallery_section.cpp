#include <algorithm>

#include "lab/report/sections.hpp"

namespace tempera::lab {
namespace {

/// Columns that a text takes: code points, of which none here is wide.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6U) != 2; }));
}

/// The record of each rung, on a line of its own.
std::vector<std::string> records_of(const std::string& state) {
  std::vector<std::string> records{""};
  for (const char c : state)
    if (c == '|')
      records.emplace_back();
    else
      records.back() += c;
  return records;
}

}  // namespace

std::string flow_diagram(const ShownPair& pair) {
  const bool flows = pair.what == ShownPair::What::flows;
  const bool escapes = pair.what == ShownPair::What::escape;
  const std::string above = (flows ? "flow " : escapes ? "" : "is ") + pair.there;
  const std::string below = escapes ? "no state" : (flows ? "flow " : "ought to be ") + pair.back;
  const auto from = records_of(pair.from), to = records_of(pair.to);
  // At a height of 13 units, a letter of a monospaced type is 7.9 wide, one of another type less.
  constexpr double letter = 7.9, line = 18.0;
  const auto box_width = [&](const std::vector<std::string>& records) {
    double widest = 44.0;
    for (const std::string& record : records)
      widest = std::max(widest, 20.0 + letter * static_cast<double>(columns(record)));
    return widest;
  };
  const double left = box_width(from), right = box_width(to);
  const double between = std::max(
      120.0, 30.0 + letter * static_cast<double>(std::max(columns(above), columns(below))));
  const double tall =
      std::max(64.0, 22.0 + line * static_cast<double>(std::max(from.size(), to.size())));
  const double width = left + between + right + 4.0, height = tall + 4.0, middle = height / 2.0;
  gpu::Picture picture(width, height,
                       "(" + pair.from + ") to (" + pair.to + "): " + above +
                           (escapes ? "; "
                            : flows ? "; back: "
                                    : "; ") +
                           below,
                       page_inks());
  const auto box = [&](double x, double wide, const std::vector<std::string>& records,
                       const std::string& more) {
    picture.bar(x, 2.0, wide, tall, "var(--page)", "rx=\"9\" stroke=\"var(--quiet)\" " + more);
    double y = middle + 4.5 - 0.5 * line * static_cast<double>(records.size() - 1);
    for (const std::string& record : records) {
      picture.text(x + wide / 2.0, y, record, "middle", "font-family=\"monospace\"");
      y += line;
    }
  };
  box(2.0, left, from, "");
  box(2.0 + left + between, right, to, escapes ? "stroke-dasharray=\"4 4\"" : "");
  const double begins = 2.0 + left + 8.0, ends = 2.0 + left + between - 8.0;
  const double centre = (begins + ends) / 2.0;
  const gpu::Inks& inks = page_inks();
  if (flows) {
    picture.arrow(begins, ends, middle - 7.0, inks.curve(0));
    picture.arrow(ends, begins, middle + 7.0, inks.curve(1));
  } else {
    picture.arrow(begins, ends, middle, inks.curve(0));
  }
  picture.text(centre, middle - 15.0, above, "middle");
  picture.text(centre, middle + 24.0, below, "middle");
  return picture.end();
}

Section gallery_section(const std::vector<DefectFound>& defects) {
  std::string body =
      "<p>Mistakes known from samplers and tempering codes, planted one by one and hunted down to "
      "the smallest model that still shows them. A drawing shows two states: the flow there and "
      "back at the target, which ought to be equal, or the probability of the way as it is and as "
      "it ought to be. Each line of a box is the record of one rung.</p>\n<div class=\"cards\">\n";
  for (const DefectFound& found : defects) {
    body += "<article class=\"card" + std::string(found.caught ? "" : " missed") + "\"><h3>" +
            gpu::escaped(found.name) + "</h3>\n" + element("p", "", found.description);
    if (!found.caught) {
      body += "<p><b>MISSED</b></p></article>\n";
      continue;
    }
    if (found.pair) body += "<figure>" + flow_diagram(*found.pair) + "</figure>\n";
    body += element("p", "quiet", found.counterexample) +
            "<details><summary>smallest model, horizon " + std::to_string(found.horizon) +
            "; caught in " + gpu::in_decimal(found.seconds) + " s</summary>" +
            element("code", "", found.model) + "</details></article>\n";
  }
  return {"gallery", "Defects, each caught", body + "</div>\n"};
}

}  // namespace tempera::lab
