// Runs that are killed and taken up again, on one form of the kernels or from one to another. A
// folder that is left half-way is held, byte for byte, against what the host's form leaves: where
// it is the same, taking up a device's run on a host is taking up the host's own.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gpu/runs/sampling.hpp"
#include "gpu/transformer/random_transformer.hpp"
#include "tests/catch.hpp"
#include "tests/devices/tempered_bits.hpp"
#include "tests/temporary_file.hpp"

using namespace tempera::gpu;

namespace {

/// The plug was pulled.
struct Killed {};

/// A model whose run is cut short at its n-th forward pass.
class KilledModel final : public LanguageModel {
 public:
  KilledModel(LanguageModel& model, std::size_t passes) : model_(model), left_(passes) {}
  std::size_t vocabulary_size() const override { return model_.vocabulary_size(); }
  std::unique_ptr<Cache> empty_cache() const override { return model_.empty_cache(); }
  void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override {
    pass();
    model_.next_logits(passes, rows);
  }
  bool draws_behind_head(const RowLottery& rows, const Lottery& lottery) const override {
    return model_.draws_behind_head(rows, lottery);
  }
  std::vector<ScoredToken> next_tokens(std::span<const Pass> passes, std::span<const RowDraw> draws,
                                       RowLottery& rows, Lottery& lottery,
                                       DeviceMemory<float>& logits) override {
    pass();
    return model_.next_tokens(passes, draws, rows, lottery, logits);
  }

 private:
  void pass() {
    if (left_-- == 0) throw Killed{};
  }

  LanguageModel& model_;
  std::size_t left_;
};

SamplingSettings settings_of_runs() {
  SamplingSettings settings;
  settings.model = "random";
  settings.model_path = "/random";
  settings.arithmetic = Arithmetic::tensor_core;
  settings.prompts = {{"one", {1, 2, 3}},
                      {"other", {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6}}};
  settings.terminal = {10};
  settings.powers = {1.0, 1.6, 2.5};
  settings.horizon = 9;
  settings.block = 5;
  settings.rounds = {2, 1};
  settings.local_moves = {1};
  settings.sweeps = {1};
  settings.output = 3;
  settings.samples = 2;
  settings.seed = 8;
  return settings;
}

std::unique_ptr<Transformer> model_of(const Kernels& kernels) {
  Qwen3Config config;
  config.vocab_size = 11;
  config.hidden_size = 40;
  config.intermediate_size = 56;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 18;
  config.max_position_embeddings = 64;
  return random_qwen3(config, 31, kernels);
}

void run(LanguageModel& model, RunFolder& folder, const SamplingSettings& settings) {
  const Decode numbers = [](std::span<const TokenId> tokens) {
    std::string text;
    for (const TokenId token : tokens) text += std::to_string(token) + " ";
    return text;
  };
  Sampling(model, settings, numbers, &folder, {}, {.checkpoint_seconds = 0.0}).run();
}

/// Those that differ here: a run draws by the device's rows, which on a host queue no step.
std::vector<TensorCoreForm> forms_of_runs() {
  std::vector<TensorCoreForm> forms;
  for (const TensorCoreForm& form : tensor_core_forms())
    if (!form.on_fibers || form.steps == nullptr) forms.push_back(form);
  return forms;
}

/// Of every file in the folder but that of times, its name and its bytes.
std::string fingerprint_of_folder(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.path().filename() != "speed.json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::uint64_t> bytes;
  for (const auto& file : files) {
    for (const char c : file.filename().string()) bytes.push_back(static_cast<unsigned char>(c));
    std::ifstream in(file, std::ios::binary);
    for (std::istreambuf_iterator<char> at(in), end; at != end; ++at)
      bytes.push_back(static_cast<unsigned char>(*at));
  }
  return fingerprint_of(bytes);
}

/// What the host's form leaves when it is killed at this forward pass, and at the end.
struct Recorded {
  std::size_t passes;
  const char* half_way;
};
constexpr Recorded kills[] = {
    {8, "5574ba260a4cd06c"}, {13, "a6448e368d1edecb"}, {19, "b0ecf9f7298fddf9"}};
constexpr const char* whole = "fda0b7df9a7285d8";

}  // namespace

TEST_CASE("a run that is killed and taken up, on any form of tensor-core, has the recorded bytes") {
  const SamplingSettings settings = settings_of_runs();
  for (const TensorCoreForm& begun : forms_of_runs()) {
    const auto model = model_of(begun.kernels);
    const tempera::test::TemporaryFolder work;
    {
      RunFolder folder = RunFolder::create(work / "whole", settings.to_json());
      run(*model, folder, settings);
    }
    INFO("begun on: " << begun.kernels.name());
    CHECK(fingerprint_of_folder(work / "whole") == whole);
    for (const auto& [passes, half_way] : kills) {
      for (const TensorCoreForm& ended : forms_of_runs()) {
        INFO("killed at pass " << passes << ", taken up on: " << ended.kernels.name());
        const auto path = work / (std::to_string(passes) + ended.kernels.name());
        {
          RunFolder folder = RunFolder::create(path, settings.to_json());
          KilledModel killed(*model, passes);
          REQUIRE_THROWS_AS(run(killed, folder, settings), Killed);
        }
        CHECK(fingerprint_of_folder(path) == half_way);
        {
          RunFolder folder = RunFolder::open(path);
          CHECK(folder.checkpoint());
          const auto other = model_of(ended.kernels);
          run(*other, folder, settings);
        }
        CHECK(fingerprint_of_folder(path) == whole);
      }
    }
  }
}
