#include "lab/claims/paper_tables.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/text_file.hpp"

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
      throw BadInput(where, "has an entry that is no text", form);
  }
  return row;
}

}  // namespace

const reference::Rational& PaperTable::entry(const std::string& group, const std::string& row,
                                             const std::string& column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  if (found == columns.end()) throw std::out_of_range("the table has no column " + column);
  const auto& value =
      groups.at(group).at(row).at(static_cast<std::size_t>(found - columns.begin()));
  if (!value) throw std::out_of_range("a dash stands there");
  return *value;
}

reference::Rational& PaperTable::entry(const std::string& group, const std::string& row,
                                       const std::string& column) {
  return const_cast<reference::Rational&>(std::as_const(*this).entry(group, row, column));
}

PaperTables read_paper_tables(const std::string& tree) {
  const std::string file = tree + "/proofs/paper_tables.json";
  const nlohmann::json document =
      parse_json(read_text_file(file, "name the tree of tempera with --tree"), file);
  const JsonObject labels(document, file, form);
  PaperTables tables;
  for (const auto& [label, value] : document.items()) {
    const JsonObject object = labels.object(label);
    object.check_keys({"columns", "groups"}, {});
    PaperTable& table = tables[label];
    table.columns = object.texts("columns");
    const JsonObject groups = object.object("groups");
    for (const auto& [group, rows] : object.at("groups").items()) {
      groups.object(group);  // refuses what is none
      for (const auto& [row, entries] : rows.items())
        table.groups[group][row] =
            row_of(entries, table.columns.size(), file + ", " + label + ", " + group + ", " + row);
    }
  }
  return tables;
}

}  // namespace tempera::lab
