#include <algorithm>

#include "lab/report/sections.hpp"

namespace tempera::lab {
namespace {

constexpr const char* style = R"(
:root { color-scheme: light dark; --page: #ffffff; --card: #f5f6f8; --ink: #1b1d21;
  --quiet: #565c65; --line: #d7dade; --good: #17703d; --if: #855000; --bad: #b3231a;
  --none: #565c65; --curve-1: #00629c; --curve-2: #b84a00; --curve-3: #00795a;
  --curve-4: #a8477f; --curve-5: #6b4fbb; --curve-6: #8a6200; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14161a; --card: #1d2025; --ink: #e7e9ec; --quiet: #a6adb6; --line: #373c44;
    --good: #62cf90; --if: #e7b257; --bad: #ff9086; --none: #a6adb6; --curve-1: #6cbcf0;
    --curve-2: #ff9f5a; --curve-3: #4fd0a4; --curve-4: #f09ccb; --curve-5: #b8a5ff;
    --curve-6: #e7b257; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1.5rem clamp(1rem, 3vw, 2.5rem) 4rem; max-width: 86rem;
  background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.35rem; margin: 2.6rem 0 .4rem; border-top: 1px solid var(--line);
  padding-top: 1.2rem; }
h3 { font-size: 1.05rem; margin: 0 0 .4rem; }
section section h3 { font-size: 1.15rem; margin: 1.8rem 0 0; }
p { margin: .3rem 0 .6rem; max-width: 80ch; }
a { color: var(--curve-1); }
code { font: .875em/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); }
nav a { margin-right: 1.1rem; white-space: nowrap; }
figure { margin: .5rem 0; }
svg { max-width: 100%; height: auto; display: block; }
.counts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .7rem;
  margin: 1rem 0; padding: 0; list-style: none; }
.counts li { background: var(--card); border-radius: .5rem; padding: .6rem .9rem; }
.counts b { display: block; font-size: 1.6rem; line-height: 1.2; }
.beside { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; align-items: flex-start; }
.beside figure { flex: 1 1 24rem; max-width: 36rem; }
.beside svg { width: 100%; }
table { border-collapse: collapse; }
th, td { text-align: right; padding: .25rem .7rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td small { display: block; color: var(--quiet); font-size: .85rem; }
.panel svg { width: 100%; }
.samplers { width: 100%; font-size: .875rem; }
.samplers th, .samplers td { padding: .2rem .35rem; white-space: nowrap; }
.samplers th:first-child { text-align: left; font-weight: normal;
  white-space: normal; }
@media (max-width: 30rem) {
  .claim p { overflow-x: auto; }
  .samplers { font-size: .8rem; }
  .samplers th, .samplers td { padding: .2rem; }
  .samplers .wide { display: none; }
}
.samplers small { display: block; color: var(--quiet); }
.samplers .signed { padding-left: 38px; position: relative; }
.sign { position: absolute; left: 4px; top: .45rem; }
.sign svg { max-width: none; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr));
  gap: 1rem; }
.card { background: var(--card); border-radius: .5rem; padding: .9rem 1.1rem; min-width: 0;
  overflow-wrap: anywhere; }
.missed { outline: 2px solid var(--bad); }
summary { cursor: pointer; color: var(--quiet); }
.edge { display: grid; grid-template-columns: 5.5rem 1fr auto; gap: .1rem .6rem;
  align-items: center; margin: .3rem 0; }
.edge b { white-space: nowrap; }
.edge code { grid-column: 2 / -1; color: var(--quiet); }
.bar { background: var(--line); height: .7rem; border-radius: .35rem; overflow: hidden; }
.bar span { display: block; height: 100%; background: var(--curve-1); }
.whose { font-size: 1.3rem; margin-top: 1.6rem; }
.claim { border-bottom: 1px solid var(--line); border-left: 4px solid var(--tone);
  padding: .5rem 0 .4rem .9rem; overflow-wrap: anywhere; }
