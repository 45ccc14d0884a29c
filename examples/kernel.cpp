// A Metropolis kernel of our own, and the same without its acceptance: both are judged exactly.
#include <iostream>
#include <tempera/check.hpp>

using tempera::exact::Fraction;

/// Draws a whole record from the model, and its probability.
tempera::check::Record proposal(const tempera::check::Case& judged,
                                tempera::check::Lottery& lottery, Fraction& probability,
                                const std::vector<bool>& is_terminal) {
  tempera::check::Record y;
  while (y.size() < judged.horizon && (y.empty() || !is_terminal[y.back()])) {
    const auto row = judged.model.next(y);
    y.push_back(lottery.draw(row));
    probability = probability * row[y.back()];
  }
  return y;
}

tempera::check::Kernel metropolis(bool accepts) {
  return [accepts](const tempera::check::Case& judged, const tempera::check::State& state,
                   tempera::check::Lottery& lottery) -> tempera::check::State {
    const auto is_terminal = judged.model.terminal();
    Fraction py = 1;
    Fraction px = 1;
    const auto y = proposal(judged, lottery, py, is_terminal);
    tempera::check::Record prefix;
    for (const auto token : state[0]) {
      px = px * judged.model.next(prefix)[token];
      prefix.push_back(token);
    }
    // For the target p0^2 and proposals from p0 the ratio is p0(y) / p0(x).
    if (accepts && py < px && !lottery.happens(py / px)) return state;
    return {y};
  };
}

int main(int, char** argv) {
  const tempera::check::Case judged{.model = tempera::exact::FiniteModel::open(argv[1]),
                                    .horizon = 2};
  std::cout << "with acceptance: " << tempera::check::fault(metropolis(true), judged) << "sound\n";
  const std::string fault = tempera::check::fault(metropolis(false), judged);
  std::cout << "without: " << fault << '\n';
  return fault.empty() ? 1 : 0;
}
