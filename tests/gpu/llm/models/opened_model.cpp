#include "gpu/llm/models/opened_model.hpp"

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

using namespace tempera;
using gpu::OpenedModel;
using Tokens = std::vector<gpu::TokenId>;

namespace {

const std::string toy_models = TEMPERA_SOURCE_DIR "/toy_models/";

}  // namespace

TEST_CASE("a folder with a tokenizer reads and writes text") {
  const OpenedModel model = OpenedModel::open(toy_models + "worked_sum");
  CHECK(model.terminal() == Tokens{0});
  CHECK(model.encode("3+9?", "prompt") == Tokens{4, 11, 10, 12});
  CHECK(model.decode(Tokens{4, 11, 10, 12, 0}) == "3+9?<|end|>");
  CHECK_NOTHROW(model.check_prompt(Tokens(16, 1), 48, "prompt"));
  tempera::require_bad_input(
      [&] { model.check_prompt(Tokens(16, 1), 49, "prompt"); },
      {"prompt: 16 prompt tokens and a horizon of 49 exceed the 64 positions"});
  tempera::require_bad_input([&] { model.check_prompt(Tokens{}, 1, "prompt"); },
                             {"prompt: the prompt has no token"});
  tempera::require_bad_input([&] { model.encode("3+x?", "prompt"); }, {"prompt"});
  CHECK(model.horizon_after(16, 0, 64, "prompt") == 48);
  CHECK_FALSE(model.horizon_after(16, 0, 48, "prompt"));
  CHECK_FALSE(model.horizon_after(16, 0, 40, "prompt"));
  CHECK(model.horizon_after(16, 40, 64, "prompt") == 8);
  CHECK(model.horizon_after(63, 0, 64, "prompt") == 1);
  for (const std::size_t length : {64, 99})
    tempera::require_bad_input([&] { model.horizon_after(length, 0, 64, "file, line 2"); },
                               {"file, line 2: " + std::to_string(length) +
                                " prompt tokens and a horizon of 1 exceed the 64 positions of the "
                                "model; shorten the prompt"});
  tempera::require_bad_input(
      [&] { model.horizon_after(16, 48, 64, "prompt"); },
      {"prompt: 16 prompt tokens, 48 to leave free and a horizon of 1 exceed "
       "the 64 positions of the model; shorten the prompt or give a horizon"});
}

TEST_CASE("a folder without a tokenizer reads and writes numbers") {
  const OpenedModel model = OpenedModel::open(gpu::qwen3_fixtures / "untied_float32");
  const std::size_t vocabulary = model.model().vocabulary_size();
  const auto last = std::to_string(vocabulary - 1);
  CHECK(model.encode("5 " + last, "prompt") ==
        Tokens{5, static_cast<gpu::TokenId>(vocabulary - 1)});
  CHECK(model.decode(Tokens{5, 17}) == "5 17");
  for (const std::string& word : {std::to_string(vocabulary), std::string("-1"), std::string("1x"),
                                  std::string("x"), std::string("99999999999999999999")})
    tempera::require_bad_input(
        [&] { model.encode("5 " + word, "prompt"); },
        {"prompt: \"" + word + "\" is not a token", "give token numbers below"});
}

TEST_CASE("what is not a model is refused") {
  tempera::require_bad_input([] { OpenedModel::open("/nowhere"); }, {"/nowhere: does not exist"});
  tempera::require_bad_input([] { OpenedModel::open(""); }, {"model: does not exist"});
  tempera::require_bad_input([] { OpenedModel::open(std::string(5000, 'a')); },
                             {"cannot be looked at (File name too long)"});
  tempera::require_bad_input([] { OpenedModel::open(toy_models + "four_state.json"); },
                             {"four_state.json: is neither a folder nor a GGUF file"});
  const gpu::ModelFolder folder("untied_float32");
  std::filesystem::remove(folder.path() / "model.safetensors");
  tempera::require_bad_input([&] { OpenedModel::open(folder.path()); }, {"model.safetensors"});
  std::filesystem::remove(folder.path() / "config.json");
  tempera::require_bad_input([&] { OpenedModel::open(folder.path()); },
                             {folder.path().string() + ": has no config.json; give a folder with"});
  // Each of these files would do. The first by its name is given.
  for (const char* name : {"b.gguf", "a.gguf", "0.txt"})
    std::ofstream(folder.path() / name) << (name[0] == '0' ? "text" : "GGUF");
  tempera::require_bad_input(
      [&] { OpenedModel::open(folder.path()); },
      {"has no config.json; give its GGUF file " + (folder.path() / "a.gguf").string()});
}