.claim p { margin: .1rem 0 .35rem; max-width: none; }
.claim .quiet { font-size: .9rem; }
blockquote { margin: .2rem 0 .4rem; padding-left: .8rem; border-left: 2px solid var(--line);
  color: var(--quiet); font-size: .95rem; }
blockquote cite { font-style: normal; font-size: .85rem; }
math { overflow-wrap: normal; }
math[display="block"] { margin: .3rem 0; overflow-x: auto; }
pre { font: .8rem/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
  background: var(--card); padding: .6rem .8rem; border-radius: .4rem; }
details:target summary { color: var(--ink); font-weight: 600; }
details:target::details-content { content-visibility: visible; }
.verdict { color: var(--tone); font-weight: 600; }
.holds { --tone: var(--good); } .seen { --tone: var(--curve-1); } .holds-if { --tone: var(--if); }
.fails, .refuted { --tone: var(--bad); } .undecided { --tone: var(--none); }
.counts li { border-left: 4px solid var(--tone); }
@media (min-width: 60rem) {
  .claim { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 2rem; }
}
@media print { .card, .claim { break-inside: avoid; } }
)";

std::string count_of(const std::string& kind, std::size_t number, const std::string& words) {
  return "<li class=\"" + kind + "\"><b>" + std::to_string(number) + "</b>" + words + "</li>\n";
}

}  // namespace

std::string report_page(const Report& report) {
  const auto& decisions = report.decisions;
  const std::vector<Section> sections{claims_section(decisions),
                                      curves_section(),
                                      comparison_section(compared_for_report(report.uses)),
                                      ablations_section(ablated_for_report(report.uses)),
                                      ladders_section(report.uses),
                                      gallery_section(report.defects),
                                      theorems_section(report.theorems)};
  const auto caught = static_cast<std::size_t>(
      std::count_if(report.defects.begin(), report.defects.end(),
                    [](const DefectFound& found) { return found.caught; }));
  std::vector<ClaimResult> papers;
  std::size_t own = 0;
  for (const ClaimResult& decision : decisions) {
    if (decision.claim.is_papers())
      papers.push_back(decision);
    else if (decision.claim.verdict == Verdict::holds || decision.claim.verdict == Verdict::seen)
      ++own;
  }
  const std::size_t refuted = number_with(decisions, ClaimOutcome::refuted);
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>tempera: every claim, and what became of it</title>\n<style>" +
      std::string(style) +
      "</style></head>\n<body><header><h1>Every claim, and what became of it</h1>\n"
      "<p>The decidable claims of the paper on Parallel Power Tempering, and tempera's own, each "
      "confirmed or refuted on this machine by <code>tempera verify</code>.</p>\n" +
      element("p", "quiet", report.made_by) + "\n<ul class=\"counts\">\n" +
      count_of("holds", number_with(papers, Verdict::holds), "of the paper's hold") +
      count_of("seen", number_with(papers, Verdict::seen), "were seen to hold") +
      count_of("holds-if", number_with(papers, Verdict::holds_if), "hold if") +
      count_of("fails", number_with(papers, Verdict::fails), "fail as printed") +
      count_of("undecided", number_with(papers, Verdict::undecided), "undecided") +
      count_of("holds", own, "of tempera's own hold") +
      (refuted > 0 ? count_of("refuted", refuted, "refuted now") : "") +
      count_of(caught == report.defects.size() ? "holds" : "fails", caught,
               "of " + std::to_string(report.defects.size()) + " defects caught") +
      "</ul>\n<p>" + gpu::escaped(counts_of(decisions)) + "</p>\n<nav>";
  for (const Section& section : sections)
    page += "<a href=\"#" + section.id + "\">" + gpu::escaped(section.title) + "</a>\n";
  page += "</nav></header>\n<main>\n";
  for (const Section& section : sections)
    page += "<section id=\"" + section.id + "\"><h2>" + gpu::escaped(section.title) + "</h2>\n" +
            section.body + "</section>\n";
  return page + "</main></body></html>\n";
}

}  // namespace tempera::lab
