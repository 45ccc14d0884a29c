#include <fstream>
#include <sstream>

#include "lab/claims/checks.hpp"
#include "lab/claims/join_case.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// proofs/matrices.txt, computed by Coq from the proved definitions, against reference/. The file
/// must hold every entry of every matrix in its place and nothing else; the entries of the matrices
/// that `concerned` picks by their names are compared.
template <class Concerned>
CheckResult compare_matrices(const CheckContext& context, Concerned&& concerned) {
  const std::string cases = context.tree + "/proofs/join.json";
  if (!std::ifstream(cases)) return {std::nullopt, "decides nothing: there is no proofs/join.json"};
  std::ifstream file(context.tree + "/proofs/matrices.txt");
  Count count;
  std::string line;
  for (const JoinCase& join : read_join_cases(cases)) {
    if (!std::getline(file, line) || line != "case " + join.name)
      return {Verdict::fails,
              "fails: the case " + join.name + " is not in its place in matrices.txt"};
    for (const auto& [name, matrix] :
         context.functions.of<ProgramFunctions>().reference_matrices(join)) {
      const std::string where = join.name + ", " + name;
      if (!std::getline(file, line) || line != "matrix " + name + " " +
                                                   std::to_string(matrix.rows()) + " " +
                                                   std::to_string(matrix.columns()))
        return {Verdict::fails, "fails: " + where + " is not in its place in matrices.txt"};
      std::getline(file, line);
      std::istringstream rows(file ? line : "");
      for (std::size_t x = 0; x < matrix.rows(); ++x) {
        std::string row;
        std::getline(rows, row, '|');
        const std::vector<std::string> entries = words_of(row);
        if (entries.size() != matrix.columns())
          return {Verdict::fails, "fails: " + where + ": row " + std::to_string(x) + " has " +
                                      std::to_string(entries.size()) + " entries, not " +
                                      std::to_string(matrix.columns())};
        for (std::size_t y = 0; concerned(name) && y < matrix.columns(); ++y)
          count.expect(entries[y] == reference::to_string(matrix(x, y)),
                       where + ": " + std::to_string(x) + ", " + std::to_string(y));
      }
      if (std::getline(rows, line, '|'))
        return {Verdict::fails,
                "fails: " + where + " has more than " + std::to_string(matrix.rows()) + " rows"};
    }
  }
  if (std::getline(file, line))
    return {Verdict::fails, "fails: matrices.txt continues after the last case"};
  return count.finding("entries computed in Coq equal the reference's");
}

bool is_truncating(const std::string& name) { return name.rfind("truncating-", 0) == 0; }
bool is_progressive(const std::string& name) { return name == "progressive-law"; }

CheckResult proved_matrices(const CheckContext& context) {
  return compare_matrices(context, [](const std::string& name) {
    return !is_truncating(name) && !is_progressive(name);
  });
}

CheckResult proved_truncating(const CheckContext& context) {
  return compare_matrices(context, is_truncating);
}

CheckResult proved_progressive(const CheckContext& context) {
  return compare_matrices(context, is_progressive);
}

}  // namespace

std::map<std::string, Check> join_checks() {
  return {{"proved_matrices", proved_matrices},
          {"proved_truncating", proved_truncating},
          {"proved_progressive", proved_progressive}};
}

}  // namespace tempera::lab
