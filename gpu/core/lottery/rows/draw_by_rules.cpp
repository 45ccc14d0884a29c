#include <algorithm>

#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/device/host_threads.hpp"

namespace tempera::gpu {

bool have_rules(std::span<const RowDraw> draws) {
  return std::any_of(draws.begin(), draws.end(),
                     [](const RowDraw& row) { return row.rules.has_value(); });
}

std::vector<ScoredToken> draw_by_rules(RowLottery& rows, DeviceMemory<float>& logits,
                                       std::size_t vocabulary, std::span<const RowDraw> draws,
                                       Lottery& lottery) {
  std::vector<std::size_t> changed;
  std::vector<float> given;  // the logits of these rows, one row after the other
  for (std::size_t row = 0; row < draws.size(); ++row) {
    if (!draws[row].rules) continue;
    changed.push_back(row);
    const std::vector<float> own = logits.download(row * vocabulary, vocabulary);
    given.insert(given.end(), own.begin(), own.end());
  }
  if (changed.empty()) return rows.draw(logits, vocabulary, draws, lottery);
  const auto upload = [&](std::span<const float> from) {
    for (std::size_t i = 0; i < changed.size(); ++i)
      logits.upload(from.subspan(i * vocabulary, vocabulary), changed[i] * vocabulary);
  };
  std::vector<float> drawn_from = given;
  on_host_threads(changed.size(), [&](std::size_t i) {
    const RowDraw& row = draws[changed[i]];
    change_row(std::span(drawn_from).subspan(i * vocabulary, vocabulary), *row.rules,
               row.powers[row.rung]);
  });
  upload(drawn_from);
  std::vector<ScoredToken> tokens = rows.draw(logits, vocabulary, draws, lottery);
  upload(given);
  std::vector<RowToken> own;
  for (const std::size_t row : changed) own.push_back({draws[row].powers, tokens[row].id});
  const std::vector<ScoredToken> scored =
      rows.score(DeviceMemory<float>(std::span<const float>(given)), vocabulary, own);
  for (std::size_t i = 0; i < changed.size(); ++i) tokens[changed[i]] = scored[i];
  return tokens;
}

}  // namespace tempera::gpu
