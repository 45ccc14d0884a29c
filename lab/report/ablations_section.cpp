#include "lab/report/sections.hpp"

namespace tempera::lab {
namespace {

std::string row_of(const ExactRow& row) {
  const std::string answer =
      row.answer_probability ? reference::to_decimal(*row.answer_probability, 4) : "";
  return "<tr><th>" + gpu::escaped(row.sampler) +
         (row.effort.empty() ? "" : ", " + gpu::escaped(row.effort)) + "</th><td>" +
         reference::to_decimal(row.decode_tokens, 1) + "</td><td>" +
         reference::to_decimal(row.tv, 4) + "</td><td>" + answer + "</td><td class=\"wide\">" +
         reference::to_decimal(row.open_probability, 4) + "</td></tr>\n";
}

std::string card_of(const std::string& model, const std::vector<Ablation>& of_model) {
  std::string card = "<article class=\"card\"><h3>" + gpu::escaped(model) + "</h3>\n" +
                     "<table class=\"samplers\"><thead><tr><th>varied</th><th>tokens</th>"
                     "<th>TV</th><th>answer</th><th class=\"wide\">open</th></tr></thead>\n";
  for (const Ablation& ablation : of_model) {
    card += "<tbody><tr><th colspan=\"4\"><b>" + gpu::escaped(ablation.name) +
            "</b></th><td class=\"wide\"></td></tr>\n";
    for (const ExactRow& row : ablation.rows) card += row_of(row);
    card += "</tbody>\n";
  }
  return card + "</table></article>\n";
}

}  // namespace

std::vector<ModelAblations> ablated_for_report(const std::vector<ShippedUse>& uses) {
  std::vector<ModelAblations> all;
  for (const ShippedUse* use : uses_with_answers(uses))
    all.push_back({use->model.name(),
                   ablations(use->model, {0, 0, reference::parse_ladder("1,3,9", "powers")})});
  return all;
}

Section ablations_section(const std::vector<ModelAblations>& all) {
  std::string body =
      "<p>The paper's ablations by exact laws, at powers 1, 3, 9 with one round a stage: a single "
      "chain, Best-of-N and the uncoupled ladder at ppt's expected decode tokens, then one thing "
      "varied at a time. Open is the probability that the answer ends without a terminal token. "
      "<code>tempera compare --ablations</code> gives each as a fraction.</p>\n"
      "<div class=\"cards\">\n";
  for (const ModelAblations& one : all) body += card_of(one.model, one.ablations);
  return {"ablations", "The paper's ablations, exactly", body + "</div>\n"};
}

}  // namespace tempera::lab
