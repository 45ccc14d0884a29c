// Two whole programs, from the prompt to an answer: is each the algorithm that it claims to be?
#include <iostream>
#include <tempera/check.hpp>

using tempera::check::Case;
using tempera::check::Lottery;
using tempera::check::Record;
using tempera::exact::Fraction;

/// Draws an answer token by token at a low temperature: weights p0(v | prefix)^2.
Record low_temperature(const Case& judged, Lottery& lottery) {
  const auto is_terminal = judged.model.terminal();
  Record answer;
  while (answer.size() < judged.horizon && (answer.empty() || !is_terminal[answer.back()])) {
    auto weights = judged.model.next(answer);
    for (auto& weight : weights) weight = weight * weight;
    answer.push_back(lottery.draw(weights));
  }
  return answer;
}

/// Draws one answer from p0 and takes it with its probability, at most twice.
Record two_tries(const Case& judged, Lottery& lottery) {
  const auto is_terminal = judged.model.terminal();
  Record answer;
  for (int tries = 0; tries < 2; ++tries) {
    Fraction probability = 1;
    answer.clear();
    while (answer.size() < judged.horizon && (answer.empty() || !is_terminal[answer.back()])) {
      const auto row = judged.model.next(answer);
      answer.push_back(lottery.draw(row));
      probability = probability * row[answer.back()];
    }
    if (lottery.happens(probability)) break;
  }
  return answer;
}

int main(int, char** argv) {
  using namespace tempera::check;
  const Case judged{.model = tempera::exact::FiniteModel::open(argv[1]), .horizon = 2};
  for (const auto& [name, program] :
       {std::pair<std::string, Program>{"low temperature", low_temperature},
        std::pair<std::string, Program>{"two tries", two_tries}}) {
    const auto law = answer_law(program, judged);
    std::cout << name << ": TV to p0^2 is " << total_variation(law, answer_law(judged)).text()
              << "\nagainst low-temperature: "
              << fault(program, Algorithm{.name = "low-temperature"}, judged) << '\n';
  }
}
