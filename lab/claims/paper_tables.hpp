#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::lab {

/// A table of the paper as it is printed: groups of rows, an entry of nothing if it has a dash.
struct PaperTable {
  using Row = std::vector<std::optional<reference::Rational>>;
  std::vector<std::string> columns;
  std::map<std::string, std::map<std::string, Row>> groups;
  std::set<std::array<std::string, 3>> bold;  ///< group, row and column of what is printed so

  /// @throw BadInput naming the group, row and column if it has no such entry
  reference::Rational& entry(const std::string& group, const std::string& row,
                             const std::string& column);
  const reference::Rational& entry(const std::string& group, const std::string& row,
                                   const std::string& column) const;
};

/// The tables, by the paper's label.
using PaperTables = std::map<std::string, PaperTable>;

/// proofs/paper_tables.json under `tree`: every table of the paper that a claim is about, as it
/// was compared with the paper's source.
/// @throw BadInput naming file, place and remedy; if the file is not the one that
/// proofs/paper_tables.sealed has the digest of, too
PaperTables read_paper_tables(const std::string& tree);

}  // namespace tempera::lab
