#include "lab/enumerate/finite_model_file.hpp"

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

using namespace tempera;
using Tokens = std::vector<gpu::TokenId>;

namespace {

const std::string toy_models = TEMPERA_SOURCE_DIR "/toy_models/";

}  // namespace

TEST_CASE("a finite model reads and writes its tokens by name") {
  const gpu::OpenedModel model = lab::open_model(toy_models + "unequal_lengths.json");
  CHECK(model.model().vocabulary_size() == 3);
  CHECK(model.terminal() == Tokens{2});
  CHECK(model.encode("b a", "prompt") == Tokens{1, 0});
  CHECK(model.encode("", "prompt").empty());
  CHECK(model.decode(Tokens{1, 0, 2}) == "b a e");
  CHECK_NOTHROW(model.check_prompt(Tokens{}, 1000, "prompt"));
  tempera::require_bad_input([&] { model.encode("b z", "prompt"); },
                             {"prompt: \"z\" is not a token of ", "separated by spaces"});
  tempera::require_bad_input([&] { model.encode("\xFF", "prompt"); }, {"prompt: "});
  tempera::require_bad_input([&] { model.encode("b\a", "prompt"); }, {"prompt: "});
  tempera::require_bad_input(
      [&] {
        model.check_prompt(Tokens{1, 2}, 2, "prompt");
      },
      {"prompt: token 2 of the prompt is the terminal 'e'"});
  tempera::require_bad_input(
      [&] {
        model.check_prompt(Tokens{1, 3}, 2, "prompt");
      },
      {"prompt: token 2", "outside the vocabulary"});
}
