#pragma once

#include <span>
#include <string>

#include "lab/contest/ablations.hpp"
#include "lab/contest/exact_comparison.hpp"
#include "lab/drawing/picture.hpp"
#include "lab/report/report.hpp"

namespace tempera::lab {

/// A part of the page with a heading of its own.
struct Section {
  std::string id;     ///< its anchor
  std::string title;  ///< as text
  std::string body;   ///< as HTML
};

/// TV to the target of the paper's four-state example, by the number N of updates from X_4: with
/// the fixed horizon and truncating, computed from the two kernels (eq:condensed-tv-laws,
/// fig:condensed-tv-summary). As a picture and as fractions.
Section curves_section();

/// ā of every edge, at the product target, for each ladder of two rungs or more, with R and the
/// expected round trips by formula. A ladder that comes twice is shown once.
Section ladders_section(const std::vector<ShippedUse>& uses);

/// The first of the uses of each model that names answers: what a sampler is compared by.
std::vector<const ShippedUse*> uses_with_answers(const std::vector<ShippedUse>& uses);

/// What comparison_section shows: each of the uses' models that names answers, once, at powers 1,
/// 2, 4 and one round a stage, with curves.
std::vector<ExactComparison> compared_for_report(const std::vector<ShippedUse>& uses);

/// Each comparison as a picture of its curves, and as a table with the same signs. Range:
/// comparisons with curves.
Section comparison_section(const std::vector<ExactComparison>& comparisons);

/// A model's name and its ablations.
struct ModelAblations {
  std::string model;
  std::vector<Ablation> ablations;
};

/// What ablations_section shows: each of the uses' models that names answers, once, at powers 1, 3,
/// 9 and one round a stage.
std::vector<ModelAblations> ablated_for_report(const std::vector<ShippedUse>& uses);

/// The ablations of each model, a table each.
Section ablations_section(const std::vector<ModelAblations>& all);

/// Every claim with the paper's words and their place, nature, kind, verdict, the verdict's ground
/// and what ran: the paper's, then tempera's own; of each those that were refuted first, then by
/// verdict.
Section claims_section(const std::vector<ClaimResult>& decisions);

/// The theorems that claims name, as their files have it: where claims_section links to.
Section theorems_section(const std::map<std::string, std::string>& theorems);

/// Every defect with its counterexample drawn, and the smallest model.
Section gallery_section(const std::vector<DefectFound>& defects);

/// Two states and the way between them, both numbers as they are in the pair.
std::string flow_diagram(const ShownPair& pair);

/// The colours of the page's pictures: the page's own variables, light or dark.
const gpu::Inks& page_inks();

/// <tag class="kind">text</tag>, the text escaped; nothing if there is no text.
std::string element(const std::string& tag, const std::string& kind, const std::string& text);

/// The fraction if it is short enough to be read, else its decimal.
std::string readable(const reference::Rational& value);

}  // namespace tempera::lab
