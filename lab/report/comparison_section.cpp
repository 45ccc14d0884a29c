#include <set>

#include "lab/drawing/comparison_plot.hpp"
#include "lab/report/sections.hpp"

namespace tempera::lab {
namespace {

using reference::Rational;

std::string cell(const std::string& number) { return "<td>" + number + "</td>"; }

std::string cells_of(const ExactRow& row, bool is_target) {
  return cell(is_target ? "" : reference::to_decimal(row.decode_tokens, 1)) +
         cell(is_target ? "" : reference::to_decimal(row.tv, 4)) +
         cell(row.answer_probability ? reference::to_decimal(*row.answer_probability, 4) : "");
}

std::string table_of(const ExactComparison& comparison) {
  std::string table =
      "<table class=\"samplers\"><thead><tr><th>sampler</th><th>tokens</th><th>TV</th>"
      "<th>answer</th></tr></thead><tbody>\n<tr><th>the target</th>" +
      cells_of(comparison.target, true) + "</tr>\n";
  for (std::size_t k = 0; k < comparison.rows.size(); ++k) {
    const ExactRow& row = comparison.rows[k];
    const bool takes_less = !row.effort.empty() && !row.matched;
    table += "<tr><th class=\"signed\"><span class=\"sign\">" +
             sampler_sign(row.sampler, k, page_inks()) + "</span>" + gpu::escaped(row.sampler) +
             element("small", "", row.effort + (takes_less ? ", fewer tokens" : "")) + "</th>" +
             cells_of(row, false) + "</tr>\n";
  }
  return table + "</tbody></table>\n";
}

}  // namespace

std::vector<const ShippedUse*> uses_with_answers(const std::vector<ShippedUse>& uses) {
  std::vector<const ShippedUse*> first;
  std::set<std::string> names;
  for (const ShippedUse& use : uses)
    if (!use.model.answers().empty() && names.insert(use.name).second) first.push_back(&use);
  return first;
}

std::vector<ExactComparison> compared_for_report(const std::vector<ShippedUse>& uses) {
  std::vector<ExactComparison> comparisons;
  for (const ShippedUse* use : uses_with_answers(uses))
    comparisons.push_back(compare_exactly(
        use->model, {0, 0, reference::parse_ladder("1,2,4", "powers"), 1, 1, 1, 4}));
  return comparisons;
}

Section comparison_section(const std::vector<ExactComparison>& comparisons) {
  std::string body =
      "<p>The samplers that the paper compares, at matched expected decode tokens, by their exact "
      "laws: the fewest rounds or particles that take the tokens of ppt with one round a stage, at "
      "powers 1, 2, 4 (dotted in the picture, where efforts grow to four times that). TV is the "
      "answer's distance from the power target; answer the probability of the model's answer set. "
      "<code>tempera compare</code> gives each as a fraction.</p>\n<div class=\"cards\">\n";
  for (const ExactComparison& comparison : comparisons)
    body += "<article class=\"card\"><figure class=\"panel\">" +
            comparison_panel(comparison, page_inks()) + "</figure>\n" + table_of(comparison) +
            "</article>\n";
  return {"comparison", "Samplers at matched compute", body + "</div>\n"};
}

}  // namespace tempera::lab
