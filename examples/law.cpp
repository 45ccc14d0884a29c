// The exact law of p0^2 on a finite model, and what one compiled local move makes of it.
#include <iostream>
#include <tempera/exact.hpp>

int main(int, char** argv) {
  using namespace tempera::exact;
  const FiniteModel model = FiniteModel::open(argv[1]);
  const auto target = model.power_law(3, 2);
  const auto move = compiled_local_move(model, 3, 2.0);
  std::vector<Fraction> after(target.size());
  for (std::size_t x = 0; x < target.size(); ++x)
    for (std::size_t y = 0; y < target.size(); ++y) after[y] = after[y] + target[x] * move[x][y];
  const auto records = model.records(3);
  for (std::size_t x = 0; x < records.size(); ++x)
    std::cout << records[x] << "\t" << target[x].text() << '\n';
  // Not 0: the program computes with float32 logits. docs/reference/law.md says how far it may be
  // off.
  std::cout << "TV after one compiled move: " << total_variation(after, target).value() << '\n';
}
