// Draws four answers with Parallel Power Tempering, the same on every machine for one seed.
#include <iostream>
#include <tempera/tempera.hpp>

int main(int argc, char** argv) {
  const auto model = tempera::open_model(argc > 1 ? argv[1] : "smollm2");
  const auto answers =
      tempera::sample(model, {.prompt = "4+7+9?",
                              .sampler = {.powers = {{1, 1.6, 2.5, 4}}, .horizon = 28, .block = 4},
                              .samples = 4,
                              .seed = 1});
  for (const auto& answer : answers) std::cout << answer.log_p0 << '\t' << answer.text << '\n';
}
