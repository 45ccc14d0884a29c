#include "lab/claims/paper_tables.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/sha256.hpp"
#include "base/text_file.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

const std::string form =
    R"(write {"LABEL": {"columns": ["C"], "groups": {"GROUP": {"ROW": ["1.5", null]}}}})";

PaperTable::Row row_of(const nlohmann::json& entries, std::size_t columns,
                       const std::string& where) {
  if (!entries.is_array() || entries.size() != columns)
    throw BadInput(where, "has not one entry for each column", form);
  PaperTable::Row row;
  for (const auto& entry : entries) {
    if (entry.is_null())
      row.emplace_back();
    else if (entry.is_string())
      row.emplace_back(reference::parse_rational(entry.get<std::string>(), where));
    else
      throw BadInput(where, "has an entry that is not text", form);
  }
  return row;
}

/// The digest of the tables that were compared with the paper; "" if none is kept.
std::string compared_digest(const std::string& tree) {
  std::ifstream sealed(tree + "/proofs/paper_tables.sealed");
  for (std::string line; std::getline(sealed, line);)
    if (line.ends_with(" paper_tables.json")) return line.substr(0, line.find(' '));
  return "";
}

}  // namespace

const reference::Rational& PaperTable::entry(const std::string& group, const std::string& row,
                                             const std::string& column) const {
  const auto column_found = std::find(columns.begin(), columns.end(), column);
  const auto group_found = groups.find(group);
  if (column_found != columns.end() && group_found != groups.end()) {
    const auto row_found = group_found->second.find(row);
    const auto number = static_cast<std::size_t>(column_found - columns.begin());
    if (row_found != group_found->second.end() && number < row_found->second.size() &&
        row_found->second[number])
      return *row_found->second[number];
  }
  throw BadInput("proofs/paper_tables.json",
                 "has no entry of group " + in_quotes(group) + ", row " + in_quotes(row) +
                     ", column " + in_quotes(column),
                 "take the file as tempera has it");
}

reference::Rational& PaperTable::entry(const std::string& group, const std::string& row,
                                       const std::string& column) {
  return const_cast<reference::Rational&>(std::as_const(*this).entry(group, row, column));
}

PaperTables read_paper_tables(const std::string& tree) {
  const std::string file = tree + "/proofs/paper_tables.json";
  const std::string text = read_text_file(file, "name the tree of tempera with --tree");
  const std::string compared = compared_digest(tree);
  if (compared.empty() || !sha256(text).starts_with(compared))
    throw BadInput(file, "is not as it was compared with the paper's source",
                   "run checks/claims --renew --tex PAPER.tex, or take the file as tempera has it");
  const nlohmann::json document = parse_json(text, file);
  const JsonObject labels(document, file, form);
  PaperTables tables;
  for (const auto& [label, value] : document.items()) {
    const JsonObject object = labels.object(label);
    object.check_keys({"columns", "groups"}, {"bold"});
    PaperTable& table = tables[label];
    table.columns = object.texts("columns");
    const JsonObject groups = object.object("groups");
    for (const auto& [group, rows] : object.at("groups").items()) {
      groups.object(group);  // refuses what is none
      for (const auto& [row, entries] : rows.items())
        table.groups[group][row] =
            row_of(entries, table.columns.size(), file + ", " + label + ", " + group + ", " + row);
    }
    if (!object.has("bold")) continue;
    const JsonObject bold = object.object("bold");
    for (const auto& [group, rows] : object.at("bold").items()) {
      const JsonObject of_group = bold.object(group);
      for (const auto& [row, columns] : rows.items())
        for (const std::string& column : of_group.texts(row)) {
          table.entry(group, row, column);  // refuses what is none
          table.bold.insert({group, row, column});
        }
    }
  }
  return tables;
}

}  // namespace tempera::lab
